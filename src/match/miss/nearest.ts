import { type PathPattern, formatPath, valueAtPath } from '../../json/path.ts'
import type { RequestTimes } from '../comparisons/comparison.ts'
import { DAY, parseTimestamp, offsetFromNow, relativeDateKind } from '../comparisons/relative-date.ts'
import type { FieldDifference } from '../field-diff.ts'
import type { RequestUsage } from '../matcher.ts'
import type { RequestComparer } from '../request-comparer.ts'
import { comparisonAt, type ScopedRules } from '../rules.ts'
import { isObject, member } from '../../json/parse.ts'
import { isOpeningMethod } from '../../protocol/revisions/index.ts'
import {
  type NumberedMessage,
  type RecordedMessage,
  type ClientCall,
  type TurnStore,
} from '../../tape/turns.ts'

/** A recorded request that is similar to a live one, and how they differ. */
export interface NearestRequest {
  readonly entry: RequestUsage
  /** The frame and the exchange of the recording that would be used next. */
  readonly frame: number
  readonly exchange?: number | undefined
  readonly distance: number
  readonly fields: number
  readonly differences: readonly FieldDifference[]
  readonly equal: readonly PathPattern[]
}

export interface RankingContext {
  readonly comparer: RequestComparer
  readonly lookup: Pick<TapeLookup, 'timesOf'>
}

/** Sorts recorded requests by their distance. At the same distance, requests with answers left come first. */
export function rankByDistance(
  request: ClientCall,
  entries: readonly RequestUsage[],
  ranking: RankingContext,
): readonly NearestRequest[] {
  const candidates = mostSimilar(request, entries).map((entry) => toNearestRequest(entry, request, ranking))
  return candidates.toSorted(
    (a, b) => a.distance - b.distance || usedUpRank(a.entry) - usedUpRank(b.entry) || a.frame - b.frame,
  )
}

function toNearestRequest(
  entry: RequestUsage,
  request: ClientCall,
  { comparer, lookup }: RankingContext,
): NearestRequest {
  // Only rules need the times, and finding them is slow.
  const times = comparer.rules.length === 0 ? { recorded: 0, live: 0 } : lookup.timesOf(entry)
  return {
    entry,
    frame: entry.frame,
    exchange: entry.exchange,
    ...comparer.diff(entry.request, request, times),
  }
}

function usedUpRank({ used, answers }: RequestUsage): number {
  return used < answers ? 0 : 1
}

const MOST_COMPARED = 60

/** Selects the requests that are compared field by field. On a long tape most have nothing in common with the live one. */
function mostSimilar(request: ClientCall, entries: readonly RequestUsage[]): readonly RequestUsage[] {
  if (entries.length <= MOST_COMPARED) return entries
  const got = argumentsOf(request)
  const rated = entries.map((entry) => ({ entry, shared: similarityScore(got, argumentsOf(entry.request)) }))
  rated.sort(
    (a, b) =>
      b.shared - a.shared || usedUpRank(a.entry) - usedUpRank(b.entry) || a.entry.frame - b.entry.frame,
  )
  return rated.slice(0, MOST_COMPARED).map(({ entry }) => entry)
}

function argumentsOf({ params }: ClientCall): unknown {
  return member(params, 'arguments') ?? params
}

function similarityScore(got: unknown, recorded: unknown): number {
  if (!isObject(got) || !isObject(recorded)) return got === recorded ? 1 : 0
  let shared = 0
  for (const name of Object.keys(got)) {
    if (!Object.hasOwn(recorded, name)) continue
    shared += got[name] === recorded[name] ? 2 : 1
  }
  return shared - Object.keys(recorded).length / 1_000
}

interface TapeLookupOptions {
  /** The turns of the whole tape, of all its servers. */
  readonly turns: TurnStore
  /** When the recording began, as in the tape's header. */
  readonly started: string
  readonly now: () => number
}

/** Finds turns and times on the tape for a miss report. */
export class TapeLookup {
  readonly turns: TurnStore
  readonly #started: number
  readonly #now: () => number
  #places: ReadonlyMap<number, number> | undefined

  constructor({ turns, started, now }: TapeLookupOptions) {
    this.turns = turns
    this.#started = Date.parse(started)
    this.#now = now
  }

  /** The recorded time is read from the tape only if a rule needs it. */
  timesOf(entry: RequestUsage): RequestTimes {
    const recordedAt = (): number => this.recordedAt(entry) ?? Number.NaN
    return {
      get recorded() {
        return recordedAt()
      },
      live: this.#now(),
    }
  }

  /** When a request was recorded, in milliseconds since 1970. Returns `undefined` if the tape does not contain it. */
  recordedAt({ frame }: RequestUsage): number | undefined {
    const place = this.placeOf(frame)
    const sent = place === undefined ? undefined : this.turns.at(place)?.trigger?.t
    const at = this.#started + (sent ?? Number.NaN)
    return Number.isNaN(at) ? undefined : at
  }

  /** The place of the turn that the request in this frame began. */
  placeOf(frame: number): number | undefined {
    const place = findPlaceByFrame(this.turns, frame)
    if (place !== undefined) return place
    this.#places ??= placesByFrame(this.turns)
    return this.#places.get(frame)
  }

  hasOtherServer(server: string): boolean {
    return this.turns.kinds().some((kind) => kind.trigger === 'request' && kind.server !== server)
  }
}

// Binary search: the frames of most tapes are in order.
function findPlaceByFrame(turns: TurnStore, frame: number): number | undefined {
  let low = 0
  let high = turns.size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (turns.summary(middle).frame < frame) low = middle + 1
    else high = middle
  }
  return low < turns.size && turns.summary(low).frame === frame ? low : undefined
}

