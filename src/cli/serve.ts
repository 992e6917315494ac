import { existsSync } from 'node:fs'
import { Command, Option } from 'commander'
import { ReelayError } from '../errors.ts'
import { briefRequest } from '../match/brief.ts'
import { missAsText } from '../match/miss-text.ts'
import { isCi } from '../serve/ci.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { screenFor } from '../serve/screen.ts'
import { besideTape } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/stdio.ts'
import { whichServer } from '../serve/which-server.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape } from '../store/indexed-tape.ts'
import { visible } from '../wire/visible.ts'
import { clockFor } from './clock-flag.ts'
import { listenOf } from './listen-address.ts'
import { MODES, planLive, type LivePlan, type Mode } from './live-plan.ts'
import { readLiveTarget, type LiveFlags } from './live-target.ts'
import {
  configuredMatching,
  matchOptionsOf,
  settingsInWords,
  withMatchFlags,
  type MatchFlags,
} from './match-flags.ts'
import { paintDrift, paintMiss } from './paint.ts'
import { playWords } from './play-words.ts'
import { addPlayFlags, playFlags, type PlayFlags } from './play-flags.ts'
import { announce, say, warn, type TapeToServe } from './serve-talk.ts'
import { refuseMisuse, wordsOf } from './serve-words.ts'
import { wantedTapes, type HttpFlags, type Places, type WantedTape } from './wanted-tapes.ts'

export const serveCommand: Command = addPlayFlags(withMatchFlags(new Command('serve')))
  .description('be the recorded server, on stdin and stdout or over HTTP')
  .argument(
    '[tape...]',
    'a tape name, or a path to a tape file; over HTTP several, one port each; without one, the tapes of the project',
  )
  .option('--stdio', 'on stdin and stdout, which is the default')
  .option('--http [host:port]', 'over Streamable HTTP (a free port of 127.0.0.1)', listenOf('--http'))
  .option(
    '--sse [host:port]',
    'over HTTP+SSE, the transport of 2024-11-05; may be given with --http',
    listenOf('--sse'),
  )
  .option(
    '--server <filter>',
    'which server to be, when the tape holds several: its name, * for anything; over HTTP several, each has its path',
  )
  .addOption(
    new Option(
      '--on-miss <what>',
      'what is not on the tape is an error, or goes to the live server: a command behind --, or --url',
    ).choices(['error', 'passthrough']),
  )
  .addOption(
    new Option(
      '--leftovers <policy>',
      'what it means when something recorded is not asked for: exit code 1, or a note',
    ).choices(['fail', 'note']),
  )
  .addOption(
    new Option('--mode <mode>', 'when the live server is recorded; in CI, none by default').choices(MODES),
  )
  .option('--url <url>', 'the live server, where it is not a command behind --')
  .option(
    '--header <header>',
    'a header for every request to --url, as Name: value; ${env.NAME} is read from the environment',
    addHeader,
  )
  .action(async (words: readonly string[], flags: ServeFlags) => {
    const { names, command } = wordsOf(words, process.argv)
    if (words.length === 0 && flags.url === undefined) {
      const { manifestTapes } = await import('./serve-manifest.ts')
      return serve(manifestTapes(flags, process.cwd()), flags, { kind: 'replay' })
    }
    const target = readLiveTarget(command, flags)
    const { mode, onMiss } = flags
    refuseMisuse({ ...flags, names, isLive: (target ?? mode ?? onMiss) !== undefined })
    const path = resolveTape(names[0] ?? '')
    const wishes = { target, ...(mode && { mode }), ...(onMiss && { onMiss }) }
    const plan = planLive({ ...wishes, isTapeThere: existsSync(path), isCi: isCi() })
    if (plan.warning !== undefined) warn(plan.warning)
    const wanted = wantedTapes(names, flags)
    if (plan.kind !== 'record') return serve(wanted, flags, plan)
    const { recordAnew } = await import('./serve-anew.ts')
    const { server } = flags
    const signal = stopOnSignals()
    process.exitCode = await recordAnew({
      path,
      target: plan.target,
      server,
      places: wanted[0] ?? {},
      signal,
    })
  })

function addHeader(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

export interface ServeFlags extends PlayFlags, MatchFlags, HttpFlags, LiveFlags {
  readonly server?: string
  readonly stdio?: true
  readonly leftovers?: 'fail' | 'note'
  readonly mode?: Mode
  readonly onMiss?: 'error' | 'passthrough'
}

async function serve(wanted: readonly WantedTape[], flags: ServeFlags, plan: PlayPlan): Promise<void> {
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
  const { liveBehind } = await import('./serve-live.ts')
  const live = liveBehind(plan, only.tape)
  const drift = await overHttp([{ ...only, server, ...(live && { elsewhere: live.elsewhere }) }], signal)
  await live?.learn(only.tape.path, server)
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
  const live =
    plan.kind === 'passthrough' ? (await import('./serve-live.ts')).liveBehind(plan, options.tape) : undefined
  const streams = { input: process.stdin, output: process.stdout, signal }
  const drift = await serveStdio({ ...options, ...(live && { elsewhere: live.elsewhere() }), ...streams })
  await live?.learn(options.tape.path, server)
  return drift
}

/** Aborts with the name of the signal as its reason. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}

function exitCodeOf(drift: Drift, { leftovers }: ServeFlags): 0 | 1 {
  const counted = leftovers === 'note' ? { ...drift, leftOver: [] } : drift
  return hasDrifted(counted) ? 1 : 0
}
