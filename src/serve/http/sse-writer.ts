import type { ServedResponse } from '../../http/server/served-exchange.ts'

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const

/** A comment now and then: some clients and proxies give up on a stream that is silent, and a client that vanished is noticed. */
const KEEP_ALIVE = ': still here\n\n'
const KEEP_ALIVE_MS = 15_000

/** Server-sent events on their way to one reader. What a slow one has not taken yet waits here, and is not copied. */
export class SseWriter {
  readonly #res: ServedResponse
  readonly #waiting: string[] = []
  readonly #onCaughtUp: (() => void)[] = []
  readonly #keepAlive: NodeJS.Timeout
  #isEnding = false

  constructor(res: ServedResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#res = res
    res.on('drain', () => this.#writeWaiting())
    res.on('close', () => this.#discard())
    res.writeHead(200, { ...HEADERS, ...headers })
    res.flushHeaders()
    this.#keepAlive = setInterval(() => this.isBehind || this.write(KEEP_ALIVE), KEEP_ALIVE_MS).unref()
  }

  /** Whether the reader has yet to take what was written before. */
  get isBehind(): boolean {
    return this.#waiting.length > 0
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

  /** Waits until the reader has caught up, or is gone. */
  async drained(): Promise<void> {
    if (this.isBehind) await new Promise<void>((resolve) => this.#onCaughtUp.push(resolve))
  }

  #writeWaiting(): void {
    const res = this.#res
    let taken = 0
    while (taken < this.#waiting.length && !res.writableNeedDrain && !res.destroyed)
      res.write(this.#waiting[taken++] ?? '')
    this.#waiting.splice(0, taken)
    if (this.isBehind) return
    for (const resolve of this.#onCaughtUp.splice(0)) resolve()
    if (this.#isEnding) res.end()
  }

  #discard(): void {
    clearInterval(this.#keepAlive)
    this.#waiting.length = 0
    for (const resolve of this.#onCaughtUp.splice(0)) resolve()
  }
}

interface SseEventFields {
  readonly id?: string
  readonly event?: string
}

/** One event, ready to be written. A JSON text may hold line breaks between its values, which an event must not. */
export function sseEventText(data: string, { id, event = 'message' }: SseEventFields = {}): string {
  const lines = BREAKS.test(data) ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${lines}\n\n`
}

const BREAKS = /[\r\n]/

/** An event that carries nothing but its id, so that a stream can be resumed before its first message (2025-11-25). */
export function ssePrimingText(id: string, retry: number | undefined): string {
  return `id: ${id}\n${retry === undefined ? '' : `retry: ${retry}\n`}data: \n\n`
}
