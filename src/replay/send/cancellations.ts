import { member } from '../../protocol/message.ts'
import type { Turn } from '../../tape/turn.ts'
import { callKey, cancelledKey, type PlannedMessage } from '../plan/plan.ts'
import type { LiveCall } from '../session/live-calls.ts'

/** A request that went out, and what came of it when it was recorded. */
interface CancellableCall {
  /** Undefined when a fault stood in its place. */
  readonly call: LiveCall | undefined | Promise<LiveCall | undefined>
  readonly turn: Turn
}

/** The live calls of recorded requests that the tape cancels: cancellations name them by their recorded ids. */
export class CancellableCalls {
  readonly #cancelled: ReadonlySet<string>
  readonly #calls = new Map<string, CancellableCall | 'over'>()

  /** What is cancelled somewhere, by `cancelledKey`: of most tapes nothing is. */
  constructor(cancelled: ReadonlySet<string>) {
    this.#cancelled = cancelled
  }

  add({ message, link, turn }: PlannedMessage, call: CancellableCall['call']): void {
    if (this.#cancelled.size === 0 || message.kind !== 'request') return
    const key = callKey(link, message.id)
    const isOver = call !== undefined && 'isOver' in call && call.isOver
    if (this.#cancelled.has(key)) this.#calls.set(key, isOver ? 'over' : { call, turn })
  }

  /** That it was made is worth knowing; its texts need not stay in memory. */
  finish({ message, link }: PlannedMessage): void {
    if (this.#cancelled.size === 0 || message.kind !== 'request') return
    const key = callKey(link, message.id)
    if (this.#cancelled.has(key)) this.#calls.set(key, 'over')
  }

  /** What a message cancels; undefined when that was not sent. */
  async cancelledBy(planned: PlannedMessage): Promise<LiveCall | 'over' | undefined> {
    const cancelled = this.#cancelledBy(planned)
    return cancelled === 'over' ? cancelled : cancelled?.call
  }

  /** A call is given up when it has told as much as it had then. */
  async waitForProgress(planned: PlannedMessage, milliseconds: number): Promise<void> {
    const cancelled = this.#cancelledBy(planned)
    if (cancelled === undefined || cancelled === 'over') return
    const told = recordedProgressBefore(cancelled.turn, planned.turn.trigger?.n ?? 0)
    await (await cancelled.call)?.waitForProgress(told, milliseconds)
  }

  #cancelledBy({ message, link }: PlannedMessage): CancellableCall | 'over' | undefined {
    const key = cancelledKey(link, message)
    return key === undefined ? undefined : this.#calls.get(key)
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
