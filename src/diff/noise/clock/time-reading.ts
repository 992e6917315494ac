/** One meaning of a piece of text that says something about time. `form` is equal for texts that are written in the same way. */
export type TimeReading =
  | MomentReading
  | DayReading
  | CycleReading
  | TimeOfDayReading
  | AgeReading
  | CountReading
  | PartReading

/** A date with a time of day, or a time since 1970. */
export interface MomentReading {
  readonly kind: 'moment'
  readonly form: string
  /** The fields of the date and time as if they were UTC, in milliseconds since 1970. */
  readonly civil: number
  readonly precision: number
  /** The distance from UTC that is written in the text, in milliseconds. */
  readonly offset: number | undefined
  /** True for a number that is a time only if it is the current time. */
  readonly onlyNow: boolean
}

/** A date without a time. */
export interface DayReading {
  readonly kind: 'day'
  readonly form: string
  /** Days since 1970. */
  readonly day: number
}

/** A weekday, a month, a quarter or a year. Weekdays and months without a year come again after `cycle`. */
export interface CycleReading {
  readonly kind: 'weekday' | 'month' | 'quarter' | 'year'
  readonly form: string
  readonly value: number
  readonly cycle: number
}

export interface TimeOfDayReading {
  readonly kind: 'time-of-day'
  readonly form: string
  /** Milliseconds since midnight. */
  readonly time: number
  readonly precision: number
  readonly offset: number | undefined
  /** True if it cannot be anything else, such as a ratio or a duration. */
  readonly isCertain: boolean
}

/** How long ago something was, or how long it will take: `2 hours ago`, `in 3 days`, `5m 3s`. */
export interface AgeReading {
  readonly kind: 'age'
  readonly form: 'relative' | 'duration'
  /** Undefined for words without a number, such as `yesterday`. */
  readonly style: 'letters' | 'words' | undefined
  /** In milliseconds. Negative for times to come. */
  readonly age: number
  /** The smallest unit that is written, in milliseconds. */
  readonly precision: number
  readonly evidence: TimeEvidence
}

/** A plain number. */
export interface CountReading {
  readonly kind: 'count'
  readonly form: 'count'
  readonly value: number
  readonly decimals: number
  readonly evidence: TimeEvidence
}

/** A number that is a part of a date or of a time of day. */
export interface PartReading {
  readonly kind: 'part'
  readonly form: string
  readonly unit: 'month' | 'day' | 'weekday' | 'hour' | 'minute' | 'second'
  readonly value: number
}

/** What the name of a field and the words next to a number say about it. */
export interface TimeEvidence {
  /** The unit that is named, in milliseconds. */
  readonly unit: number | undefined
  /** A word such as `age` or `since`. */
  readonly isAge: boolean
  /** A word such as `left` or `expires`: the number becomes smaller. */
  readonly isCountdown: boolean
  /** The time since the process was started. */
  readonly isUptime: boolean
  /** A word for a quantity that does not follow the clock, such as `price` or `timeout`. */
  readonly isOther: boolean
}

/** A piece of a text, with its possible meanings. */
export interface TimeToken {
  readonly start: number
  readonly end: number
  readonly readings: readonly TimeReading[]
}

/** Lengths in milliseconds. */
export const LENGTHS = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_629_800_000,
  year: 31_557_600_000,
} as const
