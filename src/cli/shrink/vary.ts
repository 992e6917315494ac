import { resolve } from 'node:path'
import { requireAllowedTarget, seedOption } from '../options/live-options.ts'
import {
  inGroup,
  option,
  readOptions,
  type GivenOptions,
  type OptionRow,
  type OptionRows,
  type OptionTable,
} from '../options/option.ts'
import {
  countValue,
  durationValue,
  fileValue,
  nameList,
  switchOff,
  switchOn,
} from '../options/option-types.ts'
import { REPLAY_OPTIONS, type ReplayFlags } from '../options/replay-options.ts'
import { jsonOption } from '../options/shared-options.ts'
import { clearProgress, showProgress, showTapeReading } from '../output/progress.ts'
import { ReportOutput, reportOptions, type ReportFlags } from '../output/reports.ts'
import { REPLAY_ARGUMENTS } from '../replay/replay.ts'
import { FoldedStderr } from '../replay/replay-target.ts'
import { abortOnSignals } from '../signals.ts'
import type { CommandDefinition } from '../command.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { isFailing, type ReportedFailure } from '../../report/failures/variations.ts'
import { DEFAULT_SEED } from '../../seeded-random.ts'
import { tellStory } from '../../shrink/capsule.ts'
import { writingTools } from '../../shrink/failing-session.ts'
import { loadTape, type Tape } from '../../store/file/read.ts'
import { resolveTape } from '../../store/home.ts'
import type { ServerProbe } from '../../shrink/prober.ts'
import type { VariedFailure } from '../../vary/session-runner.ts'
import { varyTape } from '../../vary/vary.ts'
import {
  createProbe,
  readLiveFlags,
  rerunLine,
  serverText,
  SHARED_LIVE_OPTIONS,
  writeCapsules,
} from './shrink.ts'

interface VaryFlags extends ReportFlags {
  readonly seed?: number
  readonly variations?: number
  readonly calls?: number
  readonly for?: number
  readonly failures?: number
  readonly probes?: true
  readonly shrink?: boolean
  readonly keep?: string
  readonly targetAllowed?: readonly string[]
  readonly json?: true
}

const DEFAULT_VARIATIONS = 300
const DEFAULT_TIME_MS = 60_000
const DEFAULT_FAILURES = 10
const DEFAULT_KEEP = 'vary-failures'

const PROBE_TIMEOUT_MS = 10_000

/** The hosts besides this machine that may be attacked. */
export const targetAllowedOption: OptionRow<readonly string[]> = option(
  '--target-allowed <hosts>',
  nameList,
  'Send odd calls to these hosts too; without this option only to this machine (repeatable)',
  { needs: { url: true }, group: 'Live server' },
)

const VARY_ONLY_OPTIONS: OptionTable<VaryFlags> & OptionRows = {
  ...inGroup('Variations', {
    variations: option('--variations <n>', countValue(), 'Run at most this many variations', {
      default: String(DEFAULT_VARIATIONS),
    }),
    calls: option('--calls <n>', countValue(), 'Send at most this many calls', { default: 'no limit' }),
    for: option(
      '--for <time>',
      durationValue('s', 1),
      'Vary for at most this long; shrinking takes up to 30 s more for each failure',
      { default: '60s' },
    ),
    failures: option('--failures <n>', countValue(), 'Stop after this many failures', {
      default: String(DEFAULT_FAILURES),
    }),
    seed: seedOption,
    probes: option(
      '--probes',
      switchOn,
      'Also try attacks: paths and URLs in arguments that look like them, oversized texts, orders to a model; over HTTP, headers of other sites and chosen session ids',
    ),
  }),
  targetAllowed: targetAllowedOption,
  ...inGroup('Output', {
    shrink: option('--no-shrink', switchOff, 'Keep the whole variation, and write no capsules'),
    keep: option('--keep <folder>', fileValue, 'Write the tapes and capsules of failures to this folder', {
      default: DEFAULT_KEEP,
    }),
    ...reportOptions('variations'),
    json: jsonOption,
  }),
}

