import type { IncomingMessage } from 'node:http'
import { findHeader, type RawHeaders } from '../../http/headers.ts'
import type { ExchangeWatcher, RequestLine } from '../../http/proxy/proxied-exchange.ts'
import { withAddedHeaders } from '../../transport/own-headers.ts'
import type { BridgeTarget } from '../../bridge/requests.ts'

/** A request of the bridge. */
export interface BridgeHttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly path: string
  readonly headers: RawHeaders
  readonly body?: string
  readonly signal: AbortSignal
  /** Told when the whole request is on its way. */
  readonly onSent?: () => void
}

export interface BridgeHttpResponse {
  readonly status: number
  readonly headers: RawHeaders
  /** The body as it comes, which must be read to its end or left early. */
  readonly chunks: () => AsyncGenerator<Uint8Array>
}

/** Where requests go, and who looks on. */
export interface BridgeRoute {
  readonly target: BridgeTarget
  readonly watch: (line: RequestLine) => ExchangeWatcher
}

/** Sends a request and returns when the head of the answer is there; rejects when the server cannot be reached. Nothing is tried twice. */
export function sendBridgeRequest(
  { target, watch }: BridgeRoute,
  ask: BridgeHttpRequest,
): Promise<BridgeHttpResponse> {
  const { method, path, body, signal, onSent = () => {} } = ask
  const watcher = watch({ method, path, headers: ask.headers }) // without our own: they do not reach the tape
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
  const headers = ['Host', target.url.host, ...ask.headers, ...length, 'Connection', 'keep-alive']
  return new Promise((resolve, reject) => {
    const out = target.request({ method, path, headers: withAddedHeaders(headers, target.own) })
    const leave = (): void => void out.destroy(new Error('left'))
    signal.addEventListener('abort', leave)
    out.on('close', () => signal.removeEventListener('abort', leave))
    let isAnswered = false
    out.on('error', (error) => {
      if (isAnswered) return // whoever reads the body is told
      if (signal.aborted) watcher.aborted('client')
      else watcher.unreachable(error.message)
      reject(error)
    })
    out.on('finish', onSent)
    out.on('response', (answer) => {
      isAnswered = true
      resolve(watchedResponse(answer, watcher, signal))
    })
    out.end(body)
    if (body !== undefined) watcher.request.chunk(Buffer.from(body))
    watcher.request.end()
    if (signal.aborted) leave()
  })
}

function watchedResponse(
  answer: IncomingMessage,
  watcher: ExchangeWatcher,
  signal: AbortSignal,
): BridgeHttpResponse {
  const { rawHeaders: headers, statusCode: status = 0 } = answer
  const seen = watcher.answered(status, headers)
  return {
    status,
    headers,
    async *chunks() {
      let isWhole = false
      try {
        for await (const chunk of answer) {
          seen.chunk(chunk as Uint8Array)
          yield chunk as Uint8Array
        }
        isWhole = true
      } finally {
        if (isWhole) seen.end()
        else watcher.aborted(signal.aborted || answer.complete ? 'client' : 'server')
      }
    },
  }
}

/** Reads a body to its end. */
export async function readBodyText(answer: BridgeHttpResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export function isEventStreamResponse({ headers }: BridgeHttpResponse): boolean {
  return findHeader(headers, 'content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true
}
