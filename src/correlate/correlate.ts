import type { Turn } from '../tape/turn.ts'
import type { Binding, Correlation, Producer } from './binding.ts'
import { BindingList } from './binding-list.ts'
import { ClientWords } from './client-words.ts'
import { judge, judgeInComposite, type Judgement } from './judge.ts'
import type { Spot } from './lens.ts'
import { messagesOf, type TapeMessage } from './messages.ts'
import { familyOf } from './names.ts'
import { distinctnessOf } from './distinct.ts'
import { producesFor } from './protocol-pairs.ts'
import { relativeTo } from './relative-date.ts'
import { SchemaValues } from './schema-values.ts'
import { sightingsIn, type Sighting, type Wanted } from './sightings.ts'
import { usesIn, type LeafUses, type Use } from './uses.ts'

export interface CorrelateOptions {
  /** When the clock of the tape stood at 0, from its header: dates that hang on now are found with it. */
  readonly started?: string
}

/** Finds the values that the server made up and the client sent back, from the tape alone. */
export function correlate(turns: readonly Turn[], { started }: CorrelateOptions = {}): Correlation {
  const messages = messagesOf(turns)
  const uses = messages.filter(({ spoken }) => spoken.dir === 'c2s').map(usesIn)
  const finder = new Finder({
    sightings: sightingsOf(messages, wantedBy(uses)),
    words: wordsOf(uses),
    schemas: new SchemaValues(turns),
    started: started === undefined ? undefined : Date.parse(started),
  })
  for (const leaves of uses) finder.look(leaves)
  return finder.found.correlation()
}

// BlazeMeter's bound: what appears this often is a word of the trade.
const MOST_APPEARANCES = 50

interface Known {
  readonly sightings: ReadonlyMap<string, readonly Sighting[]>
  readonly words: ClientWords
  readonly schemas: SchemaValues
  readonly started: number | undefined
}

class Finder {
  readonly found: BindingList = new BindingList()
  readonly #known: Known

  constructor(known: Known) {
    this.#known = known
  }

  /** Looks at the leaves of one message; what stands inside a leaf that is bound as a whole is not looked at again. */
  look(leaves: readonly LeafUses[]): void {
    const bound = new Set<string>()
    for (const leaf of leaves) {
      const { consumer } = leaf.whole
      if (this.#isOffered(leaf.whole)) continue
      if (consumer.use === 'value' && outersOf(consumer).some((outer) => bound.has(outer))) continue
      if (this.#bind(leaf.whole)) bound.add(spotKey(consumer))
      else if (!this.#isKnownWord(leaf.whole)) this.#bindPieces(leaf)
    }
  }

  // Beside a part that is surely a handle, the other parts of a composite may be plain: `APO/5f2c9d1e`.
  #bindPieces({ pieces }: LeafUses): void {
    const taken: Use[] = []
    for (const inComposite of [false, true]) {
      if (inComposite && taken.length === 0) return
      for (const piece of pieces) {
        if (taken.some((other) => overlap(other, piece))) continue
        if (this.#bind(piece, inComposite)) taken.push(piece)
      }
    }
  }

  #bind(use: Use, inComposite = false): boolean {
    const sightings = this.#producersOf(use)
    const [first, ...also] = sightings
    if (first === undefined) return this.#bindToClock(use)
    const judgement = inComposite ? judgeInComposite(first, use) : judge(first, use)
    if (judgement.kind === 'chance') return this.#bindToClock(use)
    this.#keep(use, judgement, producerOf(first), also.map(producerOf))
    return judgement.kind === 'binding'
  }

  #bindToClock(use: Use): boolean {
    const { started } = this.#known
    if (started === undefined || use.consumer.use !== 'value') return false
    const producer = relativeTo(use.value, started + use.message.spoken.t)
    if (producer === undefined) return false
    const reason = 'a date that hangs on the moment at which it was sent'
    this.#keep(use, { kind: 'binding', confidence: 'low', reason }, producer, [])
    return true
  }

  #keep(
    { value, consumer }: Use,
    judgement: Exclude<Judgement, { kind: 'chance' }>,
    producer: Producer,
    also: readonly Producer[],
  ): void {
    const { confidence, reason, kind } = judgement
    const binding: Binding = {
      value,
      producer,
      also,
      consumers: [consumer],
      confidence,
      standing: 'found',
      reason,
    }
    this.found.add(kind, binding)
  }

  /** Where the server had said the value before it was sent, the best place first. */
  #producersOf(use: Use): readonly Sighting[] {
    const earlier = (this.#known.sightings.get(use.value) ?? []).filter((one) => isEarlier(one, use))
    const { pair } = use
    if (pair !== undefined) {
      const fitting = earlier.filter(({ place }) => producesFor(pair, place))
      if (pair.pick === 'latest') return fitting.toReversed().slice(0, 1)
      return fitting.toSorted((a, b) => promise(a) - promise(b))
    }
    return this.#isClients(use, earlier) ? [] : earlier.toSorted((a, b) => rank(a, use) - rank(b, use))
  }

  #isClients(use: Use, earlier: readonly Sighting[]): boolean {
    const [first] = earlier
    if (first === undefined || earlier.length > MOST_APPEARANCES) return true
    return this.#known.words.saidBefore(use, first.place.frame)
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
  return message.spoken.n < use.message.spoken.n && message.spoken.server === use.message.spoken.server
}

const FORM_RANK = { member: 0, nested: 1, token: 2 }
const FAMILY_RANK = { same: 0, kin: 1, none: 2 }

// A value that nobody makes up twice comes from where it was said first; any other from where it has the right name.
function rank(sighting: Sighting, use: Use): number {
  const named = distinctnessOf(use.value) === 'strong' ? 0 : FAMILY_RANK[familyOf(sighting.names, use.names)]
  return named * 1e14 + promise(sighting) * 1e12 + sighting.place.frame * 10 + FORM_RANK[sighting.form]
}

// An answer is owed; a notification comes when it comes, or not at all.
function promise({ message }: Sighting): number {
  return message.spoken.message.kind === 'response' ? 0 : 1
}

function producerOf({ place }: Sighting): Producer {
  return { kind: 'message', ...place }
}

function overlap(one: Use, other: Use): boolean {
  const [a, b] = [one.consumer.inside.at(-1), other.consumer.inside.at(-1)]
  return a?.kind === 'span' && b?.kind === 'span' && a.start < b.end && b.start < a.end
}

function wantedBy(uses: readonly (readonly LeafUses[])[]): Wanted {
  const values = new Set(
    uses
      .flat()
      .flatMap(({ whole, pieces }) => [whole, ...pieces].filter(isCandidate).map(({ value }) => value)),
  )
  return { values, lengths: new Set([...values].map(({ length }) => length)) }
}

function isCandidate({ value, pair }: Use): boolean {
  return pair !== undefined || distinctnessOf(value) !== 'none'
}

function wordsOf(uses: readonly (readonly LeafUses[])[]): ClientWords {
  const words = new ClientWords()
  for (const leaf of uses.flat()) words.add(leaf)
  return words
}

function sightingsOf(
  messages: readonly TapeMessage[],
  wanted: Wanted,
): ReadonlyMap<string, readonly Sighting[]> {
  const sightings = new Map<string, Sighting[]>()
  for (const message of messages) {
    if (message.spoken.dir === 'c2s') continue
    for (const sighting of sightingsIn(message, wanted)) {
      const list = sightings.get(sighting.value) ?? []
      list.push(sighting)
      sightings.set(sighting.value, list)
    }
  }
  return sightings
}
