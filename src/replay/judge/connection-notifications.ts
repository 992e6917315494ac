import type { Difference } from '../../diff/difference.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { member } from '../../json/parse.ts'
import { formatPath, type JsonPath } from '../../json/path.ts'
import { findSeries, type ObservedNotification, streamOf } from '../steps/observed-notifications.ts'
import type { StepFinding } from '../steps/step.ts'
import { differenceFinding } from './values.ts'

/** A notification on the tape that belongs to no request for certain. */
export interface RecordedNotification {
  /** Names the message in paths. */
  readonly key: string
  readonly value: ObservedNotification
  /** True if it may be missing or different, because the message that caused it was not sent. */
  readonly isOptional: boolean
  /** True if the server may have sent it before the client could receive it. */
  readonly isUncertain: boolean
  /** Milliseconds from the message that may have caused it; 0 if it is waited for so long that also a timer has sent it. */
  readonly delay: number
  /** Milliseconds for which it is waited for if it is missing. */
  readonly wait: number
}

interface ConnectionMessages {
  /** In tape order. */
  readonly recorded: readonly RecordedNotification[]
  /** In the order in which they came. One that is optional may be new. */
  readonly live: readonly { readonly value: ObservedNotification; readonly isOptional: boolean }[]
}

type Compare = (expected: unknown, actual: unknown) => readonly Difference[]

/**
 * Compares the notifications of a connection with the recorded ones, whatever their order. `observed` is the JSON text from which
 * noise is learned: the live notifications by the keys of the recorded ones that they correspond to, and after them the new ones. It is
 * `undefined` if there are none.
 */
export function compareConnection(
  { recorded, live }: ConnectionMessages,
  compare: Compare,
): { readonly findings: readonly StepFinding[]; readonly observed: string | undefined } {
  const pairing = new Pairing(recorded, live, compare)
  const paired = recorded.map((expected) => ({ expected, actual: pairing.counterpartOf(expected) }))
  const added = pairing.unpaired().toSorted((a, b) => compareTexts(canonicalJson(a), canonicalJson(b)))
  const isInSeries = findSeries(
    recorded.map(({ value }) => value),
    live.map(({ value }) => value),
  )
  // A timer may send more or fewer of them, because a run takes more or less time than the recording.
  const timers = new Set(recorded.filter(isDelayed).map(({ value }) => streamOf(value)))
  const received = new Set(live.map(({ value }) => streamOf(value)))
  const inSeries = (one: ObservedNotification | undefined): Pick<StepFinding, 'isOneOfMany'> =>
    one !== undefined && isInSeries(one) ? { isOneOfMany: true } : {}
  const findings = [
    ...paired
      .filter(({ expected: one, actual }) => actual || !isDelayed(one) || !received.has(streamOf(one.value)))
      .flatMap(({ expected, actual }) =>
        pairFindings(expected, actual, compare).map((one) => ({
          ...one,
          ...inSeries(actual ?? expected.value),
        })),
      ),
    ...added
      .filter((value) => !timers.has(streamOf(value)))
      .flatMap((value, place) =>
        newFindings(value, newKey(place), compare).map((one) => ({ ...one, ...inSeries(value) })),
      ),
  ]
  const entries = [
    ...paired.flatMap(({ expected, actual }) =>
      actual === undefined ? [] : [[expected.key, actual] as const],
    ),
    ...added.map((value, place) => [newKey(place), value] as const),
  ]
  const isNothing = recorded.length + entries.length === 0
  return { findings, observed: isNothing ? undefined : JSON.stringify(Object.fromEntries(entries)) }
}

