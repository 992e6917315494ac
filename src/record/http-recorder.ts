import { isLoopback } from '../transport/loopback.ts'
import { HttpProxy } from '../transport/http-proxy.ts'
import { readTarget } from '../transport/target.ts'
import { httpHeader } from './header.ts'
import { maskQuery } from './http-secrets.ts'
import { HttpTape } from './http-tape.ts'
import { lookFor } from './message-look.ts'
import { TapeLog, type Summary } from './tape-log.ts'
import type { TapeRules } from './tape-rules.ts'

export interface RecordHttpOptions extends TapeRules {
  /** The server, as its client would name it. */
  readonly url: string
  /** The tape file; an existing one is never written over. */
  readonly tape: string
  /** Where to wait for the client: a free port of this machine, unless told otherwise. */
  readonly listen?: { readonly host: string; readonly port: number }
  /** What to call the server on the tape. */
  readonly server?: string
  readonly tags?: Readonly<Record<string, string>>
  /** The longest message that is taped. */
  readonly maxMessageBytes?: number
  /** Headers that are added to every request, in place of the client's of the same name: a token that the client does not have. They do not reach the tape. */
  readonly headers?: Readonly<Record<string, string>>
  /** Told when the server answers with status 401: a client cannot run OAuth through this proxy. */
  readonly onChallenge?: () => void
  /** Told of every tape that is begun. */
  readonly onTape?: ((path: string) => void) | undefined
  /** Told in words of a request that has had no answer for `pendingMs`. */
  readonly onPending?: (words: string) => void
}

/** A recorder that waits for its client. */
export interface HttpRecording {
  /** What the client is to be given in place of the server's URL. */
  readonly url: string
  /** Undefined when the tape could not be made; then `failure` says why. */
  readonly tape: string | undefined
  readonly failure: string | undefined
  /** Whether other machines can reach it. */
  readonly isOpen: boolean
  /** Ends what is under way and finishes the tape; may be called twice. */
  readonly close: () => Promise<Summary>
}

const MAX_MESSAGE_BYTES = 256 * 1024 * 1024
const ANYWHERE = { host: '127.0.0.1', port: 0 }

/**
 * Stands between clients and a server at a URL, and makes a tape.
 *
 * @example
 * const recording = await recordHttp({ url: 'https://host/mcp', tape: 'a.tape.jsonl' })
 * // give recording.url to the client
 * const { path, frames } = await recording.close()
 */
export async function recordHttp(options: RecordHttpOptions): Promise<HttpRecording> {
  const { listen = ANYWHERE, maxMessageBytes = MAX_MESSAGE_BYTES } = options
  const url = readTarget(options.url)
  const server = options.server ?? nameOfUrl(url)
  const own = Object.entries(options.headers ?? {}).map(([name, value]) => ({ name, value }))
  const proxy = new HttpProxy({ url, listen, own })
  const begin = (): HttpTape => {
    const log = openLog(options, server, url)
    return new HttpTape({
      log,
      server: () => server,
      url,
      maxBytes: maxMessageBytes,
      cutBytes: options.cutBytes,
      look: lookFor(options, log),
      onChallenge: options.onChallenge,
    })
  }
  const { origin, watcher: tape } = await proxy.listen(begin)
  return {
    url: origin + url.pathname + url.search,
    tape: tape.log.path,
    failure: tape.log.failure,
    isOpen: !isLoopback(listen.host),
    close: async () => {
      await proxy.close()
      return tape.finish()
    },
  }
}

function openLog({ tape, tags = {}, limits, onTape }: RecordHttpOptions, server: string, url: URL): TapeLog {
  return new TapeLog({
    path: tape,
    ...(limits && { limits }),
    onTape,
    header: (started) => httpHeader({ started, server, url: maskQuery(url.href), tags }),
  })
}

/** A name for the server, from its URL: `https://mcp.acme.dev/mcp` is `mcp.acme.dev`. */
export function nameOfUrl({ host }: URL): string {
  return host.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[.-]+|-+$/g, '')
}
