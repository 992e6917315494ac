import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { parseIgnored } from '../match/key.ts'
import { missAsText } from '../match/miss-text.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { serveHttp, type ServeHttpOptions } from '../serve/http/serve-http.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/stdio.ts'
import { serverNames, whichServer } from '../serve/which-server.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape } from '../store/read.ts'
import { readListen } from './listen-address.ts'
import { paintDrift, paintMiss } from './paint.ts'
import { announce, say, sayWhere } from './serve-talk.ts'

export const serveCommand: Command = new Command('serve')
  .description('be the recorded server, on stdin and stdout or over HTTP')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--stdio', 'on stdin and stdout, which is the default')
  .option('--http [host:port]', 'over Streamable HTTP (a free port of 127.0.0.1)')
  .option('--sse [host:port]', 'over HTTP+SSE, the transport of 2024-11-05; may be given with --http')
  .option('--ignore <path>', 'do not compare this part of a request; may be repeated', addIgnored)
  .option('--permissive', 'repeat the last answer when a request is asked more often than it was recorded')
  .option('--server <name>', 'which server to be, when the tape holds several; over HTTP each has its path')
  .action(async (name: string, flags: ServeFlags) => {
    const places = placesIn(flags)
    const { ignore = [], permissive = false, server } = flags
    const tape = await loadTape(resolveTape(name))
    const options: ServeOptions = {
      tape,
      name,
      ignore,
      permissive,
      ...(server !== undefined && { server }),
      onMiss: (miss) => say(paintMiss(missAsText(miss))),
    }
    const signal = stopOnSignals()
    const drift =
      places === undefined ? await onStdio(options, signal) : await overHttp(options, places, signal)
    say(`reelay serve: ${paintDrift(driftAsText(drift))}`)
    process.exitCode = signal.reason === 'SIGINT' ? 130 : exitCodeOf(drift)
  })

interface ServeFlags {
  readonly ignore?: readonly string[]
  readonly permissive?: boolean
  readonly server?: string
  readonly stdio?: true
  /** True without an address. */
  readonly http?: string | true
  readonly sse?: string | true
}

type Places = Pick<ServeHttpOptions, 'http' | 'sse'>

/** Where to listen; undefined for stdio. */
function placesIn({ stdio, http, sse }: ServeFlags): Places | undefined {
  if (http === undefined && sse === undefined) return undefined
  if (stdio)
    throw new ReelayError('USAGE', '--stdio goes with neither --http nor --sse', {
      hint: 'start it once for each, or leave --stdio out',
    })
  const placeOf = (given: string | true, option: string): ServeHttpOptions['http'] & object =>
    given === true ? {} : readListen(given, option)
  return {
    ...(http !== undefined && { http: placeOf(http, '--http') }),
    ...(sse !== undefined && { sse: placeOf(sse, '--sse') }),
  }
}

async function onStdio(options: ServeOptions, signal: AbortSignal): Promise<Drift> {
  const { tape, server } = options
  announce(options, [whichServer(tape, server)])
  return serveStdio({ ...options, input: process.stdin, output: process.stdout, signal })
}

/** Until a signal ends it: a server over HTTP cannot know when its last client has left. */
async function overHttp(options: ServeOptions, places: Places, signal: AbortSignal): Promise<Drift> {
  const { tape, server } = options
  const served = await serveHttp({ ...options, ...places })
  announce(options, server === undefined ? serverNames(tape) : [server])
  sayWhere(served)
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  const drift = served.drift()
  await served.close()
  return drift
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
