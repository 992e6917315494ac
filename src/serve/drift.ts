import { ReelayError } from '../errors.ts'
import { briefRequest } from '../match/brief.ts'
import type { Asked } from '../match/key.ts'
import type { Miss } from '../match/miss.ts'
import type { RecordedRequest } from '../match/matcher.ts'
import { visible } from '../wire/visible.ts'
import type { Screen } from './screen.ts'
import { causeAsText, leftOverCauses, type LeftOverCause } from './left-over.ts'

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
  readonly wentLive?: readonly Asked[]
}

export function hasDrifted({ leftOver, misses }: Drift): boolean {
  return leftOver.length > 0 || misses.length > 0
}

/** The closing report: one line of counts, then one line for each thing that was not as recorded. */
export function driftAsText(drift: Drift, { request: shown, text }: Shown = AS_IT_IS): string {
  const { leftOver, misses, notes, faults = [], wentLive = [] } = drift
  const causes = leftOverCauses(leftOver.slice(0, SHOWN), misses)
  return [
    countsAsText(drift),
    ...shortened(wentLive, (asked) => `WENT LIVE, not on the tape: ${briefRequest(shown(asked))}`),
    ...shortened(faults, (fault) => `fault: ${fault}`),
    ...shortened(leftOver, (request, place) => leftOverLine(shown(request), causes[place])),
    ...shortened(misses, ({ reason, asked }) => `missed: ${reason} ${briefRequest(asked)}`),
    ...shortened(notes, (note) => `note: ${note}`),
  ]
    .map((line) => visible(text(line)))
    .join('\n')
}

/** The drift as the error that a program gets. */
export function driftError(drift: Drift, screen?: Screen): ReelayError {
  return new ReelayError('REPLAY_DRIFT', `the run drifted from the tape: ${driftAsText(drift, screen)}`, {
    hint: "ask for what was left over, or pass { drift: 'ignore' }",
  })
}

type Shown = Pick<Screen, 'request' | 'text'>

const AS_IT_IS: Shown = { request: (request) => request, text: String }

function countsAsText({ answered, leftOver, misses, faults = [], wentLive = [] }: Drift): string {
  return [
    `${count(answered, 'request')} answered`,
    count(misses.length, 'miss', 'misses'),
    `${leftOver.length} left over`,
    ...(faults.length === 0 ? [] : [count(faults.length, 'fault')]),
    ...(wentLive.length === 0 ? [] : [`${wentLive.length} WENT LIVE`]),
  ].join(', ')
}

function leftOverLine(request: RecordedRequest, cause: LeftOverCause | undefined): string {
  const why = cause === undefined ? '' : causeAsText(cause)
  return `skipped a baseline step: #${request.frame} ${briefRequest(request)}${why}`
}

const SHOWN = 40

// Only what is shown is looked at: the rest may have to be read from a large tape.
function shortened<Item>(
  items: readonly Item[],
  asLine: (item: Item, place: number) => string,
): readonly string[] {
  const lines = items.slice(0, SHOWN).map(asLine)
  return items.length <= SHOWN ? lines : [...lines, `… and ${items.length - SHOWN} more`]
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
