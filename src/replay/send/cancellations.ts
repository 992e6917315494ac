import { member } from '../../json/parse.ts'
import type { Turn } from '../../tape/turns.ts'
import { callKey, cancelledKey, type PlannedMessage } from '../plan/plan.ts'
import type { LiveCall } from '../session/live-calls.ts'

/** A request that was sent, or is about to be sent. */
interface CancellableRequest {
  readonly turn: Turn
  /** Has no call if the request was not sent. */
  readonly started: Promise<{ readonly call?: LiveCall | undefined } | undefined>
}

/** The live calls of requests that the tape cancels: a cancellation names them by their recorded ids. */
export class Cancellations {
  readonly #cancelled: ReadonlySet<string>
  readonly #requests = new Map<string, CancellableRequest | 'over'>()

  /** Takes the requests that are cancelled anywhere on the tape, by `cancelledKey`; on most tapes there are none. */
  constructor(cancelled: ReadonlySet<string>) {
    this.#cancelled = cancelled
  }

  add(planned: PlannedMessage, started: CancellableRequest['started']): void {
    const key = this.#keyOf(planned)
    if (key !== undefined) this.#requests.set(key, { turn: planned.turn, started })
  }

  /** Forgets the texts of a request that has ended, but not that it was sent. */
  finish(planned: PlannedMessage): void {
    const key = this.#keyOf(planned)
    if (key !== undefined) this.#requests.set(key, 'over')
  }

  /** Returns the request that a message cancels; `undefined` if that was not sent. */
  async requestCancelledBy(
    planned: PlannedMessage,
  ): Promise<{ readonly call: LiveCall; readonly turn: Turn } | 'over' | undefined> {
    const request = this.#cancelledBy(planned)
    if (request === undefined || request === 'over') return request
    const call = (await request.started)?.call
    if (call === undefined) return undefined
    return call.isOver ? 'over' : { call, turn: request.turn }
  }

  /** Waits until a request has reported as much progress as it had on the tape when it was cancelled. */
  async waitForProgress(planned: PlannedMessage, milliseconds: number): Promise<void> {
    const request = this.#cancelledBy(planned)
    if (request === undefined || request === 'over') return
    const count = recordedProgressBefore(request.turn, planned.turn.trigger?.n ?? 0)
    await (await request.started)?.call?.waitForProgress(count, milliseconds)
  }

  #keyOf({ message, link }: PlannedMessage): string | undefined {
    if (this.#cancelled.size === 0 || message.kind !== 'request') return undefined
    const key = callKey(link, message.id)
    return this.#cancelled.has(key) ? key : undefined
  }

  #cancelledBy({ message, link }: PlannedMessage): CancellableRequest | 'over' | undefined {
    const key = cancelledKey(link, message)
    return key === undefined ? undefined : this.#requests.get(key)
  }
}

function recordedProgressBefore({ steps }: Turn, n: number): number {
  return steps.filter(
    (step) =>
      step.kind === 'notify' &&
      step.message.n < n &&
      member(step.message.message, 'method') === 'notifications/progress',
  ).length
}
