import type { IncomingMessage } from 'node:http'
import { headerOf, type RawHeaders } from '../transport/http-heads.ts'
import type { ExchangeWatcher, RequestLine } from '../transport/http-passage.ts'
import { withOwnHeaders } from '../transport/own-headers.ts'
import type { Target } from '../transport/target.ts'

/** A request of the bridge. */
export interface Ask {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly path: string
  readonly headers: RawHeaders
  readonly body?: string
  readonly signal: AbortSignal
  /** Told when the whole request is on its way. */
  readonly onSent?: () => void
}

export interface Answer {
  readonly status: number
  readonly headers: RawHeaders
  /** The body as it comes, which must be read to its end or left early. */
  readonly chunks: () => AsyncGenerator<Uint8Array>
}

/** Where requests go, and who looks on. */
export interface Way {
  readonly target: Target
  readonly watch: (line: RequestLine) => ExchangeWatcher
}

/** Sends a request and returns when the head of the answer is there; rejects when the server cannot be reached. Nothing is tried twice. */
export function sendAsk({ target, watch }: Way, ask: Ask): Promise<Answer> {
  const { method, path, body, signal, onSent = () => {} } = ask
  const watcher = watch({ method, path, headers: ask.headers }) // without our own: they do not reach the tape
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
  const headers = ['Host', target.url.host, ...ask.headers, ...length, 'Connection', 'keep-alive']
  return new Promise((resolve, reject) => {
    const out = target.request({ method, path, headers: withOwnHeaders(headers, target.own) })
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
      resolve(watchedAnswer(answer, watcher, signal))
    })
    out.end(body)
    if (body !== undefined) watcher.request.chunk(Buffer.from(body))
    watcher.request.end()
    if (signal.aborted) leave()
  })
}

function watchedAnswer(answer: IncomingMessage, watcher: ExchangeWatcher, signal: AbortSignal): Answer {
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
export async function textOf(answer: Answer): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export function isEventStream({ headers }: Answer): boolean {
  return headerOf(headers, 'content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true
}
