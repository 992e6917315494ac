import { ReelayError, type ErrorCode } from '../errors.ts'
import { describeRequest } from '../match/describe-request.ts'
import { missAsText } from '../match/miss/report.ts'
import { leftOverCauses, type Drift, type ReplayedTexts } from '../serve/drift.ts'
import { describeSwap, describeTurn, type SwappedTurns } from '../serve/request-order.ts'
import { exchangeLabel, type ClientCall } from '../tape/turns.ts'
import { comparedParams } from '../match/request-key.ts'
import { escapeControlChars } from '../text.ts'

/** How a test differs from its tape. Test runners show `expected` and `actual` side by side. */
export class TapeDifferenceError extends Error {
  override readonly name = 'TapeDifferenceError'
  /** The requests of the tape that the test did not send in this form, in the recorded order. */
  readonly expected: readonly unknown[]
  /** What the test sent instead. */
  readonly actual: readonly unknown[]
  readonly showDiff: boolean

  constructor(
    tape: string,
    { misses, leftOver, outOfOrder, answered, told }: TestDifference,
    update: string,
  ) {
    const causes = leftOverCauses(leftOver, misses)
    const unused = leftOver.filter((_, at) => causes[at]?.kind === 'never-asked')
    const missed = [...misses.map(missAsText), ...(told?.misses ?? [])]
    const unusedLines = [
      ...unused.map((request) => `${exchangeLabel(request)} ${describeRequest(request, 100)}`),
      ...(told?.unused ?? []),
    ]
    const swaps = [...outOfOrder.map(describeSwap), ...(told?.outOfOrder ?? [])]
    const parts = [
      `the test differs from its tape ${tape}`,
      ...missed.slice(0, MOST_MISSES),
      ...(missed.length > MOST_MISSES
        ? [`… and ${counted(missed.length - MOST_MISSES, 'request')} more`]
        : []),
      ...list(`${counted(unusedLines.length, 'recorded exchange')} unused:`, unusedLines),
      ...list('sent in another order than recorded:', swaps),
      ...(answered === 0 && missed.length === 0
        ? ['nothing was answered from the tape: the client did not connect to it']
        : []),
      `to accept this, update the tape: ${update}; to record it again: REELAY_MODE=rewrite`,
    ]
    super(parts.map(printable).join('\n\n'))
    const nearest = misses.flatMap((miss) => miss.nearest.slice(0, 1).map(({ entry }) => entry.request))
    this.expected = [
      ...[...nearest, ...unused].map(plainRequest),
      ...outOfOrder.flatMap(({ before, after }) => [describeTurn(after), describeTurn(before)]),
      ...(told?.unused ?? []),
    ]
    this.actual = [
      ...misses.map(({ request }) => plainRequest(request)),
      ...outOfOrder.flatMap(({ before, after }) => [describeTurn(before), describeTurn(after)]),
      ...(told?.misses ?? []).map((report) => /^request +(.*)$/m.exec(report)?.[1] ?? report),
    ]
    this.showDiff = this.expected.length + this.actual.length > 0
  }
}

/** How the sessions of a test differ from the tape. */
export interface TestDifference extends Drift {
  readonly outOfOrder: readonly SwappedTurns[]
  /** What other processes have reported, as texts. */
  readonly told?: ReplayedTexts
}

const MOST_MISSES = 20
const MOST_LINES = 40

/** A list below its title, or nothing if it is empty. */
function list(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return []
  const more = lines.length > MOST_LINES ? [`  … and ${lines.length - MOST_LINES} more`] : []
  return [[title, ...lines.slice(0, MOST_LINES).map((line) => `  ${line}`), ...more].join('\n')]
}

/** Test runners show the message of an error only, so that the hint has to be a part of it. */
export function usageInTest(message: string, hint: string, code: ErrorCode = 'USAGE'): ReelayError {
  return new ReelayError(code, `${message}\n  hint: ${hint}`)
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function printable(text: string): string {
  return text.split('\n').map(escapeControlChars).join('\n')
}

function plainRequest(request: ClientCall): object {
  return { method: request.method, params: comparedParams(request) }
}
