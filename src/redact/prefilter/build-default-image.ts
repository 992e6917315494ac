import { base64Forms } from '../views.ts'
import { toByteString, PrefilterTables, type PrefilterImage } from './tables.ts'
import {
  ANY_CASE,
  EXACT,
  FLAG_ENDING,
  ESCAPED_LETTER,
  NAME,
  NAME_ENDING,
  PATTERN_KINDS,
  patternKindOf,
} from './pattern-kinds.ts'
import { defaultRules } from '../rules/index.ts'
import { FLAG_ENDINGS, NAME_ENDINGS, NAME_KEYWORDS } from '../secret-names.ts'

/** The tables with everything that is looked for without a word from the project. `npm run patterns` keeps them in `default-image.ts`. */
export function buildDefaultImage(): PrefilterImage {
  const tables = new PrefilterTables()
  for (const form of base64Keywords()) tables.add(form, EXACT)
  for (const rule of defaultRules())
    for (const text of rule.keywords) tables.add(toByteString(text), patternKindOf(rule))
  for (const text of NAME_KEYWORDS) tables.add(text, NAME)
  for (const text of NAME_ENDINGS) tables.add(text, NAME_ENDING)
  for (const text of FLAG_ENDINGS) tables.add(text, FLAG_ENDING)
  for (const text of PARAMETER_KEYWORDS) tables.add(text, ANY_CASE)
  tables.add('\\u00', ESCAPED_LETTER)
  return tables.image(PATTERN_KINDS)
}

/** How keywords, and names that speak of secrets, look within base64, where they are long enough to be told. */
function base64Keywords(): readonly string[] {
  const keywords = [...defaultRules().flatMap((rule) => rule.keywords), ...NAME_KEYWORDS]
  return [...new Set(keywords.filter((text) => text.length > 2).flatMap(base64Forms))]
}

// `&` is also spelled as JSON of Go and as HTML spell it.
const PARAMETER_KEYWORDS = ['?', '&', 'u0026', 'amp;'].flatMap((mark) =>
  ['code=', 'state=', 'key=', 'sig='].map((name) => mark + name),
)
