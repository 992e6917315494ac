import { isLoopback } from '../../http/host-check.ts'
import { ReverseProxy } from '../../http/proxy/reverse-proxy.ts'
import { parseServerUrl } from '../../http/server-url.ts'
import { openRedaction } from '../redaction.ts'
import type { RecordingSummary } from '../tape-log.ts'
import { createUrlRecorder, addedHeadersOf, type RecordUrlOptions } from './url-recorder.ts'

export interface RecordHttpOptions extends RecordUrlOptions {
  /** Where to wait for the client: a free port of this machine, unless told otherwise. */
  readonly listen?: { readonly host: string; readonly port: number }
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
  readonly close: () => Promise<RecordingSummary>
}

const DEFAULT_LISTEN = { host: '127.0.0.1', port: 0 }

/**
 * Stands between clients and a server at a URL, and makes a tape.
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
  return {
    url: origin + url.pathname + url.search,
    tape: tape.log.path,
    failure: tape.log.failure,
    keyTrouble: redaction.trouble,
    isOpen: !isLoopback(listen.host),
    close: async () => {
      await proxy.close()
      return tape.finish()
    },
  }
}
