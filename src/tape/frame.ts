import type { Id, Direction, Message } from '../protocol/message.ts'

/** One line of a tape after the header. */
export type Frame = MessageFrame | RawFrame | StderrFrame | HttpFrame | EventFrame | OtherFrame

/** When and where the content of a frame was sent. */
export interface FrameOrigin {
  /** The number of the frame, counted from 1 in the order of writing. */
  readonly n: number
  /** Milliseconds since the header's `started`, by a monotonic clock. */
  readonly t: number
  /** The name of a server in the header. */
  readonly server: string
  /** The number of the client's connection to that server, counted from 1. */
  readonly conn: number
  /** The number of the HTTP exchange, if there is one. */
  readonly x?: number
  readonly dir: Direction
  /** Set if only this side sent or received it, because the message was held on its way. */
  readonly side?: LinkSide
}

/** One of the two peers of a recorded link. */
export type LinkSide = 'client' | 'server'

/** Whether a side of the link sent or received the content of a frame. */
export function isSeenBy(frame: Frame, side: LinkSide): boolean {
  return !('side' in frame) || frame.side === undefined || frame.side === side
}

/** The fields of a server-sent event besides its data. */
export interface SseFields {
  readonly id?: string
  readonly event?: string
  readonly retry?: number
}

export interface MessageFrame extends FrameOrigin {
  readonly kind: 'message'
  /** The server-sent event that carried the message, if there was one. */
  readonly sse?: SseFields
  /** The message exactly as it was sent, including key order, number spelling and escapes. */
  readonly text: string
  /** The parsed `text`. */
  readonly message: Message
  /** The frame in which a message that was held arrived. */
  readonly of?: number
  /** The message as its sender wrote it, if it was changed before it was delivered. */
  readonly original?: string
}

/** Bytes that are not a JSON object or array. They are kept because a tape shows what a peer really sent. */
export interface RawFrame extends FrameOrigin {
  readonly kind: 'raw'
  readonly sse?: SseFields
  readonly raw: string
  readonly why: string
  /** The bytes, if they are not UTF-8 and `raw` cannot represent them. */
  readonly base64?: string
  /** Set if `raw` is the beginning of a message that was cut off on request. */
  readonly cut?: CutMessage
}

/** Facts about a message of which only the beginning was recorded. */
export interface CutMessage {
  /** The length of the whole message. */
  readonly bytes: number
  readonly id?: Id
  readonly method?: string
}

export interface StderrFrame extends FrameOrigin {
  readonly kind: 'stderr'
  readonly stderr: string
}

/** The head of an HTTP request (`c2s`) or response (`s2c`). */
export interface HttpFrame extends FrameOrigin {
  readonly kind: 'http'
  readonly http: RecordedRequestHead | RecordedResponseHead
}

/** Names and values in their original spelling and order. A name may occur more than once. */
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

/** An event of the connection or process: `start`, `eof`, `signal`, `exit`, `end` and those of later versions. */
export interface EventFrame {
  readonly kind: 'event'
  readonly n: number
  readonly t: number
  readonly server?: string
  readonly conn?: number
  /** The number of the HTTP exchange, if there is one. */
  readonly x?: number
  readonly event: string
  /** Further members, such as the `code` of an exit. */
  readonly details: Readonly<Record<string, unknown>>
}

/** A kind of frame that this version does not know. It is kept unchanged. */
export interface OtherFrame {
  readonly kind: 'other'
  readonly n: number
  readonly t: number
  readonly line: string
}

/** Rounds the time of a frame to microseconds, which keeps lines short. */
export function roundTime(time: number): number {
  return Math.round(time * 1000) / 1000
}
