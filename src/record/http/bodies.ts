import { encodeSse } from '../../tape/http-codec.ts'
import { BoundedBytes } from '../../wire/bounded-bytes.ts'
import { SseReader, type SseEvent } from '../../protocol/sse.ts'
import type { BodyFrameWriter } from './body-frames.ts'

/** A body on its way to the tape. */
export interface BodySink {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
  /** The body will not come to its end. */
  readonly cut: () => void
}

export interface BodySinkOptions {
  readonly frames: Pick<BodyFrameWriter, 'message' | 'raw' | 'redactedEvent'>
  /** The envelope between `t` and the payload. */
  readonly place: string
  readonly maxBytes: number
}

const CUT_OFF = 'cut off'

/** A body that is of no interest. */
export const ignoredBody: BodySink = { chunk() {}, end() {}, cut() {} }

/** A body that is one message, or something else. */
export function wholeBodySink({ frames, place, maxBytes }: BodySinkOptions, why?: string): BodySink {
  const body = new BoundedBytes(maxBytes)
  return endingOnce({
    chunk: (bytes) => body.add(bytes),
    end: () => {
      if (why !== undefined || !frames.message(place, body)) frames.raw(place, body, why)
    },
    cut: () => frames.raw(place, body, CUT_OFF),
  })
}

export interface EventStreamSinkOptions extends BodySinkOptions {
  readonly onEvent: (event: string, details: Readonly<Record<string, unknown>>) => void
  /** What a legacy server names as the place to post to. */
  readonly onEndpoint: (data: string) => void
}

/** A stream of server-sent events; what holds no message becomes an event frame. */
export function eventStreamSink(options: EventStreamSinkOptions): BodySink {
  const { frames, place, maxBytes, onEvent } = options
  const reader = new SseReader({
    maxBytes,
    onEvent: (event) => writeEvent(options, event),
    onComment: (comment) => onEvent('sse', { comment }),
  })
  return endingOnce({
    chunk: (bytes) => reader.push(bytes),
    end: () => {
      frames.raw(place, reader.end(), 'the stream ended within an event')
      onEvent('end-of-stream', { by: 'server' })
    },
    cut: () => frames.raw(place, reader.end(), CUT_OFF),
  })
}

/** A body that came to its end cannot be cut off any more. */
function endingOnce({ chunk, end, cut }: BodySink): BodySink {
  let isOver = false
  const once = (work: () => void) => (): void => {
    if (!isOver) work()
    isOver = true
  }
  return { chunk, end: once(end), cut: once(cut) }
}

function writeEvent({ frames, place, onEvent, onEndpoint }: EventStreamSinkOptions, found: SseEvent): void {
  const { data, ...sse } = frames.redactedEvent(found)
  const where = `${place}${encodeSse(sse)}`
  if (data !== undefined && frames.message(where, data)) return
  const text = data === undefined ? undefined : Buffer.concat(data.parts).toString()
  if (text && (sse.event ?? 'message') === 'message') return frames.raw(where, data!)
  if (sse.event === 'endpoint') onEndpoint(text ?? '')
  onEvent('sse', { sse: { ...sse, ...(found.id !== undefined && { id: found.id }) }, data: text })
}
