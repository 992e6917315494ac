import { resolve } from 'node:path'
import { projectConfig, readConfig } from '../../config/project-config.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import { readReplaySection, type ReplaySettings } from '../../replay/settings/section.ts'
import type { ReplayFlags } from './flags.ts'
import { readFlags } from './read-flags.ts'

export interface Configured {
  readonly options: Omit<ReplayOptions, 'target'>
  /** The config that had something to say: nobody should have to wonder. */
  readonly file: string | undefined
}

/** The options of a run: the command line counts for more than the config, and lists are joined. */
export function configured(flags: ReplayFlags): Configured {
  const given = readFlags(flags)
  const config = configOf(flags)
  const section = config?.section('replay')
  if (section === undefined) return { options: given, file: undefined }
  return { options: joined(readReplaySection(section, process.env), given), file: config?.file }
}

function configOf({ config }: ReplayFlags): ReturnType<typeof projectConfig> {
  if (typeof config === 'string') return readConfig(resolve(config))
  return config === false ? undefined : projectConfig(process.cwd())
}

// Rules of the command line come last: they see, and may undo, what those of the config did.
function joined(settings: ReplaySettings, given: Configured['options']): Configured['options'] {
  return {
    ...settings,
    ...given,
    rules: [...(settings.rules ?? []), ...(given.rules ?? [])],
    ignore: [...(settings.ignore ?? []), ...(given.ignore ?? [])],
    ignoreFields: [...(settings.ignoreFields ?? []), ...(given.ignoreFields ?? [])],
    unordered: [...(settings.unordered ?? []), ...(given.unordered ?? [])],
  }
}