export const varyCommand: CommandDefinition = {
  name: 'vary',
  usage: '[options] <tape> -- <server command…>\n       reelay vary [options] <tape> --url <url>',
  arguments: REPLAY_ARGUMENTS,
  options: {
    ...VARY_ONLY_OPTIONS,
    ...SHARED_LIVE_OPTIONS,
    verbose: { ...REPLAY_OPTIONS.verbose, help: 'Show the stderr of the server', group: 'Output' },
  },
  common: 'variations for failures seed probes url allow allowWrites beforeRun keep report json'.split(' '),
  run: async ([name = '', ...command], given) => {
    const {
      keep = DEFAULT_KEEP,
      shrink = true,
      ...flags
    } = readOptions<VaryFlags>(VARY_ONLY_OPTIONS, given, {
      command: 'vary',
    })
    const output = new ReportOutput('variations', flags)
    const started = await startOddSession(name, {
      verb: 'vary',
      fails: 'crash',
      sent: 'variations are sent',
      command,
      given,
      targetAllowed: flags.targetAllowed,
    })
    const { tape, live, probe, signal } = started
    const result = await varyTape({
      tape,
      server: live.server,
      bindings: live.bindings,
      probe,
      seed: flags.seed ?? DEFAULT_SEED,
      maxRuns: flags.variations ?? DEFAULT_VARIATIONS,
      maxCalls: flags.calls ?? Infinity,
      maxMs: flags.for ?? DEFAULT_TIME_MS,
      maxFailures: flags.failures ?? DEFAULT_FAILURES,
      keep: resolve(keep),
      shrinks: shrink,
      ...(flags.probes && {
        probes: {
          server: live.url && { url: live.url, headers: live.header ?? [], timeoutMs: PROBE_TIMEOUT_MS },
        },
      }),
      signal,
      onProgress: ({ runs, calls, failures, stage }) =>
        showProgress(`${stage}: variation ${runs}, ${calls} calls, ${failures} failed`),
    }).finally(clearProgress)
    const failures: ReportedFailure[] = []
    for (const failure of result.failures) failures.push(await reportFailure(failure, started))
    const report = { ...result, tape: tape.path, failures }
    await output.write(report, { command: 'vary' })
    process.exitCode = signal.aborted ? 130 : failures.some((failure) => isFailing(failure, report)) ? 1 : 0
  },
}

/** How a command was started. */
interface StartedRun {
  readonly tape: Tape
  readonly command: readonly string[]
  readonly live: ReplayFlags
  readonly given: GivenOptions
}

interface OddSession extends StartedRun {
  readonly probe: ServerProbe
  readonly signal: AbortSignal
}

interface OddSessionOptions extends Pick<StartedRun, 'command' | 'given'> {
  readonly verb: 'vary' | 'isolate'
  readonly fails: string
  /** Completes an error: such as `variations are sent`. */
  readonly sent: string
  readonly targetAllowed: readonly string[] | undefined
  readonly otherHeader?: readonly AddedHeader[] | undefined
}

/** Opens the tape, and the server if it may get odd calls. */
export async function startOddSession(
  name: string,
  { verb, sent, fails, targetAllowed, otherHeader, command, given }: OddSessionOptions,
): Promise<OddSession> {
  const live = readLiveFlags(verb, given)
  requireAllowedTarget(live.url, { allowed: targetAllowed, what: sent, may: 'test it' })
  const signal = abortOnSignals()
  const stderr = new FoldedStderr(live.verbose === true)
  showTapeReading()
  const tape = await loadTape(resolveTape(name), 'server')
  const probe = createProbe({ fails, command, live, otherHeader, signal, stderr, header: tape.header })
  if (probe.kind !== 'server') throw new Error(`reelay ${verb} needs a server`)
  return { tape, command, live, given, probe, signal }
}

/** Tells the story of a failure, and writes its capsules if it was shrunk. */
export async function reportFailure(
  failure: VariedFailure,
  { tape, command, live, given }: StartedRun,
): Promise<ReportedFailure> {
  const { path, shrunk, fails, summary } = failure
  if (path === undefined) return { ...failure, story: [], capsules: [], rerun: undefined }
  const small = await loadTape(path)
  const story = tellStory(small.turns, summary)
  const writes = await writingTools(small, { tape, server: live.server })
  const server = serverText(command, live)
  const capsules = shrunk === undefined ? [] : await writeCapsules(shrunk, { fails, story, server, writes })
  const [capsule] = capsules
  const words = capsule === undefined ? ['shrink', path, '--fails', fails] : ['capsule', 'run', capsule]
  return { ...failure, story, capsules, rerun: rerunLine(words, { writes, command, given }) }
}
