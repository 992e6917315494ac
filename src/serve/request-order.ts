import { isHandshakeMethod } from '../protocol/revisions/index.ts'
import { describeRequest } from '../match/describe-request.ts'
import { turnLabel, type Turn } from '../tape/turns.ts'

/** Two requests that the client sent in another order than recorded: `before` came first, and should have come second. */
export interface SwappedTurns {
  readonly before: Turn
  readonly after: Turn
}

/** One line for people. */
export function describeSwap({ before, after }: SwappedTurns): string {
  return `${describeTurn(before)} was sent before ${describeTurn(after)}`
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

/** The label of a turn and its request. */
export function describeTurn(turn: Turn): string {
  const message = turn.trigger?.message
  const request = message?.kind === 'request' ? message : undefined
  if (request === undefined) return turnLabel(turn)
  const { method, params } = request
  return `${turnLabel(turn)} ${describeRequest({ method, params }, 100)}`
}
