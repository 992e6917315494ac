import type { Id } from '../protocol/id.ts'
import type { Direction, Message } from '../protocol/message.ts'

/** One line of a tape after the header. */
export type Frame = MessageFrame | RawFrame | StderrFrame | HttpFrame | EventFrame | OtherFrame

interface FrameBase {
  /** Counts from 1, in the order of writing. */
  readonly n: number
  /** Milliseconds since the header's `started`, by a monotonic clock. */
  readonly t: number
  /** A name among the header's servers. */
  readonly server: string
  /** One client's link to that server, counted from 1. */
  readonly conn: number
  /** The HTTP exchange, where there is one. */
  readonly x?: number
  readonly dir: Direction
}

/** What a server-sent event said beside its data, as far as it said it. */
export interface SseFields {
  readonly id?: string
  readonly event?: string
  readonly retry?: number
}

export interface MessageFrame extends FrameBase {
  readonly kind: 'message'
  /** The server-sent event that the message came in, where it came in one. */
  readonly sse?: SseFields
  /** The message as it crossed the wire, byte for byte: key order, number spelling and escapes are kept. */
  readonly text: string
  /** A view of `text`. */
  readonly message: Message
}

/** Bytes that are no JSON object or array: kept, because what a peer really sent matters. */
export interface RawFrame extends FrameBase {
  readonly kind: 'raw'
  readonly sse?: SseFields
  readonly raw: string
  readonly why: string
  /** The bytes themselves, when they were not UTF-8 and `raw` cannot show them all. */
  readonly base64?: string
  /** There when it is the beginning of a message that the user wanted to be cut. */
  readonly cut?: CutMessage
}

/** What is known of a message of which only the beginning was kept. */
export interface CutMessage {
  /** How long it was. */
  readonly bytes: number
  readonly id?: Id
  readonly method?: string
}

export interface StderrFrame extends FrameBase {
  readonly kind: 'stderr'
  readonly stderr: string
}

/** The head of an HTTP request (`c2s`) or of its answer (`s2c`). */
export interface HttpFrame extends FrameBase {
  readonly kind: 'http'
  readonly http: RecordedRequestHead | RecordedResponseHead
}

/** Names and values as they were spelled, in their order; a name may come twice. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export interface RecordedRequestHead {
  readonly method: string
  readonly path: string
  readonly headers: HeaderList
}

export interface RecordedResponseHead {
  readonly status: number
  readonly headers: HeaderList
}

/** Something that happened on the link: `start`, `eof`, `signal`, `exit`, `end` and what later versions add. */
export interface EventFrame {
  readonly kind: 'event'
  readonly n: number
  readonly t: number
  readonly server?: string
  readonly conn?: number
  /** The HTTP exchange, where there is one. */
  readonly x?: number
  readonly event: string
  /** The event's own members, such as `code` of an exit or `frames` of the end. */
  readonly details: Readonly<Record<string, unknown>>
}

/** A kind of frame that this version does not know: kept as it is. */
export interface OtherFrame {
  readonly kind: 'other'
  readonly n: number
  readonly t: number
  readonly line: string
}

/** The time of a frame, with at most three decimals: microseconds are enough, and a line stays short. */
export function roundTime(time: number): number {
  return Math.round(time * 1000) / 1000
}
