import { Option, type Command } from 'commander'
import { parseIgnoredPaths } from '../match/request-key.ts'
import { parseMatchRule } from '../match/rules.ts'
import { STRATEGIES, findStrategy } from '../match/strategies/index.ts'

/** The options that say how requests are matched. */
export function declareMatchOptions(command: Command): Command {
  const names = STRATEGIES.map(({ name }) => name).join(', ')
  return command
    .addOption(
      new Option('--match <strategy>', `what makes requests the same: ${names}`).argParser(
        (name) => findStrategy(name).name,
      ),
    )
    .option('--rule <rule>', 'compare a part of some requests in another way; may be repeated', collectRule)
    .option('--ignore <path>', 'do not compare this part of a request; may be repeated', collectIgnoredPath)
    .option('--permissive', 'repeat the last answer when a request is asked more often than it was recorded')
}

function collectRule(rule: string, before: readonly string[] = []): readonly string[] {
  parseMatchRule(rule)
  return [...before, rule]
}

function collectIgnoredPath(path: string, before: readonly string[] = []): readonly string[] {
  parseIgnoredPaths([path])
  return [...before, path]
}
