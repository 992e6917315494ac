import { errorMessage, ReelayError } from '../errors.ts'
import type { Frame } from '../tape/frame.ts'
import type { TapeHeader } from '../tape/header.ts'
import { LiveSpans, type SpanTurn } from './export/traces.ts'

/** The address of an OpenTelemetry collector. `http://127.0.0.1:4318` is short for the path of traces there. */
export function collectorUrl(target: string): URL {
  const url = new URL(target)
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url
}

/** Sends OTLP JSON to a collector. */
export async function sendSpans(text: string, url: URL): Promise<void> {
  const failed = (why: string, cause?: unknown): ReelayError =>
    new ReelayError('EXPORT_FAILED', `the spans could not be sent to ${url.href}: ${why}`, {
      hint: 'check that a collector listens there for OTLP over HTTP',
      cause,
    })
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
    signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw failed(errorMessage(error), error)
  })
  await response.body?.cancel()
  if (!response.ok) throw failed(`HTTP status ${response.status}`)
}

const SEND_TIMEOUT_MS = 10_000
const BATCH = 500
/** A collector that does not answer must not cost more and more memory. */
const MOST_WAITING = 10_000

/** Sends the spans of a session while it goes on, in batches. A failure is reported once, and the session goes on. */
export class SpanSender {
  readonly #url: URL
  readonly #spans: LiveSpans
  readonly #text: (json: string) => string
  readonly #report: (problem: string) => void
  readonly #waiting: SpanTurn[] = []
  #sending: Promise<void> | undefined
  #lost = 0

  constructor(options: {
    readonly url: URL
    readonly header: TapeHeader
    /** Replaces secrets. */
    readonly text: (json: string) => string
    readonly report: (problem: string) => void
  }) {
    this.#url = options.url
    this.#spans = new LiveSpans(options.header)
    this.#text = options.text
    this.#report = options.report
  }

  /** Learns from each frame of the tape. */
  add(frame: Frame): void {
    this.#spans.add(frame)
  }

  send(turn: SpanTurn): void {
    if (this.#waiting.length >= MOST_WAITING) return void this.#lost++
    this.#waiting.push(turn)
    this.#sending ??= this.#sendWaiting()
  }

  /** Waits for the last spans. Returns how many could not be sent. */
  async end(): Promise<number> {
    await this.#sending
    return this.#lost
  }

  async #sendWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH)
      try {
        await sendSpans(this.#text(this.#spans.write(batch)), this.#url)
      } catch (error) {
        if (this.#lost === 0) this.#report(errorMessage(error))
        this.#lost += batch.length
      }
    }
    this.#sending = undefined
  }
}
