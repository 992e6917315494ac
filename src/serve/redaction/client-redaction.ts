import { readRedactionConfig } from '../../config/redaction-config.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { decodeLeaf, jsonLeaves } from '../../json/find-replace.ts'
import { formatPath } from '../../json/path.ts'
import type { FieldDifference } from '../../match/field-diff.ts'
import type { Miss } from '../../match/miss/miss.ts'
import { type RedactionKey, couldBePlaceholderFor, Placeholders } from '../../redact/placeholders.ts'
import { Redactor } from '../../redact/redactor.ts'
import { redactionRuleSet } from '../../redact/rule-set.ts'
import { base64Views, percentDecodedView } from '../../redact/views.ts'
import { redactParams, reportRedactorFrom, redactMiss } from './report-redactor.ts'
import { ephemeralKey, readRedactionKey } from '../../store/redaction-key.ts'
import type { TapeHeader } from '../../tape/header.ts'

/** Replaces the secrets of a live client, because those of the tape are placeholders. */
export interface ClientRedaction {
  /** True if the key of the tape is available. A live secret then gets the same placeholder as on the tape, and matches. */
  readonly hasKey: boolean
  /** The name of the key on the tape. */
  readonly keyName: string
  readonly text: (text: string) => string
  /** Returns the same object if the params contain no secret. */
  readonly params: (params: unknown) => unknown
  readonly placeholders: ClientPlaceholders
  /** Treats a value as a secret from now on. */
  readonly hide: (value: string) => void
  /** Environment variables of the recorder that held secrets. */
  readonly variables: readonly string[]
}

/** Secrets of a run that neither the rules nor the environment show. */
interface RunSecrets {
  /** Headers for the upstream server, which may repeat them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Values that the user named. */
  readonly values?: readonly string[] | undefined
}

/** Returns `undefined` for a tape that is not redacted. */
export function createClientRedaction(
  { redaction, servers }: Pick<TapeHeader, 'redaction' | 'servers'>,
  { headers = {}, values = [] }: RunSecrets = {},
): ClientRedaction | undefined {
  if (redaction === undefined) return undefined
  const ownKey = readRedactionKey()
  const hasKey = ownKey?.name === redaction.key
  const config = readRedactionConfig(process.cwd(), 'ignore')
  const email = config.email === true || redaction.rules.includes('email')
  // Without the key nothing can match, but reports must not contain secrets either.
  const key = hasKey && ownKey !== undefined ? ownKey : ephemeralKey()
  const redactor = new Redactor({
    key,
    rules: redactionRuleSet({ ...config, email }),
    source: 'live',
    keepsValues: false,
  })
  redactor.learnEnv(process.env)
  for (const [name, value] of Object.entries(headers)) redactor.learnHeader(name, value)
  for (const value of values) redactor.learn(value)
  const text = (plain: string): string => redactor.text(plain)
  return {
    hasKey,
    keyName: redaction.key,
    text,
    params: (params) => redactParams(params, text),
    placeholders: new ClientPlaceholders(redactor, key, hasKey),
    hide: (value) => redactor.learn(value),
    variables: [...new Set(Object.values(servers).flatMap(({ env = [] }) => env))],
  }
}

/** Relates live values that no rule recognizes to the placeholders of the tape. */
class ClientPlaceholders {
  readonly #redactor: Redactor
  readonly #key: RedactionKey
  readonly #hasKey: boolean

  constructor(redactor: Redactor, key: RedactionKey, hasKey: boolean) {
    this.#redactor = redactor
    this.#key = key
    this.#hasKey = hasKey
  }

