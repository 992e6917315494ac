import type { Asked } from '../match/key.ts'
import type { Matcher, MatchOutcome } from '../match/matcher.ts'
import { MissExplainer, type Miss } from '../match/miss.ts'
import type { Request } from '../wire/message.ts'
import type { RecordedPart } from './recorded-part.ts'
import { missOfRedacted } from './redaction-mismatch.ts'
import { shownMiss } from './shown-miss.ts'

/** What a live request is told that the tape does not answer, with no secret in it. */
export class ScriptMisses {
  readonly #recorded: RecordedPart
  readonly #matcher: Matcher
  readonly #explainer: MissExplainer

  constructor(recorded: RecordedPart, matcher: Matcher) {
    this.#recorded = recorded
    this.#matcher = matcher
    this.#explainer = new MissExplainer({ ...recorded, index: matcher })
  }

  /** Of a request, as it is compared and as it came, that was looked for and not found. */
  of(asked: Asked, outcome: Exclude<MatchOutcome, { kind: 'hit' }>, request: Request): Miss {
    const miss = this.#explainer.explain(asked, outcome)
    const { redaction } = this.#recorded
    if (redaction === undefined) return this.#shown(miss)
    return missOfRedacted(miss, redaction, asked.params !== request.params)
  }

  /** One that no other way of matching would answer. */
  because(reason: Miss['reason'], why: string, asked: Asked): Miss {
    const { tape } = this.#recorded
    const next = this.#matcher.next()
    const nothing = { nearest: [], annotations: [], fixes: [] }
    return this.#shown({ reason, why, asked, tape, ...nothing, ...(next && { next }) })
  }

  /** The secrets of a redacted tape, and of its live client, have stand-ins already. */
  #shown(miss: Miss): Miss {
    const { screen } = this.#recorded
    return screen === undefined ? miss : shownMiss(miss, screen)
  }
}
