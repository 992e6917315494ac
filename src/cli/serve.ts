import { Command } from 'commander'
import { missAsText } from '../match/miss-text.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { besideTape } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/stdio.ts'
import { tapeEra } from '../serve/tape-era.ts'
import { whichServer } from '../serve/which-server.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape, type IndexedTape } from '../store/indexed-tape.ts'
import type { TurnKind } from '../tape/turn-store.ts'
import {
  configuredMatching,
  matchOptionsOf,
  settingsInWords,
  withMatchFlags,
  type MatchFlags,
} from './match-flags.ts'
import { paint, paintDrift, paintMiss } from './paint.ts'
import { withoutSecretsOf } from './without-secrets.ts'

export const serveCommand: Command = withMatchFlags(new Command('serve'))
  .description('be the recorded server, on stdin and stdout')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--server <name>', 'which server to be, when the tape holds several')
  .action(async (name: string, { server, ...flags }: ServeFlags) => {
    const tape = await openIndexedTape(resolveTape(name))
    const configured = await configuredMatching()
    const matching = settingsInWords(configured, besideTape(tape), tape.matchFile)
    announce(name, tape, whichServer(tape, server))
    for (const line of matching) say(`reelay serve: ${line}`)
    const shown = withoutSecretsOf(tape.header)
    const signal = stopOnSignals()
    const drift = await serveStdio({
      tape,
      name,
      ...matchOptionsOf(flags),
      settings: configured.settings,
      ...(server !== undefined && { server }),
      input: process.stdin,
      output: process.stdout,
      signal,
      onMiss: (miss) => say(paintMiss(shown(missAsText(miss)))),
    })
    say(`reelay serve: ${paintDrift(shown(driftAsText(drift)))}`)
    process.exitCode = signal.reason === 'SIGINT' ? 130 : exitCodeOf(drift)
  })

interface ServeFlags extends MatchFlags {
  readonly server?: string
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
