import type { RequestContent } from '../match/request-key.ts'
import type { Matcher, MatchOutcome } from '../match/matcher.ts'
import { MissExplainer, type Miss } from '../match/miss/miss.ts'
import type { Request } from '../protocol/message.ts'
import type { RecordedServerData } from './recorded-part.ts'
import { explainRedactedMiss } from './redaction-mismatch.ts'
import { redactMiss } from './shown-miss.ts'

/** What a live request is told that the tape does not answer, with no secret in it. */
export class MissReporter {
  readonly #recorded: RecordedServerData
  readonly #matcher: Matcher
  readonly #explainer: MissExplainer

  constructor(recorded: RecordedServerData, matcher: Matcher) {
    this.#recorded = recorded
    this.#matcher = matcher
    this.#explainer = new MissExplainer({ ...recorded, index: matcher })
  }

  /** Of a request, as it is compared and as it came, that was looked for and not found. */
  explain(asked: RequestContent, outcome: Exclude<MatchOutcome, { kind: 'hit' }>, request: Request): Miss {
    const miss = this.#explainer.explain(asked, outcome)
    const { redaction } = this.#recorded
    if (redaction === undefined) return this.#redacted(miss)
    return explainRedactedMiss(miss, redaction, asked.params !== request.params)
  }

  /** One that no other way of matching would answer. */
  withReason(reason: Miss['reason'], why: string, asked: RequestContent): Miss {
    const { tape } = this.#recorded
    const next = this.#matcher.next()
    const nothing = { nearest: [], annotations: [], fixes: [] }
    return this.#redacted({ reason, why, asked, tape, ...nothing, ...(next && { next }) })
  }

  /** The secrets of a redacted tape, and of its live client, have stand-ins already. */
  #redacted(miss: Miss): Miss {
    const { screen } = this.#recorded
    return screen === undefined ? miss : redactMiss(miss, screen)
  }
}
