import type { Differ } from '../../diff/diff.ts'
import type { Difference } from '../../diff/difference.ts'
import { formatPath } from '../../json/path.ts'
import { differOnlyInTime, type ClockOptions } from './clock.ts'
import {
  createRuleDiffers,
  EXACT_RULE,
  ruleApplies,
  type RuleDiffers,
  type FailureAction,
  type JudgeOptions,
  type ValidationRule,
} from './comparison-rules.ts'
import { NO_FINDINGS, type StepFinding, type JudgedAnswer, outcomeText } from './judged-answer.ts'
import { withRecordedInputs } from '../session/input-rounds.ts'

export type ExplainsDifference = (expected: unknown, actual: unknown, path: Difference['path']) => boolean

interface ValuesJudgeOptions {
  readonly judging: JudgeOptions
  /** Whether two values at a path differ in nothing but what the live server made up anew. */
  readonly explains: ExplainsDifference
  readonly clock: ClockOptions
}

/** Whether the answer holds the recorded values: names that the live server made up itself count as the recorded ones. */
export class ValuesJudge {
  readonly #options: ValuesJudgeOptions
  readonly #rules: readonly ValidationRule[]
  readonly #hasCustom: boolean
  readonly #differs = new Map<ValidationRule, RuleDiffers>()

  constructor(options: ValuesJudgeOptions) {
    this.#options = options
    this.#rules = options.judging.validation ?? []
    this.#hasCustom = this.#rules.some(isCustom)
  }

  judge(judged: JudgedAnswer): readonly StepFinding[] {
    return this.rulesFor(judged).flatMap((rule) => this.#withEffect(judged, rule))
  }

  /** Of an answer with the recorded bytes nothing differs, but a function of the user may have something against it. */
  judgeSame(judged: JudgedAnswer): readonly StepFinding[] {
    if (!this.#hasCustom) return NO_FINDINGS
    return this.rulesFor(judged)
      .filter(isCustom)
      .flatMap((rule) => this.#withEffect(judged, rule))
  }

  /** The user's rules for this answer; without any, every value counts. */
  rulesFor(judged: JudgedAnswer): readonly ValidationRule[] {
    const own = this.#rules.filter((rule) => ruleApplies(rule, judged))
    return own.length === 0 ? [EXACT_RULE] : own
  }

  namesFor(judged: JudgedAnswer): readonly string[] {
    return this.#rules.length === 0 ? EXACT_RULE_NAMES : this.rulesFor(judged).map(({ name }) => name)
  }

  #withEffect(judged: JudgedAnswer, rule: ValidationRule): readonly StepFinding[] {
    const effect = EFFECTS[rule.onFailure]
    if (effect === undefined) return []
    return this.#byRule(judged, rule).map((finding) => ({ ...finding, ...effect }))
  }

  #byRule(judged: JudgedAnswer, rule: ValidationRule): readonly StepFinding[] {
    if (rule.kind.kind === 'custom') return customFinding(rule, rule.kind.check(judged))
    const expected = judged.turn.response === undefined ? undefined : outcomeText(judged.turn.response.text)
    const actual = judged.end.kind === 'answered' ? outcomeText(liveTextIn(judged, judged.end)) : undefined
    if (expected === undefined || actual === undefined) return []
    const { kept, free } = this.#differsOf(rule)
    const differences = this.#unexplained(kept.texts(expected, actual), kept)
    if (differences.length === 0) return []
    const changed = this.#unexplained(free.texts(expected, actual), free)
    return changed.length === 0 ? [orderFinding(differences)] : changed.map(differenceFinding)
  }

  #differsOf(rule: ValidationRule): RuleDiffers {
    const known = this.#differs.get(rule) ?? createRuleDiffers(rule.kind, this.#options.judging)
    this.#differs.set(rule, known)
    return known
  }

