import type { Difference } from '../../diff/difference.ts'
import { createDiffer, type Differ, type DiffOptions } from '../../diff/diff.ts'
import { parsePath } from '../../json/path.ts'
import type { JudgedAnswer } from './judge.ts'
import type { OfficialSchemaUse } from './schema.ts'

/** Options of the comparison of answers. */
export interface JudgeOptions {
  /** `false` accepts every answer without comparing it. */
  readonly validate?: boolean
  /** Paths in answers that are not compared. */
  readonly ignore?: readonly string[]
  /** Names of members that are not compared anywhere in an answer. */
  readonly ignoreFields?: readonly string[]
  /** Paths of arrays whose order is not compared. */
  readonly unordered?: readonly string[]
  /** The relative difference that two numbers may have. */
  readonly numeric?: number
  /** Milliseconds by which an answer may be slower than recorded. */
  readonly slower?: number
  /** Rules for answers whose values are not compared exactly. */
  readonly validation?: readonly ValidationRule[]
  /** When an answer that breaks the official schema of its revision is a finding. The default is `changed`. */
  readonly officialSchema?: OfficialSchemaUse
  /** Warnings count as errors. */
  readonly strict?: boolean
}

/** Says how the values of some answers are compared, and what happens if they differ. */
export interface ValidationRule {
  readonly name: string
  readonly appliesTo: RuleScope
  readonly kind: RuleComparison
  readonly onFailure: FailureAction
}

type RuleScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'method'; readonly equals: string }
  | { readonly kind: 'tool'; readonly equals: string }
  /** Results, or errors. */
  | { readonly kind: 'message-type'; readonly equals: 'result' | 'error' }
  | { readonly kind: 'custom'; readonly test: (judged: JudgedAnswer) => boolean }

export type RuleComparison =
  | { readonly kind: 'exact' }
  /** Types and names of members only. */
  | { readonly kind: 'structural' }
  /** Recorded values must be present, and more are allowed. With `required`, only the values at these paths are compared. */
  | { readonly kind: 'partial'; readonly required?: readonly string[] }
  /** The function returns what is wrong, or `undefined` if the answer is right. */
  | { readonly kind: 'custom'; readonly check: (judged: JudgedAnswer) => string | undefined }

/** `skip` excludes the answer from the verdict and reports that; `retry` sends the request again. */
export type FailureAction = 'ignore' | 'warn' | 'error' | 'retry' | 'skip'

/** Applies to answers that no rule of the user applies to. */
export const EXACT_RULE: ValidationRule = {
  name: 'exact',
  appliesTo: { kind: 'all' },
  kind: { kind: 'exact' },
  onFailure: 'error',
}

export function ruleApplies({ appliesTo }: ValidationRule, judged: JudgedAnswer): boolean {
  switch (appliesTo.kind) {
    case 'all':
      return true
    case 'method':
      return methodOf(judged) === appliesTo.equals
    case 'tool':
      return judged.tool === appliesTo.equals
    case 'message-type':
      return judged.live !== undefined && appliesTo.equals in judged.live.outcome
    case 'custom':
      return appliesTo.test(judged)
  }
}

/** Another order of a list is a difference of the list. */
export function createRuleDiffer(kind: RuleComparison, judging: JudgeOptions): Differ {
  const options = { ...diffOptions(judging), ...modeOf(kind) }
  const fields = new Set<unknown>(judging.ignoreFields)
  return withoutFields(createDiffer({ ...options, order: 'reported' }), fields)
}

function withoutFields(differ: Differ, fields: ReadonlySet<unknown>): Differ {
  if (fields.size === 0) return differ
  const counts = ({ path }: Difference): boolean => !path.some((segment) => fields.has(segment))
  return {
    texts: (expected, actual) => differ.texts(expected, actual).filter(counts),
    values: (expected, actual) => differ.values(expected, actual).filter(counts),
  }
}

function modeOf(kind: RuleComparison): DiffOptions {
  if (kind.kind === 'structural') return { mode: 'structural' }
  if (kind.kind !== 'partial') return {}
  return { mode: 'partial', required: (kind.required ?? []).map(parsePath) }
}

function diffOptions({ ignore = [], unordered = [], numeric }: JudgeOptions): DiffOptions {
  return {
    ignore: ignore.map(parsePath),
    unordered: unordered.map(parsePath),
    ...(numeric !== undefined && { tolerance: numeric }),
  }
}

function methodOf({ turn: { trigger } }: JudgedAnswer): string | undefined {
  return trigger !== undefined && 'method' in trigger.message ? trigger.message.method : undefined
}
