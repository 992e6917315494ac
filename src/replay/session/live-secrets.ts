import { readRedactionConfig } from '../../config/redaction-config.ts'
import { decodeLeaf, jsonLeaves, type JsonLeaf, applyReplacements } from '../../json/find-replace.ts'
import { parseJson } from '../../json/parse.ts'
import { formatPath } from '../../json/path.ts'
import type { OpenLink } from '../../link/client-link.ts'
import {
  couldBePlaceholderFor,
  type RedactionKey,
  Placeholders,
  isTooShortToSign,
} from '../../redact/placeholders.ts'
import { Redactor } from '../../redact/redactor.ts'
import { redactionRuleSet } from '../../redact/rule-set.ts'
import { normalizeName, isSecretVariable, judgeName } from '../../redact/secret-names.ts'
import { ephemeralKey, readRedactionKey } from '../../store/redaction-key.ts'
import type { TapeHeader } from '../../tape/header.ts'

/** The real values behind the placeholders of a redacted tape. They are sent to the live server only. */
export interface LiveSecrets {
  /** Replaces placeholders with the values that are known, for the live server. */
  readonly reveal: (text: string) => string
  /** Replaces secrets in a text of the live server with their placeholders on the tape. */
  readonly hide: (text: string) => string
  /** Tells if two texts differ only in the placeholders of secrets: without the key of the tape, those of live values are other ones. */
  readonly differsInPlaceholders?: (expected: unknown, actual: unknown) => boolean
  /** Returns a note for the user if texts that were sent have failed because of placeholders. */
  readonly note: (sent: readonly string[]) => string | undefined
}

export interface SecretSources {
  /** Environment variables; those with names of secrets are used. By default those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Further secret values. */
  readonly values?: readonly string[]
}

/** Finds the secrets of a tape. Returns `undefined` for a tape that was not redacted. */
export function liveSecrets(
  { redaction }: Pick<TapeHeader, 'redaction'>,
  { env = process.env, values = [] }: SecretSources = {},
): LiveSecrets | undefined {
  if (redaction === undefined) return undefined
  const own = readRedactionKey()
  const isOurs = own !== undefined && own.name === redaction.key
  const config = readRedactionConfig(process.cwd(), 'run')
  const rules = redactionRuleSet({
    ...config,
    email: config.email === true || redaction.rules.includes('email'),
  })
  const key = isOurs ? own : ephemeralKey()
  const redactor = new Redactor({ key, rules, source: 'live' })
  const pairs = new SecretRestorer(redactor, rules.fields)
  redactor.learnEnv(env)
  for (const value of [...secretValuesIn(env), ...values]) learnSecret(redactor, value)
  return {
    reveal: (text) => pairs.reveal(text),
    hide: (text) => redactor.text(text),
    ...(!isOurs && { differsInPlaceholders: placeholderComparison(new Placeholders(key)) }),
    note: (sent) =>
      isOurs
        ? unknownPlaceholderNote(
            sent.map((text) => pairs.reveal(text)),
            key,
          )
        : sent.some((text) => redactor.text(text) !== text)
          ? missingKeyNote(redaction.key)
          : undefined,
  }
}

function placeholderComparison(placeholders: Placeholders): (expected: unknown, actual: unknown) => boolean {
  return (expected, actual) => {
    if (typeof expected !== 'string' || typeof actual !== 'string') return false
    const [then, now] = [expected, actual].map((text) => text.split(WORD_SEPARATORS))
    if (then === undefined || now === undefined || then.length !== now.length) return false
    return then.every((word, at) => {
      const live = now[at] ?? ''
      return (
        word === live || (placeholders.isPlaceholder(live, false) && couldBePlaceholderFor(word, live, live))
      )
    })
  }
}

/** Splits a text into words and the characters between them. */
const WORD_SEPARATORS = /([^\w+/.~-]+)/

