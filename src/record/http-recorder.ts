import type { Redactor } from '../redact/redactor.ts'
import { isLoopback } from '../transport/loopback.ts'
import { HttpProxy } from '../transport/http-proxy.ts'
import { readTarget } from '../transport/target.ts'
import { httpHeader } from './header.ts'
import { HttpTape } from './http-tape.ts'
import { redactionFor, type RedactOption } from './redaction.ts'
import { TapeLog, type Summary } from './tape-log.ts'

export interface RecordHttpOptions {
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
  /** How secrets are treated; by default they are replaced by stand-ins. */
  readonly redact?: RedactOption
}

/** A recorder that waits for its client. */
export interface HttpRecording {
  /** What the client is to be given in place of the server's URL. */
  readonly url: string
  /** Undefined when the tape could not be made; then `failure` says why. */
  readonly tape: string | undefined
  readonly failure: string | undefined
  /** Why the tape has a redaction key of its own, which is forgotten: the user's could not be read. */
  readonly keyTrouble: string | undefined
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
  const redaction = redactionFor(options.redact)
  const proxy = new HttpProxy({ url, listen })
  const begin = (): HttpTape =>
    new HttpTape({
      log: openLog(options, server, url, redaction?.redactor),
      server: () => server,
      url,
      maxBytes: maxMessageBytes,
    })
  const { origin, watcher: tape } = await proxy.listen(begin)
  return {
    url: origin + url.pathname + url.search,
    tape: tape.log.path,
    failure: tape.log.failure,
    keyTrouble: redaction?.trouble,
    isOpen: !isLoopback(listen.host),
    close: async () => {
      await proxy.close()
      return tape.finish()
    },
  }
}

function openLog(
  { tape, tags = {} }: RecordHttpOptions,
  server: string,
  url: URL,
  redactor: Redactor | undefined,
): TapeLog {
  return new TapeLog({
    path: tape,
    header: (started) => httpHeader({ started, server, url: url.href, tags }),
    redactor,
  })
}

/** A name for the server, from its URL: `https://mcp.acme.dev/mcp` is `mcp.acme.dev`. */
export function nameOfUrl({ host }: URL): string {
  return host.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[.-]+|-+$/g, '')
}
