import type { Producer, Spot } from './binding.ts'
import { BindingList } from './binding-list.ts'
import { ClientWords } from './client-words.ts'
import { distinctnessOf } from './distinct.ts'
import { judge, judgeInComposite, type Judgement } from './judge.ts'
import { familyOf } from './names.ts'
import { producesFor } from './protocol-pairs.ts'
import { relativeTo } from './relative-date.ts'
import type { SchemaValues } from './schema-values.ts'
import { producerOf, type Sighting } from './sightings.ts'
import { pieceUses, type Use } from './uses.ts'

const MOST_OTHERS = 3

// BlazeMeter's bound: what appears this often is a word of the trade.
const MOST_APPEARANCES = 50

interface Known {
  readonly sightings: ReadonlyMap<string, readonly Sighting[]>
  readonly schemas: SchemaValues
  readonly started: number | undefined
}

interface Found {
  readonly judgement: Exclude<Judgement, { kind: 'chance' }>
  readonly producer: Producer
  readonly also: readonly Producer[]
}

/** Binds what the client sent to where the server had said it, message by message in their order. */
export class Finder {
  readonly found: BindingList = new BindingList()
  readonly #known: Known
  readonly #words: ClientWords

  constructor(known: Known) {
    this.#known = known
    this.#words = new ClientWords((value) => known.sightings.has(value))
  }

  /** The leaves of one message that have to be looked into: they are neither bound as a whole nor known as a word. */
  openIn(uses: readonly Use[]): readonly Use[] {
    this.#note(uses)
    return uses.filter(
      (whole) =>
        whole.hasPieces && this.#judged(whole)?.judgement.kind !== 'binding' && !this.#isKnownWord(whole),
    )
  }

  /** Looks at the leaves of one message; what stands inside a leaf that is bound as a whole is not looked at again. */
  look(uses: readonly Use[]): void {
    this.#note(uses)
    const bound = new Set<string>()
    for (const whole of uses) {
      const { consumer } = whole
      if (this.#isOffered(whole)) continue
      if (consumer.use === 'value' && outersOf(consumer).some((outer) => bound.has(outer))) continue
      if (this.#bind(whole)) bound.add(spotKey(consumer))
      else if (!this.#isKnownWord(whole)) this.#bindPieces(whole)
    }
  }

  // Beside a part that is surely a handle, the other parts of a composite may be plain: `APO/5f2c9d1e`.
  #bindPieces(whole: Use): void {
    const pieces = pieceUses(whole, (value) => this.#known.sightings.has(value))
    const taken: Use[] = []
    for (const inComposite of [false, true]) {
      if (inComposite && taken.length === 0) return
      for (const piece of pieces) {
        if (taken.some((other) => overlap(other, piece))) continue
        if (this.#bind(piece, inComposite)) taken.push(piece)
      }
    }
  }

  #note(uses: readonly Use[]): void {
    for (const use of uses) this.#words.add(use)
  }

  #bind(use: Use, inComposite = false): boolean {
    const found = this.#judged(use, inComposite)
    if (found !== undefined) this.#keep(use, found)
    return found?.judgement.kind === 'binding'
  }

  #judged(use: Use, inComposite = false): Found | undefined {
    const [first, ...others] = this.#producersOf(use)
    if (first === undefined) return this.#boundToClock(use)
    const judgement = inComposite ? judgeInComposite(first, use) : judge(first, use)
    const producer = judgement.kind === 'chance' ? undefined : producerOf(first)
    if (judgement.kind === 'chance' || producer === undefined) return this.#boundToClock(use)
    const also = others.slice(0, MOST_OTHERS).map(producerOf)
    return { judgement, producer, also: also.filter((one) => one !== undefined) }
  }

  #boundToClock({ value, consumer, message }: Use): Found | undefined {
    const { started } = this.#known
    if (started === undefined || consumer.use !== 'value') return undefined
    const producer = relativeTo(value, started + message.spoken.t)
    if (producer === undefined) return undefined
    const reason = 'a date that hangs on the moment at which it was sent'
    return { judgement: { kind: 'binding', confidence: 'low', reason }, producer, also: [] }
  }

  #keep({ value, consumer }: Use, { judgement, producer, also }: Found): void {
    const { confidence, reason, kind } = judgement
    const consumers = [consumer]
    this.found.add(kind, { value, producer, also, consumers, confidence, standing: 'found', reason })
  }

  /** Where the server had said the value before it was sent, the best place first. */
  #producersOf(use: Use): readonly Sighting[] {
    const earlier = (this.#known.sightings.get(use.value) ?? []).filter((one) => isEarlier(one, use))
    const { pair } = use
    if (pair !== undefined) {
      const fitting = earlier.filter(({ form, spot }) => form !== 'token' && producesFor(pair, spot))
      if (pair.pick === 'latest') return fitting.toReversed().slice(0, 1)
      return fitting.toSorted((a, b) => promise(a) - promise(b))
    }
    return this.#isClients(use, earlier) ? [] : earlier.toSorted((a, b) => rank(a, use) - rank(b, use))
  }

  #isClients(use: Use, earlier: readonly Sighting[]): boolean {
    const [first] = earlier
    if (first === undefined) return true
    if (earlier.length > MOST_APPEARANCES && distinctnessOf(use.value) !== 'strong') return true
    return this.#words.saidBefore(use, first.message.n)
  }

  // What the server says as one word is no composite.
  #isKnownWord(use: Use): boolean {
    return !/\s/.test(use.value) && this.#producersOf(use).length > 0
  }

  #isOffered({ value, message, consumer }: Use): boolean {
    return this.#known.schemas.offers(message.tool, consumer.path, value)
  }
}

/** The leaf that holds a spot, and the texts opened on the way. */
function outersOf({ path, inside }: Spot): readonly string[] {
  return inside.map((_, depth) => spotKey({ path, inside: inside.slice(0, depth) }))
}

function spotKey({ path, inside }: Spot): string {
  return JSON.stringify([path, inside])
}

function isEarlier({ message }: Sighting, use: Use): boolean {
  return message.n < use.message.n && message.server === use.message.server
}

const FORM_RANK = { member: 0, nested: 1, token: 2 }
const FAMILY_RANK = { same: 0, kin: 1, none: 2 }

// A value that nobody makes up twice comes from where it was said first; any other from where it has the right name.
function rank(sighting: Sighting, use: Use): number {
  const named = distinctnessOf(use.value) === 'strong' ? 0 : FAMILY_RANK[familyOf(sighting.names, use.names)]
  return named * 1e14 + promise(sighting) * 1e12 + sighting.message.n * 10 + FORM_RANK[sighting.form]
}

// An answer is owed; a notification comes when it comes, or not at all.
function promise({ message }: Sighting): number {
  return message.isResponse ? 0 : 1
}

function overlap(one: Use, other: Use): boolean {
  const [a, b] = [one.consumer.inside.at(-1), other.consumer.inside.at(-1)]
  return a?.kind === 'span' && b?.kind === 'span' && a.start < b.end && b.start < a.end
}
