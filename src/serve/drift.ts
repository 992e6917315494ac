import { ReelayError } from '../errors.ts'
import { formatPath } from '../json/path.ts'
import { describeRequest, describeValue } from '../match/describe-request.ts'
import type { RecordedRequest } from '../match/request-groups.ts'
import type { Miss } from '../match/miss/miss.ts'
import { requestKey } from '../match/request-key.ts'
import { exchangeLabel, type ClientCall } from '../tape/turns.ts'
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
}

export function hasDrifted({ leftOver, misses }: Drift): boolean {
  return leftOver.length > 0 || misses.length > 0
}

/** Formats the closing report: a line of counts, then one line for each difference. */
export function formatDrift(drift: Drift, { request: shown, text }: ReportView = UNREDACTED): string {
  const { leftOver, misses, notes, faults = [], wentLive = [] } = drift
  const causes = leftOverCauses(leftOver.slice(0, MAX_LINES), misses)
  return [
    formatCounts(drift),
    ...limitedLines(wentLive, (asked) => `WENT LIVE, not on the tape: ${describeRequest(shown(asked))}`),
    ...limitedLines(faults, (fault) => `fault: ${fault}`),
    ...limitedLines(leftOver, (request, place) => leftOverLine(shown(request), causes[place])),
    ...limitedLines(misses, ({ reason, request }) => `missed: ${reason} ${describeRequest(request)}`),
    ...limitedLines(notes, (note) => `note: ${note}`),
  ]
    .map((line) => escapeControlChars(text(line)))
    .join('\n')
}

/** Returns the drift as the error that a program gets. */
export function driftError(drift: Drift, redactor?: ReportRedactor): ReelayError {
  return new ReelayError('REPLAY_DRIFT', `the run drifted from the tape: ${formatDrift(drift, redactor)}`, {
    hint: "send the requests that are left over, or pass { drift: 'ignore' }",
  })
}

type ReportView = Pick<ReportRedactor, 'request' | 'text'>

const UNREDACTED: ReportView = { request: (request) => request, text: String }

function formatCounts({ answered, leftOver, misses, faults = [], wentLive = [] }: Drift): string {
  return [
    `${count(answered, 'request')} answered`,
    count(misses.length, 'miss', 'misses'),
    `${leftOver.length} left over`,
    ...(faults.length === 0 ? [] : [count(faults.length, 'fault')]),
    ...(wentLive.length === 0 ? [] : [`${wentLive.length} WENT LIVE`]),
  ].join(', ')
}

function leftOverLine(request: RecordedRequest, cause: LeftOverCause | undefined): string {
  const why = cause === undefined ? '' : formatLeftOverCause(cause)
  return `skipped a baseline step: ${exchangeLabel(request)} ${describeRequest(request)}${why}`
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
  return ` (asked in another form: ${formatPath(first.path)} recorded ${formatValue(first.recorded)}, got ${formatValue(first.got)}${others})`
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
  const faults = drifts.flatMap((drift) => drift.faults ?? [])
  const wentLive = drifts.flatMap((drift) => drift.wentLive ?? [])
  return {
    answered: drifts.reduce((sum, { answered }) => sum + answered, 0),
    misses: drifts.flatMap(({ misses }) => misses),
    notes: [...new Set(drifts.flatMap(({ notes }) => notes))],
    ...(faults.length > 0 && { faults }),
    ...(wentLive.length > 0 && { wentLive }),
  }
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

  constructor(options: DriftLogOptions) {
    this.#options = options
  }

  readonly note = (text: string): void => {
    const { redactor, onNote } = this.#options
    const note = redactor?.text(text) ?? text
    this.notes.push(note)
    onNote?.(note)
  }

  /** Adds a note that may occur often only once. */
  noteOnce(note: string): void {
    if (!this.notes.includes(note)) this.note(note)
  }

  addMiss(miss: Miss): void {
    this.misses.push(miss)
    this.#options.onMiss?.(miss)
  }

  addUpstreamRequest(asked: ClientCall): void {
    this.wentLive.push(asked)
    this.#options.onLive?.(asked)
  }
}
