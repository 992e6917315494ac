import type { Difference } from '../../diff/difference.ts'
import { createDiffer, type Differ, type DiffOptions } from '../../diff/diff.ts'
import { parsePath } from '../../json/path.ts'
import type { JudgedAnswer } from './judge.ts'
import type { OfficialSchemaUse } from './schema.ts'

/** What the judges are to know beside the two answers. */
export interface JudgeOptions {
  /** Off: answers are taken as they come. */
  readonly validate?: boolean
  /** Paths in answers that are not compared. */
  readonly ignore?: readonly string[]
  /** Names of members that are not compared, wherever in an answer they stand. */
  readonly ignoreFields?: readonly string[]
  /** Paths of arrays whose order means nothing. */
  readonly unordered?: readonly string[]
  /** The relative difference that two numbers may have. */
  readonly numeric?: number
  /** Milliseconds by which an answer may be slower than recorded. */
  readonly slower?: number
  /** How the values of some answers are compared, where it is not exactly. */
  readonly validation?: readonly ValidationRule[]
  /** What to do with answers that break the official schema of their revision; `changed` by default. */
  readonly officialSchema?: OfficialSchemaUse
  /** Warnings count as errors. */
  readonly strict?: boolean
}

/** How the values of some answers are compared, and what a difference means. */
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
  /** What was recorded must be there, more may be; with `required`, only these places count. */
  | { readonly kind: 'partial'; readonly required?: readonly string[] }
  /** A function of its own: it says what is wrong, or nothing. */
  | { readonly kind: 'custom'; readonly check: (judged: JudgedAnswer) => string | undefined }

/** `skip` takes the answer out of the verdict, and says so; `retry` sends the request again. */
export type FailureAction = 'ignore' | 'warn' | 'error' | 'retry' | 'skip'

/** What holds where no rule of the user does. */
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

/** Two ways to look at the same answers: with the order of lists, and without. */
export interface RuleDiffers {
  readonly kept: Differ
  readonly free: Differ
}

export function createRuleDiffers(kind: RuleComparison, judging: JudgeOptions): RuleDiffers {
  const options = { ...diffOptions(judging), ...modeOf(kind) }
  const fields = new Set<unknown>(judging.ignoreFields)
  return {
    kept: withoutFields(createDiffer({ ...options, order: 'kept' }), fields),
    free: withoutFields(createDiffer({ ...options, order: 'free' }), fields),
  }
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
