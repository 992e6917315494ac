import { Option, type Command } from 'commander'
import { parseIgnored } from '../match/key.ts'
import { parseRule } from '../match/rule.ts'
import { STRATEGIES, strategyNamed } from '../match/strategies/index.ts'

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

function addRule(rule: string, before: readonly string[] = []): readonly string[] {
  parseRule(rule)
  return [...before, rule]
}

function addIgnored(path: string, before: readonly string[] = []): readonly string[] {
  parseIgnored([path])
  return [...before, path]
}
