import { appendFileSync, readFileSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { formatPath } from '../json/path.ts'
import { describeRequest, describeValue } from '../match/describe-request.ts'
import type { RecordedRequest } from '../match/request-groups.ts'
import type { Miss } from '../match/miss/miss.ts'
import { requestKey } from '../match/request-key.ts'
import { exchangeLabel, type ClientCall } from '../tape/turns.ts'
import { missAsText } from '../match/miss/report.ts'
import { describeSwap, type SwappedTurns } from './request-order.ts'
import type { ReportRedactor } from './redaction/report-redactor.ts'
import { escapeControlChars } from '../text.ts'

/** How a run differs from the tape. */
export interface Drift {
  /** Number of live requests that were answered from the tape. */
  readonly answered: number
  /** Recorded requests that the client never sent. The handshake and `ping` do not count. */
  readonly leftOver: readonly RecordedRequest[]
  readonly misses: readonly Miss[]
  /** Smaller differences. They do not fail a run. */
  readonly notes: readonly string[]
  /** Descriptions of the injected faults, which the client did not cause. */
  readonly faults?: readonly string[]
  /** Requests that a live server answered because the tape could not. */
  readonly wentLive?: readonly ClientCall[]
  /** How many misses and live requests are counted here and not listed above, because there are so many. */
  readonly unlisted?: UnlistedCounts
}

interface UnlistedCounts {
  readonly misses: number
  readonly wentLive: number
}

/** A server that runs for days must not keep a list of everything that was ever missed. */
const MAX_LISTED = 1000
const ALL_LISTED: UnlistedCounts = { misses: 0, wentLive: 0 }

export function hasDrifted({ leftOver, misses }: Drift): boolean {
  return leftOver.length > 0 || misses.length > 0
}

export function missCount({ misses, unlisted = ALL_LISTED }: Drift): number {
  return misses.length + unlisted.misses
}

/** Formats the closing report: a line of counts, then one line for each difference. */
export function formatDrift(drift: Drift, { request: shown, text }: ReportView = UNREDACTED): string {
  const { leftOver, misses, notes, faults = [], wentLive = [] } = drift
  const causes = leftOverCauses(leftOver.slice(0, MAX_LINES), misses)
  const lines = [
    ...limitedLines(wentLive, (asked) => `WENT LIVE, not on the tape: ${describeRequest(shown(asked))}`),
    ...limitedLines(faults, (fault) => `fault: ${fault}`),
    ...limitedLines(leftOver, (request, place) => leftOverLine(shown(request), causes[place])),
    ...limitedLines(misses, ({ reason, request }) => `missed: ${reason} ${describeRequest(request)}`),
    ...limitedLines(notes, (note) => `note: ${note}`),
  ]
  return [formatCounts(drift), ...lines.map((line) => escapeControlChars(text(line)))].join('\n')
}

/** Returns the drift as the error that a program gets. */
export function driftError(drift: Drift, redactor?: ReportRedactor): ReelayError {
  return new ReelayError('REPLAY_DRIFT', `the run drifted from the tape: ${formatDrift(drift, redactor)}`, {
    hint: "send the requests that are left over, or pass { drift: 'ignore' }",
  })
}

type ReportView = Pick<ReportRedactor, 'request' | 'text'>

const UNREDACTED: ReportView = { request: (request) => request, text: String }

function formatCounts(drift: Drift): string {
  const { answered, leftOver, faults = [], wentLive = [], unlisted = ALL_LISTED } = drift
  const live = wentLive.length + unlisted.wentLive
  return [
    `${count(answered, 'request')} answered`,
    count(missCount(drift), 'miss', 'misses'),
    `${leftOver.length} left over`,
    ...(faults.length === 0 ? [] : [count(faults.length, 'fault')]),
    ...(live === 0 ? [] : [`${live} WENT LIVE`]),
  ].join(', ')
}

function leftOverLine(request: RecordedRequest, cause: LeftOverCause | undefined): string {
  const why = cause === undefined ? '' : formatLeftOverCause(cause)
  return `not requested: ${exchangeLabel(request)} ${describeRequest(request)}${why}`
}

const MAX_LINES = 40

// Only the lines that are shown are computed: the rest may have to be read from a large tape.
function limitedLines<Item>(
  items: readonly Item[],
  asLine: (item: Item, place: number) => string,
): readonly string[] {
  const lines = items.slice(0, MAX_LINES).map(asLine)
  return items.length <= MAX_LINES ? lines : [...lines, `… and ${items.length - MAX_LINES} more`]
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}

/** Why a recorded request was left over. */
export type LeftOverCause =
  | { readonly kind: 'never-asked' }
  /** The request is the nearest to one that missed: the client sent it in another form, or too early. */
  | { readonly kind: 'asked-otherwise'; readonly miss: Miss }

/** Returns the cause of each left-over request. A miss explains only the request that is nearest to it. */
export function leftOverCauses(
  leftOver: readonly RecordedRequest[],
  misses: readonly Miss[],
): readonly LeftOverCause[] {
  const open = missesByNearest(misses)
  return leftOver.map((request) => {
    const miss = open.size === 0 ? undefined : open.get(requestKey(request))?.shift()
    return miss === undefined ? { kind: 'never-asked' } : { kind: 'asked-otherwise', miss }
  })
}

function formatLeftOverCause(cause: LeftOverCause): string {
  if (cause.kind === 'never-asked') return ''
  const { reason, nearest } = cause.miss
  const [first, ...more] = nearest[0]?.differences ?? []
  if (first === undefined) return ` (it was sent, and missed: ${reason})`
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return ` (a similar request was made: ${formatPath(first.path)} recorded ${formatValue(first.recorded)}, got ${formatValue(first.got)}${others})`
}

function missesByNearest(misses: readonly Miss[]): ReadonlyMap<string, Miss[]> {
  const open = new Map<string, Miss[]>()
  for (const miss of misses) {
    const nearest = miss.nearest[0]?.entry.request
    if (nearest === undefined) continue
    const key = requestKey(nearest)
    open.set(key, [...(open.get(key) ?? []), miss])
  }
  return open
}

function formatValue(value: unknown): string {
  return value === undefined ? 'nothing' : describeValue(value, 40)
}

/** Merges the drift of several sessions with one server. A recorded request is left over if no session sent it. */
export function mergeSessionDrifts(first: Drift, ...others: readonly Drift[]): Drift {
  const all = [first, ...others]
  const leftOver = others.reduce((left, drift) => {
    const frames = new Set(drift.leftOver.map(({ frame }) => frame))
    return left.filter(({ frame }) => frames.has(frame))
  }, first.leftOver)
  return { ...sumCounts(all), leftOver }
}

/** Merges the drift of several servers. */
export function sumServerDrifts(drifts: readonly Drift[]): Drift {
  const leftOver = drifts.flatMap((drift) => drift.leftOver).toSorted((a, b) => a.frame - b.frame)
  return { ...sumCounts(drifts), leftOver }
}

// Many sessions may have the same note.
function sumCounts(drifts: readonly Drift[]): Omit<Drift, 'leftOver'> {
  const misses = drifts.flatMap((drift) => drift.misses)
  const faults = drifts.flatMap((drift) => drift.faults ?? [])
  const wentLive = drifts.flatMap((drift) => drift.wentLive ?? [])
  const before = drifts.map(({ unlisted = ALL_LISTED }) => unlisted)
  const unlisted = {
    misses: sum(before.map((counts) => counts.misses)) + Math.max(0, misses.length - MAX_LISTED),
    wentLive: sum(before.map((counts) => counts.wentLive)) + Math.max(0, wentLive.length - MAX_LISTED),
  }
  return {
    answered: sum(drifts.map(({ answered }) => answered)),
    misses: misses.slice(0, MAX_LISTED),
    notes: [...new Set(drifts.flatMap(({ notes }) => notes))].slice(0, MAX_LISTED),
    ...(faults.length > 0 && { faults }),
    ...(wentLive.length > 0 && { wentLive: wentLive.slice(0, MAX_LISTED) }),
    ...unlistedMember(unlisted),
  }
}

function unlistedMember(unlisted: UnlistedCounts): Pick<Drift, 'unlisted'> {
  return unlisted.misses + unlisted.wentLive > 0 ? { unlisted } : {}
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

interface DriftLogOptions {
  readonly onMiss?: ((miss: Miss) => void) | undefined
  readonly onNote?: ((note: string) => void) | undefined
  readonly onLive?: ((asked: ClientCall) => void) | undefined
  /** Notes may repeat what the client sent. */
  readonly redactor: Pick<ReportRedactor, 'text'> | undefined
}

/** Collects how one session differs from the tape. */
export class DriftLog {
  readonly misses: Miss[] = []
  readonly notes: string[] = []
  /** Requests that the live server answered because the tape could not. */
  readonly wentLive: ClientCall[] = []
  answered = 0
  readonly #options: DriftLogOptions
  readonly #unlisted = { misses: 0, wentLive: 0 }

  constructor(options: DriftLogOptions) {
    this.#options = options
  }

  readonly note = (text: string): void => {
    const { redactor, onNote } = this.#options
    const note = redactor?.text(text) ?? text
    if (this.notes.length < MAX_LISTED) this.notes.push(note)
    onNote?.(note)
  }

  /** Adds a note that may occur often only once. */
  noteOnce(note: string): void {
    if (!this.notes.includes(note)) this.note(note)
  }

  /** The counts of what is not in the lists, for the drift of the session. */
  unlisted(): Pick<Drift, 'unlisted'> {
    return unlistedMember({ ...this.#unlisted })
  }

  addMiss(miss: Miss): void {
    if (this.misses.length < MAX_LISTED) this.misses.push(miss)
    else this.#unlisted.misses++
    this.#options.onMiss?.(miss)
  }

  addUpstreamRequest(asked: ClientCall): void {
    if (this.wentLive.length < MAX_LISTED) this.wentLive.push(asked)
    else this.#unlisted.wentLive++
    this.#options.onLive?.(asked)
  }
}

/** The file in which a replayed program reports what it was played, a line for each session. `reelay run` and test runners set it. */
export const REPORT_VARIABLE = 'REELAY_REPLAY_REPORT'

/** Appends a line to the report that `reelay run` reads, if the file of the report is known. */
export function appendReplayReport(
  line: ReplayedSession | LiveConnection,
  file: string | undefined = process.env[REPORT_VARIABLE],
): void {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`)
}

/** Reports that a session begins, and returns how many sessions have begun before it. */
export function reportSessionStart(server: string): number {
  const file = process.env[REPORT_VARIABLE]
  if (file === undefined) return 0
  const start = `${JSON.stringify({ server, answered: 0, misses: 0, leftOver: 0, start: process.pid })}\n`
  appendFileSync(file, start)
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"start":'))
    .indexOf(start.trimEnd())
}

/** A session as a line of the report. With `swaps`, the line says in words what differs, for test runners. */
export function replayedSession(
  server: string,
  drift: Drift,
  swaps?: readonly SwappedTurns[],
): ReplayedSession {
  const { answered, misses, leftOver } = drift
  const counts = { server, answered, misses: misses.length, leftOver: leftOver.length }
  if (swaps === undefined) return counts
  const causes = leftOverCauses(leftOver, misses)
  const unused = leftOver.filter((_, at) => causes[at]?.kind === 'never-asked')
  return {
    ...counts,
    texts: {
      misses: misses.slice(0, MAX_LINES).map(missAsText),
      unused: unused
        .slice(0, MAX_LINES)
        .map((each) => `${exchangeLabel(each)} ${describeRequest(each, 100)}`),
      outOfOrder: swaps.slice(0, MAX_LINES).map(describeSwap),
    },
    unusedFrames: leftOver.map(({ frame }) => frame),
    ...(drift.wentLive && { wentLive: drift.wentLive.length }),
  }
}

/** How a session differs from its tape, in the words of the messages of test runners. */
export interface ReplayedTexts {
  readonly misses: readonly string[]
  readonly unused: readonly string[]
  readonly outOfOrder: readonly string[]
}

/** Reports a miss at once, because a test may end its client before the session has ended. */
export function reportMiss(miss: Miss): void {
  appendReplayReport({ server: '', answered: 0, misses: 0, leftOver: 0, miss: missAsText(miss) })
}

/** A session that was played, or a miss in one. */
export interface ReplayedSession {
  readonly server: string
  readonly miss?: string
  readonly answered: number
  readonly misses: number
  readonly leftOver: number
  readonly texts?: ReplayedTexts
  /** The frames of the requests that are left over. */
  readonly unusedFrames?: readonly number[]
  /** How many requests a live server answered. */
  readonly wentLive?: number
}

/** A connection that was not played, because the MCP client of the program was not recognised. */
export interface LiveConnection {
  readonly live: string
}
