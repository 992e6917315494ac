import type { RequestSenderOptions, RequestAttempt } from './send/request-sender.ts'
import type { InterimMessage, CallEnd, LiveCall } from './session/live-calls.ts'
import type { LiveSession } from './session/live-session.ts'
import { movedRequests } from './moved-asks.ts'
import type { PlannedMessage } from './plan/plan.ts'
import { SERVER_GRACE } from './prepare-options.ts'
import type { RequestOutcome } from './step-results.ts'
import { applyAnswerRules } from './transform/transform.ts'

type InFlightRequestOptions = Pick<RequestSenderOptions, 'carrier' | 'rounds' | 'calls' | 'rules'>

/** A request on its way, and what follows from its end. */
export class InFlightRequest {
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
    const heard: RequestOutcome = {
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
export const NO_MOVED_REQUESTS: ReadonlySet<string> = new Set()

function isServerRequest({ kind }: PlannedMessage['turn']['steps'][number]): boolean {
  return kind === 'ask'
}
