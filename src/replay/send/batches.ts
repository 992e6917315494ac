import type { Message } from '../../protocol/message.ts'
import { sessionRevisionOf } from '../../protocol/revisions/index.ts'
import type { PlannedMessage, ReplayPlan } from '../plan/plan.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { ProtocolRevisions } from '../session/peer.ts'

interface BatchesContext {
  readonly plan: ReplayPlan
  readonly revisions: ProtocolRevisions
  /** How many messages may wait for each other. Less than two sends every message on its own. */
  readonly maxSize: number
}

/** Sends the messages of a recorded batch as one JSON array, if the live session has a revision with batches. */
export class Batches {
  readonly #context: BatchesContext
  /** The batches that are being collected, by frame. */
  readonly #open = new Map<number, OutgoingBatch>()

  constructor(context: BatchesContext) {
    this.#context = context
  }

  /** Returns the part of a message in its batch; `undefined` if it is sent on its own. */
  memberFor({ index, turn }: PlannedMessage): BatchMember | undefined {
    if (turn.trigger?.item === undefined) return undefined
    const { plan, revisions, maxSize } = this.#context
    const size = plan.batchSizeOf(index)
    if (size < 2 || size > maxSize) return undefined
    const frame = plan.frameOf(index)
    const batch = this.#open.get(frame) ?? new OutgoingBatch(size, () => this.#open.delete(frame))
    this.#open.set(frame, batch)
    const isAllowed = (): boolean => sessionRevisionOf(revisions.live(turn)).allowsBatches
    return new BatchMember(batch, isAllowed)
  }
}

/** A message of a batch, which is either sent or leaves the batch. */
export class BatchMember {
  readonly #batch: OutgoingBatch
  readonly #isAllowed: () => boolean
  #isSettled = false

  constructor(batch: OutgoingBatch, isAllowed: () => boolean) {
    this.#batch = batch
    this.#isAllowed = isAllowed
  }

  /** Sends the message with the others of its batch. Only an open session knows whether its revision allows that. */
  send(session: LiveSession, text: string, message?: Message): void {
    if (this.#isAllowed()) this.#batch.settle(session, text)
    else session.send(text, message)
    this.#isSettled = true
  }

  /** Called when the message is done. If it was not sent, the others do not wait for it. */
  leave(session: LiveSession | undefined): void {
    if (!this.#isSettled) this.#batch.settle(session)
    this.#isSettled = true
  }
}

/** Collects the texts of a batch until all of its messages are settled. */
class OutgoingBatch {
  readonly #texts: string[] = []
  readonly #onComplete: () => void
  #missing: number

  constructor(size: number, onComplete: () => void) {
    this.#missing = size
    this.#onComplete = onComplete
  }

  settle(session: LiveSession | undefined, text?: string): void {
    if (text !== undefined) this.#texts.push(text)
    if (--this.#missing > 0) return
    this.#onComplete()
    const [first, ...others] = this.#texts
    if (first !== undefined) session?.send(others.length === 0 ? first : `[${this.#texts.join(',')}]`)
  }
}
