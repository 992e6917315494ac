import { ReelayError } from '../errors.ts'
import { briefRequest } from '../match/brief.ts'
import { missAsText } from '../match/miss-text.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { screenFor } from '../serve/screen.ts'
import { besideTape } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/stdio.ts'
import { whichServer } from '../serve/which-server.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape } from '../store/indexed-tape.ts'
import { visible } from '../wire/visible.ts'
import { clientLeft } from './client-left.ts'
import { clockFor } from './clock-flag.ts'
import type { LivePlan, Mode } from './live-plan.ts'
import type { LiveFlags } from './live-target.ts'
import { configuredMatching, matchOptionsOf, settingsInWords, type MatchFlags } from './matching-in-force.ts'
import { paintDrift, paintMiss } from './paint.ts'
import { playWords } from './play-words.ts'
import { playFlags, type PlayFlags } from './playing-in-force.ts'
import { announce, say, type TapeToServe } from './serve-talk.ts'
import type { HttpFlags, Places, WantedTape } from './wanted-tapes.ts'

export interface ServeFlags extends PlayFlags, MatchFlags, HttpFlags, LiveFlags {
  readonly server?: string
  readonly stdio?: true
  readonly leftovers?: 'fail' | 'note'
  readonly secrets?: string
  readonly mode?: Mode
  readonly onMiss?: 'error' | 'passthrough'
}

/** Serves tapes until their clients have left, or a signal comes. Nothing here parses a command line. */
export async function serveTapes(
  wanted: readonly WantedTape[],
  flags: ServeFlags,
  plan: PlayPlan,
): Promise<void> {
  const tapes: (TapeToServe & Places)[] = []
  for (const tape of wanted) tapes.push(await optionsFor(tape, flags))
  const signal = stopOnSignals()
  const isOverHttp = wanted.some(({ http, sse }) => http !== undefined || sse !== undefined)
  const drift = isOverHttp ? await onHttp(tapes, plan, signal) : await onStdio(tapes, plan, signal)
  const plain = tapes.find(({ tape }) => tape.header.redaction === undefined)
  say(`reelay serve: ${paintDrift(driftAsText(drift, plain && screenFor(plain.tape.header)))}`)
  process.exitCode = signal.reason === 'SIGINT' ? 130 : exitCodeOf(drift, flags)
}

async function optionsFor({ name, ...where }: WantedTape, flags: ServeFlags): Promise<TapeToServe & Places> {
  const played = await playFlags(flags)
  const tape = await openIndexedTape(resolveTape(name))
  const configured = configuredMatching()
  return {
    ...played,
    secrets: await secretsIn(flags),
    ...matchOptionsOf(flags),
    ...clockFor(flags.clock, tape.header),
    flags: playWords(flags),
    tape,
    name,
    settings: configured.settings,
    matching: settingsInWords(configured, besideTape(tape), tape.matchFile),
    ...where,
    onMiss: (miss) => say(paintMiss(missAsText(miss))),
    onLive: (asked) => say(visible(`reelay serve: goes live: ${briefRequest(asked)}`)),
  }
}

/** Read only when there are any: on a stdio link a client waits. */
export async function secretsIn({ secrets }: ServeFlags): Promise<readonly string[]> {
  if (secrets === undefined) return []
  return (await import('./replay/secrets.ts')).readSecrets({ secrets })
}

type PlayPlan = Exclude<LivePlan, { kind: 'record' }>

/** Loaded only when it is asked for: on a stdio link a client waits. */
async function onHttp(
  tapes: readonly (TapeToServe & Places)[],
  plan: PlayPlan,
  signal: AbortSignal,
): Promise<Drift> {
  const { overHttp } = await import('./serve-over-http.ts')
  const [only] = tapes
  if (plan.kind === 'replay' || only === undefined) return overHttp(tapes, signal)
  const server = whichServer(only.tape, only.server)
  const { liveBehind, learn } = await import('./serve-live.ts')
  const live = liveBehind(plan, only)
  const elsewhere = { elsewhere: () => live.another() }
  const drift = await overHttp([{ ...only, server, ...elsewhere }], signal)
  await learn(live, only.tape, server)
  return drift
}

async function onStdio(
  [options]: readonly TapeToServe[],
  plan: PlayPlan,
  signal: AbortSignal,
): Promise<Drift> {
  if (options === undefined) throw new ReelayError('USAGE', 'no tape is named')
  const server = whichServer(options.tape, options.server)
  announce(options, [server])
  const streams = {
    input: process.stdin,
    output: process.stdout,
    signal: AbortSignal.any([signal, clientLeft()]),
  }
  if (plan.kind === 'replay') return serveStdio({ ...options, ...streams })
  const { liveBehind, learn } = await import('./serve-live.ts')
  const live = liveBehind(plan, options)
  const drift = await serveStdio({ ...options, elsewhere: live.another(), ...streams })
  await learn(live, options.tape, server)
  return drift
}

/** Aborts with the name of the signal as its reason. */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}

function exitCodeOf(drift: Drift, { leftovers }: ServeFlags): 0 | 1 {
  const counted = leftovers === 'note' ? { ...drift, leftOver: [] } : drift
  return hasDrifted(counted) ? 1 : 0
}
