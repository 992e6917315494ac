import { existsSync } from 'node:fs'
import { Command, Option } from 'commander'
import { ReelayError } from '../errors.ts'
import { missAsText } from '../match/miss-text.ts'
import { isCi } from '../serve/ci.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { screenFor } from '../serve/screen.ts'
import { besideTape } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/stdio.ts'
import { whichServer } from '../serve/which-server.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape } from '../store/indexed-tape.ts'
import { listenOf } from './listen-address.ts'
import { MODES, planLive, type LivePlan, type Mode } from './live-plan.ts'
import {
  configuredMatching,
  matchOptionsOf,
  settingsInWords,
  withMatchFlags,
  type MatchFlags,
} from './match-flags.ts'
import { paintDrift, paintMiss } from './paint.ts'
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
  .option('--server <name>', 'which server to be, when the tape holds several; over HTTP each has its path')
  .option(
    '--secrets <file>',
    'a vault, or lines NAME=value that only you can read: secrets of the client that no rule can tell',
  )
  .addOption(
    new Option(
      '--on-miss <what>',
      'what is not on the tape is an error, or goes to the live server whose command stands behind --',
    ).choices(['error', 'passthrough']),
  )
  .addOption(
    new Option(
      '--leftovers <policy>',
      'what it means when something recorded is not asked for: exit code 1, or a note',
    ).choices(['fail', 'note']),
  )
  .addOption(
    new Option('--mode <mode>', 'when the live server behind -- is recorded; in CI, none by default').choices(
      MODES,
    ),
  )
  .action(async (words: readonly string[], { mode, onMiss, ...flags }: ServeFlags) => {
    const { names, command } = wordsOf(words, process.argv)
    if (words.length === 0) {
      const { manifestTapes } = await import('./serve-manifest.ts')
      const all = { ...flags, ...(mode && { mode }), ...(onMiss && { onMiss }) }
      return serve(manifestTapes(all, process.cwd()), flags, { kind: 'replay' })
    }
    refuseMisuse({ ...flags, names, command, isLive: mode !== undefined || onMiss !== undefined })
    const [name = ''] = names
    const path = resolveTape(name)
    const wishes = { command, ...(mode && { mode }), ...(onMiss && { onMiss }) }
    const plan = planLive({ ...wishes, isTapeThere: existsSync(path), isCi: isCi() })
    if (plan.warning !== undefined) warn(plan.warning)
    if (plan.kind === 'record') {
      const { recordAnew } = await import('./serve-live.ts')
      process.exitCode = await recordAnew(path, plan, (text) => say(`reelay serve: ${text}`))
      return
    }
    await serve(wantedTapes(names, flags), flags, plan)
  })

export interface ServeFlags extends PlayFlags, MatchFlags, HttpFlags {
  readonly server?: string
  readonly stdio?: true
  readonly leftovers?: 'fail' | 'note'
  readonly secrets?: string
  readonly mode?: Mode
  readonly onMiss?: 'error' | 'passthrough'
}

async function serve(
  wanted: readonly WantedTape[],
  flags: ServeFlags,
  plan: Exclude<LivePlan, { kind: 'record' }>,
): Promise<void> {
  const tapes: (TapeToServe & Places)[] = []
  for (const tape of wanted) tapes.push(await optionsFor(tape, flags))
  const signal = stopOnSignals()
  const isOverHttp = wanted.some(({ http, sse }) => http !== undefined || sse !== undefined)
  const drift = isOverHttp ? await onHttp(tapes, signal) : await onStdio(tapes, plan, signal)
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
    tape,
    name,
    settings: configured.settings,
    matching: settingsInWords(configured, besideTape(tape), tape.matchFile),
    ...where,
    onMiss: (miss) => say(paintMiss(missAsText(miss))),
  }
}

/** Read only when there are any: on a stdio link a client waits. */
async function secretsIn({ secrets }: ServeFlags): Promise<readonly string[]> {
  if (secrets === undefined) return []
  return (await import('./replay/secrets.ts')).readSecrets({ secrets })
}

/** Loaded only when it is asked for: on a stdio link a client waits. */
async function onHttp(tapes: readonly (TapeToServe & Places)[], signal: AbortSignal): Promise<Drift> {
  const { overHttp } = await import('./serve-over-http.ts')
  return overHttp(tapes, signal)
}

async function onStdio(
  [options]: readonly TapeToServe[],
  plan: Exclude<LivePlan, { kind: 'record' }>,
  signal: AbortSignal,
): Promise<Drift> {
  if (options === undefined) throw new ReelayError('USAGE', 'no tape is named')
  const role = whichServer(options.tape, options.server)
  announce(options, [role])
  const live = plan.kind === 'passthrough' ? (await import('./serve-live.ts')).liveBehind(plan) : undefined
  if (live) warn('what is not on the tape goes to the live server')
  const elsewhere = live && { elsewhere: live.elsewhere }
  const drift = await serveStdio({
    ...options,
    ...elsewhere,
    input: process.stdin,
    output: process.stdout,
    signal,
  })
  const learned = (await live?.learn(options.tape.path, role)) ?? 0
  if (learned > 0)
    say(`reelay serve: the tape has a new episode of ${learned} ${learned === 1 ? 'message' : 'messages'}`)
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