  #unexplained(differences: readonly Difference[], differ: Differ): readonly Difference[] {
    if (differences.length === 0) return differences
    const renaming = { isSame: this.#options.explains, within: differ.values }
    return mergeRenamedMembers(differences, renaming).filter((difference) => !this.#isExplained(difference))
  }

  #isExplained({ kind, expected, actual, path }: Difference): boolean {
    if (kind !== 'changed' || !isTextOrNumber(expected) || !isTextOrNumber(actual)) return false
    if (this.#options.explains(expected, actual, path)) return true
    return differOnlyInTime(expected, actual, this.#options.clock)
  }
}

const EXACT_RULE_NAMES: readonly string[] = [EXACT_RULE.name]

function isCustom({ kind }: ValidationRule): boolean {
  return kind.kind === 'custom'
}

function liveTextIn({ turn }: JudgedAnswer, { text }: { readonly text: string }): string {
  return turn.response === undefined ? text : withRecordedInputs(turn.response.text, text)
}

function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

/** What a failure makes of a finding; none when it counts for nothing. */
const EFFECTS: Readonly<Record<FailureAction, Partial<StepFinding> | undefined>> = {
  ignore: undefined,
  skip: { level: 'skip' },
  warn: { level: 'warn' },
  error: { level: 'error' },
  retry: { level: 'error', retry: true },
}

function customFinding({ name }: ValidationRule, wrong: string | undefined): readonly StepFinding[] {
  return wrong === undefined ? [] : [{ layer: 'values', level: 'error', message: `${name}: ${wrong}` }]
}

export function differenceFinding(difference: Difference): StepFinding {
  const { path, kind, ...sides } = difference
  return {
    layer: 'values',
    level: 'error',
    message: DIFFERENCE_WORDS[kind],
    path: formatPath(path),
    ...sides,
    difference,
  }
}

const DIFFERENCE_WORDS: Readonly<Record<Difference['kind'], string>> = {
  added: 'is new',
  removed: 'is missing',
  changed: 'has another value',
  type: 'has another type',
}

function orderFinding(differences: readonly Difference[]): StepFinding {
  const at = differences[0]?.path.slice(0, -1) ?? []
  return {
    layer: 'order',
    level: 'error',
    message: 'the same items come in another order',
    path: formatPath(at),
  }
}

interface RenameComparison {
  /** Whether a name is another one only because the live server made it up anew. */
  readonly isSame: (recorded: string, live: string, path: Difference['path']) => boolean
  /** What differs in what the two names hold. */
  readonly within: (expected: unknown, actual: unknown) => readonly Difference[]
}

/** The differences, where a member that is missing and one that is new are one member under another name. */
function mergeRenamedMembers(
  differences: readonly Difference[],
  { isSame, within }: RenameComparison,
): readonly Difference[] {
  const added = new Set(differences.filter(({ kind }) => kind === 'added'))
  if (added.size === 0 || added.size > MAX_RENAMES) return differences
  const inside: Difference[] = []
  const rest = differences.filter((removed) => {
    if (removed.kind !== 'removed') return true
    const other = [...added].find((one) => isRenamed(removed, one, isSame))
    if (other === undefined) return true
    added.delete(other)
    const path = removed.path
    for (const one of within(removed.expected, other.actual))
      inside.push({ ...one, path: [...path, ...one.path] })
    return false
  })
  return [...rest.filter((one) => one.kind !== 'added' || added.has(one)), ...inside]
}

// Each is looked for among all: a server that makes up more names at once than this is another one.
const MAX_RENAMES = 100

function isRenamed(removed: Difference, added: Difference, isSame: RenameComparison['isSame']): boolean {
  const [name, other] = [removed.path.at(-1), added.path.at(-1)]
  const [at, where] = [removed.path.slice(0, -1), added.path.slice(0, -1)]
  if (typeof name !== 'string' || typeof other !== 'string' || at.join('\n') !== where.join('\n'))
    return false
  return isSame(name, other, at)
}
