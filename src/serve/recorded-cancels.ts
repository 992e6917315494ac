import type { RecordedMessage, Turn } from '../tape/turn.ts'
import { idKey, isId } from '../protocol/id.ts'
import { member } from '../protocol/message.ts'

/** The client's cancellations on a tape, by the request that they name. */
export class RecordedCancellations {
  readonly #byRequest = new Map<string, RecordedMessage>()

  /** `cancelling` are the turns of `notifications/cancelled`. */
  constructor(cancelling: readonly Turn[]) {
    for (const { trigger } of cancelling) if (trigger !== undefined) this.#add(trigger)
  }

  /** The cancellation of a request, when the server went on with it all the same. */
  ignoredCancellationOf({ trigger, response }: Turn): RecordedMessage | undefined {
    if (this.#byRequest.size === 0) return undefined
    if (trigger?.message.kind !== 'request' || response === undefined) return undefined
    const cancel = this.#byRequest.get(cancelledRequestKey(trigger, trigger.message.id))
    const isBetween = cancel !== undefined && cancel.n > trigger.n && cancel.n < response.n
    return isBetween ? cancel : undefined
  }

  #add(cancel: RecordedMessage): void {
    const { message } = cancel
    if (message.kind !== 'notification') return
    this.#byRequest.set(cancelledRequestKey(cancel, member(message.params, 'requestId')), cancel)
  }
}

function cancelledRequestKey({ server, conn }: RecordedMessage, id: unknown): string {
  return JSON.stringify([server, conn, isId(id) ? idKey(id) : null])
}
