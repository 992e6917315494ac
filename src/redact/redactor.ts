import { forEachToken, applyReplacements, type TextReplacement } from '../json/find-replace.ts'
import { parseJson } from '../json/parse.ts'
import type { RedactionKey } from './placeholders.ts'
import { type PatternGuard, redactionRuleSet, type RedactionRuleSet } from './rule-set.ts'
import { SecretScanner } from './scanner.ts'
import { isSecretHeader, isSecretVariable, isOAuthField, isSecretParameter } from './secret-names.ts'
import { SecretValues, type RedactionSource } from './secret-values.ts'
import { isPlausibleSecret } from './value-checks.ts'
import { isRedactionLimit, redactionLimit, WorkLimit } from './work-limit.ts'
import { fromBase64, toBase64, withoutPadding } from './views.ts'

export interface RedactorOptions {
  readonly key: RedactionKey
  /** Default: the default rules. */
  readonly rules?: RedactionRuleSet
  /** Default: `fresh`. */
  readonly source?: RedactionSource
  /**
   * The most work for one text, in characters. A text that takes more is withheld: a note replaces it. By default there is no limit,
   * and a pattern of the project that takes too long is an error.
   */
  readonly maxWork?: number
  /**
   * False for a redactor that runs for a long time: it keeps few values as they are, so `knownSecrets` and `replacedValues` do not
   * have all of them. Default: true.
   */
  readonly keepsValues?: boolean
}

/** A message without its secrets, or the reason why nothing of it may be kept. */
export type RedactedMessage =
  | { readonly kind: 'redacted'; readonly text: string }
  | { readonly kind: 'withheld'; readonly why: string }

/**
 * Replaces secrets with placeholders. A value that was once found to be secret is replaced in all later texts, in any encoding.
 */
export class Redactor {
  /** The names of the rules and of the key on a tape. */
  readonly identity: { readonly rules: string; readonly key: string }
  readonly #secrets: SecretValues
  readonly #scanner: SecretScanner
  readonly #work: WorkLimit
  readonly #isLimited: boolean
  readonly #guard: PatternGuard
  #withheldCount = 0

  constructor({
    key,
    rules = redactionRuleSet(),
    source = 'fresh',
    maxWork,
    keepsValues = true,
  }: RedactorOptions) {
    this.identity = { rules: rules.name, key: key.name }
    this.#work = new WorkLimit(maxWork ?? Infinity)
    this.#isLimited = maxWork !== undefined
    this.#guard = rules.guard ?? ((search) => search())
    this.#secrets = new SecretValues(key, { rules, source, keepsValues })
    this.#scanner = new SecretScanner(this.#secrets, this.#work)
  }

  /** Number of texts that were withheld because of the limit. */
  get withheldCount(): number {
    return this.#withheldCount
  }

  /** Number of distinct values that were replaced. */
  get replacedCount(): number {
    return this.#secrets.count
  }

  /** The values that were learned. Values that only match a rule are not among them. */
  get knownSecrets(): readonly string[] {
    return this.#secrets.known.kept
  }

  /** Number of values that were learned. */
  get knownCount(): number {
    return this.#secrets.known.size
  }

  get replacedValues(): readonly string[] {
    return this.#secrets.replaced
  }

  /** A fast test. If it returns false, the bytes need no redaction. */
  mayContainSecrets(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    return this.#secrets.mayOccurInBytes(bytes, start, end)
  }

  /** Learns the values of environment variables whose names suggest a secret. */
  learnEnv(env: Readonly<Record<string, string | undefined>>): void {
    for (const name of Object.keys(env)) if (isSecretVariable(name)) this.#learnVariable(env[name] ?? '')
  }

  /** Learns a value that the user declares to be secret. */
  learn(value: string): void {
    if (isPlausibleSecret(value)) this.#secrets.addKnown(value)
  }

  /** Learns the values of query parameters whose names suggest a secret. */
  learnUrl(url: string): void {
    for (const value of secretUrlParameters(url)) this.learn(value)
  }

  /** Learns the value of a header whose name suggests a secret. */
  learnHeader(name: string, value: string): void {
    if (isSecretHeader(name)) for (const secret of secretsInHeader(value)) this.learn(secret)
  }

  /** Redacts a text of any kind. In JSON, all other bytes stay as they are. A text beyond the limit becomes a note. */
  text(text: string): string {
    return textOrNote(this.message(text))
  }

