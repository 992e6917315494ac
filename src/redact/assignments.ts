import {
  isSecretParameter,
  isSecretVariable,
  judgeFlag,
  judgeName,
  mayBeSecretName,
  type NameVerdict,
} from './secret-names.ts'
import {
  isUuid,
  looksGenerated,
  looksScrambled,
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
  `${NAME}\\\\*["'\`]?\\*{0,2}\\s*(?:=>|[:=])\\*{0,2}\\s*\\\\*(?<quote>["'\`])(?<value>[^"'\`\\\\\\r\\n]{2,8000})\\\\*\\k<quote>`,
  'dg',
)
const BARE_CHARACTER = '[^\\s"\'`,;(){}<>\\[\\]&|\\\\=:]'
/** What YAML can have before a value: the sign of a block, a tag or an anchor. */
const YAML_SIGN = '(?:[|>][+-]?\\d?\\s+|[&!]{1,2}[\\w-]{1,40}[ \\t]+)?'
const BARE = new RegExp(
  `${NAME}["']?\\s*[:=]\\s*${YAML_SIGN}(?<value>${BARE_CHARACTER}{6,}(?:=+${BARE_CHARACTER}+){0,4}=*)(?=[\\s,;&<\\]})"']|\\\\|$)`,
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
/** The spellings of other languages: `[password] => x`, `password -> x`, here-documents, long strings, CDATA. */
const OTHER_SPELLING = new RegExp(
  `${NAME}["'\\]]{0,3}\\s{0,4}(?:=>\\s{0,4}(?:string\\(\\d{1,6}\\)\\s{0,4}["'])?|->|<-|=\\s{0,4}(?:"""|'''|\\[=?\\[|<<[-~]?["']?\\w{1,40}["']?)|,\\s{0,4}<<"|(?:\\s[^<>]{0,100})?>\\s{0,4}<!\\[CDATA\\[)\\s{0,4}(?<value>[^\\s"'\`,;(){}<>\\[\\]|\\\\]{6,256})`,
  'dg',
)
const STATED =
  /\b(?<name>pass(?:word|wd|phrase|code)|secret|token|api[ _-]?key)\s+(?:is|was):?\s+\\*["'`]?(?<value>[^\s"'`,;<>\\]{6,256}?)(?=[.,;!?]?(?:[\s"'`\\]|$))/dgi
const ELEMENT =
  /<(?<name>[\w.:-]{2,64})(?:\s[^<>]{0,200})?>\s{0,40}(?<value>[^<>\s](?:[^<>\r\n]{0,198}[^<>\s])?)\s{0,40}<\/\k<name>/dg
const PLIST_ENTRY = /<key>(?<name>[^<>]{2,64})<\/key>\s*<string>(?<value>[^<>]{2,512})<\/string>/dg
const ATTRIBUTE =
  /\b(?:key|name|id|type)=\\*["'](?<name>[\w.:-]{2,64})\\*["'](?:\s[^<>]{0,120}?)?\s(?:value|content)=\\*["'](?<value>[^"'\\<>]{2,512})/dg
/** `<entry key="password">x</entry>` */
const NAMED_ELEMENT =
  /\b(?:key|name)=["'](?<name>[\w.:-]{2,64})["'][^<>]{0,120}>(?<value>[^<>\r\n]{2,200})<\//dg
/** A value that is source code. */
const CODE_MEMBER =
  /^(?:this|self|process|exports|module|config|options|params|args|req|request|env|settings|body|data|props|state|form)\./
const PARAMETER = /[?&](?:amp;)?(?<name>[\w.-]{2,64})=(?<value>[^&\s"'<>#\\]{8,})/dg

/** Finds the values of names that suggest a secret. */
export function findAssignedSecrets(text: string, isNamed: IsProjectField): readonly AssignedRange[] {
  const assigned = ASSIGNMENT_FORMS.flatMap((form) =>
    form.needs.some((sign) => text.includes(sign)) ? [...secretMatches(text, form, isNamed)] : [],
  )
  return [...assigned, ...findNearbySecrets(text, isNamed)]
}

type IsProjectField = (name: string) => boolean

interface AssignmentForm {
  readonly pattern: RegExp
  /** The pattern is tried only if the text contains one of these. */
  readonly needs: readonly string[]
  readonly isSecret: (verdict: NameVerdict, value: string, name: string) => boolean
  /** Set if a value that is not secret can begin with another name, as in `error: api_key=x`. */
  readonly isNested?: true
}

const ASSIGNMENT_FORMS: readonly AssignmentForm[] = [
  { pattern: QUOTED, needs: [':', '='], isSecret: isQuotedSecret },
  { pattern: BARE, needs: [':', '='], isSecret: isBareSecret, isNested: true },
  { pattern: FLAG, needs: ['-'], isSecret: (_, value, name) => isFlagSecret(judgeFlag(name), value) },
  { pattern: ASSIGNED_WORD, needs: ['='], isSecret: isAssignedSecret, isNested: true },
  {
    pattern: OTHER_SPELLING,
    needs: ['=>', '->', '<-', '<<', '"""', "'''", '[[', '[=[', 'CDATA'],
    isSecret: isBareSecret,
  },
  { pattern: STATED, needs: [' is', ' was'], isSecret: isBareSecret },
  { pattern: ELEMENT, needs: ['</'], isSecret: isElementSecret },
  { pattern: PLIST_ENTRY, needs: ['</key>'], isSecret: isElementSecret },
  { pattern: ATTRIBUTE, needs: ['value=', 'content='], isSecret: isElementSecret },
  { pattern: NAMED_ELEMENT, needs: ['</'], isSecret: isElementSecret },
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
  return isSecretValue(verdict, value) && !CODE_MEMBER.test(value) && !isSourceCode(value)
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
  return verdict === 'secret' ? looksLikePassword(value) : isSecretValue(verdict, value)
}

/** The content of an element is a value unless it consists of several words of which none looks random. */
function isElementSecret(verdict: NameVerdict, content: string): boolean {
  const value = content.trim()
  if (verdict !== 'secret') return isSecretValue(verdict, value)
  return (
    !value.startsWith('<![CDATA[') &&
    !isDummyValue(value) &&
    !isExampleValue(value.replace(/^\{/, '')) &&
    (!/\s/.test(value) || looksRandom(value))
  )
}

/** Decides whether a value is secret, given what its name suggests. */
export function isSecretValue(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'no' || isDummyValue(value)) return false
  if (verdict === 'secret') return true
  return verdict === 'generated' ? looksGenerated(value) : looksRandom(value)
}

function* secretMatches(
  text: string,
  { pattern, isSecret, isNested }: AssignmentForm,
  isNamed: IsProjectField,
): Generator<AssignedRange> {
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const range = match.indices?.groups?.['value']
    if (range === undefined) continue
    const [start, end] = range
    const name = match.groups?.['name'] ?? ''
    if (isSecret(verdictOn(name, isNamed), match.groups?.['value'] ?? '', name)) yield { start, end }
    else if (isNested === true) pattern.lastIndex = start
  }
}

/**
 * Finds values that look random and follow a name, whatever is between them: `| token | x |`, `**Password:** x`, `setPassword("x")`,
 * `password x`. Of a value in quotes a digit is enough.
 */
function* findNearbySecrets(text: string, isNamed: IsProjectField): Generator<AssignedRange> {
  let [before, beforeEnd] = ['', 0]
  for (const { 0: name, index } of text.matchAll(WORD)) {
    const end = index + name.length
    if (!isNamed(name) && !mayBeSecretName(name)) {
      ;[before, beforeEnd] = [name, end]
      continue
    }
    const isPhrase = index === beforeEnd + 1 && text[beforeEnd] === ' '
    const verdicts = [verdictOn(name, isNamed), isPhrase ? judgeName(before + name) : 'no']
    ;[before, beforeEnd] = [name, end]
    const verdict = (['secret', 'maybe', 'generated'] as const).find((each) => verdicts.includes(each))
    if (verdict === undefined) continue
    const value = quotedValueAt(text, end, verdict) ?? nearbyValueAt(text, end, verdict)
    if (value !== undefined) yield value
  }
}

/** `os.environ["PASSWORD"] = "x"`, `setPassword("x")`, `set("password", "x")`, `password = r"x"`, `"x" AS password` is not one. */
function quotedValueAt(text: string, at: number, verdict: NameVerdict): AssignedRange | undefined {
  const found = matchAt(QUOTED_NEARBY, text, at)
  if (found === undefined) return undefined
  const value = text.slice(found.start, found.end)
  if (isDummyValue(value)) return undefined
  if (verdict === 'generated') return looksGenerated(value) ? found : undefined
  if (verdict === 'maybe' && (isUuid(value) || /^\d{16,}$/.test(value))) return found
  if (verdict === 'maybe')
    return looksRandom(value) && IS_ASSIGNMENT.test(text.slice(at, found.start)) ? found : undefined
  return /\d/.test(value) && looksLikePassword(value) && !isSourceCode(value) ? found : undefined
}

function nearbyValueAt(text: string, at: number, verdict: NameVerdict): AssignedRange | undefined {
  const looksSecret = verdict === 'generated' ? looksGenerated : looksScrambled
  for (const pattern of [NEARBY, NEARBY_AFTER_WORD]) {
    const found = matchAt(pattern, text, at)
    if (found === undefined) continue
    const value = valueAlone(text, found)
    if (looksSecret(text.slice(value.start, value.end))) return withRest(text, value)
  }
  return undefined
}

/** Without the name before a value, as in `password=x`, and without the next parameter of a query. */
function valueAlone(text: string, { start, end }: AssignedRange): AssignedRange {
  const value = text.slice(start, end)
  const name = /^[A-Za-z_][\w.-]{0,63}=(?=[^=])/.exec(value)?.[0].length ?? 0
  const next = value.search(/&[\w.-]{1,64}=/)
  return { start: start + name, end: next <= name ? end : start + next }
}

/** A value that is longer than the pattern, up to its end. */
function withRest(text: string, { start, end }: AssignedRange): AssignedRange {
  if (end - start < LONGEST_NEARBY) return { start, end }
  const [rest = ''] = /^[\w+/=.~-]*/.exec(text.slice(end, end + LONGEST_REST)) ?? []
  return { start, end: end + rest.length }
}

const LONGEST_NEARBY = 512
const LONGEST_REST = 4000

function matchAt(pattern: RegExp, text: string, at: number): AssignedRange | undefined {
  pattern.lastIndex = at
  const [start, end] = pattern.exec(text)?.indices?.groups?.['value'] ?? [0, 0]
  return end > start ? { start, end } : undefined
}

const WORD = /(?<![A-Za-z0-9])[A-Za-z_][\w.-]{1,63}/g
// Without `%`, because a percent code has letters and digits. The decoded text is searched, too.
const GAP = '[^A-Za-z0-9%]{1,16}'
const ONE_WORD = '(?:[A-Za-z]{1,12}|\\d{1,2})[^A-Za-z0-9%]{1,8}'
const RANDOM_VALUE = `(?<value>(?:[A-Za-z0-9+/_=!@#$%^&*~-]|\\.(?=\\w)){8,${LONGEST_NEARBY}})`
const NEARBY = new RegExp(GAP + RANDOM_VALUE, 'dy')
const NEARBY_AFTER_WORD = new RegExp(GAP + ONE_WORD + RANDOM_VALUE, 'dy')
/** A sign of an assignment between a name and a value, rather than a comma, a bracket or a space. */
const IS_ASSIGNMENT = /[=:>]/
const QUOTED_NEARBY =
  /(?:["'`]?\]?(?:\s{0,4}:?\s{0,4}(?:&?[Ss]tr(?:ing)?|char ?\*|const|auto))?\s{0,4}(?:[.?:|]{0,3}=>?|\|{0,2}:|>)\s{0,4}[rbfu]?|["'`]\s{0,4},\s{0,4}|\(\s{0,4}|\s{1,4})(?<quote>["'`])(?<value>[^"'`\\\s]{6,200})\k<quote>/dy
