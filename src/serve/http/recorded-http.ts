import type { Tape } from '../../store/file/read.ts'
import type { HeaderList, HttpFrame } from '../../tape/frame.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import { member } from '../../protocol/message.ts'

/** What HTTP carried around a message, as far as it matters when the message is played. */
export interface RecordedHead {
  /** The protocol version that the request named in its header. */
  readonly version?: string
  /** Whether the request went on with a stream that had ended too early. */
  readonly isResumed?: boolean
  readonly status?: number
  /** Whether the answer was a stream. */
  readonly isStream?: boolean
  /** The frames of both heads: the request itself stands between them. */
  readonly asked?: number
  readonly answered?: number
}

/** The heads of a tape's HTTP exchanges; a tape of a stdio server has none. */
export class RecordedHeads {
  /** How long the recorded server wanted a client to wait before it went on with a stream, in milliseconds. */
  readonly retry: number | undefined
  readonly #byExchange = new Map<number, RecordedHead>()

  constructor(rest: Tape['rest'] = []) {
    for (const frame of rest) {
      if (frame.kind !== 'http' || frame.x === undefined) continue
      this.#byExchange.set(frame.x, { ...this.#byExchange.get(frame.x), ...headIn(frame) })
    }
    this.retry = rest.map(retryIn).find((retry) => retry !== undefined)
  }

  /** The exchanges that the recorded server refused. */
  refused(): readonly RecordedHead[] {
    return [...this.#byExchange.values()].filter(({ status = 200 }) => status >= 400)
  }

  of(spoken: RecordedMessage | undefined): RecordedHead | undefined {
    return spoken?.x === undefined ? undefined : this.#byExchange.get(spoken.x)
  }
}

function headIn({ http, n }: HttpFrame): RecordedHead {
  if ('status' in http) {
    const isStream = headerOf(http.headers, 'content-type')?.startsWith('text/event-stream') === true
    return { status: http.status, isStream, answered: n }
  }
  const version = headerOf(http.headers, 'mcp-protocol-version')
  const isResumed = headerOf(http.headers, 'last-event-id') !== undefined
  return { isResumed, asked: n, ...(version === undefined ? {} : { version }) }
}

function headerOf(headers: HeaderList, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

function retryIn(frame: Tape['rest'][number]): number | undefined {
  const retry = frame.kind === 'event' ? member(frame.details['sse'], 'retry') : undefined
  return typeof retry === 'number' ? retry : undefined
}
