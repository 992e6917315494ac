import { readRedactionConfig } from '../../config/redaction-config.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { decodeLeaf, jsonLeaves } from '../../json/leaves.ts'
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

/** What is done with the secrets of a live client, because those of the tape have stand-ins. */
export interface ClientRedaction {
  /** Whether the key of the tape is here: then a live secret gets the stand-in that it has on the tape, and matches. */
  readonly isOurs: boolean
  /** How the tape names its key. */
  readonly key: string
  /** A text of the client without its secrets. */
  readonly text: (text: string) => string
  /** The params of a message likewise; the same params when they hold none. */
  readonly params: (params: unknown) => unknown
  /** What is known of values that no rule takes for secrets. */
  readonly standIns: ClientStandIns
  /** From now on a value of the client is a secret. */
  readonly hide: (value: string) => void
  /** The variables of the recorder whose names spoke of secrets. */
  readonly variables: readonly string[]
}

/** What is secret in a run, beside what the rules and the environment tell. */
interface RunSecrets {
  /** Sent to the live server, which may repeat them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Named by somebody. */
  readonly values?: readonly string[] | undefined
}

/** Undefined for a tape that was never redacted. */
export function createClientRedaction(
  { redaction, servers }: Pick<TapeHeader, 'redaction' | 'servers'>,
  { headers = {}, values = [] }: RunSecrets = {},
): ClientRedaction | undefined {
  if (redaction === undefined) return undefined
  const own = readRedactionKey()
  const isOurs = own?.name === redaction.key
  const config = readRedactionConfig(process.cwd())
  const email = config.email === true || redaction.rules.includes('email')
  // Without the key nothing can match, but no secret should be in a report either.
  const key = isOurs && own !== undefined ? own : ephemeralKey()
  const redactor = new Redactor({ key, rules: redactionRuleSet({ ...config, email }), source: 'live' })
  redactor.learnEnv(process.env)
  for (const [name, value] of Object.entries(headers)) redactor.learnHeader(name, value)
  for (const value of values) redactor.learn(value)
  const text = (plain: string): string => redactor.text(plain)
  return {
    isOurs,
    key: redaction.key,
    text,
    params: (params) => redactParams(params, text),
    standIns: new ClientStandIns({ redactor, key, isOurs }),
    hide: (value) => redactor.learn(value),
    variables: [...new Set(Object.values(servers).flatMap(({ env = [] }) => env))],
  }
}

interface ClientStandInsOptions {
  readonly redactor: Redactor
  readonly key: RedactionKey
  /** Whether the key is the one of the tape. */
  readonly isOurs: boolean
}

/** What can be told of live values that no rule takes for secrets, where the tape has stand-ins. */
class ClientStandIns {
  readonly #options: ClientStandInsOptions

  constructor(options: ClientStandInsOptions) {
    this.#options = options
  }

  /** A value whose very stand-in is on the tape is a secret: it is learned. Says whether there was one. */
  learn(params: unknown, isOnTape: (standIn: string) => boolean): boolean {
    const { redactor, key, isOurs } = this.#options
    if (!isOurs) return false
    const standIns = new Placeholders(key)
    const before = redactor.knownSecrets.length
    for (const word of wordsIn(params)) if (isOnTape(standIns.forValue(word))) redactor.learn(word)
    return redactor.knownSecrets.length > before
  }

  /** The live words where a recorded value has stand-ins; none when anything else differs as well. */
  wordsBehindStandIns({ recorded, got }: FieldDifference): readonly string[] {
    const [then, now] = [textOf(recorded), textOf(got)]
    if (then === undefined || now === undefined) return []
    if (this.#isStandIn(then, now)) return [now]
    const [before, after] = [then.split(WORD_SEPARATORS), now.split(WORD_SEPARATORS)]
    if (before.length !== after.length) return []
    const pairs = before
      .map((word, at): WordPair => [word, after[at] ?? ''])
      .filter(([one, other]) => one !== other)
    return pairs.every(([one, other]) => this.#isStandIn(one, other)) ? pairs.map(([, other]) => other) : []
  }

  #isStandIn(recorded: string, got: string): boolean {
    const { key, isOurs } = this.#options
    const standIns = new Placeholders(key)
    return isOurs
      ? standIns.isPlaceholder(recorded, false)
      : couldBePlaceholderFor(recorded, got, standIns.forValue(got))
  }
}

type WordPair = readonly [then: string, now: string]

/** Words of a text with what stands between them, which has to be the same on both sides. */
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
  const worthwhile = words.filter(({ length }) => length >= MIN_WORD_LENGTH && length <= MAX_WORD_LENGTH)
  return [...new Set(worthwhile)].slice(0, MAX_WORDS)
}

/** The text itself, and what it says in other spellings. */
function decoded(text: string): readonly string[] {
  const views = [percentDecodedView(text), ...base64Views(text, () => true)]
  return [text, ...views.flatMap((view) => view?.text ?? [])]
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : undefined
}

/** A miss of a redacted tape: it shows no live value that a stand-in is for, and says so when nothing else stands in the way. */
export function explainRedactedMiss(miss: Miss, redaction: ClientRedaction, holdsSecret: boolean): Miss {
  const differences = miss.nearest[0]?.differences ?? []
  const gaps = differences.map((difference) => redaction.standIns.wordsBehindStandIns(difference))
  for (const value of gaps.flat()) redaction.hide(value)
  const why = mismatchReason(miss, redaction, {
    holdsSecret,
    isAll: gaps.length > 0 && gaps.every(({ length }) => length > 0),
  })
  const told = why === undefined ? miss : { ...miss, reason: 'REDACTION_MISMATCH' as const, why }
  return gaps.flat().length === 0 ? told : redactMiss(told, reportRedactorFrom(redaction.text))
}

function mismatchReason(
  { reason, nearest }: Miss,
  { isOurs, key, variables }: ClientRedaction,
  { holdsSecret, isAll }: { readonly holdsSecret: boolean; readonly isAll: boolean },
): string | undefined {
  const isMismatch = isAll && reason === 'ARGUMENT_DRIFT'
  const paths = isMismatch ? (nearest[0]?.differences ?? []).map(({ path }) => formatPath(path)) : []
  if (!isOurs) return isMismatch || holdsSecret ? missingKeyText(paths, key) : undefined
  return isMismatch ? differentValueText(paths, variables) : undefined
}

function differentValueText(paths: readonly string[], variables: readonly string[]): string {
  const from =
    variables.length === 0 ? '' : `; variables of the recorder that held secrets: ${variables.join(', ')}`
  return `the tape has a stand-in at ${paths.join(', ')}, and what came is not the value behind it: the client has to send the value that was recorded${from}`
}

function missingKeyText(paths: readonly string[], key: string): string {
  const what =
    paths.length === 0
      ? 'the request holds a secret, and the tape has stand-ins'
      : `what the tape has at ${paths.join(', ')} looks like a stand-in`
  return `${what} made with the key ${key}, which is not here; set REELAY_REDACTION_KEY, or put the key into redaction.key of REELAY_HOME`
}
