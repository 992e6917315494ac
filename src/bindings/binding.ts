import type { JsonPath } from '../json/path.ts'

/** One step on the way from a string to a value inside it. */
export type LocationStep =
  /** The text is JSON, and the path continues in it. */
  | { readonly kind: 'json'; readonly path: JsonPath }
  /** The text is base64, in the standard or the URL alphabet. The next step applies to the decoded text. */
  | { readonly kind: 'base64' }
  /** A token of the text, identified by the text around it. */
  | { readonly kind: 'token'; readonly token: TokenPosition }
  /** A range of characters. */
  | { readonly kind: 'span'; readonly start: number; readonly end: number }
  /** The name of the member with this index. */
  | { readonly kind: 'key'; readonly index: number }

/** Describes a token so that it can be found in another text of the same format. */
export interface TokenPosition {
  /** The text before it on its line. A line break stands for the start of the line. */
  readonly before: string
  readonly after: string
  /** The number of earlier tokens with the same text before them. */
  readonly rank: number
  /** Its index among all tokens of the text, and the number of tokens. */
  readonly ordinal: number
  readonly of: number
  /** The characters other than letters and digits that a token may contain. */
  readonly joints: string
}

/** The location of a value in a message: a path, and the steps into the text at that path. */
export interface ValueLocation {
  /** Path from the root of the message: `result.structuredContent.id`, `params.arguments.issueId`. */
  readonly path: JsonPath
  readonly inside: readonly LocationStep[]
}

/** The location of a value on a tape. */
export interface TapeLocation extends ValueLocation {
  /** Index of the turn. */
  readonly turn: number
  /** Number of the frame. */
  readonly frame: number
  /** Number of the exchange, if the message is its request or its response. */
  readonly exchange?: number
  /** Index in the batch, if the message is part of one. */
  readonly item?: number
}

/** The source of a value: a message of the server, or the clock. */
export type BindingProducer = MessageProducer | ClockProducer

export interface MessageProducer extends TapeLocation {
  readonly kind: 'message'
}

/** A date or time relative to the moment of the request. The offset is in days or milliseconds. */
export interface ClockProducer {
  readonly kind: 'clock'
  readonly unit: 'day' | 'ms'
  readonly offset: number
}

export interface BindingConsumer extends TapeLocation {
  /** `value` if the whole leaf is the value, `part` if the value is inside a longer text, `key` if it is the name of a member. */
  readonly use: 'value' | 'part' | 'key'
}

/** `certain`: defined by the protocol or the user. `high`: unlikely to be generated twice. The others need more evidence. */
export type BindingConfidence = 'certain' | 'high' | 'medium' | 'low'

/** The result of the comparison with a second run; `found` if there was none. `user` bindings come from the bindings file. */
export type BindingStatus = 'found' | 'confirmed' | 'constant' | 'refuted' | 'user'

/** A value that the server generated and the client sent back. */
export interface Binding {
  /** The value as recorded. */
  readonly value: string
  readonly producer: BindingProducer
  /** Other locations where the server sent the value before its first use. They are used if the producer sends no value. */
  readonly also: readonly BindingProducer[]
  readonly consumers: readonly BindingConsumer[]
  readonly confidence: BindingConfidence
  readonly standing: BindingStatus
  /** The evidence, for the user. */
  readonly reason: string
}

export interface FoundBindings {
  /** The bindings whose live values replay fills in. */
  readonly bindings: readonly Binding[]
  /** Possible bindings that only a second run can confirm. */
  readonly guesses: readonly Binding[]
}

const DAY = 86_400_000

/** Offsets in days that people and programs commonly use: today, tomorrow, in a week, a month ago. */
const USUAL_DAYS: ReadonlySet<number> = new Set([-90, -30, -14, -7, -1, 0, 1, 2, 3, 7, 14, 30, 60, 90])

const MINUTE = 60_000

/** Relates a date to the moment at which it was sent. Returns `undefined` if they seem unrelated. */
export function findClockProducer(value: string, sentAt: number): BindingProducer | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return relativeDay(value, sentAt)
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d.*Z$/.test(value) ? relativeMoment(value, sentAt) : undefined
}

/** Computes the date or time relative to another moment, in the format of the recorded one. */
export function dateFromClock(recorded: string, { unit, offset }: ClockProducer, now: number): string {
  if (unit === 'day') return new Date(startOfDay(now) + offset * DAY).toISOString().slice(0, 10)
  const iso = new Date(now + offset).toISOString()
  return /\.\d+Z$/.test(recorded) ? iso : `${iso.slice(0, 19)}Z`
}

function relativeDay(value: string, sentAt: number): BindingProducer | undefined {
  const offset = Math.round((Date.parse(value) - startOfDay(sentAt)) / DAY)
  return USUAL_DAYS.has(offset) ? { kind: 'clock', unit: 'day', offset } : undefined
}

// A time that is a whole number of hours from now, to the minute, was probably computed from the current time.
function relativeMoment(value: string, sentAt: number): BindingProducer | undefined {
  const offset = Date.parse(value) - sentAt
  if (!USUAL_DAYS.has(Math.round(offset / DAY))) return undefined
  const distance = Math.abs(offset - Math.round(offset / (60 * MINUTE)) * 60 * MINUTE)
  return distance <= MINUTE && !/T\d\d:00(:00)?/.test(value)
    ? { kind: 'clock', unit: 'ms', offset }
    : undefined
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY) * DAY
}
