import { ReelayError } from '../errors.ts'
import { briefRequest } from '../match/brief.ts'
import type { Asked } from '../match/key.ts'
import type { Miss } from '../match/miss.ts'
import type { RecordedRequest } from '../match/matcher.ts'
import { visible } from '../wire/visible.ts'

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
export function driftAsText({
  answered,
  leftOver,
  misses,
  notes,
  faults = [],
  wentLive = [],
}: Drift): string {
  return [
    [
      `${count(answered, 'request')} answered`,
      count(misses.length, 'miss', 'misses'),
      `${leftOver.length} left over`,
      ...(faults.length === 0 ? [] : [count(faults.length, 'fault')]),
      ...(wentLive.length === 0 ? [] : [`${wentLive.length} WENT LIVE`]),
    ].join(', '),
    ...shortened(wentLive.map((asked) => `WENT LIVE, not on the tape: ${briefRequest(asked)}`)),
    ...shortened(faults.map((fault) => `fault: ${fault}`)),
    ...shortened(
      leftOver.map((request) => `skipped a baseline step: #${request.frame} ${briefRequest(request)}`),
    ),
    ...shortened(misses.map(({ reason, asked }) => `missed: ${reason} ${briefRequest(asked)}`)),
    ...shortened(notes.map((note) => `note: ${note}`)),
  ]
    .map((line) => visible(line))
    .join('\n')
}

/** The drift as the error that a program gets. */
export function driftError(drift: Drift): ReelayError {
  return new ReelayError('REPLAY_DRIFT', `the run drifted from the tape: ${driftAsText(drift)}`, {
    hint: "ask for what was left over, or pass { drift: 'ignore' }",
  })
}

const SHOWN = 40

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= SHOWN) return lines
  return [...lines.slice(0, SHOWN), `… and ${lines.length - SHOWN} more`]
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