  /** Learns values as secrets whose placeholders are on the tape. Returns true if there are any. */
  learn(params: unknown, isOnTape: (placeholder: string) => boolean): boolean {
    if (!this.#hasKey) return false
    const placeholders = new Placeholders(this.#key)
    const before = this.#redactor.knownCount
    for (const word of wordsIn(params)) if (isOnTape(placeholders.forValue(word))) this.#redactor.learn(word)
    return this.#redactor.knownCount > before
  }

  /** Returns the live words at the places of recorded placeholders, or none if anything else differs as well. */
  wordsForPlaceholders(difference: FieldDifference): readonly string[] {
    const [recorded, got] = [textOf(difference.recorded), textOf(difference.got)]
    if (recorded === undefined || got === undefined) return []
    if (this.#isPlaceholder(recorded, got)) return [got]
    const [recordedWords, gotWords] = [recorded.split(WORD_SEPARATORS), got.split(WORD_SEPARATORS)]
    if (recordedWords.length !== gotWords.length) return []
    const pairs = recordedWords
      .map((word, index) => ({ recorded: word, got: gotWords[index] ?? '' }))
      .filter((pair) => pair.recorded !== pair.got)
    return pairs.every((pair) => this.#isPlaceholder(pair.recorded, pair.got))
      ? pairs.map((pair) => pair.got)
      : []
  }

  #isPlaceholder(recorded: string, got: string): boolean {
    const placeholders = new Placeholders(this.#key)
    return this.#hasKey
      ? placeholders.isPlaceholder(recorded, false)
      : couldBePlaceholderFor(recorded, got, placeholders.forValue(got))
  }
}

/** Splits a text into words and the characters between them, which must be equal on both sides. */
const WORD_SEPARATORS = /([^\w+/.~-]+)/
const MIN_WORD_LENGTH = 6
const MAX_WORD_LENGTH = 4096
const MAX_WORDS = 1000

function wordsIn(params: unknown): readonly string[] {
  const json = canonicalJson(params ?? null)
  const texts = jsonLeaves(json).flatMap((leaf) => decoded(decodeLeaf(json, leaf)))
  const words = texts.flatMap((text) => [
    text,
    ...text.split(/[\s"'`,;<>()]+/),
    ...text.split(WORD_SEPARATORS),
  ])
  const candidates = words.filter(({ length }) => length >= MIN_WORD_LENGTH && length <= MAX_WORD_LENGTH)
  return [...new Set(candidates)].slice(0, MAX_WORDS)
}

/** The text itself and its decoded forms. */
function decoded(text: string): readonly string[] {
  const views = [percentDecodedView(text), ...base64Views(text, () => true)]
  return [text, ...views.flatMap((view) => view?.text ?? [])]
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : undefined
}

/** Explains a miss of a redacted tape: hides the live values of placeholders, and names them as the reason if nothing else differs. */
export function explainRedactedMiss(miss: Miss, redaction: ClientRedaction, containsSecret: boolean): Miss {
  const differences = miss.nearest[0]?.differences ?? []
  const secrets = differences.map((difference) => redaction.placeholders.wordsForPlaceholders(difference))
  for (const value of secrets.flat()) redaction.hide(value)
  const why = mismatchReason(miss, redaction, {
    containsSecret,
    isOnlyReason: secrets.length > 0 && secrets.every(({ length }) => length > 0),
  })
  const explained = why === undefined ? miss : { ...miss, reason: 'REDACTION_MISMATCH' as const, why }
  return secrets.flat().length === 0 ? explained : redactMiss(explained, reportRedactorFrom(redaction.text))
}

function mismatchReason(
  { reason, nearest }: Miss,
  { hasKey, keyName, variables }: ClientRedaction,
  { containsSecret, isOnlyReason }: { readonly containsSecret: boolean; readonly isOnlyReason: boolean },
): string | undefined {
  const isMismatch = isOnlyReason && reason === 'ARGUMENT_DRIFT'
  const paths = isMismatch ? (nearest[0]?.differences ?? []).map(({ path }) => formatPath(path)) : []
  if (!hasKey) return isMismatch || containsSecret ? missingKeyText(paths, keyName) : undefined
  return isMismatch ? differentValueText(paths, variables) : undefined
}

function differentValueText(paths: readonly string[], variables: readonly string[]): string {
  const from =
    variables.length === 0 ? '' : `; secrets of the recorder were in these variables: ${variables.join(', ')}`
  return `the tape has a placeholder at ${paths.join(', ')}, and the request has another value than the recorded one there${from}`
}

function missingKeyText(paths: readonly string[], keyName: string): string {
  const what =
    paths.length === 0
      ? 'the request contains a secret, and the tape has placeholders'
      : `the value of the tape at ${paths.join(', ')} looks like a placeholder`
  return `${what} made with the key ${keyName}, which is not available; set REELAY_REDACTION_KEY, or put the key into redaction.key of REELAY_HOME`
}
