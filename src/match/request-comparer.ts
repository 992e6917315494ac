import { canonicalJson } from '../json/canonical.ts'
import type { RequestTimes } from './comparisons/comparison.ts'
import type { FieldDiff } from './field-diff.ts'
import { diffRequests, toComparableRequest, type ComparableRequest } from './comparable-request.ts'
import type { ClientCall } from '../tape/turns.ts'
import type { PathPattern } from '../json/path.ts'
import { comparedParams, consentParams, isUncountedMethod, requestEra, requestKey } from './request-key.ts'
import { type MatchRule, MatchRules } from './rules.ts'
import { methodAndParams } from './strategies/method-and-params.ts'
import type { Strategy } from './strategies/strategy.ts'

/** How requests are compared: a strategy, and rules for some of their parts. */
export class RequestComparer {
  readonly strategy: Strategy
  /** Requests that are equal without any rules have equal keys. */
  readonly keyOf: (request: ClientCall) => string
  /** True if only requests with equal keys, apart from ignored paths, answer each other. */
  readonly matchesByKey: boolean
  readonly #rules: MatchRules

  constructor(strategy: Strategy = methodAndParams, rules: readonly MatchRule[] = []) {
    this.strategy = strategy
    this.keyOf = keyFunctionOf(strategy)
    this.matchesByKey = matchesByKey(strategy, rules)
    this.#rules = new MatchRules(rules)
  }

  get rules(): readonly MatchRule[] {
    return this.#rules.rules
  }

  /** The paths that are not compared. */
  get ignore(): readonly PathPattern[] {
    return this.rules.flatMap(({ path, comparison }) => (comparison.ignoresValue ? [path] : []))
  }

  /** Adds rules. Of two rules for the same path, the first one applies. */
  withRules(rules: readonly MatchRule[]): RequestComparer {
    return new RequestComparer(this.strategy, [...this.rules, ...rules])
  }

  comparable(request: ClientCall): ComparableRequest {
    const rules = this.#rules.for(request)
    return toComparableRequest(request, this.strategy.paramsOf(request, rules.ignore), rules)
  }

  /** Only requests of the same group are compared. What the user agreed to is part of the group under every strategy. */
  groupKeyOf(comparable: ComparableRequest): string {
    const { server, method, params } = comparable.request
    const ignoresMethod = this.strategy.ignoresRequest === true && !isUncountedMethod(method)
    return canonicalJson([
      server,
      ignoresMethod ? null : method,
      requestEra(comparable.request),
      consentParams(params),
      this.strategy.groupOf(comparable),
    ])
  }

  /** Returns the distance of two requests of one group, and `undefined` if the recorded one does not answer the live one. */
  distance(recorded: ComparableRequest, live: ComparableRequest, times: RequestTimes): number | undefined {
    return this.strategy.distance(recorded, live, times)
  }

  /** True if the recorded request answers the live one. They may be of different groups. */
  answers(recorded: ClientCall, live: ClientCall, times: RequestTimes): boolean {
    const [then, now] = [this.comparable(recorded), this.comparable(live)]
    return this.groupKeyOf(then) === this.groupKeyOf(now) && this.distance(then, now, times) !== undefined
  }

  diff(recorded: ClientCall, live: ClientCall, times: RequestTimes): FieldDiff {
    return diffRequests(this.comparable(recorded), this.comparable(live), times)
  }
}

// An index on disk recognises `requestKey` by identity.
function keyFunctionOf(strategy: Strategy): (request: ClientCall) => string {
  if (strategy.paramsOf === comparedParams) return requestKey
  return (request) =>
    canonicalJson([request.server, request.method, requestEra(request), strategy.paramsOf(request, [])])
}

function matchesByKey(strategy: Strategy, rules: readonly MatchRule[]): boolean {
  if (rules.length === 0) return strategy.isLoose !== true
  return strategy === methodAndParams && rules.every(isUnscopedIgnore)
}

function isUnscopedIgnore({ server, method, tool, comparison }: MatchRule): boolean {
  return comparison.ignoresValue === true && [server, method, tool].every((word) => word === undefined)
}
