import {
  isSecretParameter,
  isSecretVariable,
  judgeFlag,
  judgeName,
  type NameVerdict,
} from './secret-names.ts'
import {
  looksLikeAssignedPassword,
  isExampleValue,
  looksLikePassword,
  isDummyValue,
  isPlausibleSecret,
  looksRandom,
} from './value-checks.ts'

/** A value with a name, as in `password = "x"`, `"apiKey": "x"`, `DB_PASSWORD=x` or `?token=x`. */
interface AssignedRange {
  readonly start: number
  readonly end: number
}

// Matches only at the beginning of a word. Otherwise every position in a long run of letters would be tried.
const NAME = '(?<![\\w.-])(?<name>[\\w.-]{2,64})'
const WORD_VALUE = '(?<value>(?!-)[^\\s"\'`,;|<>\\[\\]\\\\]{4,256})'
const QUOTED = new RegExp(
  `${NAME}\\\\*["'\`]?\\s*(?:=>|[:=])\\s*\\\\*(?<quote>["'\`])(?<value>[^"'\`\\\\\\r\\n]{2,512})\\\\*\\k<quote>`,
  'dg',
)
const BARE_CHARACTER = '[^\\s"\'`,;(){}<>\\[\\]&|\\\\=:]'
const BARE = new RegExp(
  `${NAME}["']?\\s*[:=]\\s*(?<value>${BARE_CHARACTER}{6,}(?:=+${BARE_CHARACTER}+){0,4}=*)(?=[\\s,;&<\\]})"']|\\\\|$)`,
  'dg',
)
// The value of an option or a variable. After a space it may be a word of a sentence; after `=` it is not.
const FLAG = new RegExp(
  `(?<![\\w-])(?<name>--?[A-Za-z][\\w-]{1,40})\\\\*["']?(?:\\s*,\\s*|\\s+)\\\\*["'\`]?${WORD_VALUE}`,
  'dg',
)
const ASSIGNED_WORD = new RegExp(
  `(?<![\\w.-])(?<name>--?[A-Za-z][\\w-]{1,40}|[A-Z][A-Z0-9_]{2,63})=${WORD_VALUE}`,
  'dg',
)
const STATED =
  /\b(?<name>pass(?:word|wd|phrase|code)|secret|token|api[ _-]?key)\s+(?:is|was):?\s+\\*["'`]?(?<value>[^\s"'`,;<>\\]{6,256}?)(?=[.,;!?]?(?:[\s"'`\\]|$))/dgi
const ELEMENT = /<(?<name>[\w.:-]{2,64})(?:\s[^<>]{0,200})?>(?<value>[^<>\r\n]{2,200})<\/\k<name>/dg
const PLIST_ENTRY = /<key>(?<name>[^<>]{2,64})<\/key>\s*<string>(?<value>[^<>]{2,512})<\/string>/dg
const ATTRIBUTE =
  /\b(?:key|name)=\\*["'](?<name>[\w.:-]{2,64})\\*["']\s+value=\\*["'](?<value>[^"'\\<>]{2,512})/dg
/** A value that is source code. */
const CODE_MEMBER =
  /^(?:this|self|process|config|options|params|args|req|request|env|settings|body|data|props|state|form)\./
const PARAMETER = /[?&](?:amp;)?(?<name>[\w.-]{2,64})=(?<value>[^&\s"'<>#\\]{8,})/dg

/** Finds the values of names that suggest a secret. */
export function findAssignedSecrets(text: string, isNamed: IsProjectField): readonly AssignedRange[] {
  return ASSIGNMENT_FORMS.flatMap(({ pattern, needs, isSecret }) =>
    needs.some((sign) => text.includes(sign))
      ? [...secretMatches(text, pattern, (name, value) => isSecret(verdictOn(name, isNamed), value, name))]
      : [],
  )
}

type IsProjectField = (name: string) => boolean

interface AssignmentForm {
  readonly pattern: RegExp
  /** The pattern is tried only if the text contains one of these. */
  readonly needs: readonly string[]
  readonly isSecret: (verdict: NameVerdict, value: string, name: string) => boolean
}

const ASSIGNMENT_FORMS: readonly AssignmentForm[] = [
  { pattern: QUOTED, needs: [':', '='], isSecret: isQuotedSecret },
  { pattern: BARE, needs: [':', '='], isSecret: isBareSecret },
  { pattern: FLAG, needs: ['-'], isSecret: (_, value, name) => isFlagSecret(judgeFlag(name), value) },
  { pattern: ASSIGNED_WORD, needs: ['='], isSecret: isAssignedSecret },
  { pattern: STATED, needs: [' is', ' was'], isSecret: isBareSecret },
  { pattern: ELEMENT, needs: ['</'], isSecret: isElementSecret },
  { pattern: PLIST_ENTRY, needs: ['</key>'], isSecret: isElementSecret },
  { pattern: ATTRIBUTE, needs: ['value='], isSecret: isElementSecret },
  {
    pattern: PARAMETER,
    needs: ['?', '&'],
    isSecret: (_, value, name) => isSecretParameter(name) && /\d/.test(value),
  },
]

function verdictOn(name: string, isNamed: IsProjectField): NameVerdict {
  if (isNamed(name)) return 'secret'
  const verdict = judgeName(name)
  return verdict === 'no' && /^[A-Z][A-Z0-9_]+$/.test(name) && isSecretVariable(name) ? 'maybe' : verdict
}

/** A value in quotes may begin with a scheme, as in `"Authorization": "Bearer token"`. */
function isQuotedSecret(verdict: NameVerdict, value: string): boolean {
  const secret = withoutScheme(value)
  return isSecretValue(verdict, secret) && (secret === value || !isExampleValue(secret))
}

/** A value without `Bearer`, `Basic` or another scheme before it. */
export function withoutScheme(value: string): string {
  return value.replace(SCHEME, '')
}

const SCHEME = /^(?:bearer|basic|token|dpop|apikey|digest)(?: +|$)/i

/** A variable can end in the short name of an option: `MYSQL_PWD`. */
function isAssignedSecret(verdict: NameVerdict, value: string, name: string): boolean {
  const isShort = /^-|_(?:PWD|PASS)$/.test(name) && judgeFlag(name.replace(/.*_/, '')) === 'secret'
  return (verdict === 'secret' || isShort) && looksLikeAssignedPassword(value)
}

/** A value without quotes may be a word of a sentence, or source code, so it must also look like a secret. */
function isBareSecret(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret')
    return (
      isPlausibleSecret(value) &&
      !CODE_MEMBER.test(value) &&
      (/\d/.test(value) ? !isSourceCode(value) : looksLikePassword(value))
    )
  return verdict === 'maybe' && looksRandom(value)
}

/** A member of an object, such as `asnX509.signatureAlgorithm` or `items[0].token`. */
function isSourceCode(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$]*(?:\[\d+\])?(?:\.[A-Za-z_$]+)+$|^[A-Z][a-z]+[A-Z]\w*\$\d$/.test(value) &&
    /[a-z][A-Z]|_|\[|\$/.test(value)
  )
}

/** A word after an option may belong to a sentence, so it must also look like a secret. */
function isFlagSecret(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret') return looksLikePassword(value)
  return verdict === 'maybe' && looksRandom(value)
}

/** The content of an element is a value unless it consists of several words. */
function isElementSecret(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret') return !isDummyValue(value) && !isExampleValue(value) && !/\s/.test(value.trim())
  return verdict === 'maybe' && looksRandom(value)
}

/** Decides whether a value is secret, given what its name suggests. */
export function isSecretValue(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret') return !isDummyValue(value)
  return verdict === 'maybe' && looksRandom(value)
}

function* secretMatches(
  text: string,
  pattern: RegExp,
  isSecret: (name: string, value: string) => boolean,
): Generator<AssignedRange> {
  for (const { groups, indices } of text.matchAll(pattern)) {
    const range = indices?.groups?.['value']
    if (range === undefined || !isSecret(groups?.['name'] ?? '', groups?.['value'] ?? '')) continue
    yield { start: range[0], end: range[1] }
  }
}
