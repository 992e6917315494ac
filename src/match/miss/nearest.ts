import { type PathPattern, formatPath, valueAtPath } from '../../json/path.ts'
import type { RequestTimes } from '../comparisons/comparison.ts'
import { DAY, parseTimestamp, offsetFromNow, relativeDateKind } from '../comparisons/relative-date.ts'
import type { FieldDifference } from '../field-diff.ts'
import type { RequestUsage } from '../matcher.ts'
import type { RequestComparer } from '../request-comparer.ts'
import { comparisonAt, type ScopedRules } from '../rules.ts'
import { isObject, member } from '../../json/parse.ts'
import { isOpeningMethod } from '../../protocol/revisions/index.ts'
import type { Turn, RecordedMessage, ClientCall, TurnStore } from '../../tape/turns.ts'

/** A recorded request that came near, and what keeps it from being the answer. */
export interface NearestRequest {
  readonly entry: RequestUsage
  /** The recording that would be used next. */
  readonly frame: number
  readonly distance: number
  readonly fields: number
  readonly differences: readonly FieldDifference[]
  readonly equal: readonly PathPattern[]
}

interface RankingContext {
  readonly matching: RequestComparer
  readonly evidence: Pick<TapeLookup, 'timesOf'>
}

/** The recorded requests, nearest first; at the same distance an unused one comes before a spent one. */
export function rankByDistance(
  asked: ClientCall,
  entries: readonly RequestUsage[],
  ranking: RankingContext,
): readonly NearestRequest[] {
  const candidates = mostSimilar(asked, entries).map((entry) => toNearestRequest(entry, asked, ranking))
  return candidates.toSorted(
    (a, b) => a.distance - b.distance || usedUpRank(a.entry) - usedUpRank(b.entry) || a.frame - b.frame,
  )
}

function toNearestRequest(
  entry: RequestUsage,
  asked: ClientCall,
  { matching, evidence }: RankingContext,
): NearestRequest {
  // Only rules look at the times, and to find them is a search.
  const times = matching.rules.length === 0 ? { recorded: 0, live: 0 } : evidence.timesOf(entry)
  return { entry, frame: entry.frame, ...matching.diff(entry.request, asked, times) }
}

function usedUpRank({ used, answers }: RequestUsage): number {
  return used < answers ? 0 : 1
}

const MOST_COMPARED = 60

/** The few that are worth a look at every field: on a long tape most have nothing in common with the request. */
function mostSimilar(asked: ClientCall, entries: readonly RequestUsage[]): readonly RequestUsage[] {
  if (entries.length <= MOST_COMPARED) return entries
  const got = argumentsOf(asked)
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

/** What a miss report looks up on the tape. */
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

  /** Looked up when a rule asks for them: the recorded one stands on the tape. */
  timesOf(entry: RequestUsage): RequestTimes {
    const recordedAt = (): number => this.recordedAt(entry) ?? Number.NaN
    return {
      get recorded() {
        return recordedAt()
      },
      live: this.#now(),
    }
  }

  /** In milliseconds since 1970; undefined when the tape does not say. */
  recordedAt({ frame }: RequestUsage): number | undefined {
    const at = this.#started + (this.turnAt(frame)?.trigger?.t ?? Number.NaN)
    return Number.isNaN(at) ? undefined : at
  }

  /** The turn that a request in this frame set off. */
  turnAt(frame: number): Turn | undefined {
    const place = this.placeOf(frame)
    return place === undefined ? undefined : this.turns.at(place)
  }

  /** The place of the turn that a request in this frame set off. */
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

// The frames of most tapes are in order.
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

// One look at the whole tape, at the first miss: on a long tape there should be no other.
function placesByFrame(turns: TurnStore): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (let place = 0; place < turns.size; place++) places.set(turns.summary(place).frame, place)
  return places
}

/** What the tape knows of one value of a request. */
export interface ValueAnnotation {
  readonly path: string
  /** In words, what a value seems to be counted from: `today + 7 days`. */
  readonly looksLike?: string
  /** The response that the recorded value came from. */
  readonly boundTo?: ValueOrigin
  /** The recorded value, where it is the live one too. */
  readonly value?: unknown
  /** The rule that compares it. */
  readonly rule?: string
}

/** What can be said of the values of the nearest request, beyond that they differ or not. */
export function annotateValues(
  candidate: NearestRequest,
  { evidence, matching }: { evidence: TapeLookup; matching: RequestComparer },
): readonly ValueAnnotation[] {
  const { request } = candidate.entry
  const { rules } = matching.comparable(request)
  const differing = candidate.differences.slice(0, MOST_ANNOTATIONS).map(({ path, recorded, got }) => ({
    path: formatPath(path),
    ...relativeDateNote(recorded, got, candidate, evidence),
    ...originNote(recorded, candidate, evidence),
    ...ruleNote(rules, path),
  }))
  const equal = candidate.equal.slice(0, MOST_ANNOTATIONS).map((path) => {
    const value = valueAtPath({ params: request.params }, path)
    const bound = originNote(value, candidate, evidence)
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
  evidence: TapeLookup,
): Pick<ValueAnnotation, 'looksLike'> {
  const moment = parseTimestamp(got)
  const times = evidence.timesOf(entry)
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
  evidence: TapeLookup,
): Pick<ValueAnnotation, 'boundTo'> {
  const place = evidence.placeOf(frame) ?? 0
  const origin = findValueOrigin(value, { turns: evidence.turns, place, frame, server: entry.request.server })
  return origin === undefined ? {} : { boundTo: origin }
}

/** Where a server made a value up: the frame of its response, and the path in it. */
export interface ValueOrigin {
  readonly frame: number
  readonly path: PathPattern
}

interface OriginSearch {
  readonly turns: TurnStore
  /** The place of the request that the value stands in, and its frame. */
  readonly place: number
  readonly frame: number
  readonly server: string
}

/** The first response before a request that holds this value, when the value looks like one that a server made up. */
export function findValueOrigin(value: unknown, search: OriginSearch): ValueOrigin | undefined {
  if (!looksGenerated(value)) return undefined
  return placesContaining(JSON.stringify(value), search)
    .toReversed()
    .map((place) => originInTurn(place, value, search))
    .find((origin) => origin !== undefined)
}

/** From the request backwards: on a long tape what was said last is most likely what the client had it from. */
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
  return path === undefined ? undefined : { frame: response.n, path }
}

// A search through everything that was ever answered must not keep a client waiting.
const MOST_CHARACTERS = 16_000_000
const MOST_TURNS = 4_096

// These results list names that people chose, not generated handles.
function listsNames(method: string): boolean {
  return isOpeningMethod(method) || method === 'tools/list' || method === 'prompts/list'
}

/** Ids, cursors and URIs have digits in them, or are long; words that people write have neither. */
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
