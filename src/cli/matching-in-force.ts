import { findProjectConfig } from '../config/project-config.ts'
import type { MatchOptions } from '../match/options.ts'
import { readMatchSettings, type MatchSettings } from '../match/settings.ts'
import type { CompanionFile } from '../store/settings-file.ts'

export interface MatchFlags extends Omit<MatchOptions, 'rules'> {
  readonly rule?: readonly string[]
}

export function readMatchFlags({
  match,
  rule = [],
  ignore = [],
  permissive = false,
}: MatchFlags): MatchOptions {
  return { ...(match !== undefined && { match }), rules: rule, ignore, permissive }
}

/** What the project's config says about matching, and where it stands. */
export function readConfiguredMatching(): { settings: MatchSettings; path?: string } {
  const config = findProjectConfig(process.cwd())
  if (config === undefined) return { settings: { rules: [] } }
  const section = config.section('match')
  const settings = readMatchSettings(section?.value, section?.location ?? config.file)
  return { settings, path: config.file }
}

/** What changes the comparison without standing on the command line: nobody should have to wonder. */
export function describeMatchSettings(
  { settings, path = '' }: { settings: MatchSettings; path?: string },
  beside: MatchSettings,
  file: CompanionFile | undefined,
): readonly string[] {
  return [...describeSettingsFile(beside, file?.path ?? ''), ...describeSettingsFile(settings, path)]
}

function describeSettingsFile({ match, rules }: MatchSettings, path: string): readonly string[] {
  const said = [
    ...(match === undefined ? [] : [`strategy ${match}`]),
    ...(rules.length === 0 ? [] : [`${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`]),
  ]
  return said.length === 0 ? [] : [`matching: ${said.join(' and ')} from ${path}`]
}
