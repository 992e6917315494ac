import { Option, type Command } from 'commander'
import { projectConfig } from '../config/project-config.ts'
import { parseIgnored } from '../match/key.ts'
import type { MatchOptions } from '../match/match-options.ts'
import { parseRule } from '../match/rule.ts'
import { readMatchSettings, type MatchSettings } from '../match/settings.ts'
import { STRATEGIES, strategyNamed } from '../match/strategies/index.ts'
import type { SettingsFile } from '../store/settings-file.ts'

/** The options that say how requests are matched. */
export function withMatchFlags(command: Command): Command {
  const names = STRATEGIES.map(({ name }) => name).join(', ')
  return command
    .addOption(
      new Option('--match <strategy>', `what makes requests the same: ${names}`).argParser(
        (name) => strategyNamed(name).name,
      ),
    )
    .option('--rule <rule>', 'compare a part of some requests in another way; may be repeated', addRule)
    .option('--ignore <path>', 'do not compare this part of a request; may be repeated', addIgnored)
    .option('--permissive', 'repeat the last answer when a request is asked more often than it was recorded')
}

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

function addRule(rule: string, before: readonly string[] = []): readonly string[] {
  parseRule(rule)
  return [...before, rule]
}

function addIgnored(path: string, before: readonly string[] = []): readonly string[] {
  parseIgnored([path])
  return [...before, path]
}
