import type { ServedResponse } from '../../http/server/http-server.ts'

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const

// Some clients and proxies give up on a silent stream, and a client that vanished is noticed only by writing to it.
const KEEP_ALIVE = ': still here\n\n'
const KEEP_ALIVE_MS = 15_000

/** Writes server-sent events to one reader. Events for a slow reader wait here. */
export class SseWriter {
  readonly #res: ServedResponse
  readonly #waiting: string[] = []
  readonly #onDrained: (() => void)[] = []
  readonly #keepAlive: NodeJS.Timeout
  #isEnding = false

  constructor(res: ServedResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#res = res
    res.on('drain', () => this.#writeWaiting())
    res.on('close', () => this.#discard())
    res.writeHead(200, { ...HEADERS, ...headers })
    res.flushHeaders()
    this.#keepAlive = setInterval(() => this.#isBehind || this.write(KEEP_ALIVE), KEEP_ALIVE_MS).unref()
  }

  write(event: string): void {
    this.#waiting.push(event)
    if (this.#waiting.length === 1) this.#writeWaiting()
  }

  end(): void {
    clearInterval(this.#keepAlive)
    this.#isEnding = true
    this.#writeWaiting()
  }

  /** Resolves when the reader has taken everything that was written, or is gone. */
  async drained(): Promise<void> {
    if (this.#isBehind) await new Promise<void>((resolve) => this.#onDrained.push(resolve))
  }

  get #isBehind(): boolean {
    return this.#waiting.length > 0
  }

  #writeWaiting(): void {
    const res = this.#res
    let written = 0
    while (written < this.#waiting.length && !res.writableNeedDrain && !res.destroyed)
      res.write(this.#waiting[written++] ?? '')
    this.#waiting.splice(0, written)
    if (this.#isBehind) return
    for (const resolve of this.#onDrained.splice(0)) resolve()
    if (this.#isEnding) res.end()
  }

  #discard(): void {
    clearInterval(this.#keepAlive)
    this.#waiting.length = 0
    for (const resolve of this.#onDrained.splice(0)) resolve()
  }
}

interface SseEventFields {
  readonly id?: string
  readonly event?: string
}

/** Formats one event. JSON may contain line breaks between its values; each line needs its own `data` field. */
export function sseEventText(data: string, { id, event = 'message' }: SseEventFields = {}): string {
  const lines = LINE_BREAK.test(data) ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${lines}\n\n`
}

const LINE_BREAK = /[\r\n]/

/** Formats an event that only has an id, so that a stream can be resumed before its first message (2025-11-25). */
export function ssePrimingText(id: string, retry: number | undefined): string {
  return `id: ${id}\n${retry === undefined ? '' : `retry: ${retry}\n`}data: \n\n`
}