// Reads the whole tape, which is slow on a long one, so the result is kept.
function placesByFrame(turns: TurnStore): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (let place = 0; place < turns.size; place++) places.set(turns.summary(place).frame, place)
  return places
}

/** A fact about one value of the nearest request. */
export interface ValueAnnotation {
  readonly path: string
  /** How the value seems to be computed, for example `today + 7 days`. */
  readonly looksLike?: string
  /** The response that the recorded value came from. */
  readonly boundTo?: ValueOrigin
  /** The recorded value, if the live one is equal. */
  readonly value?: unknown
  /** The rule that applies to the value. */
  readonly rule?: string
}

/** Finds facts about the values of the nearest request that help to explain the miss. */
export function annotateValues(
  candidate: NearestRequest,
  { lookup, comparer }: { lookup: TapeLookup; comparer: RequestComparer },
): readonly ValueAnnotation[] {
  const { request } = candidate.entry
  const { rules } = comparer.comparable(request)
  const differing = candidate.differences.slice(0, MOST_ANNOTATIONS).map(({ path, recorded, got }) => ({
    path: formatPath(path),
    ...relativeDateNote(recorded, got, candidate, lookup),
    ...originNote(recorded, candidate, lookup),
    ...ruleNote(rules, path),
  }))
  const equal = candidate.equal.slice(0, MOST_ANNOTATIONS).map((path) => {
    const value = valueAtPath({ params: request.params }, path)
    const bound = originNote(value, candidate, lookup)
    return { path: formatPath(path), ...(bound.boundTo && { value, ...bound }) }
  })
  return [...differing, ...equal].filter((annotation) => Object.keys(annotation).length > 1)
}

function ruleNote(rules: ScopedRules, path: PathPattern): Pick<ValueAnnotation, 'rule'> {
  const comparison = comparisonAt(rules, path)
  return comparison === undefined ? {} : { rule: comparison.text }
}

const MOST_ANNOTATIONS = 20

function relativeDateNote(
  recorded: unknown,
  got: unknown,
  { entry }: NearestRequest,
  lookup: TapeLookup,
): Pick<ValueAnnotation, 'looksLike'> {
  const moment = parseTimestamp(got)
  const times = lookup.timesOf(entry)
  if (moment === undefined || relativeDateKind.parse('').distance(recorded, got, times) === undefined)
    return {}
  const days = Math.round(offsetFromNow(times.live, moment) / DAY)
  return { looksLike: days === 0 ? 'today' : `today ${days < 0 ? '-' : '+'} ${formatDays(Math.abs(days))}` }
}

function formatDays(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

function originNote(
  value: unknown,
  { entry, frame }: NearestRequest,
  lookup: TapeLookup,
): Pick<ValueAnnotation, 'boundTo'> {
  const place = lookup.placeOf(frame) ?? 0
  const origin = findValueOrigin(value, { turns: lookup.turns, place, frame, server: entry.request.server })
  return origin === undefined ? {} : { boundTo: origin }
}

/** Where a server sent a generated value first: the exchange, the frame of the response, and the path in it. */
export interface ValueOrigin extends NumberedMessage {
  readonly path: PathPattern
}

interface OriginSearch {
  readonly turns: TurnStore
  /** The place and the frame of the request that contains the value. */
  readonly place: number
  readonly frame: number
  readonly server: string
}

/** Finds the first response before a request that contains this value, if the value looks generated. */
export function findValueOrigin(value: unknown, search: OriginSearch): ValueOrigin | undefined {
  if (!looksGenerated(value)) return undefined
  return placesContaining(JSON.stringify(value), search)
    .toReversed()
    .map((place) => originInTurn(place, value, search))
    .find((origin) => origin !== undefined)
}

/** Searches backwards from the request: on a long tape, the client most likely got the value from a recent response. */
function placesContaining(needle: string, { turns, place, server }: OriginSearch): readonly number[] {
  const places: number[] = []
  let left = MOST_CHARACTERS
  const last = Math.max(0, place - MOST_TURNS)
  for (let at = place - 1; at >= last && left > 0; at--) {
    const summary = turns.summary(at)
    if (summary.server !== server || !summary.answered || listsNames(summary.method)) continue
    const text = turns.responseText(at)
    left -= text.length
    if (text.includes(needle)) places.push(at)
  }
  return places
}

function originInTurn(place: number, value: string, { turns, frame }: OriginSearch): ValueOrigin | undefined {
  const response = turns.at(place)?.response
  if (response === undefined || response.n >= frame) return undefined
  const path = pathInResponse(response, value)
  return path === undefined ? undefined : { frame: response.n, exchange: turns.exchangeOf(place), path }
}

// The client waits for the report, so the search through earlier responses is limited.
const MOST_CHARACTERS = 16_000_000
const MOST_TURNS = 4_096

// These results list names that people chose, not generated handles.
function listsNames(method: string): boolean {
  return isOpeningMethod(method) || method === 'tools/list' || method === 'prompts/list'
}

/** Ids, cursors and URIs usually contain digits or are long, unlike words that people write. */
function looksGenerated(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 3 && (/\d/.test(value) || value.length >= 20)
}

function pathInResponse({ message }: RecordedMessage, value: string): PathPattern | undefined {
  if (message.kind !== 'response' || !('result' in message.outcome)) return undefined
  return findPathOf(message.outcome.result, value, ['result'])
}

const DEEPEST_SEARCHED = 60

function findPathOf(where: unknown, value: string, path: PathPattern): PathPattern | undefined {
  if (where === value) return path
  if (path.length > DEEPEST_SEARCHED) return undefined
  const inside = Array.isArray(where) ? where.entries() : isObject(where) ? Object.entries(where) : []
  for (const [segment, item] of inside) {
    const found = findPathOf(item, value, [...path, segment])
    if (found !== undefined) return found
  }
  return undefined
}
