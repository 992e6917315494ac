import { ReelayError } from '../errors.ts'
import { describeRequest } from '../match/describe-request.ts'
import type { RequestContent } from '../match/request-key.ts'
import type { Miss } from '../match/miss/miss.ts'
import type { RecordedRequest } from '../match/matcher.ts'
import { escapeControlChars } from '../text.ts'
import type { ReportRedactor } from './redaction/report-redactor.ts'
import { formatLeftOverCause, leftOverCauses, type LeftOverCause } from './left-over.ts'

/** What a run left over or added against the tape. */
export interface Drift {
  /** Live requests that a recorded answer was found for. */
  readonly answered: number
  /** Recorded requests that were never asked; the handshake and `ping` do not count. */
  readonly leftOver: readonly RecordedRequest[]
  readonly misses: readonly Miss[]
  /** Smaller differences, which fail nothing. */
  readonly notes: readonly string[]
  /** What was struck by a fault, in words; it is no doing of the client. */
  readonly faults?: readonly string[]
  /** What the live server answered, because the tape could not and the user allowed it. */
  readonly wentLive?: readonly RequestContent[]
}

export function hasDrifted({ leftOver, misses }: Drift): boolean {
  return leftOver.length > 0 || misses.length > 0
}

/** The closing report: one line of counts, then one line for each thing that was not as recorded. */
export function formatDrift(drift: Drift, { request: shown, text }: ReportView = UNREDACTED): string {
  const { leftOver, misses, notes, faults = [], wentLive = [] } = drift
  const causes = leftOverCauses(leftOver.slice(0, MAX_LINES), misses)
  return [
    formatCounts(drift),
    ...limitedLines(wentLive, (asked) => `WENT LIVE, not on the tape: ${describeRequest(shown(asked))}`),
    ...limitedLines(faults, (fault) => `fault: ${fault}`),
    ...limitedLines(leftOver, (request, place) => leftOverLine(shown(request), causes[place])),
    ...limitedLines(misses, ({ reason, asked }) => `missed: ${reason} ${describeRequest(asked)}`),
    ...limitedLines(notes, (note) => `note: ${note}`),
  ]
    .map((line) => escapeControlChars(text(line)))
    .join('\n')
}

/** The drift as the error that a program gets. */
export function driftError(drift: Drift, screen?: ReportRedactor): ReelayError {
  return new ReelayError('REPLAY_DRIFT', `the run drifted from the tape: ${formatDrift(drift, screen)}`, {
    hint: "ask for what was left over, or pass { drift: 'ignore' }",
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
  return `skipped a baseline step: #${request.frame} ${describeRequest(request)}${why}`
}

const MAX_LINES = 40

// Only what is shown is looked at: the rest may have to be read from a large tape.
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
