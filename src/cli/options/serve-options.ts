import { Option, type Command } from 'commander'
import { readClockOption } from './read-serve-options.ts'
import { ReelayError } from '../../errors.ts'
import { parseIgnoredPaths } from '../../match/request-key.ts'
import { parseMatchRule } from '../../match/rules.ts'
import { STRATEGIES, findStrategy } from '../../match/strategies/index.ts'
import { parsePace } from '../../serve/player/clock.ts'
import { CLIENT_ANSWER_POLICIES } from '../../serve/player/server-requests.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import { parseDuration } from '../../text.ts'

/** Adds the options of playing to a command. */
export function declarePlayOptions(command: Command): Command {
  return command
    .option(
      '--pace <speed>',
      'keep the recorded times: recorded, x2 for twice as fast, or none',
      readPaceOption,
    )
    .option('--pace-cap <time>', 'the longest single wait for the sake of the pace, such as 2s', readPaceCap)
    .addOption(
      new Option(
        '--order <order>',
        'answer calls that overlapped on the tape in the order in which they were answered there',
      ).choices(['any', 'recorded']),
    )
    .addOption(
      new Option(
        '--on-client-answer <policy>',
        'what it means when the client answers the server otherwise than on the tape',
      ).choices(CLIENT_ANSWER_POLICIES),
    )
    .option('--override <file>', 'answers of your own, which come first: a YAML or JSON file')
    .option('--faults <file>', 'what goes wrong on purpose: a YAML or JSON file')
    .option(
      '--seed <number>',
      'for all that is left to chance, faults and the ids of sessions: the same seed, the same run',
      readSeed,
    )
    .option(
      '--clock <time>',
      'the time by which dates are judged: recorded, for when the tape was begun, or a date; it stands still',
      readClockOption,
    )
}

export function readSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new ReelayError('USAGE', `--seed ${text} is not a whole number`, { hint: 'such as --seed 7' })
}

function readPaceOption(text: string): ServeOptions['pace'] {
  return parsePace(text)?.speed ?? 'none'
}

function readPaceCap(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined) return ms
  throw new ReelayError('USAGE', `--pace-cap ${text} is no time`, { hint: 'such as 250ms or 2s' })
}

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
