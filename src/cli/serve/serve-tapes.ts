import {
  fixedClock,
  readConfiguredMatching,
  readMatchFlags,
  describeMatchSettings,
  type MatchFlags,
  formatPlayFlags,
  readPlayFlags,
  type PlayFlags,
} from '../options/read-serve-options.ts'
import { colourDriftReport, colourMissReport, ignoreClosedOutput } from '../output/print.ts'
import type { LivePlan, LiveMode, LiveServerFlags } from './live-plan.ts'
import {
  announceTape,
  printServeLine,
  type TapeToServe,
  type ServeHttpFlags,
  type ServeAddresses,
  type RequestedTape,
} from './tapes-to-serve.ts'
import { ReelayError } from '../../errors.ts'
import { clientGoneCheck } from '../../link/process/client-gone.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { missAsText } from '../../match/miss/text.ts'
import { formatDrift, hasDrifted, type Drift } from '../../serve/drift.ts'
import { resolveServer } from '../../serve/playable-tape.ts'
import { reportRedactorFor } from '../../serve/redaction/report-redactor.ts'
import { storedMatchSettings } from '../../serve/serve-options.ts'
import { serveStdio } from '../../serve/serve-stdio.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape } from '../../store/index/indexed-tape.ts'
import { escapeControlChars } from '../../text.ts'

export interface ServeFlags extends PlayFlags, MatchFlags, ServeHttpFlags, LiveServerFlags {
  readonly server?: string
  readonly stdio?: true
  readonly leftovers?: 'fail' | 'note'
  readonly secrets?: string
  readonly mode?: LiveMode
  readonly onMiss?: 'error' | 'passthrough'
}

/** Serves tapes until their clients have left, or a signal comes. Nothing here parses a command line. */
export async function serveTapes(
  wanted: readonly RequestedTape[],
  flags: ServeFlags,
  plan: PlayPlan,
): Promise<void> {
  const tapes: (TapeToServe & ServeAddresses)[] = []
  for (const tape of wanted) tapes.push(await readTapeOptions(tape, flags))
  const signal = abortServeOnSignals()
  const isOverHttp = wanted.some(({ http, sse }) => http !== undefined || sse !== undefined)
  const drift = isOverHttp ? await serveOnHttp(tapes, plan, signal) : await serveOnStdio(tapes, plan, signal)
  const plain = tapes.find(({ tape }) => tape.header.redaction === undefined)
  printServeLine(
    `reelay serve: ${colourDriftReport(formatDrift(drift, plain && reportRedactorFor(plain.tape.header)))}`,
  )
  process.exitCode = signal.reason === 'SIGINT' ? 130 : serveExitCode(drift, flags)
}

async function readTapeOptions(
  { name, ...where }: RequestedTape,
  flags: ServeFlags,
): Promise<TapeToServe & ServeAddresses> {
  const played = await readPlayFlags(flags)
  const tape = await openIndexedTape(resolveTape(name))
  const configured = readConfiguredMatching()
  return {
    ...played,
    secrets: await readServeSecrets(flags),
    ...readMatchFlags(flags),
    ...fixedClock(flags.clock, tape.header),
    flags: formatPlayFlags(flags),
    tape,
    name,
    settings: configured.settings,
    matching: describeMatchSettings(configured, storedMatchSettings(tape), tape.matchFile),
    ...where,
    onMiss: (miss) => printServeLine(colourMissReport(missAsText(miss))),
    onLive: (asked) =>
      printServeLine(escapeControlChars(`reelay serve: goes live: ${describeRequest(asked)}`)),
  }
}

/** Read only when there are any: on a stdio link a client waits. */
export async function readServeSecrets({ secrets }: ServeFlags): Promise<readonly string[]> {
  if (secrets === undefined) return []
  return (await import('../options/value-readers.ts')).readSecretValues({ secrets })
}

type PlayPlan = Exclude<LivePlan, { kind: 'record' }>

/** Loaded only when it is asked for: on a stdio link a client waits. */
async function serveOnHttp(
  tapes: readonly (TapeToServe & ServeAddresses)[],
  plan: PlayPlan,
  signal: AbortSignal,
): Promise<Drift> {
  const { serveTapesOverHttp } = await import('./serve-over-http.ts')
  const [only] = tapes
  if (plan.kind === 'replay' || only === undefined) return serveTapesOverHttp(tapes, signal)
  const server = resolveServer(only.tape, only.server)
  const { openPassthrough, appendNewEpisode } = await import('./serve-live.ts')
  const live = openPassthrough(plan, only)
  const upstream = { upstream: () => live.connectClient() }
  const drift = await serveTapesOverHttp([{ ...only, server, ...upstream }], signal)
  await appendNewEpisode(live, only.tape, server)
  return drift
}

async function serveOnStdio(
  [options]: readonly TapeToServe[],
  plan: PlayPlan,
  signal: AbortSignal,
): Promise<Drift> {
  if (options === undefined) throw new ReelayError('USAGE', 'no tape is named')
  const server = resolveServer(options.tape, options.server)
  announceTape(options, [server])
  const streams = {
    input: process.stdin,
    output: process.stdout,
    signal: AbortSignal.any([signal, abortWhenClientLeaves()]),
  }
  if (plan.kind === 'replay') return serveStdio({ ...options, ...streams })
  const { openPassthrough, appendNewEpisode } = await import('./serve-live.ts')
  const live = openPassthrough(plan, options)
  const drift = await serveStdio({ ...options, upstream: live.connectClient(), ...streams })
  await appendNewEpisode(live, options.tape, server)
  return drift
}

/** Aborts with the name of the signal as its reason. */
export function abortServeOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}

function serveExitCode(drift: Drift, { leftovers }: ServeFlags): 0 | 1 {
  const counted = leftovers === 'note' ? { ...drift, leftOver: [] } : drift
  return hasDrifted(counted) ? 1 : 0
}

/** `reelay serve <tape>`, as most configs of clients have it: the parser of command lines would have nothing to do. */
export async function serveSingleTape(name: string): Promise<void> {
  ignoreClosedOutput()
  await serveTapes([{ name }], {}, { kind: 'replay' })
}

const CLIENT_CHECK_MS = 250

/**
 * Aborts when the client on stdin and stdout is gone for good. Only the end of the input is told to us, and a client may still
 * read what it is owed; but one that was killed does not, and what it is owed may never come.
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
