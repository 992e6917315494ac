import { idToJson, type Id } from '../../protocol/id.ts'
import type { Request } from '../../protocol/message.ts'
import type { CarriedValues } from '../values/carried-values.ts'
import type { CallEnd, LiveCall } from '../session/live-calls.ts'
import type { LiveSession } from '../session/live-session.ts'
import { withFreshIds } from './fresh-ids.ts'
import { isNeverAnswered, type PlannedMessage } from '../plan/plan.ts'
import type { InputRounds } from '../session/input-rounds.ts'
import type { CancellableCalls } from '../sent-calls.ts'
import { NO_MOVED_REQUESTS, InFlightRequest } from '../sent-request.ts'
import type { RequestOutcome } from '../step-results.ts'
import type { TransformRule } from '../transform/rule.ts'
import type { TransformedMessage } from '../transform/transform.ts'

export interface RequestSenderOptions {
  readonly carrier: CarriedValues
  readonly rounds: InputRounds
  readonly calls: CancellableCalls
  readonly rules: readonly TransformRule[]
  /** A fault in the place of the answer. */
  readonly inject?: () => CallEnd | undefined
  readonly timeout: number
  /** Whether recorded ids are sent. */
  readonly keepsIds: boolean
  readonly now: () => number
}

/** A request as it is to be sent, and for the how manieth time again. It is told what came of it. */
export interface RequestAttempt {
  readonly planned: PlannedMessage
  readonly transformed: TransformedMessage
  readonly retry: number
  onOutcome(heard: RequestOutcome): void
  onFailure(error: unknown): void
}

/** Sends requests, and says what came of each. All of it happens at once where nothing is to be waited for but the answer. */
export class RequestSender {
  readonly #options: RequestSenderOptions
  /** Those that were never answered when they were recorded, and how to stop waiting for them. */
  readonly #neverAnswered = new Map<LiveCall, () => void>()

  constructor(options: RequestSenderOptions) {
    this.#options = options
  }

  /** The call; undefined when a fault stands in its place. */
  send(session: LiveSession, asked: RequestAttempt): LiveCall | undefined {
    const { planned, transformed, retry } = asked
    const { message, turn } = planned
    const recorded = message.kind === 'request' ? message.id : 0
    const id = transformed.id ?? this.#nextId(recorded, session, retry > 0 || transformed.isRenewed === true)
    const { text, token } = withFreshIds(transformed.text, recorded, id)
    const fault =
      transformed.error === undefined ? this.#options.inject?.() : errorAnswer(id, transformed.error)
    if (fault !== undefined) {
      asked.onOutcome(
        injectedOutcome({ id, bound: transformed.text, sent: text }, fault, this.#options.now()),
      )
      return undefined
    }
    const expected = turn.response && { text: turn.response.text, id: idToJson(recorded) }
    const timeout = isNeverAnswered(planned) ? Infinity : this.#options.timeout
    const isKnown = transformed.text === planned.text
    const known = isKnown ? withLiveId(message, id) : undefined
    const call = session.call({ text, id, token, timeout, expected, message: known })
    this.#follow(planned, new InFlightRequest(asked, call, session, this.#options))
    return call
  }

  /** Stops waiting for what is never answered: for this call, or for all. */
  release(call?: LiveCall): void {
    if (call !== undefined) return this.#neverAnswered.get(call)?.()
    for (const stop of this.#neverAnswered.values()) stop()
  }

  /** The recorded id is not sent while it is in use, or again: connections of a tape may share a link. */
  #nextId(recorded: Id, session: LiveSession, isAnother: boolean): Id {
    if (!this.#options.keepsIds) return session.nextId()
    if (!isAnother && !session.hasOpen(recorded)) return recorded
    return `__again_${session.nextId()}__` // a number might be the recorded id of another request
  }

  #follow(planned: PlannedMessage, sent: InFlightRequest): void {
    if (!isNeverAnswered(planned)) return sent.call.listen(sent)
    let isTold = false
    const tell = (end: CallEnd): void => {
      if (isTold) return
      isTold = true
      this.#neverAnswered.delete(sent.call)
      sent.onEnd(end)
    }
    this.#neverAnswered.set(sent.call, () => tell({ kind: 'open' }))
    sent.call.listen({ onEnd: tell })
  }
}

// Written out: a spread in its place takes longer than all else that is done for a request.
function withLiveId({ method, params }: PlannedMessage['message'], id: Id): Request {
  return { kind: 'request', id, method, params }
}

function errorAnswer(id: Id, error: NonNullable<TransformedMessage['error']>): CallEnd {
  return { kind: 'answered', text: JSON.stringify({ jsonrpc: '2.0', id, error }), asRecorded: false }
}

function injectedOutcome(
  named: Pick<RequestOutcome, 'id' | 'bound' | 'sent'>,
  end: CallEnd,
  now: number,
): RequestOutcome {
  return { ...named, end, sentAt: now, endedAt: now, asides: [], moved: NO_MOVED_REQUESTS, isInjected: true }
}
