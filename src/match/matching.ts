import { canonicalJson } from '../wire/canonical.ts'
import type { Times } from './comparisons/comparison.ts'
import type { FieldDiff } from './field-diff.ts'
import { formDiff } from './form-diff.ts'
import { formOf, type Form } from './form.ts'
import { guardOf } from './guard.ts'
import { eraAsked, type Asked } from './key.ts'
import type { Rule } from './rule.ts'
import { Ruleset } from './ruleset.ts'
import { methodAndParams } from './strategies/method-and-params.ts'
import type { Strategy } from './strategies/strategy.ts'

/** How requests are compared: a strategy, and rules for some of their parts. */
export class Matching {
  readonly strategy: Strategy
  readonly #rules: Ruleset

  constructor(strategy: Strategy = methodAndParams, rules: readonly Rule[] = []) {
    this.strategy = strategy
    this.#rules = new Ruleset(rules)
  }

  get rules(): readonly Rule[] {
    return this.#rules.rules
  }

  /** The same, with further rules; of two rules for one place the first holds. */
  with(rules: readonly Rule[]): Matching {
    return new Matching(this.strategy, [...this.rules, ...rules])
  }

  formOf(asked: Asked): Form {
    const rules = this.#rules.for(asked)
    return formOf(asked, this.strategy.paramsOf(asked, rules.ignore), rules)
  }

  /** Equal for requests that are the same, whatever the rules say. */
  keyOf(asked: Asked): string {
    return canonicalJson([asked.server, asked.method, eraAsked(asked), this.strategy.paramsOf(asked, [])])
  }

  /** Requests are compared only within a group. What a user agreed to is part of it under every strategy. */
  groupOf(form: Form): string {
    const { server, method, params } = form.asked
    return canonicalJson([server, method, eraAsked(form.asked), guardOf(params), this.strategy.groupOf(form)])
  }

  /** How far the recorded request is from the live one that it answers; undefined when it does not answer it. */
  distance(recorded: Form, live: Form, times: Times): number | undefined {
    return this.strategy.distance(recorded, live, times)
  }

  /** The same for requests of any group. */
  answers(recorded: Asked, live: Asked, times: Times): boolean {
    const [then, now] = [this.formOf(recorded), this.formOf(live)]
    return this.groupOf(then) === this.groupOf(now) && this.distance(then, now, times) !== undefined
  }

  diff(recorded: Asked, live: Asked, times: Times): FieldDiff {
    return formDiff(this.formOf(recorded), this.formOf(live), times)
  }
}