  /** Like `text`, for callers that need JSON back, which a note is not. */
  message(text: string): RedactedMessage {
    if (!this.#secrets.mayOccurIn(text)) return { kind: 'redacted', text }
    return this.#withinLimit(() => applyReplacements(text, this.#findEdits(text)))
  }

  /** Redacts a value whose name may suggest a secret. */
  named(name: string, value: string): string {
    return textOrNote(
      this.#withinLimit(() => applyReplacements(value, this.#scanner.findInNamed(name, value))),
    )
  }

  /** Replaces a value that is known to be secret. */
  secret(value: string): string {
    if (value === '' || this.#secrets.isExempt(value)) return value
    this.#secrets.learn(value)
    return this.#secrets.placeholderFor(value)
  }

  header(name: string, value: string): string {
    return redactHttpHeader(this, name, value)
  }

  url(url: string): string {
    return redactUrl(this, url)
  }

  form(text: string): string {
    return redactForm(this, text)
  }

  /** Redacts the words of a command line. The options and variables on it name their values. */
  command(words: readonly string[]): readonly string[] {
    const together = this.#redactWordsTogether(words)
    return words.map((word, index) => {
      const alone = this.#redactWord(word, words[index - 1] ?? '')
      return alone === word ? (together[index] ?? word) : alone
    })
  }

  #withinLimit(redact: () => string): RedactedMessage {
    this.#work.begin()
    try {
      return { kind: 'redacted', text: this.#guard(redact) }
    } catch (error) {
      const limit = isStackOverflow(error)
        ? redactionLimit('it is too long to be searched for secrets')
        : error
      if (!isRedactionLimit(limit)) throw error
      this.#secrets.known.rebuild() // the guard can interrupt anything
      if (!this.#isLimited) throw limit
      this.#withheldCount++
      return { kind: 'withheld', why: limit.message }
    }
  }

  /** Searches again if a value was learned, because the value may also occur before that place. */
  #findEdits(text: string): readonly TextReplacement[] {
    for (;;) {
      const before = this.#secrets.known.size
      const edits = this.#scanner.findInText(text)
      if (this.#secrets.known.size === before) return edits
    }
  }

  /** Searches the whole line, because the meaning of `-u` or `-p` depends on the program. */
  #redactWordsTogether(words: readonly string[]): readonly string[] {
    const line = words.join(' ')
    let edits: readonly TextReplacement[] = []
    const redacted = this.#withinLimit(() => {
      edits = this.#secrets.mayOccurIn(line) ? this.#findEdits(line) : []
      return line
    })
    if (redacted.kind === 'withheld') return words.map(() => textOrNote(redacted))
    let start = 0
    return words.map((word) => {
      const [from, to] = [start, start + word.length]
      start = to + 1
      const own = edits.filter((edit) => edit.start >= from && edit.end <= to)
      return applyReplacements(
        word,
        own.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from })),
      )
    })
  }

  #redactWord(word: string, before: string): string {
    const [, name = '', value = ''] = /^(-{0,2}[\w.-]+)=([\s\S]*)$/.exec(word) ?? []
    if (name !== '')
      return `${name}=${isSecretVariable(name) ? this.#redactDeclared(value) : this.named(name, value)}`
    return /^--?[A-Za-z]/.test(before) && !word.startsWith('-') && !before.includes('=')
      ? this.named(before, word)
      : this.text(word)
  }

  #redactDeclared(value: string): string {
    return isPlausibleSecret(value) ? this.secret(value) : this.text(value)
  }

  /** Learns only the password of a URL, and each line of a key with several lines. */
  #learnVariable(value: string): void {
    if (value.includes('://')) return void this.text(value)
    this.learn(value)
    const lines = value.split(/\\n|\n/)
    if (lines.length > 1) for (const line of lines) if (/^[\w+/=]{16,}$/.test(line)) this.learn(line)
  }
}

/** A pattern that matches millions of characters in one piece needs more memory than V8 gives it. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

function textOrNote(message: RedactedMessage): string {
  return message.kind === 'redacted' ? message.text : `[withheld: ${message.why}]`
}

function redactHttpHeader(redactor: Redactor, name: string, value: string): string {
  const lower = name.toLowerCase()
  if (lower.startsWith(PARAM_HEADER_PREFIX))
    return redactParamHeader(redactor, name.slice(PARAM_HEADER_PREFIX.length), value)
  if (lower.includes('authorization')) return redactCredentials(redactor, value)
  if (lower === 'cookie')
    return value
      .split(';')
      .map((pair) => redactCookie(redactor, pair))
      .join(';')
  if (lower === 'set-cookie') return redactSetCookie(redactor, value)
  if (isSecretHeader(lower)) return redactor.secret(value)
  return lower === 'location' || lower === 'referer' ? redactUrl(redactor, value) : redactor.text(value)
}

/** The secrets in the value of a secret header: everything after the scheme, and for Basic also the password alone. */
function secretsInHeader(value: string): readonly string[] {
  const [, scheme = '', secret = ''] = /^(\S+ +)?([\s\S]*)$/.exec(value) ?? []
  if (!/^basic /i.test(scheme)) return [secret]
  const plain = new TextDecoder().decode(fromBase64(withoutPadding(secret)))
  return [secret, plain.slice(plain.indexOf(':') + 1)]
}

