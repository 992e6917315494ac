import { applyReplacements, type TextReplacement } from '../json/splice.ts'
import { redactHttpHeader, secretsInHeader, redactForm, redactUrl, secretUrlParameters } from './http.ts'
import type { RedactionKey } from './placeholders.ts'
import { redactionRuleSet, type RedactionRuleSet } from './rule-set.ts'
import { SecretScanner } from './scanner.ts'
import { isSecretHeader, isSecretVariable } from './secret-names.ts'
import { SecretValues, type RedactionSource } from './secret-values.ts'
import { isPlausibleSecret } from './value-checks.ts'

export interface RedactorOptions {
  readonly key: RedactionKey
  /** What is looked for; by default the rules that come with Reelay. */
  readonly rules?: RedactionRuleSet
  /** What the texts are; by default `fresh`. */
  readonly source?: RedactionSource
}

/**
 * Replaces secrets by stand-ins. It learns as it goes: a value that was found to be secret in one place is replaced in every
 * later one, however it is spelled there.
 */
export class Redactor {
  /** How tapes name the key and the rules. */
  readonly identity: { readonly rules: string; readonly key: string }
  readonly #secrets: SecretValues
  readonly #scanner: SecretScanner

  constructor({ key, rules = redactionRuleSet(), source = 'fresh' }: RedactorOptions) {
    this.identity = { rules: rules.name, key: key.name }
    this.#secrets = new SecretValues(key, rules, source)
    this.#scanner = new SecretScanner(this.#secrets)
  }

  /** How many different values have been replaced. */
  get replacedCount(): number {
    return this.#secrets.count
  }

  /** The values that are known to be secret by now, beside those that rules tell by their looks. */
  get knownSecrets(): readonly string[] {
    return this.#secrets.known.all
  }

  /** The values that have been replaced. */
  get replacedValues(): readonly string[] {
    return this.#secrets.replaced
  }

  /** Whether bytes can hold a secret. Quick: what it lets pass needs no redaction. */
  mayContainSecrets(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    return this.#secrets.mayOccurInBytes(bytes, start, end)
  }

  /** Learns the values of variables whose names speak of secrets. */
  learnEnv(env: Readonly<Record<string, string | undefined>>): void {
    for (const name of Object.keys(env)) if (isSecretVariable(name)) this.#learnVariable(env[name] ?? '')
  }

  /** Learns one value that somebody says is secret. */
  learn(value: string): void {
    if (isPlausibleSecret(value)) this.#secrets.addKnown(value)
  }

  /** Learns the values of a URL's parameters whose names speak of secrets. */
  learnUrl(url: string): void {
    for (const value of secretUrlParameters(url)) this.learn(value)
  }

  /** Learns what stands in a header whose name speaks of secrets. */
  learnHeader(name: string, value: string): void {
    if (isSecretHeader(name)) for (const secret of secretsInHeader(value)) this.learn(secret)
  }

  /** A text of any kind. */
  text(text: string): string {
    return this.#secrets.mayOccurIn(text) ? applyReplacements(text, this.#findEdits(text)) : text
  }

  /** A value whose name may say that it is secret. */
  named(name: string, value: string): string {
    return applyReplacements(value, this.#namedEdits(name, value))
  }

  /** A value that is secret, whatever it looks like. */
  secret(value: string): string {
    if (value === '' || this.#secrets.isExempt(value)) return value
    this.#secrets.learn(value)
    return this.#secrets.placeholderFor(value)
  }

  /** The value of an HTTP header. */
  header(name: string, value: string): string {
    return redactHttpHeader(this, name, value)
  }

  /** A URL, or a path with its query. */
  url(url: string): string {
    return redactUrl(this, url)
  }

  /** A form, or JSON, as authorization servers take and give them. */
  form(text: string): string {
    return redactForm(this, text)
  }

  /** A command line: options and variables may name what they hold. */
  command(words: readonly string[]): readonly string[] {
    const together = this.#redactWordsTogether(words)
    return words.map((word, index) => {
      const alone = this.#redactWord(word, words[index - 1] ?? '')
      return alone === word ? (together[index] ?? word) : alone
    })
  }

  /** What was learned in the middle of a text may also stand in its beginning. */
  #findEdits(text: string): readonly TextReplacement[] {
    for (;;) {
      const before = this.#secrets.known.size
      const edits = this.#scanner.findInText(text)
      if (this.#secrets.known.size === before) return edits
    }
  }

  /** What `-u` or `-p` holds can be told only by the program that stands before it. */
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

  /** Of an address only the password is secret; of a key of several lines each line is. */
  #learnVariable(value: string): void {
    if (value.includes('://')) return void this.#scanner.findInText(value)
    this.learn(value)
    const lines = value.split(/\\n|\n/)
    if (lines.length > 1) for (const line of lines) if (/^[\w+/=]{16,}$/.test(line)) this.learn(line)
  }
}
