import { ReelayError, type ErrorCode } from '../errors.ts'
import { describeRequest } from '../match/describe-request.ts'
import { missAsText } from '../match/miss/report.ts'
import { leftOverCauses, type Drift } from '../serve/drift.ts'
import { exchangeLabel, turnLabel, type ClientCall, type Turn } from '../tape/turns.ts'
import { isHandshakeMethod } from '../protocol/revisions/index.ts'
import { comparedParams } from '../match/request-key.ts'
import { escapeControlChars } from '../text.ts'

/** How a test differs from its tape. Test runners show `expected` and `actual` side by side. */
export class TapeDifferenceError extends Error {
  override readonly name = 'TapeDifferenceError'
  /** The requests of the tape that the test did not send in this form, in the recorded order. */
  readonly expected: readonly unknown[]
  /** What the test sent instead. */
  readonly actual: readonly unknown[]
  readonly showDiff = true

  constructor(
    tape: string,
    {
      misses,
      leftOver,
      outOfOrder,
      answered,
      unlisted,
    }: Drift & { readonly outOfOrder: readonly SwappedTurns[] },
    update: string,
  ) {
    const causes = leftOverCauses(leftOver, misses)
    const unused = leftOver.filter((_, at) => causes[at]?.kind === 'never-asked')
    const hidden = {
      misses: unlisted?.misses ?? 0,
      leftOver: Number(Reflect.get(unlisted ?? {}, 'leftOver') ?? 0),
    }
    const parts = [
      `the test differs from its tape ${tape}`,
      ...misses.map(missAsText),
      ...(hidden.misses > 0
        ? [`${counted(hidden.misses, 'request')} not on the tape; stderr shows the reports`]
        : []),
      ...(unused.length + hidden.leftOver > 0
        ? [
            [
              `${counted(unused.length + hidden.leftOver, 'recorded exchange')} unused:`,
              ...unused.map((request) => `  ${exchangeLabel(request)} ${describeRequest(request, 100)}`),
            ].join('\n'),
          ]
        : []),
      ...(outOfOrder.length > 0
        ? [['sent in another order than recorded:', ...outOfOrder.map(swappedLine)].join('\n')]
        : []),
      ...(answered === 0 ? ['nothing was answered from the tape: the client did not connect to it'] : []),
      `to accept this, update the tape: ${update}; to record it again: REELAY_MODE=rewrite`,
    ]
    super(parts.map(printable).join('\n\n'))
    const nearest = misses.flatMap((miss) => miss.nearest.slice(0, 1).map(({ entry }) => entry.request))
    this.expected = [
      ...[...nearest, ...unused].map(plainRequest),
      ...outOfOrder.flatMap(({ before, after }) => [turnText(after), turnText(before)]),
    ]
    this.actual = [
      ...misses.map(({ request }) => plainRequest(request)),
      ...outOfOrder.flatMap(({ before, after }) => [turnText(before), turnText(after)]),
    ]
  }
}

/** Test runners show the message of an error only, so that the hint has to be a part of it. */
export function usageInTest(message: string, hint: string, code: ErrorCode = 'USAGE'): ReelayError {
  return new ReelayError(code, `${message}\n  hint: ${hint}`)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function printable(text: string): string {
  return text.split('\n').map(escapeControlChars).join('\n')
}

function plainRequest(request: ClientCall): object {
  return { method: request.method, params: comparedParams(request) }
}

/** Two requests that the test sent in another order: `before` came first, and should have come second. */
export interface SwappedTurns {
  readonly before: Turn
  readonly after: Turn
}

function swappedLine({ before, after }: SwappedTurns): string {
  return `  ${turnText(before)} was sent before ${turnText(after)}`
}

/** Finds requests that were sent before another one, although their responses came before it on the tape. */
export class OrderCheck {
  readonly problems: SwappedTurns[] = []
  readonly #latest = new Map<string, Turn>()

  add(turn: Turn): void {
    const { trigger, response } = turn
    if (trigger?.message.kind !== 'request' || isHandshakeMethod(trigger.message.method)) return
    const connection = `${trigger.server} ${trigger.conn}`
    const latest = this.#latest.get(connection)
    if (latest?.trigger !== undefined && response !== undefined && response.n < latest.trigger.n)
      this.problems.push({ before: latest, after: turn })
    if (latest?.trigger === undefined || latest.trigger.n < trigger.n) this.#latest.set(connection, turn)
  }
}

function turnText(turn: Turn): string {
  const message = turn.trigger?.message
  const request = message?.kind === 'request' ? message : undefined
  if (request === undefined) return turnLabel(turn)
  const { method, params } = request
  return `${turnLabel(turn)} ${describeRequest({ method, params }, 100)}`
}
