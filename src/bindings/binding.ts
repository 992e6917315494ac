import type { JsonPath } from '../json/path.ts'

/** The way into a string, from its text to the value inside. */
export type LocationStep =
  /** The text is JSON: go on at this path. */
  | { readonly kind: 'json'; readonly path: JsonPath }
  /** The text is base64 (of the URL alphabet or the plain one): go on in what it encodes. */
  | { readonly kind: 'base64' }
  /** A token of the text, known by what stands around it. */
  | { readonly kind: 'token'; readonly token: TokenPosition }
  /** These characters of the text. */
  | { readonly kind: 'span'; readonly start: number; readonly end: number }
  /** The name of a member, by its place among its fellows. */
  | { readonly kind: 'key'; readonly index: number }

/** How a token is found again in another text of the same making. */
export interface TokenPosition {
  /** What stands before it on its line; a line break for the start of the line. */
  readonly before: string
  readonly after: string
  /** How many tokens with the same text before them come first. */
  readonly rank: number
  /** Its place among all tokens of the text, and how many there are. */
  readonly ordinal: number
  readonly of: number
  /** The characters that it is made of, beside letters and digits. */
  readonly joints: string
}

/** Where in a message a value stands: a path, and the way into the text there. */
export interface ValueLocation {
  /** From the message: `result.structuredContent.id`, `params.arguments.issueId`. */
  readonly path: JsonPath
  readonly inside: readonly LocationStep[]
}

/** Where on a tape a value stands. */
export interface TapeLocation extends ValueLocation {
  /** Index of the turn. */
  readonly turn: number
  /** Number of the frame. */
  readonly frame: number
  /** Place in the batch, when the message came in one. */
  readonly item?: number
}

/** Who made a value up: a message of the server, or the clock. */
export type BindingProducer =
  | ({ readonly kind: 'message' } & TapeLocation)
  /** The day of the request and so many days on; for a point in time, so many milliseconds. */
  | { readonly kind: 'clock'; readonly unit: 'day' | 'ms'; readonly offset: number }

export interface BindingConsumer extends TapeLocation {
  /** `value` when the whole leaf is the value, `part` when it stands inside a longer text, `key` for a member's name. */
  readonly use: 'value' | 'part' | 'key'
}

/** `certain` by the protocol, or by the user; `high` for values that nobody makes up twice; the rest by further evidence. */
export type BindingConfidence = 'certain' | 'high' | 'medium' | 'low'

/** What a second run said about a binding; `found` when it was not asked. */
export type BindingStatus = 'found' | 'confirmed' | 'constant' | 'refuted' | 'user'

/** A value that the server made up and the client sent back. */
export interface Binding {
  /** The value as recorded. */
  readonly value: string
  readonly producer: BindingProducer
  /** Other places where the server said it before it was first used: they serve when the producer is silent. */
  readonly also: readonly BindingProducer[]
  readonly consumers: readonly BindingConsumer[]
  readonly confidence: BindingConfidence
  readonly standing: BindingStatus
  /** The evidence in words. */
  readonly reason: string
}

export interface FoundBindings {
  /** What replay carries forward. */
  readonly bindings: readonly Binding[]
  /** What would be a binding if a second run confirmed it. */
  readonly guesses: readonly Binding[]
}

const DAY = 86_400_000

/** Offsets that people and programs mean when they say a day: today, tomorrow, in a week, a month ago. */
const USUAL_DAYS: ReadonlySet<number> = new Set([-90, -30, -14, -7, -1, 0, 1, 2, 3, 7, 14, 30, 60, 90])

const MINUTE = 60_000

/** How a date hangs together with the moment at which it was sent; undefined when it was just a date. */
export function findClockProducer(value: string, sentAt: number): BindingProducer | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return relativeDay(value, sentAt)
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d.*Z$/.test(value) ? relativeMoment(value, sentAt) : undefined
}

/** The date or point in time for another moment, in the spelling of the recorded one. */
export function dateFromClock(recorded: string, { unit, offset }: ClockProducer, now: number): string {
  if (unit === 'day') return new Date(startOfDay(now) + offset * DAY).toISOString().slice(0, 10)
  const iso = new Date(now + offset).toISOString()
  return /\.\d+Z$/.test(recorded) ? iso : `${iso.slice(0, 19)}Z`
}

type ClockProducer = Extract<BindingProducer, { kind: 'clock' }>

function relativeDay(value: string, sentAt: number): BindingProducer | undefined {
  const offset = Math.round((Date.parse(value) - startOfDay(sentAt)) / DAY)
  return USUAL_DAYS.has(offset) ? { kind: 'clock', unit: 'day', offset } : undefined
}

// A point in time that lies whole hours from now, to the minute, was computed from now.
function relativeMoment(value: string, sentAt: number): BindingProducer | undefined {
  const offset = Date.parse(value) - sentAt
  if (!USUAL_DAYS.has(Math.round(offset / DAY))) return undefined
  const past = Math.abs(offset - Math.round(offset / (60 * MINUTE)) * 60 * MINUTE)
  return past <= MINUTE && !/T\d\d:00(:00)?/.test(value) ? { kind: 'clock', unit: 'ms', offset } : undefined
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY) * DAY
}
