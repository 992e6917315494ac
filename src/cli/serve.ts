import { existsSync } from 'node:fs'
import { Command, Option } from 'commander'
import { ReelayError } from '../errors.ts'
import { missAsText } from '../match/miss-text.ts'
import { isCi } from '../serve/ci.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { besideTape } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/stdio.ts'
import { tapeEra } from '../serve/tape-era.ts'
import { whichServer } from '../serve/which-server.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape, type IndexedTape } from '../store/indexed-tape.ts'
import type { TurnKind } from '../tape/turn-store.ts'
import { MODES, planLive, type LivePlan, type Mode } from './live-plan.ts'
import {
  configuredMatching,
  matchOptionsOf,
  settingsInWords,
  withMatchFlags,
  type MatchFlags,
} from './match-flags.ts'
import { paint, paintDrift, paintMiss } from './paint.ts'
import { addPlayFlags, playFlags, type PlayFlags } from './play-flags.ts'

export const serveCommand: Command = addPlayFlags(withMatchFlags(new Command('serve')))
  .description('be the recorded server, on stdin and stdout')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--server <name>', 'which server to be, when the tape holds several')
  .argument('[command...]', 'a live server, behind --, for --on-miss passthrough and --mode')
  .addOption(
    new Option('--on-miss <what>', 'what is not on the tape is an error, or goes to the live server').choices(
      ['error', 'passthrough'],
    ),
  )
  .addOption(
    new Option('--mode <mode>', 'when the live server is recorded; in CI, none by default').choices(MODES),
  )
  .action(async (name: string, command: readonly string[], { mode, onMiss, ...flags }: ServeFlags) => {
    if (command.length > 0 && !process.argv.includes('--')) throw extraWords(command)
    const path = resolveTape(name)
    const wishes = { command, ...(mode && { mode }), ...(onMiss && { onMiss }) }
    const plan = planLive({ ...wishes, isTapeThere: existsSync(path), isCi: isCi() })
    if (plan.warning !== undefined) warn(plan.warning)
    if (plan.kind === 'record') {
      const { recordAnew } = await import('./serve-live.ts')
      process.exitCode = await recordAnew(path, plan, (text) => say(`reelay serve: ${text}`))
      return
    }
    await serve(name, flags, plan)
  })

async function serve(
  name: string,
  { server, ...flags }: ServeFlags,
  plan: Exclude<LivePlan, { kind: 'record' }>,
): Promise<void> {
  const played = await playFlags(flags)
  const tape = await openIndexedTape(resolveTape(name))
  const configured = await configuredMatching()
  const matching = settingsInWords(configured, besideTape(tape), tape.matchFile)
  const role = whichServer(tape, server)
  announce(name, tape, role)
  for (const line of matching) say(`reelay serve: ${line}`)
  const live = plan.kind === 'passthrough' ? (await import('./serve-live.ts')).liveBehind(plan) : undefined
  if (live) warn('what is not on the tape goes to the live server')
  const signal = stopOnSignals()
  const drift = await serveStdio({
    tape,
    name,
    ...matchOptionsOf(flags),
    settings: configured.settings,
    ...played,
    ...(server !== undefined && { server }),
    ...(live && { elsewhere: live.elsewhere }),
    input: process.stdin,
    output: process.stdout,
    signal,
    onMiss: (miss) => say(paintMiss(missAsText(miss))),
  })
  const learned = (await live?.learn(tape.path, role)) ?? 0
  if (learned > 0) say(`reelay serve: the tape has a new episode of ${learned} messages`)
  say(`reelay serve: ${paintDrift(driftAsText(drift))}`)
  process.exitCode = signal.reason === 'SIGINT' ? 130 : exitCodeOf(drift)
}

interface ServeFlags extends PlayFlags, MatchFlags {
  readonly server?: string
  readonly mode?: Mode
  readonly onMiss?: 'error' | 'passthrough'
}

/** A word too many must not start a process. */
function extraWords(words: readonly string[]): ReelayError {
  return new ReelayError('USAGE', `too many arguments: ${words.join(' ')}`, {
    hint: 'one tape at a time; the command of a live server stands behind --',
  })
}

function announce(name: string, tape: IndexedTape, server: string): void {
  const kinds = tape.turns.kinds().filter((kind) => kind.trigger === 'request' && kind.server === server)
  const { era, version } = tapeEra(tape.turns, server)
  const spoken =
    era === undefined ? 'era unknown' : [era, version].filter((word) => word !== undefined).join(' ')
  const exchanges = kinds.reduce((sum, { count }) => sum + count, 0)
  say(`reelay serve: ${name}, ${exchanges} ${exchanges === 1 ? 'exchange' : 'exchanges'}, ${spoken}`)
  for (const { line, why } of tape.problems.slice(0, WARNINGS)) warn(`line ${line} of the tape: ${why}`)
  if (tape.problems.length > WARNINGS)
    warn(`${tape.problems.length - WARNINGS} more lines of the tape cannot be read`)
  if (!tape.ended) warn('the tape has no end: it was cut off, or is still being recorded')
  if (isProbe(kinds))
    warn(
      'the tape holds nothing but a probe (server/discover): the session that followed has a tape of its own',
    )
}

const WARNINGS = 5

/** SDK clients that negotiate start the server twice: once to ask what it speaks, once for the session. */
function isProbe(kinds: readonly TurnKind[]): boolean {
  return kinds.length === 1 && kinds[0]?.method === 'server/discover'
}

/** Aborts with the name of the signal as its reason. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}

function exitCodeOf(drift: Drift): 0 | 1 {
  return hasDrifted(drift) ? 1 : 0
}

function warn(text: string): void {
  say(`reelay serve: ${paint('yellow', 'warning:')} ${text}`)
}

// stdout is the protocol's alone.
function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
