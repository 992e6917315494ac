import type { PatternKind } from './gate-entry.ts'
import { isFlagEnd, isNameWithValue, isUnwordlyAt, isValueNext } from './named-bytes.ts'
import type { Rule } from './rule.ts'
import { isCursorWord, isHiddenLetter, isLongWord, isOptionNear, isUserinfo } from './surroundings.ts'

export const EXACT: PatternKind = { isAnyCase: false }
export const ANY_CASE: PatternKind = { isAnyCase: true }
export const NAME: PatternKind = { isAnyCase: true, follow: isNameWithValue, notAfter: isCursorWord }
export const NAME_ENDING: PatternKind = { isAnyCase: true, follow: isValueNext }
export const FLAG_ENDING: PatternKind = { isAnyCase: true, follow: isFlagEnd }
export const HIDDEN_LETTER: PatternKind = { isAnyCase: true, follow: isHiddenLetter }

/** Every kind of pattern that the default rules and names have; the image of their tables counts on the order. */
export const PATTERN_KINDS: readonly PatternKind[] = [
  EXACT,
  ANY_CASE,
  NAME,
  NAME_ENDING,
  FLAG_ENDING,
  HIDDEN_LETTER,
  { isAnyCase: false, follow: isLongWord },
  { isAnyCase: false, follow: isUserinfo },
  { isAnyCase: false, follow: isUnwordlyAt },
  { isAnyCase: false, follow: isOptionNear },
]

export function ruleKind({ pattern, follow }: Rule): PatternKind {
  return { isAnyCase: pattern.ignoreCase, follow }
}
