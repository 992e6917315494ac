import { resolve } from 'node:path'
import { seedOption } from '../options/live-options.ts'
import { inGroup, option, readOptions, type OptionRows, type OptionTable } from '../options/option.ts'
import { countValue, fileValue, nameList, switchOn } from '../options/option-types.ts'
import { REPLAY_OPTIONS } from '../options/replay-options.ts'
import { jsonOption } from '../options/shared-options.ts'
import { clearProgress, showProgress } from '../output/progress.ts'
import { ReportOutput, reportOptions, type ReportFlags } from '../output/reports.ts'
import { REPLAY_ARGUMENTS } from '../replay/replay.ts'
import type { CommandDefinition } from '../command.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { isFailing, type ReportedFailure } from '../../report/failures/variations.ts'
import { DEFAULT_SEED } from '../../seeded-random.ts'
import { isolateTape } from '../../vary/isolate.ts'
import { otherHeaderOption, SHARED_LIVE_OPTIONS } from './shrink.ts'
import { reportFailure, startOddSession, targetAllowedOption } from './vary.ts'

interface IsolateFlags extends ReportFlags {
  readonly rounds?: number
  readonly seed?: number
  readonly shared?: readonly string[]
  readonly strict?: true
  readonly otherHeader?: readonly AddedHeader[]
  readonly keep?: string
  readonly targetAllowed?: readonly string[]
  readonly json?: true
}

const DEFAULT_ROUNDS = 5
const DEFAULT_KEEP = 'isolation-failures'

const ISOLATE_ONLY_OPTIONS: OptionTable<IsolateFlags> & OptionRows = {
  ...inGroup('Sessions', {
    rounds: option('--rounds <n>', countValue(), 'Also try this many random orders of both sessions', {
      default: String(DEFAULT_ROUNDS),
    }),
    seed: seedOption,
    shared: option(
      '--shared <names>',
      nameList,
      'All sessions may see the results of these tools and methods (repeatable)',
    ),
    strict: option(
      '--strict',
      switchOn,
      'Processes of a server command must not share values through files or a database either',
    ),
  }),
  otherHeader: otherHeaderOption,
  targetAllowed: targetAllowedOption,
  ...inGroup('Output', {
    keep: option('--keep <folder>', fileValue, 'Write the tapes and capsules of failures to this folder', {
      default: DEFAULT_KEEP,
    }),
    ...reportOptions('variations'),
    json: jsonOption,
  }),
}

export const isolateCommand: CommandDefinition = {
  name: 'isolate',
  usage: '[options] <tape> -- <server command…>\n       reelay isolate [options] <tape> --url <url>',
  arguments: REPLAY_ARGUMENTS,
  options: {
    ...ISOLATE_ONLY_OPTIONS,
    ...SHARED_LIVE_OPTIONS,
    verbose: { ...REPLAY_OPTIONS.verbose, help: 'Show the stderr of the server', group: 'Output' },
  },
  common: 'url otherHeader rounds shared strict allow allowWrites beforeRun keep report json'.split(' '),
  run: async ([name = '', ...command], given) => {
    const { keep = DEFAULT_KEEP, ...flags } = readOptions<IsolateFlags>(ISOLATE_ONLY_OPTIONS, given, {
      command: 'isolate',
    })
    const output = new ReportOutput('variations', flags)
    const started = await startOddSession(name, {
      verb: 'isolate',
      fails: 'isolation',
      sent: 'crossed sessions are sent',
      command,
      given,
      targetAllowed: flags.targetAllowed,
      otherHeader: flags.otherHeader,
    })
    const { tape, live, probe, signal } = started
    const result = await isolateTape({
      tape,
      server: live.server,
      bindings: live.bindings,
      probe,
      seed: flags.seed ?? DEFAULT_SEED,
      rounds: flags.rounds ?? DEFAULT_ROUNDS,
      shared: flags.shared ?? [],
      keep: resolve(keep),
      shrinks: true,
      signal,
      onProgress: ({ runs, calls, failures, stage }) =>
        showProgress(`${stage}: order ${runs}, ${calls} calls, ${failures} failed`),
    }).finally(clearProgress)
    const failures: ReportedFailure[] = []
    for (const failure of result.failures) failures.push(await reportFailure(failure, started))
    const isolation = { isWarning: live.url === undefined && flags.strict !== true }
    const report = { ...result, tape: tape.path, failures, isolation }
    await output.write(report, { command: 'isolate' })
    process.exitCode = signal.aborted ? 130 : failures.some((failure) => isFailing(failure, report)) ? 1 : 0
  },
}
