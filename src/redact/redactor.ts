import { applyReplacements, type TextReplacement } from '../json/find-replace.ts'
import { redactHttpHeader, secretsInHeader, redactForm, redactUrl, secretUrlParameters } from './http.ts'
import type { RedactionKey } from './placeholders.ts'
import { redactionRuleSet, type RedactionRuleSet } from './rule-set.ts'
import { SecretScanner } from './scanner.ts'
import { isSecretHeader, isSecretVariable } from './secret-names.ts'
import { SecretValues, type RedactionSource } from './secret-values.ts'
import { isPlausibleSecret } from './value-checks.ts'

export interface RedactorOptions {
  readonly key: RedactionKey
  /** Default: the default rules. */
  readonly rules?: RedactionRuleSet
  /** Default: `fresh`. */
  readonly source?: RedactionSource
}

/**
 * Replaces secrets by placeholders. It learns: a value that was found to be secret once is replaced in all later texts, in any
 * encoding.
 */
export class Redactor {
  /** The names of the rules and of the key on a tape. */
  readonly identity: { readonly rules: string; readonly key: string }
  readonly #secrets: SecretValues
  readonly #scanner: SecretScanner

  constructor({ key, rules = redactionRuleSet(), source = 'fresh' }: RedactorOptions) {
    this.identity = { rules: rules.name, key: key.name }
    this.#secrets = new SecretValues(key, rules, source)
    this.#scanner = new SecretScanner(this.#secrets)
  }

  /** Number of distinct values that were replaced. */
  get replacedCount(): number {
    return this.#secrets.count
  }

  /** The values that were learned. Values that only match a rule are not among them. */
  get knownSecrets(): readonly string[] {
    return this.#secrets.known.all
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

  /** Redacts a text of any kind. In JSON, all other bytes stay as they are. */
  text(text: string): string {
    return this.#secrets.mayOccurIn(text) ? applyReplacements(text, this.#findEdits(text)) : text
  }

  /** Redacts a value whose name may suggest a secret. */
  named(name: string, value: string): string {
    return applyReplacements(value, this.#namedEdits(name, value))
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
    const edits = this.#secrets.mayOccurIn(line) ? this.#findEdits(line) : []
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

  #namedEdits(name: string, value: string): readonly TextReplacement[] {
    return this.#scanner.findInNamed(name, value)
  }

  /** In a URL only the password is secret. In a key of several lines each line is. */
  #learnVariable(value: string): void {
    if (value.includes('://')) return void this.#scanner.findInText(value)
    this.learn(value)
    const lines = value.split(/\\n|\n/)
    if (lines.length > 1) for (const line of lines) if (/^[\w+/=]{16,}$/.test(line)) this.learn(line)
  }
}
