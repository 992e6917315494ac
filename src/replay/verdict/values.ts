import type { Differ } from '../../diff/diff.ts'
import type { Difference } from '../../diff/difference.ts'
import { formatPath } from '../../wire/path.ts'
import { withRecordedInputs } from '../recorded-inputs.ts'
import { differByClock, type ClockOptions } from './clock.ts'
import { NOTHING_FOUND, type Finding } from './finding.ts'
import type { Judging } from './judge.ts'
import type { Judged } from './judged.ts'
import { outcomeIn } from './outcome-text.ts'
import { withoutRenamed } from './renamed-members.ts'
import {
  differsFor,
  EXACTLY,
  isFor,
  type Differs,
  type FailureAction,
  type ValidationRule,
} from './validation-rule.ts'

export type Explains = (expected: unknown, actual: unknown, path: Difference['path']) => boolean

export interface ValuesOptions {
  readonly judging: Judging
  /** Whether two values at a path differ in nothing but what the live server made up anew. */
  readonly explains: Explains
  readonly clock: ClockOptions
}

/** Whether the answer holds the recorded values: names that the live server made up itself count as the recorded ones. */
export class ValuesJudge {
  readonly #options: ValuesOptions
  readonly #rules: readonly ValidationRule[]
  readonly #hasCustom: boolean
  readonly #differs = new Map<ValidationRule, Differs>()

  constructor(options: ValuesOptions) {
    this.#options = options
    this.#rules = options.judging.validation ?? []
    this.#hasCustom = this.#rules.some(isCustom)
  }

  judge(judged: Judged): readonly Finding[] {
    return this.rulesFor(judged).flatMap((rule) => this.#withEffect(judged, rule))
  }

  /** Of an answer with the recorded bytes nothing differs, but a function of the user may have something against it. */
  judgeSame(judged: Judged): readonly Finding[] {
    if (!this.#hasCustom) return NOTHING_FOUND
    return this.rulesFor(judged)
      .filter(isCustom)
      .flatMap((rule) => this.#withEffect(judged, rule))
  }

  /** The user's rules for this answer; without any, every value counts. */
  rulesFor(judged: Judged): readonly ValidationRule[] {
    const own = this.#rules.filter((rule) => isFor(rule, judged))
    return own.length === 0 ? [EXACTLY] : own
  }

  namesFor(judged: Judged): readonly string[] {
    return this.#rules.length === 0 ? EXACTLY_ALONE : this.rulesFor(judged).map(({ name }) => name)
  }

  #withEffect(judged: Judged, rule: ValidationRule): readonly Finding[] {
    const effect = EFFECTS[rule.onFailure]
    if (effect === undefined) return []
    return this.#byRule(judged, rule).map((finding) => ({ ...finding, ...effect }))
  }

  #byRule(judged: Judged, rule: ValidationRule): readonly Finding[] {
    if (rule.kind.kind === 'custom') return custom(rule, rule.kind.check(judged))
    const expected = judged.turn.response === undefined ? undefined : outcomeIn(judged.turn.response.text)
    const actual = judged.end.kind === 'answered' ? outcomeIn(liveTextIn(judged, judged.end)) : undefined
    if (expected === undefined || actual === undefined) return []
    const { kept, free } = this.#differsOf(rule)
    const differences = this.#unexplained(kept.texts(expected, actual), kept)
    if (differences.length === 0) return []
    const changed = this.#unexplained(free.texts(expected, actual), free)
    return changed.length === 0 ? [orderFinding(differences)] : changed.map(differenceFinding)
  }

  #differsOf(rule: ValidationRule): Differs {
    const known = this.#differs.get(rule) ?? differsFor(rule.kind, this.#options.judging)
    this.#differs.set(rule, known)
    return known
  }

  #unexplained(differences: readonly Difference[], differ: Differ): readonly Difference[] {
    if (differences.length === 0) return differences
    const renaming = { isSame: this.#options.explains, within: differ.values }
    return withoutRenamed(differences, renaming).filter((difference) => !this.#isExplained(difference))
  }

  #isExplained({ kind, expected, actual, path }: Difference): boolean {
    if (kind !== 'changed' || !isName(expected) || !isName(actual)) return false
    if (this.#options.explains(expected, actual, path)) return true
    return differByClock(expected, actual, this.#options.clock)
  }
}

const EXACTLY_ALONE: readonly string[] = [EXACTLY.name]

function isCustom({ kind }: ValidationRule): boolean {
  return kind.kind === 'custom'
}

function liveTextIn({ turn }: Judged, { text }: { readonly text: string }): string {
  return turn.response === undefined ? text : withRecordedInputs(turn.response.text, text)
}

function isName(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

/** What a failure makes of a finding; none when it counts for nothing. */
const EFFECTS: Readonly<Record<FailureAction, Partial<Finding> | undefined>> = {
  ignore: undefined,
  skip: { level: 'skip' },
  warn: { level: 'warn' },
  error: { level: 'error' },
  retry: { level: 'error', retry: true },
}

function custom({ name }: ValidationRule, wrong: string | undefined): readonly Finding[] {
  return wrong === undefined ? [] : [{ layer: 'values', level: 'error', message: `${name}: ${wrong}` }]
}

export function differenceFinding(difference: Difference): Finding {
  const { path, kind, ...sides } = difference
  return {
    layer: 'values',
    level: 'error',
    message: WORDS[kind],
    path: formatPath(path),
    ...sides,
    difference,
  }
}

const WORDS: Readonly<Record<Difference['kind'], string>> = {
  added: 'is new',
  removed: 'is missing',
  changed: 'has another value',
  type: 'has another type',
}

function orderFinding(differences: readonly Difference[]): Finding {
  const at = differences[0]?.path.slice(0, -1) ?? []
  return {
    layer: 'order',
    level: 'error',
    message: 'the same items come in another order',
    path: formatPath(at),
  }
}
