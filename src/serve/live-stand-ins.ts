import type { FieldDifference } from '../match/field-diff.ts'
import type { RedactionKey } from '../redact/key.ts'
import type { Redactor } from '../redact/redactor.ts'
import { couldBePlaceholderFor } from '../redact/shapes.ts'
import { Placeholders } from '../redact/placeholders.ts'
import { base64Views, percentDecodedView } from '../redact/views.ts'
import { canonicalJson } from '../json/canonical.ts'
import { decodeLeaf, jsonLeaves } from '../json/leaves.ts'

export interface ClientStandInsOptions {
  readonly redactor: Redactor
  readonly key: RedactionKey
  /** Whether the key is the one of the tape. */
  readonly isOurs: boolean
}

/** What can be told of live values that no rule takes for secrets, where the tape has stand-ins. */
export class ClientStandIns {
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
