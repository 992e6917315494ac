import type { Differ } from '../../diff/diff.ts'
import type { Difference } from '../../diff/difference.ts'
import { formatPath } from '../../json/path.ts'
import { separateNoise } from '../../diff/noise/index.ts'
import type { IsLiveValue, SessionTimes } from '../../diff/noise/noise-kind.ts'
import {
  createRuleDiffer,
  EXACT_RULE,
  ruleApplies,
  type FailureAction,
  type JudgeOptions,
  type ValidationRule,
} from './comparison-rules.ts'
import { isAsRecorded, type Judge, type JudgedAnswer, methodOfTurn, outcomeText } from './judge.ts'
import { isIdentityDifference } from '../server-identity.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import { META_KEYS } from '../../protocol/message.ts'
import { withRecordedInputs } from '../../bindings/carry/input-names.ts'

interface ValuesJudgeOptions {
  readonly judging: JudgeOptions
  readonly isLiveValue: IsLiveValue
  readonly clock: SessionTimes
}

/** Checks that the answer has the recorded values. A value that the live server generated, such as an id, counts as equal to the recorded one. */
export class ValuesJudge implements Judge {
  readonly #options: ValuesJudgeOptions
  readonly #rules: readonly ValidationRule[]
  readonly #hasCustom: boolean
  readonly #differs = new Map<ValidationRule, Differ>()

  constructor(options: ValuesJudgeOptions) {
    this.#options = options
    this.#rules = options.judging.validation ?? []
    this.#hasCustom = this.#rules.some(isCustom)
  }

  judge(judged: JudgedAnswer): readonly StepFinding[] {
    // Nothing differs in an answer with the recorded bytes, but a function of the user may still reject it.
    const isSame = isAsRecorded(judged)
    if (isSame && !this.#hasCustom) return NO_FINDINGS
    const rules = this.rulesFor(judged).filter((rule) => !isSame || isCustom(rule))
    return rules.flatMap((rule) => this.#withEffect(judged, rule))
  }

  /** The user's rules for this answer; if there are none, all values are compared exactly. */
  rulesFor(judged: JudgedAnswer): readonly ValidationRule[] {
    const own = this.#rules.filter((rule) => ruleApplies(rule, judged))
    return own.length === 0 ? [EXACT_RULE] : own
  }

  namesFor(judged: JudgedAnswer): readonly string[] {
    return this.#rules.length === 0 ? EXACT_RULE_NAMES : this.rulesFor(judged).map(({ name }) => name)
  }

  /** Compares two JSON texts that come with an answer by the same rules as the answer. */
  compareTexts(judged: JudgedAnswer, expected: string, actual: string): readonly StepFinding[] {
    if (expected === actual) return NO_FINDINGS
    const rules = this.rulesFor(judged).filter((rule) => !isCustom(rule))
    return (rules.length === 0 ? [EXACT_RULE] : rules).flatMap((rule) => {
      const effect = EFFECTS[rule.onFailure]
      if (effect === undefined) return []
      return this.#compare(judged, rule, [expected, actual]).map((finding) => ({ ...finding, ...effect }))
    })
  }

  /** The differences between two values that are not noise. The rules of the user apply to answers only. */
  differences(expected: unknown, actual: unknown): readonly Difference[] {
    const { isLiveValue, clock } = this.#options
    const differ = this.#differOf(EXACT_RULE)
    return separateNoise(differ.values(expected, actual), { differ, isLiveValue, clock }).kept
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
    return expected === undefined || actual === undefined
      ? []
      : this.#compare(judged, rule, [expected, actual])
  }

  #compare(
    judged: JudgedAnswer,
    rule: ValidationRule,
    [expected, actual]: readonly [string, string],
  ): readonly StepFinding[] {
    const differ = this.#differOf(rule)
    const method = methodOfTurn(judged.turn)
    const { isLiveValue, clock } = this.#options
    const differences = differ
      .texts(expected, actual)
      .filter((each) => !isIdentityDifference(each, method) && !isIdOfSubscription(each, judged))
    return separateNoise(differences, { differ, isLiveValue, clock }).kept.map(differenceFinding)
  }

  #differOf(rule: ValidationRule): Differ {
    const known = this.#differs.get(rule) ?? createRuleDiffer(rule.kind, this.#options.judging)
    this.#differs.set(rule, known)
    return known
  }
}

/** The result of a subscription repeats the id of its request, and Reelay sends requests with ids of its own. */
function isIdOfSubscription(
  { path, expected, actual }: Difference,
  { recorded, live }: JudgedAnswer,
): boolean {
  const [root, meta, key] = path
  if (root !== 'result' || meta !== '_meta' || key !== META_KEYS.subscriptionId) return false
  return expected === recorded?.id && actual === live?.id
}

const EXACT_RULE_NAMES: readonly string[] = [EXACT_RULE.name]

function isCustom({ kind }: ValidationRule): boolean {
  return kind.kind === 'custom'
}

function liveTextIn({ turn }: JudgedAnswer, { text }: { readonly text: string }): string {
  return turn.response === undefined ? text : withRecordedInputs(turn.response.text, text)
}

/** The members that a rule sets in its findings; `undefined` if its findings are dropped. */
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
  const { path, kind } = difference
  if (kind === 'order')
    return {
      layer: 'order',
      level: 'error',
      message: 'the same items come in another order',
      path: formatPath(path),
      difference,
    }
  return {
    layer: 'values',
    level: 'error',
    message:
      kind === 'format'
        ? `is no longer valid ${difference.format?.name}`
        : DIFFERENCE_WORDS[kind] + changedPartText(difference),
    path: formatPath(path),
    ...('expected' in difference && { expected: difference.expected }),
    ...('actual' in difference && { actual: difference.actual }),
    difference,
  }
}

/** Says where a long text changed. A report shows the first changed part in its context. */
function changedPartText({ parts, expected, actual }: Difference): string {
  const [first, ...others] = parts ?? []
  if (first === undefined || !(isLongText(expected) || isLongText(actual))) return ''
  const more =
    others.length === 0 ? '' : ` and in ${others.length} more ${others.length === 1 ? 'place' : 'places'}`
  return ` in line ${first.line}${more}`
}

function isLongText(value: unknown): boolean {
  return typeof value === 'string' && (value.length > LONGEST_SHOWN || value.includes('\n'))
}

const LONGEST_SHOWN = 60

const DIFFERENCE_WORDS: Readonly<Record<Exclude<Difference['kind'], 'format' | 'order'>, string>> = {
  added: 'is new',
  removed: 'is missing',
  changed: 'changed',
  type: 'has another type',
  renamed: 'has a member with another name',
}
