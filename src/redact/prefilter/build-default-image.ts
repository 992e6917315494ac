import { hashText } from '../../json/hash.ts'
import { base64FormsAt } from '../views.ts'
import { toByteString, type PatternKind, PrefilterTables, type PrefilterImage } from './prefilter.ts'
import {
  ANY_CASE,
  BASE64,
  EXACT,
  FLAG_ENDING,
  ESCAPED_LETTER,
  NAME,
  NAME_ENDING,
  PATTERN_KINDS,
  KEY_NAME,
  patternKindOf,
} from './pattern-kinds.ts'
import { defaultRules } from '../rules/index.ts'
import type { RedactionRule } from '../rules/rule.ts'
import { exampleOf } from '../rules/token-shape.ts'
import { FLAG_ENDINGS, NAME_ENDINGS, NAME_KEYWORDS } from '../secret-names.ts'

/** The prefilter's tables for the default rules. `npm run patterns` writes them to `default-image.ts`. */
export function buildDefaultImage(): PrefilterImage {
  const tables = new PrefilterTables()
  const forms = base64Keywords().map(
    ([form, kind]) => [`${form} ${PATTERN_KINDS.indexOf(kind)}`, { form, kind }] as const,
  )
  for (const { form, kind } of new Map(forms).values()) tables.add(form, kind)
  for (const [index, rule] of defaultRules().entries())
    for (const text of rule.keywords) tables.add(toByteString(text), patternKindOf(rule), index + 1)
  for (const text of NAME_KEYWORDS) tables.add(text, NAME)
  tables.add('key', KEY_NAME)
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
    service: undefined,
    shapes: undefined,
    pattern: String(rule.pattern),
    isSecret: 'isSecret' in rule,
  }))
  const { low, high } = hashText(
    JSON.stringify([rules, NAME_KEYWORDS, NAME_ENDINGS, FLAG_ENDINGS, PARAMETER_KEYWORDS]),
  )
  return `${high.toString(16).padStart(8, '0')}${low.toString(16).padStart(8, '0')}`
}

/** The keywords as they appear inside of base64, if they are long enough to be recognised there. */
function base64Keywords(): readonly (readonly [string, PatternKind])[] {
  const ofRules = defaultRules().flatMap((rule) =>
    rule.keywords.map((text) => ({
      text,
      isShort: text.length <= LONGEST_SHORT_KEYWORD && !isAtEnd(text, rule),
    })),
  )
  const ofNames = NAME_KEYWORDS.map((text) => ({ text, isShort: false }))
  // Text in base64 is decoded (`encoded-runs.ts`). The forms are for base64 of which only a part is text, where three characters are too few.
  return [...ofRules.filter(({ text }) => text.length > LEAST_BYTES_IN_BASE64), ...ofNames].flatMap(
    (keyword) => [0, 1, 2].flatMap((offset) => base64PatternsAt(keyword, offset)),
  )
}

/** Returns true if a secret can end shortly after the keyword. */
function isAtEnd(keyword: string, { shapes = [] }: RedactionRule): boolean {
  const rests = shapes.map((shape) => shape.split(keyword)[1] ?? '{9a}')
  return rests.some((rest) => exampleOf(rest, () => 0).length < SHORTEST_REST)
}

const SHORTEST_REST = 9

/** The base64 forms of a keyword that follows `offset` other bytes. Images contain short forms by chance, so a short form includes the text after the keyword. */
function base64PatternsAt(
  { text, isShort }: { readonly text: string; readonly isShort: boolean },
  offset: number,
): readonly (readonly [string, PatternKind])[] {
  const first = Math.ceil((offset * 8) / 6)
  const sure = Math.floor(((offset + text.length) * 8) / 6)
  const end = Math.max(sure, first + LEAST_BASE64)
  // The next character is one of a few, because the text goes on with a printable one.
  const texts = end === sure ? [text] : NEXT_CHARACTERS.map((next) => text + next)
  const forms = texts.flatMap((each) => base64FormsAt(each, offset).map((form) => form.slice(0, end - first)))
  const kind = isShort ? BASE64[(4 - (end % 4)) % 4]! : EXACT
  return [...new Set(forms)].map((form) => [form, kind] as const)
}

/** Patterns of at least four bytes are much faster to search for. */
const LEAST_BASE64 = 4
/** One character of each row of ASCII. */
const NEXT_CHARACTERS = ' 0@P`p'.split('')
const LEAST_BYTES_IN_BASE64 = 3
const LONGEST_SHORT_KEYWORD = 5

// Go escapes `&` in JSON, and HTML escapes it as an entity.
const PARAMETER_KEYWORDS = ['?', '&', 'u0026', 'amp;'].flatMap((mark) =>
  [
    'code=',
    'state=',
    'key=',
    'sig=',
    'sid=',
    'jwt=',
    'pwd=',
    'pass=',
    'pin=',
    'otp=',
    'sas=',
    'ticket=',
    'hmac=',
    'nonce=',
    'session',
  ]
    .concat(['bearer', 'saml'])
    .map((name) => mark + name),
)