function newKey(place: number): string {
  return `new-${place + 1}`
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

// A notification that came this long after everything else was probably sent by a timer, and a fast run may be over before it is due.
export const TIMER_DELAY = 1500

function isDelayed({ delay }: RecordedNotification): boolean {
  return delay > TIMER_DELAY
}

/** A timer may send it too late for a fast run. */
function mayBeMissing(one: RecordedNotification): boolean {
  return one.isOptional || isDelayed(one)
}

function pairFindings(
  expected: RecordedNotification,
  actual: ObservedNotification | undefined,
  compare: Compare,
): readonly StepFinding[] {
  if (expected.isOptional) return []
  const { method } = expected.value
  const isNoError = actual === undefined && (expected.isUncertain || isDelayed(expected))
  return differencesAt(expected.key, [expected.value, actual], compare)
    .map(differenceFinding)
    .map((finding) => ({
      ...finding,
      layer: 'notifications',
      level: isNoError ? 'warn' : 'error',
      message: actual === undefined ? missingText(expected) : `of ${method} ${finding.message}`,
    }))
}

function missingText({ value, delay }: RecordedNotification): string {
  const when =
    delay > TIMER_DELAY ? `, which was recorded after a pause of ${(delay / 1000).toFixed(1)} s` : ''
  return `${value.method} is missing${when}`
}

function newFindings(value: ObservedNotification, key: string, compare: Compare): readonly StepFinding[] {
  return differencesAt(key, [undefined, value], compare)
    .map(differenceFinding)
    .map((finding) => ({ ...finding, layer: 'notifications', message: `${value.method} is new` }))
}

/** Paths that the user ignores may name the one message, as findings do, or every notification. */
function differencesAt(
  key: string,
  [expected, actual]: readonly [ObservedNotification | undefined, ObservedNotification | undefined],
  compare: Compare,
): readonly Difference[] {
  const named = (value: unknown): unknown => ({ connection: value === undefined ? {} : { [key]: value } })
  const counted = new Set(compare(listed(expected), listed(actual)).map(({ path }) => pathInMessage(path)))
  if (counted.size === 0) return []
  return compare(named(expected), named(actual)).filter(({ path }) => counted.has(pathInMessage(path)))
}

function listed(value: unknown): unknown {
  return { notifications: value === undefined ? [] : [value] }
}

function pathInMessage(path: JsonPath): string {
  return formatPath(path.slice(2))
}

/** Finds the live counterpart of each recorded notification: an equal one, one that differs only in noise, or the most similar one. */
class Pairing {
  readonly #compare: Compare
  readonly #counterparts = new Map<RecordedNotification, ObservedNotification>()
  readonly #left: Set<ConnectionMessages['live'][number]>

  constructor(recorded: ConnectionMessages['recorded'], live: ConnectionMessages['live'], compare: Compare) {
    this.#compare = compare
    this.#left = new Set(live)
    // What must come is served first, so that something that may be missing does not take its place.
    const inTurn = [
      ...recorded.filter((one) => !mayBeMissing(one)),
      ...recorded.filter((one) => mayBeMissing(one)),
    ]
    this.#pairEqual(inTurn)
    this.#pairSimilar(inTurn.filter((one) => !this.#counterparts.has(one)))
    this.#takeFromTimers(recorded)
  }

  counterpartOf(recorded: RecordedNotification): ObservedNotification | undefined {
    return this.#counterparts.get(recorded)
  }

  /** The live notifications that are new. */
  unpaired(): readonly ObservedNotification[] {
    return [...this.#left].filter(({ isOptional }) => !isOptional).map(({ value }) => value)
  }

  #pairEqual(recorded: readonly RecordedNotification[]): void {
    const byText = new Map<string, ConnectionMessages['live'][number][]>()
    for (const one of this.#left) {
      const text = canonicalJson(one.value)
      const same = byText.get(text)
      if (same === undefined) byText.set(text, [one])
      else same.push(one)
    }
    for (const lists of byText.values()) lists.reverse() // the first one is taken first
    for (const one of recorded) {
      const same = byText.get(canonicalJson(one.value))?.pop()
      if (same !== undefined) this.#pair(one, same)
    }
  }

  #pairSimilar(recorded: readonly RecordedNotification[]): void {
    const candidates = recorded.length * this.#left.size > MAX_CANDIDATES ? [] : this.#candidates(recorded)
    for (const { expected, actual } of candidates.toSorted((a, b) => a.cost - b.cost))
      if (!this.#counterparts.has(expected) && this.#left.has(actual)) this.#pair(expected, actual)
    // Too many to compare them all: those of the same method correspond in their order.
    for (const expected of recorded) {
      if (candidates.length > 0 || this.#counterparts.has(expected)) continue
      const actual = [...this.#left].find(({ value }) => value.method === expected.value.method)
      if (actual !== undefined) this.#pair(expected, actual)
    }
  }

  /** A message of a timer may be missing, so it leaves its counterpart to a message of the same stream that must come. */
  #takeFromTimers(recorded: readonly RecordedNotification[]): void {
    for (const one of recorded) {
      if (one.isOptional || isDelayed(one) || this.#counterparts.has(one)) continue
      const stream = streamOf(one.value)
      const other = recorded.find(
        (each) => isDelayed(each) && this.#counterparts.has(each) && streamOf(each.value) === stream,
      )
      const actual = other && this.#counterparts.get(other)
      if (other === undefined || actual === undefined) continue
      this.#counterparts.delete(other)
      this.#counterparts.set(one, actual)
    }
  }

  #candidates(recorded: readonly RecordedNotification[]): readonly Candidate[] {
    return recorded.flatMap((expected) =>
      [...this.#left]
        .filter(({ value }) => value.method === expected.value.method)
        .map((actual) => ({ expected, actual, cost: this.#costOf(expected, actual) })),
    )
  }

  #costOf(
    recorded: RecordedNotification,
    { value: actual, isOptional: mayBeNew }: ConnectionMessages['live'][number],
  ): number {
    const { key, value, isOptional } = recorded
    const differences = differencesAt(key, [value, actual], this.#compare)
    const isOtherLogger = member(value.params, 'logger') !== member(actual.params, 'logger')
    const cost = differences.reduce((sum, difference) => sum + costOfDifference(difference), 0)
    if (differences.length === 0) return 0
    return cost + (isOtherLogger ? 10 : 0) + (isOptional || mayBeNew || isDelayed(recorded) ? 100 : 0)
  }

  #pair(expected: RecordedNotification, actual: ConnectionMessages['live'][number]): void {
    this.#left.delete(actual)
    this.#counterparts.set(expected, actual.value)
  }
}

// Comparing this many pairs takes about a second.
const MAX_CANDIDATES = 10_000

interface Candidate {
  readonly expected: RecordedNotification
  readonly actual: ConnectionMessages['live'][number]
  readonly cost: number
}

/** From 0 to 1: texts that begin and end alike are more similar. */
function costOfDifference({ expected, actual }: Difference): number {
  if (typeof expected !== 'string' || typeof actual !== 'string') return 1
  const shorter = Math.min(expected.length, actual.length)
  let start = 0
  while (start < shorter && expected[start] === actual[start]) start++
  let end = 0
  while (end < shorter - start && expected.at(-1 - end) === actual.at(-1 - end)) end++
  return 1 - (start + end) / Math.max(expected.length, actual.length)
}
