import { idToJson, type Id } from '../../protocol/id.ts'
import type { Request } from '../../protocol/message.ts'
import { movedRequests } from '../judge/order.ts'
import { SERVER_GRACE } from '../options.ts'
import { isNeverAnswered, type PlannedMessage } from '../plan/plan.ts'
import type { CancellableCalls } from './cancellations.ts'
import { withFreshIds } from './fresh-ids.ts'
import type { InputRounds } from '../session/input-rounds.ts'
import type { CallEnd, LiveCall, InterimMessage } from '../session/live-calls.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { SentRequest } from '../steps/step.ts'
import type { TransformRule } from '../transform/rule.ts'
import { type TransformedMessage, applyAnswerRules } from '../transform/transform.ts'
import type { CarriedValues } from '../values/carried-values.ts'

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
  onOutcome(heard: SentRequest): void
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
    const { text, token } = withFreshIds(transformed.text, id)
    const fault =
      transformed.error === undefined ? this.#options.inject?.() : errorAnswer(id, transformed.error)
    if (fault !== undefined) {
      asked.onOutcome(
        injectedOutcome({ planned, id, bound: transformed.text, sent: text }, fault, this.#options.now()),
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
  named: Pick<SentRequest, 'planned' | 'id' | 'bound' | 'sent'>,
  end: CallEnd,
  now: number,
): SentRequest {
  return { ...named, end, sentAt: now, endedAt: now, asides: [], moved: NO_MOVED_REQUESTS, isInjected: true }
}

type InFlightRequestOptions = Pick<RequestSenderOptions, 'carrier' | 'rounds' | 'calls' | 'rules'>

/** A request on its way, and what follows from its end. */
class InFlightRequest {
  readonly call: LiveCall
  readonly #attempt: RequestAttempt
  readonly #session: LiveSession
  readonly #options: InFlightRequestOptions

  constructor(asked: RequestAttempt, call: LiveCall, session: LiveSession, options: InFlightRequestOptions) {
    this.call = call
    this.#attempt = asked
    this.#session = session
    this.#options = options
  }

  /** Tells whoever asked what came of it. */
  onEnd(end: CallEnd): void {
    try {
      this.#finish(end)
    } catch (error) {
      this.#attempt.onFailure(error)
    }
  }

  #finish(end: CallEnd): void {
    const [{ planned, transformed }, { call }] = [this.#attempt, this]
    if (call.isOver) this.#options.calls.finish(planned)
    const { id, text: sent, sentAt, endedAt, asides } = call
    const changed = this.#changedAnswer(planned, end)
    if (changed.kind === 'answered') this.#learn(planned, changed.text, asides)
    const heard: SentRequest = {
      planned,
      end: changed,
      id,
      bound: transformed.text,
      sent,
      sentAt,
      endedAt,
      asides,
      moved: NO_MOVED_REQUESTS,
    }
    if (asides.length === 0 && !planned.turn.steps.some(isServerRequest))
      return this.#attempt.onOutcome(heard)
    const moved = movedRequests(planned, asides, { heard: this.#session.notifications, grace: SERVER_GRACE })
    moved
      .then((methods) => this.#attempt.onOutcome({ ...heard, moved: methods }))
      .catch((error: unknown) => this.#attempt.onFailure(error))
  }

  #learn(planned: PlannedMessage, answer: string, asides: readonly InterimMessage[]): void {
    this.#options.rounds.learn(planned.turn, answer)
    const told = asides.length === 0 ? [answer] : [...asides.map(({ text }) => text), answer]
    this.#options.carrier.learn(planned, told)
  }

  #changedAnswer({ index, tool, message }: PlannedMessage, end: CallEnd): CallEnd {
    if (end.kind !== 'answered' || this.#options.rules.length === 0) return end
    const text = applyAnswerRules(end.text, { index, tool, message }, this.#options.rules)
    return text === end.text ? end : { kind: 'answered', text, asRecorded: false }
  }
}

/** Of nearly every request nothing came at another time. */
const NO_MOVED_REQUESTS: ReadonlySet<string> = new Set()

function isServerRequest({ kind }: PlannedMessage['turn']['steps'][number]): boolean {
  return kind === 'ask'
}
