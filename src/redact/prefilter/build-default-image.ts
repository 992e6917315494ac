import { hashText } from '../../json/hash.ts'
import { base64Forms } from '../views.ts'
import { toByteString, PrefilterTables, type PrefilterImage } from './prefilter.ts'
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

/** The prefilter's tables for the default rules. `npm run patterns` writes them to `default-image.ts`. */
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

/**
 * A digest of everything that decides which values the default rules replace. If it changes, `npm run patterns` gives the rules
 * a new name, so that a tape says which rules redacted it. Functions count only by their presence.
 */
export function digestDefaultRules(): string {
  const rules = defaultRules().map((rule) => ({
    ...rule,
    pattern: String(rule.pattern),
    isSecret: 'isSecret' in rule,
  }))
  const { low, high } = hashText(
    JSON.stringify([rules, NAME_KEYWORDS, NAME_ENDINGS, FLAG_ENDINGS, PARAMETER_KEYWORDS]),
  )
  return `${high.toString(16).padStart(8, '0')}${low.toString(16).padStart(8, '0')}`
}

/** The keywords as they appear inside of base64, if they are long enough to be recognised there. */
function base64Keywords(): readonly string[] {
  const keywords = [...defaultRules().flatMap((rule) => rule.keywords), ...NAME_KEYWORDS]
  return [...new Set(keywords.filter((text) => text.length > 2).flatMap(base64Forms))]
}

// Go escapes `&` in JSON, and HTML escapes it as an entity.
const PARAMETER_KEYWORDS = ['?', '&', 'u0026', 'amp;'].flatMap((mark) =>
  ['code=', 'state=', 'key=', 'sig='].map((name) => mark + name),
)
