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

/** A value that a text gives a name to, as in `password = "x"`, `"apiKey": "x"`, `DB_PASSWORD=x` or `?token=x`. */
interface AssignedRange {
  readonly start: number
  readonly end: number
}

// Looked for only where a word begins: within a long run of letters every start would be tried.
const NAME = '(?<![\\w.-])(?<name>[\\w.-]{2,64})'
const WORD_VALUE = '(?<value>(?!-)[^\\s"\'`,;|<>\\[\\]\\\\]{4,256})'
const QUOTED = new RegExp(
  `${NAME}\\\\*["'\`]?\\s*(?:=>|[:=])\\s*\\\\*(?<quote>["'\`])(?<value>[^"'\`\\\\\\r\\n]{2,512})\\\\*\\k<quote>`,
  'dg',
)
const BARE = new RegExp(
  `${NAME}["']?\\s*[:=]\\s*(?<value>[^\\s"'\`,;(){}<>\\[\\]&|\\\\=:]{6,}=*)(?=[\\s,;&<\\]})"']|\\\\|$)`,
  'dg',
)
// What an option or a variable is given: a word of a sentence may follow a space, and does not follow `=`.
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
/** A piece of a program. */
const CODE_MEMBER =
  /^(?:this|self|process|config|options|params|args|req|request|env|settings|body|data|props|state|form)\./
const PARAMETER = /[?&](?:amp;)?(?<name>[\w.-]{2,64})=(?<value>[^&\s"'<>#\\]{8,})/dg

/** Where a text gives values to names that speak of secrets. */
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
  /** Without one of these in a text the pattern need not be tried. */
  readonly needs: readonly string[]
  readonly isSecret: (verdict: NameVerdict, value: string, name: string) => boolean
}

const ASSIGNMENT_FORMS: readonly AssignmentForm[] = [
  { pattern: QUOTED, needs: [':', '='], isSecret: isSecretValue },
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

/** A variable may have the short name of an option: `MYSQL_PWD`. */
function isAssignedSecret(verdict: NameVerdict, value: string, name: string): boolean {
  const isShort = /^-|_(?:PWD|PASS)$/.test(name) && judgeFlag(name.replace(/.*_/, '')) === 'secret'
  return (verdict === 'secret' || isShort) && looksLikeAssignedPassword(value)
}

/** Without quotes a word of a sentence may stand there, or of a program: so something must speak for a secret. */
function isBareSecret(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret')
    return (
      isPlausibleSecret(value) && !CODE_MEMBER.test(value) && (/\d/.test(value) || looksLikePassword(value))
    )
  return verdict === 'maybe' && looksRandom(value)
}

/** Behind an option a word may stand as well. */
function isFlagSecret(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret') return looksLikePassword(value)
  return verdict === 'maybe' && looksRandom(value)
}

/** In an element there are no words of a sentence, but those of a page. */
function isElementSecret(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret') return !isDummyValue(value) && !isExampleValue(value) && !/\s/.test(value.trim())
  return verdict === 'maybe' && looksRandom(value)
}

/** Whether a value behind a name with this verdict is a secret. */
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
