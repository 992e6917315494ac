import { base64Forms } from './base64.ts'
import { bytesIn } from './gate-entry.ts'
import { GateTables, type GateImage } from './gate-tables.ts'
import {
  ANY_CASE,
  EXACT,
  FLAG_ENDING,
  HIDDEN_LETTER,
  NAME,
  NAME_ENDING,
  PATTERN_KINDS,
  ruleKind,
} from './pattern-kinds.ts'
import { defaultRules } from './rules.ts'
import { FLAG_ENDINGS, NAME_ENDINGS, NAME_KEYWORDS } from './secret-names.ts'

/** The tables with everything that is looked for without a word from the project. `npm run patterns` keeps them in `default-image.ts`. */
export function defaultImage(): GateImage {
  const tables = new GateTables()
  for (const form of defaultForms()) tables.add(form, EXACT)
  for (const rule of defaultRules())
    for (const text of rule.keywords) tables.add(bytesIn(text), ruleKind(rule))
  for (const text of NAME_KEYWORDS) tables.add(text, NAME)
  for (const text of NAME_ENDINGS) tables.add(text, NAME_ENDING)
  for (const text of FLAG_ENDINGS) tables.add(text, FLAG_ENDING)
  for (const text of PARAMETERS) tables.add(text, ANY_CASE)
  tables.add('\\u00', HIDDEN_LETTER)
  return tables.image(PATTERN_KINDS)
}

/** How keywords, and names that speak of secrets, look within base64, where they are long enough to be told. */
function defaultForms(): readonly string[] {
  const keywords = [...defaultRules().flatMap((rule) => rule.keywords), ...NAME_KEYWORDS]
  return [...new Set(keywords.filter((text) => text.length > 2).flatMap(base64Forms))]
}

// `&` is also spelled as JSON of Go and as HTML spell it.
const PARAMETERS = ['?', '&', 'u0026', 'amp;'].flatMap((mark) =>
  ['code=', 'state=', 'key=', 'sig='].map((name) => mark + name),
)
