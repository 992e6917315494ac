import type { Difference } from '../match/field-diff.ts'
import type { RedactionKey } from '../redact/key.ts'
import type { Redactor } from '../redact/redactor.ts'
import { couldStandFor } from '../redact/shapes.ts'
import { StandIns } from '../redact/stand-ins.ts'
import { base64Views, percentDecoded } from '../redact/views.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { leafText, leavesOf } from '../wire/leaves.ts'

export interface LiveStandInsOptions {
  readonly redactor: Redactor
  readonly key: RedactionKey
  /** Whether the key is the one of the tape. */
  readonly isOurs: boolean
}

/** What can be told of live values that no rule takes for secrets, where the tape has stand-ins. */
export class LiveStandIns {
  readonly #options: LiveStandInsOptions

  constructor(options: LiveStandInsOptions) {
    this.#options = options
  }

  /** A value whose very stand-in is on the tape is a secret: it is learned. Says whether there was one. */
  learn(params: unknown, isOnTape: (standIn: string) => boolean): boolean {
    const { redactor, key, isOurs } = this.#options
    if (!isOurs) return false
    const standIns = new StandIns(key)
    const before = redactor.known.length
    for (const word of wordsIn(params)) if (isOnTape(standIns.of(word))) redactor.learn(word)
    return redactor.known.length > before
  }

  /** The live words where a recorded value has stand-ins; none when anything else differs as well. */
  gapsIn({ recorded, got }: Difference): readonly string[] {
    const [then, now] = [textOf(recorded), textOf(got)]
    if (then === undefined || now === undefined) return []
    if (this.#isStandIn(then, now)) return [now]
    const [before, after] = [then.split(BETWEEN), now.split(BETWEEN)]
    if (before.length !== after.length) return []
    const pairs = before
      .map((word, at): Pair => [word, after[at] ?? ''])
      .filter(([one, other]) => one !== other)
    return pairs.every(([one, other]) => this.#isStandIn(one, other)) ? pairs.map(([, other]) => other) : []
  }

  #isStandIn(recorded: string, got: string): boolean {
    const { key, isOurs } = this.#options
    const standIns = new StandIns(key)
    return isOurs ? standIns.isOne(recorded, false) : couldStandFor(recorded, got, standIns.of(got))
  }
}

type Pair = readonly [then: string, now: string]

/** Words of a text with what stands between them, which has to be the same on both sides. */
const BETWEEN = /([^\w+/.~-]+)/
const SHORTEST = 6
const LONGEST = 4096
const MOST = 1000

function wordsIn(params: unknown): readonly string[] {
  const json = canonicalJson(params ?? null)
  const texts = leavesOf(json).flatMap((leaf) => decoded(leafText(json, leaf)))
  const words = texts.flatMap((text) => [text, ...text.split(/[\s"'`,;<>()]+/), ...text.split(BETWEEN)])
  const worthwhile = words.filter(({ length }) => length >= SHORTEST && length <= LONGEST)
  return [...new Set(worthwhile)].slice(0, MOST)
}

/** The text itself, and what it says in other spellings. */
function decoded(text: string): readonly string[] {
  const views = [percentDecoded(text), ...base64Views(text, () => true)]
  return [text, ...views.flatMap((view) => view?.text ?? [])]
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : undefined
}
