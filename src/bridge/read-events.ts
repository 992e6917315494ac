import { DEFAULT_MAX_LINE_BYTES } from '../protocol/lines.ts'
import { SseReader, type SseEvent } from '../protocol/sse.ts'
import type { BridgeHttpResponse } from '../link/bridge/http-requests.ts'

/** Where a stream can be taken up again. */
export interface StreamPosition {
  readonly lastEventId?: string | undefined
  readonly retryMs?: number | undefined
}

export interface EventStreamHandlers {
  readonly onMessage: (text: string) => void
  /** An event of another name, such as the `endpoint` of a legacy server. */
  readonly onOther?: (event: string, data: string) => void
}

/** Hands out the events of an answer as they come; `mark` is kept up to date, so that it holds after a break too. */
export async function readEventStream(
  answer: BridgeHttpResponse,
  { onMessage, onOther }: EventStreamHandlers,
  mark: { -readonly [Key in keyof StreamPosition]: StreamPosition[Key] },
): Promise<void> {
  const onEvent = ({ id, event = 'message', retry, data }: SseEvent): void => {
    if (id !== undefined) mark.lastEventId = id
    if (retry !== undefined) mark.retryMs = retry
    const text = data === undefined || !data.isComplete ? '' : Buffer.concat(data.parts).toString()
    if (event !== 'message') onOther?.(event, text)
    else if (text !== '') onMessage(text) // an event without data only primes the stream
  }
  const reader = new SseReader({ maxBytes: DEFAULT_MAX_LINE_BYTES, onEvent, onComment: () => {} })
  for await (const chunk of answer.chunks()) reader.push(chunk)
}
