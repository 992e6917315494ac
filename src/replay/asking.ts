import { idText, type Id } from '../wire/id.ts'
import type { Request } from '../wire/message.ts'
import type { Carrier } from './carrier.ts'
import type { Aside, CallEnd, LiveCall } from './live-call.ts'
import type { LiveSession } from './live-session.ts'
import { movedAsks } from './moved-asks.ts'
import { withFreshNames } from './outgoing.ts'
import { isOpenEnded, type Planned } from './plan.ts'
import type { RoundInputs } from './round-inputs.ts'
import type { SentCalls } from './sent-calls.ts'
import type { Heard } from './step-results.ts'
import type { TransformRule } from './transform/rule.ts'
import { transformAnswer, type Transformed } from './transform/transform.ts'

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

/** How long a message of the server may be late. */
export const GRACE = 2000

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
    const sent = { asked, session, call }
    this.#untilOver(planned, call, (end) => this.#conclude(sent, end))
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

  #untilOver(planned: Planned, call: LiveCall, then: (end: CallEnd) => void): void {
    if (!isOpenEnded(planned)) return call.whenOver(then)
    let isTold = false
    const tell = (end: CallEnd): void => {
      if (isTold) return
      isTold = true
      this.#endless.delete(call)
      then(end)
    }
    this.#endless.set(call, () => tell({ kind: 'open' }))
    call.whenOver(tell)
  }

  #conclude({ asked, session, call }: Sent, end: CallEnd): void {
    const { planned, made } = asked
    try {
      if (call.isOver) this.#options.calls.forget(planned)
      const { id, text: sent, sentAt, endedAt, asides } = call
      const changed = this.#changedAnswer(planned, end)
      if (changed.kind === 'answered') this.#learn(planned, changed.text, asides)
      const heard: Heard = { end: changed, id, bound: made.text, sent, sentAt, endedAt, asides, moved: NONE }
      if (asides.length === 0 && !planned.turn.steps.some(isAsk)) return asked.onHeard(heard)
      const moved = movedAsks(planned, asides, { heard: session.heard, grace: GRACE })
      moved
        .then((methods) => asked.onHeard({ ...heard, moved: methods }))
        .catch((error: unknown) => asked.onFailure(error))
    } catch (error) {
      asked.onFailure(error)
    }
  }

  #learn(planned: Planned, answer: string, asides: readonly Aside[]): void {
    this.#options.rounds.heard(planned.turn, answer)
    const told = asides.length === 0 ? [answer] : [...asides.map(({ text }) => text), answer]
    this.#options.carrier.learn(planned, told)
  }

  #changedAnswer({ index, tool, message }: Planned, end: CallEnd): CallEnd {
    if (end.kind !== 'answered' || this.#options.rules.length === 0) return end
    const text = transformAnswer(end.text, { index, tool, message }, this.#options.rules)
    return text === end.text ? end : { kind: 'answered', text, asRecorded: false }
  }
}

interface Sent {
  readonly asked: Asked
  readonly session: LiveSession
  readonly call: LiveCall
}

const NONE: ReadonlySet<string> = new Set()

// Written out: a spread in its place takes longer than all else that is done for a request.
function requestOf({ method, params }: Planned['message'], id: Id): Request {
  return { kind: 'request', id, method, params }
}

function isAsk({ kind }: Planned['turn']['steps'][number]): boolean {
  return kind === 'ask'
}

function answerOf(id: Id, error: NonNullable<Transformed['error']>): CallEnd {
  return { kind: 'answered', text: JSON.stringify({ jsonrpc: '2.0', id, error }), asRecorded: false }
}

function injected(named: Pick<Heard, 'id' | 'bound' | 'sent'>, end: CallEnd, now: number): Heard {
  return { ...named, end, sentAt: now, endedAt: now, asides: [], moved: NONE, isInjected: true }
}
