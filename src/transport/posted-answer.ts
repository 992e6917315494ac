import { SseReader, type SseEvent } from '../protocol/sse.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../protocol/lines.ts'
import { findHeader } from '../http/headers.ts'
import type { HttpResponseHead } from './response-head.ts'

export interface HttpBodyHandlers {
  readonly onText: (text: string) => void
  readonly onEventId: (id: string) => void
  /** The server says how many milliseconds to wait before the stream is opened again. */
  readonly onRetry: (milliseconds: number) => void
}

/** The body of an answer to a POST or GET: one JSON text, or a stream of events. */
export class HttpBodyReader {
  readonly status: number
  readonly isStream: boolean
  readonly #handlers: HttpBodyHandlers
  readonly #reader: SseReader | undefined
  readonly #parts: Buffer[] = []

  constructor({ status, headers }: HttpResponseHead, handlers: HttpBodyHandlers) {
    this.status = status
    this.#handlers = handlers
    this.isStream =
      findHeader(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream') === true
    if (this.isStream)
      this.#reader = new SseReader({
        maxBytes: DEFAULT_MAX_LINE_BYTES,
        onEvent: (event) => this.#event(event),
        onComment: () => {},
      })
  }

  push(chunk: Buffer): void {
    if (this.#reader === undefined) this.#parts.push(chunk)
    else this.#reader.push(chunk)
  }

  /** The text of a body that is no stream. */
  body(): string {
    const [first] = this.#parts
    const whole = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts)
    return whole.toString('utf8')
  }

  #event({ id, event, retry, data }: SseEvent): void {
    if (id !== undefined && id !== '') this.#handlers.onEventId(id)
    if (retry !== undefined) this.#handlers.onRetry(retry)
    if (data === undefined || data.length === 0 || (event !== undefined && event !== 'message')) return
    this.#handlers.onText(Buffer.concat(data.parts).toString('utf8'))
  }
}
