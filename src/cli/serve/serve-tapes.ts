import { colourDriftReport, colourMissReport, ignoreClosedOutput } from '../output/print.ts'
import { announceConfig } from '../options/config-options.ts'
import { usageError } from '../options/option.ts'
import type { ServeFlags } from '../options/serve-options.ts'
import { abortOnSignals } from '../signals.ts'
import type { LivePlan } from './live-plan.ts'
import { describeMatchSettings, fixedClock, readConfiguredMatching, readPlayOptions } from './play-options.ts'
import {
  announceEndpoints,
  announceSoon,
  announceTape,
  printServeLine,
  printServeNote,
  printServeWarning,
  type TapeToServe,
  type ServeAddresses,
  type RequestedTape,
  printServeConfig,
} from './tapes-to-serve.ts'
import { clientEntry } from '../reelay-command.ts'
import { clientGoneCheck } from '../../link/process/client-gone.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { missAsText } from '../../match/miss/report.ts'
import type { ServedHttp, ServeHttpOptions } from '../../serve/http/serve-http.ts'
import {
  appendReplayReport,
  replayedSession,
  reportMiss,
  REPORT_VARIABLE,
  reportSessionStart,
  formatDrift,
  hasDrifted,
  sumServerDrifts,
  type Drift,
} from '../../serve/drift.ts'
import { resolveServer, tapeOfNthSession } from '../../serve/playable-tape.ts'
import { createThrowawayRedactor, reportRedactorFor } from '../../serve/redaction/report-redactor.ts'
import { storedMatchSettings, type ServeOptions } from '../../serve/serve-options.ts'
import { OrderCheck } from '../../serve/request-order.ts'
import { serveStdio } from '../../serve/serve-stdio.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape } from '../../store/index/indexed-tape.ts'
import { turnStoreOf, type Turn, type TurnStore } from '../../tape/turns.ts'
import { escapeControlChars } from '../../text.ts'

/** Serves tapes until their clients have left or a signal arrives. `words` are the options that suggested commands repeat. */
export async function serveTapes(
  requested: readonly RequestedTape[],
  { flags, words, plan }: { flags: ServeFlags; words: readonly string[]; plan: PlayPlan },
): Promise<void> {
  const tapes = await openTapes(requested, flags, words)
  const signal = abortOnSignals()
  const isOverHttp = requested.some(({ http, sse }) => http !== undefined || sse !== undefined)
  const order = new OrderCheck()
  const watched = tapes.map((tape) => ({ ...tape, onPlayed: (turn: Turn) => order.add(turn) }))
  const drift = isOverHttp
    ? await serveOnHttp(watched, plan, signal)
    : await serveOnStdio(watched, plan, signal)
  const [first] = tapes
  const played =
    first === undefined || isOverHttp ? (first?.name ?? '') : resolveServer(first.tape, first.server)
  appendReplayReport(replayedSession(played, drift, order.problems))
  const plain = tapes.find(({ tape }) => tape.header.redaction === undefined)
  if (!isForTest())
    printServeNote(colourDriftReport(formatDrift(drift, plain && reportRedactorFor(plain.tape.header))))
  process.exitCode = signal.reason === 'SIGINT' ? 130 : serveExitCode(drift, flags)
}

async function openTapes(
  requested: readonly RequestedTape[],
  flags: ServeFlags,
  words: readonly string[],
): Promise<readonly (TapeToServe & ServeAddresses)[]> {
  const options = await readPlayOptions(flags)
  const configured = readConfiguredMatching(flags)
  const tapes: (TapeToServe & ServeAddresses)[] = []
  for (const { name, ...where } of requested) {
    const tape = await openIndexedTape(resolveTape(name))
    await warnAboutUnmatched(turnStoreOf(tape.turns), flags, options.faults)
    tapes.push({
      ...options,
      ...fixedClock(flags.clock, tape.header),
      flags: words,
      tape,
      name,
      settings: configured.settings,
      matching: describeMatchSettings(configured, storedMatchSettings(tape), tape.matchFile),
      ...where,
      ...(isForTest()
        ? // The runner reports misses at the end of the test, and says how its tapes are recorded again.
          { onMiss: reportMiss, commandFor: () => undefined, recordCommand: () => undefined }
        : { onMiss: (miss) => printServeLine(colourMissReport(missAsText(miss))) }),
      onLive: (request) => printServeNote(escapeControlChars(`goes live: ${describeRequest(request)}`)),
    })
  }
  return tapes
}

