import { isLoopback, parseServerUrl } from '../../http/hosts.ts'
import { ReverseProxy } from '../../http/proxy/reverse-proxy.ts'
import { Redactor } from '../../redact/redactor.ts'
import { ephemeralKey } from '../../store/redaction-key.ts'
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
  const { clientPath, serverPath } = hideUrlSecrets(
    url,
    redaction.redactor ?? new Redactor({ key: ephemeralKey() }),
  )
  const proxy = new ReverseProxy({ url, listen, added: addedHeadersOf(options), serverPath })
  const { origin, watcher: tape } = await proxy.listen(() => createUrlRecorder(options, url, redaction))
  const close = async (): Promise<RecordingSummary> => {
    await proxy.close()
    return tape.finish()
  }
  return {
    url: origin + clientPath,
    tape: tape.log.path,
    failure: tape.log.failure,
    keyTrouble: redaction.trouble,
    isOpen: !isLoopback(listen.host),
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  }
}

/**
 * The path and query for the client do not contain the secrets of the server's URL, because they are printed and stored in configs.
 * The recorder adds the secrets to the requests of the client, unless the client sends them itself.
 */
function hideUrlSecrets(
  url: URL,
  redactor: Redactor,
): { readonly clientPath: string; readonly serverPath: (path: string) => string } {
  const pairs = url.search.slice(1).split('&').filter(Boolean)
  const secrets = pairs.filter((pair) => redactor.url(`?${pair}`) !== `?${pair}`)
  const shownPath = redactor.url(url.pathname)
  return {
    clientPath: withQuery(
      shownPath,
      pairs.filter((pair) => !secrets.includes(pair)),
    ),
    serverPath: (target) => {
      const [path = '', ...rest] = target.split('?')
      if (path !== shownPath && path !== url.pathname) return target
      const sent = rest.join('?').split('&').filter(Boolean)
      const names = new Set(sent.map(parameterName))
      const missing = secrets.filter((pair) => !names.has(parameterName(pair)))
      return path === url.pathname && missing.length === 0
        ? target
        : withQuery(url.pathname, [...sent, ...missing])
    },
  }
}

function withQuery(path: string, pairs: readonly string[]): string {
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

function parameterName(pair: string): string {
  return pair.split('=')[0]!
}
