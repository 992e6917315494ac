import { ReelayError } from '../errors.ts'
import type { ServerTablePath } from './clients/client.ts'
import { brokenConfigError, readClientConfig, type ClientConfigFile } from './configs/config-file.ts'
import { ConfigSyntaxError, type ConfigEntry } from './configs/config-format.ts'
import { CONFIG_FORMATS } from './configs/formats/index.ts'
import type { ConfigTarget } from './client-configs.ts'

/** An entry, and under which root it stands. */
export interface LocatedConfigEntry extends ConfigEntry {
  readonly root: ServerTablePath
}

/** A config file and its servers. */
export interface OpenConfig {
  readonly kind: 'open'
  readonly target: ConfigTarget
  readonly config: ClientConfigFile
  readonly entries: readonly LocatedConfigEntry[]
}

/** What became of a file that was looked at: its servers, or why they cannot be known. */
export type ConfigOpenResult =
  | OpenConfig
  | { readonly kind: 'refused'; readonly target: ConfigTarget; readonly error: ReelayError }

/** Opens every file that exists. One that is broken does not keep the others from being opened. */
export function openClientConfigs(targets: readonly ConfigTarget[]): readonly ConfigOpenResult[] {
  return targets.flatMap((target): readonly ConfigOpenResult[] => {
    try {
      const config = readClientConfig(target.file)
      if (config === undefined) return []
      return [{ kind: 'open', target, config, entries: readServerEntries(target, config.text) }]
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      return [{ kind: 'refused', target, error }]
    }
  })
}

/** The servers under every root of a target, in the text of its file. */
export function readServerEntries(
  { client, roots, file }: ConfigTarget,
  text: string,
): readonly LocatedConfigEntry[] {
  try {
    return roots.flatMap((root) =>
      CONFIG_FORMATS[client.format].readEntries(text, root).map((entry) => ({ ...entry, root })),
    )
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error
    throw brokenConfigError(file, `line ${error.line}, column ${error.column}: ${error.message}`, error)
  }
}
