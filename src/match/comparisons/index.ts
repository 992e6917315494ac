import { anyKind } from './any.ts'
import type { ComparisonKind } from './comparison.ts'
import { ignoreKind } from './ignore.ts'
import { numberKind } from './number-within.ts'
import { regexKind } from './regex.ts'
import { relativeDateKind } from './relative-date.ts'
import { caseInsensitiveKind, trimKind } from './text.ts'
import { typeKind } from './type.ts'
import { unorderedKind } from './unordered.ts'

/** Every kind of comparison that a rule can name. */
export const COMPARISON_KINDS: readonly ComparisonKind[] = [
  ignoreKind,
  anyKind,
  typeKind,
  regexKind,
  relativeDateKind,
  numberKind,
  unorderedKind,
  caseInsensitiveKind,
  trimKind,
]
