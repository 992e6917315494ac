import type { AskingOptions, Asked } from './asking.ts'
import type { Aside, CallEnd, LiveCall } from './live-call.ts'
import type { LiveSession } from './live-session.ts'
import { movedAsks } from './moved-asks.ts'
import type { Planned } from './plan.ts'
import { GRACE } from './prepare-options.ts'
import type { Heard } from './step-results.ts'
import { transformAnswer } from './transform/transform.ts'

type Options = Pick<AskingOptions, 'carrier' | 'rounds' | 'calls' | 'rules'>

/** A request on its way, and what follows from its end. */
export class SentRequest {
  readonly call: LiveCall
  readonly #asked: Asked
  readonly #session: LiveSession
  readonly #options: Options

  constructor(asked: Asked, call: LiveCall, session: LiveSession, options: Options) {
    this.call = call
    this.#asked = asked
    this.#session = session
    this.#options = options
  }

  /** Tells whoever asked what came of it. */
  onEnd(end: CallEnd): void {
    try {
      this.#conclude(end)
    } catch (error) {
      this.#asked.onFailure(error)
    }
  }

  #conclude(end: CallEnd): void {
    const [{ planned, made }, { call }] = [this.#asked, this]
    if (call.isOver) this.#options.calls.forget(planned)
    const { id, text: sent, sentAt, endedAt, asides } = call
    const changed = this.#changedAnswer(planned, end)
    if (changed.kind === 'answered') this.#learn(planned, changed.text, asides)
    const heard: Heard = { end: changed, id, bound: made.text, sent, sentAt, endedAt, asides, moved: NONE }
    if (asides.length === 0 && !planned.turn.steps.some(isAsk)) return this.#asked.onHeard(heard)
    const moved = movedAsks(planned, asides, { heard: this.#session.heard, grace: GRACE })
    moved
      .then((methods) => this.#asked.onHeard({ ...heard, moved: methods }))
      .catch((error: unknown) => this.#asked.onFailure(error))
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

/** Of nearly every request nothing came at another time. */
export const NONE: ReadonlySet<string> = new Set()

function isAsk({ kind }: Planned['turn']['steps'][number]): boolean {
  return kind === 'ask'
}