const PARAM_HEADER_PREFIX = 'mcp-param-'
const BASE64_PARAM = /^=\?base64\?([A-Za-z0-9+/_-]*={0,2})\?=$/

/** A tool argument that the client repeats in a header. It gets the same placeholder as in the body. */
function redactParamHeader(redactor: Redactor, name: string, value: string): string {
  const encoded = BASE64_PARAM.exec(value)?.[1]
  if (encoded === undefined) return redactor.named(name, value)
  const plain = new TextDecoder().decode(fromBase64(withoutPadding(encoded)))
  const redacted = redactor.named(name, plain)
  return redacted === plain ? value : `=?base64?${utf8ToBase64(redacted)}?=`
}

function utf8ToBase64(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text))
  const base64 = toBase64(bytes, false)
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, '=')
}

/** Keeps the scheme, and for Basic also the user name. */
function redactCredentials(redactor: Redactor, value: string): string {
  const [, scheme = '', secret = ''] = /^(\S+ +)?([\s\S]*)$/.exec(value) ?? []
  if (!/^basic /i.test(scheme)) return scheme + redactor.secret(secret)
  const plain = new TextDecoder().decode(fromBase64(withoutPadding(secret)))
  const colon = plain.indexOf(':')
  if (colon < 0) return scheme + redactor.secret(secret)
  return `${scheme}${utf8ToBase64(`${redactor.text(plain.slice(0, colon))}:${redactor.secret(plain.slice(colon + 1))}`)}`
}

function redactCookie(redactor: Redactor, pair: string): string {
  const equals = pair.indexOf('=')
  return equals < 0
    ? redactor.secret(pair)
    : pair.slice(0, equals + 1) + redactor.secret(pair.slice(equals + 1))
}

/** Keeps the attributes of the cookie. */
function redactSetCookie(redactor: Redactor, value: string): string {
  const end = value.indexOf(';')
  if (end < 0) return redactCookie(redactor, value)
  return redactCookie(redactor, value.slice(0, end)) + redactor.text(value.slice(end))
}

/** Redacts a URL, or a path with its query. All other characters stay as they are. */
function redactUrl(redactor: Redactor, url: string): string {
  const mark = url.indexOf('?')
  if (mark < 0) return redactor.text(url)
  const [query = '', ...fragment] = url.slice(mark + 1).split('#')
  const rest = fragment.length === 0 ? '' : `#${redactor.text(fragment.join('#'))}`
  return `${redactor.text(url.slice(0, mark))}?${redactPairs(redactor, query, isSecretParameter)}${rest}`
}

/** The values of query parameters whose names suggest a secret. */
function secretUrlParameters(url: string): readonly string[] {
  const query = url.slice(url.indexOf('?') + 1)
  const found = query.split('&').map((pair) => /^([^=]+)=([^#]*)/.exec(pair))
  return found.flatMap((pair) => (pair && isSecretParameter(pair[1]!) ? [decodeParameter(pair[2]!)] : []))
}

/** Redacts a form, or JSON that is not a message, as exchanged with authorization servers. */
function redactForm(redactor: Redactor, text: string): string {
  if (parseJson(text) === undefined) return redactPairs(redactor, text, isOAuthField)
  const edits: TextReplacement[] = []
  forEachToken(text, ({ kind, start, end, path }) => {
    if (kind !== 'string') return
    const value = String(JSON.parse(text.slice(start, end)))
    const redacted = redactPairValue(redactor, String(path.at(-1) ?? ''), value, isOAuthField)
    if (redacted !== value) edits.push({ start, end, text: JSON.stringify(redacted) })
  })
  return applyReplacements(text, edits)
}

function redactPairs(redactor: Redactor, text: string, isSecret: (name: string) => boolean): string {
  return text
    .split('&')
    .map((pair) => redactPair(redactor, pair, isSecret))
    .join('&')
}

function redactPair(redactor: Redactor, pair: string, isSecret: (name: string) => boolean): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return redactor.text(pair)
  const [name, value] = [pair.slice(0, equals), decodeParameter(pair.slice(equals + 1))]
  const redacted = redactPairValue(redactor, name, value, isSecret)
  return redacted === value ? pair : `${name}=${encodeURIComponent(redacted)}`
}

function redactPairValue(
  redactor: Redactor,
  name: string,
  value: string,
  isSecret: (name: string) => boolean,
): string {
  return isSecret(name) ? redactor.secret(value) : redactor.named(name, value)
}

function decodeParameter(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    return value
  }
}
