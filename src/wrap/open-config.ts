import { ReelayError } from '../errors.ts'
import type { Root } from './client.ts'
import { broken, readConfig, type ConfigFile } from './config-file.ts'
import { SyntaxProblem, type Entry } from './config-format.ts'
import { FORMATS } from './formats.ts'
import type { Target } from './targets.ts'

/** An entry, and under which root it stands. */
export interface PlacedEntry extends Entry {
  readonly root: Root
}

/** A config file and its servers. */
export interface Open {
  readonly kind: 'open'
  readonly target: Target
  readonly config: ConfigFile
  readonly entries: readonly PlacedEntry[]
}

/** What became of a file that was looked at: its servers, or why they cannot be known. */
export type Looked = Open | { readonly kind: 'refused'; readonly target: Target; readonly error: ReelayError }

/** Opens every file that exists. One that is broken does not keep the others from being opened. */
export function openConfigs(targets: readonly Target[]): readonly Looked[] {
  return targets.flatMap((target): readonly Looked[] => {
    try {
      const config = readConfig(target.file)
      if (config === undefined) return []
      return [{ kind: 'open', target, config, entries: entriesOf(target, config.text) }]
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      return [{ kind: 'refused', target, error }]
    }
  })
}

/** The servers under every root of a target, in the text of its file. */
export function entriesOf({ client, roots, file }: Target, text: string): readonly PlacedEntry[] {
  try {
    return roots.flatMap((root) =>
      FORMATS[client.format].entries(text, root).map((entry) => ({ ...entry, root })),
    )
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    throw broken(file, `line ${error.line}, column ${error.column}: ${error.message}`, error)
  }
}
