import { projectConfig } from '../config/project-config.ts'
import type { MatchOptions } from '../match/match-options.ts'
import { readMatchSettings, type MatchSettings } from '../match/settings.ts'
import type { SettingsFile } from '../store/settings-file.ts'

export interface MatchFlags extends Omit<MatchOptions, 'rules'> {
  readonly rule?: readonly string[]
}

export function matchOptionsOf({
  match,
  rule = [],
  ignore = [],
  permissive = false,
}: MatchFlags): MatchOptions {
  return { ...(match !== undefined && { match }), rules: rule, ignore, permissive }
}

/** What the project's config says about matching, and where it stands. */
export function configuredMatching(): { settings: MatchSettings; path?: string } {
  const config = projectConfig(process.cwd())
  if (config === undefined) return { settings: { rules: [] } }
  const section = config.section('match')
  const settings = readMatchSettings(section?.value, section?.place ?? config.file)
  return { settings, path: config.file }
}

/** What changes the comparison without standing on the command line: nobody should have to wonder. */
export function settingsInWords(
  { settings, path = '' }: { settings: MatchSettings; path?: string },
  beside: MatchSettings,
  file: SettingsFile | undefined,
): readonly string[] {
  return [...inWords(beside, file?.path ?? ''), ...inWords(settings, path)]
}

function inWords({ match, rules }: MatchSettings, path: string): readonly string[] {
  const said = [
    ...(match === undefined ? [] : [`strategy ${match}`]),
    ...(rules.length === 0 ? [] : [`${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`]),
  ]
  return said.length === 0 ? [] : [`matching: ${said.join(' and ')} from ${path}`]
}
