import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { parseIgnored } from '../match/key.ts'
import { missAsText } from '../match/miss-text.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { serveStdio } from '../serve/stdio.ts'
import { whichServer } from '../serve/which-server.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape } from '../store/read.ts'
import { paintDrift, paintMiss } from './paint.ts'
import { listenOf, overHttp, type HttpFlags } from './serve-over-http.ts'
import { announce, say, type TapeToServe } from './serve-talk.ts'

export const serveCommand: Command = new Command('serve')
  .description('be the recorded server, on stdin and stdout or over HTTP')
  .argument('<tape...>', 'a tape name, or a path to a tape file; over HTTP several, one port each')
  .option('--stdio', 'on stdin and stdout, which is the default')
  .option('--http [host:port]', 'over Streamable HTTP (a free port of 127.0.0.1)', listenOf('--http'))
  .option(
    '--sse [host:port]',
    'over HTTP+SSE, the transport of 2024-11-05; may be given with --http',
    listenOf('--sse'),
  )
  .option('--ignore <path>', 'do not compare this part of a request; may be repeated', addIgnored)
  .option('--permissive', 'repeat the last answer when a request is asked more often than it was recorded')
  .option('--server <name>', 'which server to be, when the tape holds several; over HTTP each has its path')
  .action(async (names: readonly string[], flags: ServeFlags) => {
    refuseMisuse(names, flags)
    const tapes: TapeToServe[] = []
    for (const name of names) tapes.push(await optionsFor(name, flags))
    const signal = stopOnSignals()
    const isOverHttp = flags.http !== undefined || flags.sse !== undefined
    const drift = isOverHttp ? await overHttp(tapes, flags, signal) : await onStdio(tapes, signal)
    say(`reelay serve: ${paintDrift(driftAsText(drift))}`)
    process.exitCode = signal.reason === 'SIGINT' ? 130 : exitCodeOf(drift)
  })

interface ServeFlags extends HttpFlags {
  readonly ignore?: readonly string[]
  readonly permissive?: boolean
  readonly server?: string
  readonly stdio?: true
}

function refuseMisuse({ length }: readonly string[], { stdio, http, sse }: ServeFlags): void {
  const isOverHttp = http !== undefined || sse !== undefined
  if (isOverHttp && stdio)
    throw new ReelayError('USAGE', '--stdio goes with neither --http nor --sse', {
      hint: 'start it once for each, or leave --stdio out',
    })
  if (!isOverHttp && length > 1)
    throw new ReelayError('USAGE', `${length} tapes cannot be served on one stdin and stdout`, {
      hint: 'add --http, and each has a port of its own',
    })
}

async function optionsFor(
  name: string,
  { ignore = [], permissive = false, server }: ServeFlags,
): Promise<TapeToServe> {
  return {
    tape: await loadTape(resolveTape(name)),
    name,
    ignore,
    permissive,
    ...(server !== undefined && { server }),
    onMiss: (miss) => say(paintMiss(missAsText(miss))),
  }
}

async function onStdio(tapes: readonly TapeToServe[], signal: AbortSignal): Promise<Drift> {
  const [options] = tapes
  if (options === undefined) throw new ReelayError('USAGE', 'no tape is named')
  announce(options, [whichServer(options.tape, options.server)])
  return serveStdio({ ...options, input: process.stdin, output: process.stdout, signal })
}

function addIgnored(path: string, before: readonly string[] = []): readonly string[] {
  parseIgnored([path])
  return [...before, path]
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
