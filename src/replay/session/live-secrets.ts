import { readRedactionConfig } from '../../config/redaction-config.ts'
import { decodeLeaf, jsonLeaves, type JsonLeaf } from '../../json/leaves.ts'
import { parseJson } from '../../json/parse.ts'
import { formatPath } from '../../json/path.ts'
import type { OpenLink } from '../../link/client-link.ts'
import { type RedactionKey, Placeholders, isTooShortToSign } from '../../redact/placeholders.ts'
import { Redactor } from '../../redact/redactor.ts'
import { redactionRuleSet, normalizeName } from '../../redact/rule-set.ts'
import { isSecretVariable, judgeName } from '../../redact/secret-names.ts'
import { applyReplacements } from '../../json/splice.ts'
import { ephemeralKey, readRedactionKey } from '../../store/redaction-key.ts'
import type { TapeHeader } from '../../tape/header.ts'

/** The real values behind the stand-ins of a redacted tape: they go to the live server, and nowhere else. */
export interface LiveSecrets {
  /** A text for the live server, with every value that is known. */
  readonly reveal: (text: string) => string
  /** A text of the live server, with the stand-ins that its secrets have on the tape. */
  readonly hide: (text: string) => string
  /** What the user should know of it when these texts have failed. */
  readonly note: (sent: readonly string[]) => string | undefined
}

export interface SecretSources {
  /** Variables whose names speak of secrets are looked at; by default those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Further values, whatever they are called. */
  readonly values?: readonly string[]
}

/** Undefined for a tape that was never redacted: it says everything itself. */
export function liveSecrets(
  { redaction }: Pick<TapeHeader, 'redaction'>,
  { env = process.env, values = [] }: SecretSources = {},
): LiveSecrets | undefined {
  if (redaction === undefined) return undefined
  const own = readRedactionKey()
  const isOurs = own !== undefined && own.name === redaction.key
  const config = readRedactionConfig(process.cwd())
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
    note: (sent) =>
      isOurs
        ? unknownPlaceholderNote(
            sent.map((text) => pairs.reveal(text)),
            key,
          )
        : missingKeyNote(redaction.key),
  }
}

/** Where stand-ins went out because nobody told what is behind them. */
function unknownPlaceholderNote(texts: readonly string[], key: RedactionKey): string | undefined {
  const standIns = new Placeholders(key)
  const isUnknown = (text: string, leaf: JsonLeaf): boolean =>
    text[leaf.start] === '"' && standIns.isPlaceholder(decodeLeaf(text, leaf), false)
  const found = texts.flatMap((text) => jsonLeaves(text).filter((leaf) => isUnknown(text, leaf)))
  if (found.length === 0) return undefined
  const paths = new Set(found.map(({ path }) => formatPath(path)))
  return `nobody told what is behind the stand-ins at ${[...paths].join(', ')}: name the variable with --secret, or a file with --secrets`
}

function secretValuesIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    isSecretVariable(name) && value !== '' ? [value] : [],
  )
}

/** Its stand-in is made now, so that it is known when it is met. Of an address only the password has one. */
function learnSecret(redactor: Redactor, value: string): void {
  redactor.text(value)
  if (!value.includes('://')) redactor.secret(value)
}

function missingKeyNote(key: string): string {
  return `the secrets of the tape have stand-ins of the key ${key}, which is not here: the server gets the stand-ins`
}

/** Puts values in the place of their stand-ins. What the live server made up is among them as well, once it has said it. */
export class SecretRestorer {
  readonly #redactor: Redactor
  readonly #fields: ReadonlySet<string>
  #pairs: readonly SecretPair[] = []
  #short: ReadonlyMap<string, string> = new Map()
  #count = 0

  /** `fields` are further names whose values are secrets. */
  constructor(redactor: Redactor, fields: readonly string[]) {
    this.#redactor = redactor
    this.#fields = new Set(fields.map(normalizeName))
  }

  reveal(text: string): string {
    if (this.#redactor.replacedCount !== this.#count) this.#read()
    const plain = this.#pairs.reduce((so, [standIn, value]) => so.replaceAll(standIn, () => value), text)
    return this.#short.size === 0 ? plain : this.#withShort(plain)
  }

  #read(): void {
    const { replacedValues } = this.#redactor
    this.#count = replacedValues.length
    const pairs = replacedValues.map((value): SecretPair => [this.#redactor.secret(value), value])
    this.#short = new Map(pairs.filter(([, value]) => isTooShortToSign(value)))
    this.#pairs = pairs
      .filter(([standIn, value]) => standIn !== value && !isTooShortToSign(value))
      .map(([standIn, value]) => [escaped(standIn), escaped(value)])
  }

  /** A short number may stand anywhere by chance: it is a stand-in only where a name says so. */
  #withShort(text: string): string {
    if (parseJson(text) === undefined) return text
    return applyReplacements(
      text,
      jsonLeaves(text).flatMap((leaf) => {
        const value = this.#isTold(leaf) ? this.#short.get(decodeLeaf(text, leaf)) : undefined
        if (value === undefined) return []
        return [{ start: leaf.start, end: leaf.end, text: text[leaf.start] === '"' ? `"${value}"` : value }]
      }),
    )
  }

  #isTold({ path }: JsonLeaf): boolean {
    const name = path.findLast((step) => typeof step === 'string') ?? ''
    return judgeName(name) === 'secret' || this.#fields.has(normalizeName(name))
  }
}

type SecretPair = readonly [standIn: string, value: string]

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** A link behind which the real secrets are, and before which only their stand-ins. */
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