/** A note about placeholders that were sent because their values are unknown. */
function unknownPlaceholderNote(texts: readonly string[], key: RedactionKey): string | undefined {
  const placeholders = new Placeholders(key)
  const isUnknown = (text: string, leaf: JsonLeaf): boolean =>
    text[leaf.start] === '"' && placeholders.isPlaceholder(decodeLeaf(text, leaf), false)
  const found = texts.flatMap((text) => jsonLeaves(text).filter((leaf) => isUnknown(text, leaf)))
  if (found.length === 0) return undefined
  const paths = new Set(found.map(({ path }) => formatPath(path)))
  return `the values of the placeholders at ${[...paths].join(', ')} are unknown: name the variable with --secret, or a file with --secrets`
}

function secretValuesIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    isSecretVariable(name) && value !== '' ? [value] : [],
  )
}

/** Makes the placeholder of a value, so that it is recognized later. In a URL only the password has one. */
function learnSecret(redactor: Redactor, value: string): void {
  redactor.text(value)
  if (!value.includes('://')) redactor.secret(value)
}

function missingKeyNote(key: string): string {
  return `the secrets of the tape were redacted with the key ${key}, which is not on this machine: the server gets the placeholders`
}

/** Replaces placeholders with their values, including secrets that the live server has sent. */
export class SecretRestorer {
  readonly #redactor: Redactor
  readonly #fields: ReadonlySet<string>
  #pairs: readonly SecretPair[] = []
  #short: ReadonlyMap<string, string> = new Map()
  #count = 0

  /** `fields` are further names of members that have secret values. */
  constructor(redactor: Redactor, fields: readonly string[]) {
    this.#redactor = redactor
    this.#fields = new Set(fields.map(normalizeName))
  }

  reveal(text: string): string {
    if (this.#redactor.replacedCount !== this.#count) this.#read()
    const plain = this.#pairs.reduce(
      (revealed, [placeholder, value]) => revealed.replaceAll(placeholder, () => value),
      text,
    )
    return this.#short.size === 0 ? plain : this.#withShort(plain)
  }

  #read(): void {
    const { replacedValues } = this.#redactor
    this.#count = replacedValues.length
    const pairs = replacedValues.map((value): SecretPair => [this.#redactor.secret(value), value])
    this.#short = new Map(pairs.filter(([, value]) => isTooShortToSign(value)))
    this.#pairs = pairs
      .filter(([placeholder, value]) => placeholder !== value && !isTooShortToSign(value))
      .map(([placeholder, value]) => [escaped(placeholder), escaped(value)])
  }

  /** A short number can occur anywhere by chance, so it is a placeholder only in a member with the name of a secret. */
  #withShort(text: string): string {
    if (parseJson(text) === undefined) return text
    return applyReplacements(
      text,
      jsonLeaves(text).flatMap((leaf) => {
        const value = this.#hasSecretName(leaf) ? this.#short.get(decodeLeaf(text, leaf)) : undefined
        if (value === undefined) return []
        return [{ start: leaf.start, end: leaf.end, text: text[leaf.start] === '"' ? `"${value}"` : value }]
      }),
    )
  }

  #hasSecretName({ path }: JsonLeaf): boolean {
    const name = path.findLast((step) => typeof step === 'string') ?? ''
    return judgeName(name) === 'secret' || this.#fields.has(normalizeName(name))
  }
}

type SecretPair = readonly [placeholder: string, value: string]

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** A link that sends real secrets and returns placeholders. */
export function withLiveSecrets(open: OpenLink, { reveal, hide }: LiveSecrets): OpenLink {
  return async ({ onText, onLost, onEnd, ...handlers }) => {
    const link = await open({
      ...handlers,
      onText: (text) => onText(hide(text)),
      onLost: (key, why, status) => onLost(key, hide(why), status),
      onEnd: (why) => onEnd(hide(why)),
    })
    return {
      send: (text) => link.send(reveal(text)),
      abort: (key) => link.abort?.(key) ?? false,
      close: (how) => link.close(how),
    }
  }
}
