import { isLoopback, parseServerUrl } from '../../http/hosts.ts'
import { ReverseProxy } from '../../http/proxy/reverse-proxy.ts'
import { openRedaction } from '../redaction.ts'
import type { RecordingSummary } from '../tape-log.ts'
import { createUrlRecorder, addedHeadersOf, type RecordUrlOptions } from './url-recorder.ts'

export interface RecordHttpOptions extends RecordUrlOptions {
  /** The address to listen on; by default a free port on 127.0.0.1. */
  readonly listen?: { readonly host: string; readonly port: number }
}

/** A recorder that listens for clients. */
export interface HttpRecording extends AsyncDisposable {
  /** The URL to give to the client instead of the server's. */
  readonly url: string
  /** The path of the tape. Undefined if it could not be created; `failure` says why. */
  readonly tape: string | undefined
  readonly failure: string | undefined
  /** Why the user's redaction key could not be read. The tape then uses a temporary key. */
  readonly keyTrouble: string | undefined
  /** Whether other machines can reach the recorder. */
  readonly isOpen: boolean
  /** Ends open exchanges and finishes the tape. May be called more than once. */
  readonly close: () => Promise<RecordingSummary>
}

const DEFAULT_LISTEN = { host: '127.0.0.1', port: 0 }

/**
 * Records a server at a URL through a reverse proxy.
 *
 * @example
 * const recording = await recordHttp({ url: 'https://host/mcp', tape: 'a.tape.jsonl' })
 * // give recording.url to the client
 * const { path, frames } = await recording.close()
 */
export async function recordHttp(options: RecordHttpOptions): Promise<HttpRecording> {
  const { listen = DEFAULT_LISTEN } = options
  const url = parseServerUrl(options.url)
  const redaction = openRedaction(options.redact, options)
  const proxy = new ReverseProxy({ url, listen, added: addedHeadersOf(options) })
  const { origin, watcher: tape } = await proxy.listen(() => createUrlRecorder(options, url, redaction))
  const close = async (): Promise<RecordingSummary> => {
    await proxy.close()
    return tape.finish()
  }
  return {
    url: origin + url.pathname + url.search,
    tape: tape.log.path,
    failure: tape.log.failure,
    keyTrouble: redaction.trouble,
    isOpen: !isLoopback(listen.host),
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  }
}
