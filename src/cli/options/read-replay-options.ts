import { resolve } from 'node:path'
import { findProjectConfig, readProjectConfig } from '../../config/project-config.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import { readReplaySection, type ReplaySettings } from '../../replay/settings/section.ts'
import type { ReplayFlags } from './replay-options.ts'
import { readReplayFlags } from '../replay/read-flags.ts'

export interface ReplayRunOptions {
  readonly options: Omit<ReplayOptions, 'target'>
  /** The config that had something to say: nobody should have to wonder. */
  readonly file: string | undefined
}

/** The options of a run: the command line counts for more than the config, and lists are joined. */
export function readReplayOptions(flags: ReplayFlags): ReplayRunOptions {
  const given = readReplayFlags(flags)
  const config = findReplayConfig(flags)
  const section = config?.section('replay')
  if (section === undefined) return { options: given, file: undefined }
  return { options: mergeConfigAndFlags(readReplaySection(section, process.env), given), file: config?.file }
}

function findReplayConfig({ config }: ReplayFlags): ReturnType<typeof findProjectConfig> {
  if (typeof config === 'string') return readProjectConfig(resolve(config))
  return config === false ? undefined : findProjectConfig(process.cwd())
}

// Rules of the command line come last: they see, and may undo, what those of the config did.
function mergeConfigAndFlags(
  settings: ReplaySettings,
  given: ReplayRunOptions['options'],
): ReplayRunOptions['options'] {
  return {
    ...settings,
    ...given,
    rules: [...(settings.rules ?? []), ...(given.rules ?? [])],
    ignore: [...(settings.ignore ?? []), ...(given.ignore ?? [])],
    ignoreFields: [...(settings.ignoreFields ?? []), ...(given.ignoreFields ?? [])],
    unordered: [...(settings.unordered ?? []), ...(given.unordered ?? [])],
  }
}
