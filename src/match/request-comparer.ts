import { canonicalJson } from '../json/canonical.ts'
import type { RequestTimes } from './comparisons/comparison.ts'
import type { FieldDiff } from './field-diff.ts'
import { diffRequests, toComparableRequest, type ComparableRequest } from './comparable-request.ts'
import { consentParams, requestEra, type RequestContent } from './request-key.ts'
import { type MatchRule, MatchRules } from './rules.ts'
import { methodAndParams } from './strategies/method-and-params.ts'
import type { Strategy } from './strategies/strategy.ts'

/** How requests are compared: a strategy, and rules for some of their parts. */
export class RequestComparer {
  readonly strategy: Strategy
  readonly #rules: MatchRules

  constructor(strategy: Strategy = methodAndParams, rules: readonly MatchRule[] = []) {
    this.strategy = strategy
    this.#rules = new MatchRules(rules)
  }

  get rules(): readonly MatchRule[] {
    return this.#rules.rules
  }

  /** The same, with further rules; of two rules for one place the first holds. */
  withRules(rules: readonly MatchRule[]): RequestComparer {
    return new RequestComparer(this.strategy, [...this.rules, ...rules])
  }

  comparable(asked: RequestContent): ComparableRequest {
    const rules = this.#rules.for(asked)
    return toComparableRequest(asked, this.strategy.paramsOf(asked, rules.ignore), rules)
  }

  /** Equal for requests that are the same, whatever the rules say. */
  keyOf(asked: RequestContent): string {
    return canonicalJson([asked.server, asked.method, requestEra(asked), this.strategy.paramsOf(asked, [])])
  }

  /** Requests are compared only within a group. What a user agreed to is part of it under every strategy. */
  groupKeyOf(form: ComparableRequest): string {
    const { server, method, params } = form.request
    return canonicalJson([
      server,
      method,
      requestEra(form.request),
      consentParams(params),
      this.strategy.groupOf(form),
    ])
  }

  /** How far the recorded request is from the live one that it answers; undefined when it does not answer it. */
  distance(recorded: ComparableRequest, live: ComparableRequest, times: RequestTimes): number | undefined {
    return this.strategy.distance(recorded, live, times)
  }

  /** The same for requests of any group. */
  answers(recorded: RequestContent, live: RequestContent, times: RequestTimes): boolean {
    const [then, now] = [this.comparable(recorded), this.comparable(live)]
    return this.groupKeyOf(then) === this.groupKeyOf(now) && this.distance(then, now, times) !== undefined
  }

  diff(recorded: RequestContent, live: RequestContent, times: RequestTimes): FieldDiff {
    return diffRequests(this.comparable(recorded), this.comparable(live), times)
  }
}