/** Options that match nothing are most often misspelled. */
async function warnAboutUnmatched(
  turns: TurnStore,
  flags: ServeFlags,
  faults: ServeOptions['faults'],
): Promise<void> {
  const found: string[] = []
  if (faults !== undefined) {
    const { toFaultRules, unmatchedFaults } = await import('../../faults/fault-rules.ts')
    found.push(...unmatchedFaults(toFaultRules(faults), turns))
  }
  if (flags.rules !== undefined || flags.ignore !== undefined) {
    const { unmatchedRules } = await import('../../serve/stored-rules.ts')
    found.push(...unmatchedRules(turns, flags))
  }
  for (const text of found) printServeWarning(escapeControlChars(text))
}

type PlayPlan = Exclude<LivePlan, { kind: 'record' }>

async function serveOnHttp(
  tapes: readonly (TapeToServe & ServeAddresses)[],
  plan: PlayPlan,
  signal: AbortSignal,
): Promise<Drift> {
  const [only] = tapes
  if (plan.kind === 'replay' || only === undefined) return serveUntilSignal(tapes, signal)
  const server = resolveServer(only.tape, only.server)
  const { openPassthrough, appendNewEpisode } = await import('./live-server.ts')
  const live = openPassthrough(plan, only)
  const drift = await serveUntilSignal([{ ...only, server, upstream: () => live.connectClient() }], signal)
  await appendNewEpisode(live, only.tape, server)
  return drift
}

/** Serves until a signal, because a server over HTTP cannot know when its last client has left. */
async function serveUntilSignal(
  tapes: readonly (TapeToServe & ServeAddresses & Pick<ServeHttpOptions, 'upstream'>)[],
  signal: AbortSignal,
): Promise<Drift> {
  const { serveHttp } = await import('../../serve/http/serve-http.ts') // on demand, because a client on stdio is waiting
  const served: ServedHttp[] = []
  try {
    for (const options of tapes) {
      const one = await serveHttp(options)
      served.push(one)
      announceTape(options, [...new Set(one.endpoints.map(({ server }) => server))])
    }
    announceEndpoints(
      served.map((each, at) => ({ ...each, name: tapes.length > 1 ? tapes[at]?.name : undefined })),
    )
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return sumServerDrifts(served.map((each) => each.drift()))
  } finally {
    await Promise.all(served.map((each) => each.close()))
  }
}

async function serveOnStdio(
  [given]: readonly TapeToServe[],
  plan: PlayPlan,
  signal: AbortSignal,
): Promise<Drift> {
  if (given === undefined) throw usageError('no tape is given', 'see reelay serve --help')
  const server = resolveServer(given.tape, given.server)
  if (!isForTest())
    announceSoon(() => {
      announceTape(given, [server])
      printServeConfig(server, clientEntry(shownArguments()))
    })
  // A client may kill the server at the end, and `reelay run` has to know that it was played.
  const nth = reportSessionStart(server)
  const streams = {
    input: process.stdin,
    output: process.stdout,
    signal: AbortSignal.any([signal, abortWhenClientLeaves()]),
  }
  const tape = isForTest() ? tapeOfNthSession(given.tape, server, nth) : given.tape
  const options = { ...given, tape }
  if (plan.kind === 'replay') return serveStdio({ ...options, ...streams })
  const { openPassthrough, appendNewEpisode } = await import('./live-server.ts')
  const live = openPassthrough(plan, options)
  const drift = await serveStdio({ ...options, upstream: live.connectClient(), ...streams })
  await appendNewEpisode(live, options.tape, server)
  return drift
}

/** A test runner reports what differs in all sessions of a test together. */
function isForTest(): boolean {
  return process.env[REPORT_VARIABLE] !== undefined
}

function serveExitCode(drift: Drift, { leftovers }: ServeFlags): 0 | 1 {
  const counted = leftovers === 'note' ? { ...drift, leftOver: [] } : drift
  return hasDrifted(counted) ? 1 : 0
}

/** `reelay serve <tape>`, as most client configs have it, without loading the command-line parser. */
export async function serveSingleTape(name: string): Promise<void> {
  ignoreClosedOutput()
  announceConfig({}, 'ignore')
  await serveTapes([{ name }], { flags: {}, words: [], plan: { kind: 'replay' } })
}

/** The arguments without secrets, which can only be in options: a redactor would delay the first response. */
function shownArguments(): readonly string[] {
  const words = process.argv.slice(2)
  return words.some((word) => word.startsWith('-')) ? createThrowawayRedactor().command(words) : words
}

const CLIENT_CHECK_MS = 250

/**
 * Aborts when the client on stdin and stdout is gone. The end of the input is not enough: a client may close it and still read
 * responses. A client that was killed reads nothing more, and the run must not wait for it.
 */
export function abortWhenClientLeaves(): AbortSignal {
  const left = new AbortController()
  const isGone = clientGoneCheck()
  process.stdin.once('end', () => {
    const timer = setInterval(() => {
      if (!isGone()) return
      clearInterval(timer)
      left.abort('the client is gone')
    }, CLIENT_CHECK_MS)
    timer.unref()
  })
  return left.signal
}
