import { idText, type Id } from '../wire/id.ts'
import type { Request } from '../wire/message.ts'
import type { Carrier } from './carrier.ts'
import type { CallEnd, LiveCall } from './live-call.ts'
import type { LiveSession } from './live-session.ts'
import { withFreshNames } from './outgoing.ts'
import { isOpenEnded, type Planned } from './plan.ts'
import type { RoundInputs } from './round-inputs.ts'
import type { SentCalls } from './sent-calls.ts'
import { NONE, SentRequest } from './sent-request.ts'
import type { Heard } from './step-results.ts'
import type { TransformRule } from './transform/rule.ts'
import type { Transformed } from './transform/transform.ts'

export interface AskingOptions {
  readonly carrier: Carrier
  readonly rounds: RoundInputs
  readonly calls: SentCalls
  readonly rules: readonly TransformRule[]
  /** A fault in the place of the answer. */
  readonly inject?: () => CallEnd | undefined
  readonly timeout: number
  /** Whether recorded ids are sent. */
  readonly keepsIds: boolean
  readonly now: () => number
}

/** A request as it is to be sent, and for the how manieth time again. It is told what came of it. */
export interface Asked {
  readonly planned: Planned
  readonly made: Transformed
  readonly retry: number
  onHeard(heard: Heard): void
  onFailure(error: unknown): void
}

/** Sends requests, and says what came of each. All of it happens at once where nothing is to be waited for but the answer. */
export class Asking {
  readonly #options: AskingOptions
  /** Those that were never answered when they were recorded, and how to stop waiting for them. */
  readonly #endless = new Map<LiveCall, () => void>()

  constructor(options: AskingOptions) {
    this.#options = options
  }

  /** The call; undefined when a fault stands in its place. */
  ask(session: LiveSession, asked: Asked): LiveCall | undefined {
    const { planned, made, retry } = asked
    const { message, turn } = planned
    const recorded = message.kind === 'request' ? message.id : 0
    const id = made.id ?? this.#nextId(recorded, session, retry > 0 || made.isRenewed === true)
    const { text, token } = withFreshNames(made.text, recorded, id)
    const fault = made.error === undefined ? this.#options.inject?.() : answerOf(id, made.error)
    if (fault !== undefined) {
      asked.onHeard(injected({ id, bound: made.text, sent: text }, fault, this.#options.now()))
      return undefined
    }
    const expected = turn.response && { text: turn.response.text, id: idText(recorded) }
    const timeout = isOpenEnded(planned) ? Infinity : this.#options.timeout
    const isKnown = made.text === planned.text
    const known = isKnown ? requestOf(message, id) : undefined
    const call = session.call({ text, id, token, timeout, expected, message: known })
    this.#follow(planned, new SentRequest(asked, call, session, this.#options))
    return call
  }

  /** Stops waiting for what is never answered: for this call, or for all. */
  release(call?: LiveCall): void {
    if (call !== undefined) return this.#endless.get(call)?.()
    for (const stop of this.#endless.values()) stop()
  }

  /** The recorded id is not sent while it is in use, or again: connections of a tape may share a link. */
  #nextId(recorded: Id, session: LiveSession, isAnother: boolean): Id {
    if (!this.#options.keepsIds) return session.nextId()
    if (!isAnother && !session.hasOpen(recorded)) return recorded
    return `__again_${session.nextId()}__` // a number might be the recorded id of another request
  }

  #follow(planned: Planned, sent: SentRequest): void {
    if (!isOpenEnded(planned)) return sent.call.follow(sent)
    let isTold = false
    const tell = (end: CallEnd): void => {
      if (isTold) return
      isTold = true
      this.#endless.delete(sent.call)
      sent.onEnd(end)
    }
    this.#endless.set(sent.call, () => tell({ kind: 'open' }))
    sent.call.follow({ onEnd: tell })
  }
}

// Written out: a spread in its place takes longer than all else that is done for a request.
function requestOf({ method, params }: Planned['message'], id: Id): Request {
  return { kind: 'request', id, method, params }
}

function answerOf(id: Id, error: NonNullable<Transformed['error']>): CallEnd {
  return { kind: 'answered', text: JSON.stringify({ jsonrpc: '2.0', id, error }), asRecorded: false }
}

function injected(named: Pick<Heard, 'id' | 'bound' | 'sent'>, end: CallEnd, now: number): Heard {
  return { ...named, end, sentAt: now, endedAt: now, asides: [], moved: NONE, isInjected: true }
}
