import type { PatternKind } from './gate-entry.ts'
import {
  isFlagGivenValue,
  isNameWithValue,
  isPasswordLikeAt,
  isValueNext,
} from './prefilter/pattern-kinds.ts'
import type { RedactionRule } from './rules/rule.ts'
import {
  isCursorWordBefore,
  isEscapedLetter,
  isLongWord,
  isPasswordOptionNear,
  isUserinfo,
} from './prefilter/byte-tests.ts'

export const EXACT: PatternKind = { isAnyCase: false }
export const ANY_CASE: PatternKind = { isAnyCase: true }
export const NAME: PatternKind = {
  isAnyCase: true,
  followedBy: isNameWithValue,
  notPrecededBy: isCursorWordBefore,
}
export const NAME_ENDING: PatternKind = { isAnyCase: true, followedBy: isValueNext }
export const FLAG_ENDING: PatternKind = { isAnyCase: true, followedBy: isFlagGivenValue }
export const ESCAPED_LETTER: PatternKind = { isAnyCase: true, followedBy: isEscapedLetter }

/** Every kind of pattern that the default rules and names have; the image of their tables counts on the order. */
export const PATTERN_KINDS: readonly PatternKind[] = [
  EXACT,
  ANY_CASE,
  NAME,
  NAME_ENDING,
  FLAG_ENDING,
  ESCAPED_LETTER,
  { isAnyCase: false, followedBy: isLongWord },
  { isAnyCase: false, followedBy: isUserinfo },
  { isAnyCase: false, followedBy: isPasswordLikeAt },
  { isAnyCase: false, followedBy: isPasswordOptionNear },
]

export function patternKindOf({ pattern, followedBy }: RedactionRule): PatternKind {
  return { isAnyCase: pattern.ignoreCase, followedBy }
}
