import {
  type FoundBindings,
  type BindingProducer,
  type ValueLocation,
  findClockProducer,
  type Binding,
  type BindingConsumer,
} from '../binding.ts'
import { distinctnessOf, detachedCopy } from '../values.ts'
import { findCandidateMessages } from './candidate-messages.ts'
import {
  isRenewedByProtocol,
  consumerCandidatesIn,
  producesForPair,
  consumerPieces,
  type ConsumerCandidate,
} from './consumer-candidates.ts'
import { judgePair, judgeCompositePart, type PairJudgement } from './judge-pair.ts'
import {
  producerCandidatesIn,
  type ProducerCandidate,
  SentValueScanner,
  SentValues,
  toProducer,
} from './producer-candidates.ts'
import { SchemaValues, ClientValues } from './value-ownership.ts'
import { relateNames } from '../names.ts'
import type { TapeMessage } from '../tape-messages.ts'
import { turnStoreOf, type Turns, type Turn } from '../../tape/turns.ts'

interface FindBindingsOptions {
  /** When the clock of the tape stood at 0, from its header: dates that hang on now are found with it. */
  readonly started?: string
}

/**
 * Finds the values that the server made up and the client sent back, from the tape alone. Messages are looked at one by one,
 * several times: what is kept grows with what is found, and not with the tape.
 */
export function findBindings(
  given: readonly Turn[] | Turns,
  { started }: FindBindingsOptions = {},
): FoundBindings {
  const turns = turnStoreOf(given)
  const messages = findCandidateMessages(turns)
  const sent = messages.filter(({ dir }) => dir === 'c2s')
  if (sent.length === 0) return { bindings: [], guesses: [] }
  const schemas = new SchemaValues(turns)
  const finderOf = (producers: ProducersByValue): BindingFinder =>
    new BindingFinder({
      producers,
      schemas,
      started: started === undefined ? undefined : Date.parse(started),
    })
  const wholes = addProducerCandidates(new Map(), messages, sentWholeValues(sent))
  const pieces = sentPieces(sent, finderOf(wholes))
  const finder = finderOf(pieces.isEmpty ? wholes : addProducerCandidates(wholes, messages, pieces))
  for (const message of sent) finder.bindMessage(consumerCandidatesIn(message))
  return finder.found.result()
}

function sentWholeValues(sent: readonly TapeMessage[]): SentValues {
  const wanted = new SentValues()
  for (const message of sent) for (const use of consumerCandidatesIn(message)) wanted.add(use)
  return wanted
}

/** What stands inside of a leaf that is bound as a whole is not wanted: a uuid has fifteen parts, and many share one with another. */
function sentPieces(sent: readonly TapeMessage[], finder: BindingFinder): SentValues {
  const wanted = new SentValues()
  for (const message of sent)
    for (const use of finder.leavesToSplit(consumerCandidatesIn(message))) wanted.addPieces(use)
  return wanted
}

type ProducersByValue = ReadonlyMap<string, readonly ProducerCandidate[]>

// The first places count, and of what is renewed with each answer the last: a handle that every answer repeats costs no more.
const MOST_PRODUCERS = 100

/** Adds where the server said what is wanted, if that is not known already. */
function addProducerCandidates(
  known: ProducersByValue,
  messages: readonly TapeMessage[],
  values: SentValues,
): ProducersByValue {
  const wanted = new SentValueScanner(values)
  const sightings = new Map<string, ProducerCandidate[]>()
  const isFull = (value: string): boolean =>
    known.has(value) || (sightings.get(value)?.length ?? 0) >= MOST_PRODUCERS
  for (const message of messages) {
    if (message.dir === 'c2s') continue
    for (const sighting of producerCandidatesIn(message, wanted, isFull)) {
      if (known.has(sighting.value)) continue
      const list = sightings.get(sighting.value) ?? []
      if (list.length >= MOST_PRODUCERS && !isRenewedByProtocol(sighting.spot)) continue
      const kept = detachedCandidate(sighting)
      list.push(kept)
      if (list.length === 1) sightings.set(kept.value, list)
    }
  }
  return known.size === 0 ? sightings : new Map([...known, ...sightings])
}

function detachedCandidate({ message, ...seen }: ProducerCandidate): ProducerCandidate {
  return { message, ...detachedCopy(seen) }
}

const MOST_OTHERS = 3

// BlazeMeter's bound: what appears this often is a word of the trade.
const MOST_APPEARANCES = 50

interface FinderInput {
  readonly producers: ReadonlyMap<string, readonly ProducerCandidate[]>
  readonly schemas: SchemaValues
  readonly started: number | undefined
}

interface FoundProducer {
  readonly judgement: Exclude<PairJudgement, { kind: 'chance' }>
  readonly producer: BindingProducer
  readonly also: readonly BindingProducer[]
}

/** Binds what the client sent to where the server had said it, message by message in their order. */
class BindingFinder {
  readonly found: BindingCollector = new BindingCollector()
  readonly #input: FinderInput
  readonly #clientValues: ClientValues

  constructor(known: FinderInput) {
    this.#input = known
    this.#clientValues = new ClientValues((value) => known.producers.has(value))
  }

  /** The leaves of one message that have to be looked into: they are neither bound as a whole nor known as a word. */
  leavesToSplit(uses: readonly ConsumerCandidate[]): readonly ConsumerCandidate[] {
    this.#note(uses)
    return uses.filter(
      (whole) =>
        whole.hasPieces &&
        this.#findProducer(whole)?.judgement.kind !== 'binding' &&
        !this.#isServerWord(whole),
    )
  }

  /** Looks at the leaves of one message; what stands inside a leaf that is bound as a whole is not looked at again. */
  bindMessage(uses: readonly ConsumerCandidate[]): void {
    this.#note(uses)
    const bound = new Set<string>()
    for (const whole of uses) {
      const { consumer } = whole
      if (this.#isOfferedBySchema(whole)) continue
      if (consumer.use === 'value' && enclosingKeys(consumer).some((outer) => bound.has(outer))) continue
      if (this.#bind(whole)) bound.add(locationKey(consumer))
      else if (!this.#isServerWord(whole)) this.#bindPieces(whole)
    }
  }

  // Beside a part that is surely a handle, the other parts of a composite may be plain: `APO/5f2c9d1e`.
  #bindPieces(whole: ConsumerCandidate): void {
    const pieces = consumerPieces(whole, (value) => this.#input.producers.has(value))
    const taken: ConsumerCandidate[] = []
    for (const inComposite of [false, true]) {
      if (inComposite && taken.length === 0) return
      for (const piece of pieces) {
        if (taken.some((other) => piecesOverlap(other, piece))) continue
        if (this.#bind(piece, inComposite)) taken.push(piece)
      }
    }
  }

  #note(uses: readonly ConsumerCandidate[]): void {
    for (const use of uses) this.#clientValues.add(use)
  }

  #bind(use: ConsumerCandidate, inComposite = false): boolean {
    const found = this.#findProducer(use, inComposite)
    if (found !== undefined) this.#keep(use, found)
    return found?.judgement.kind === 'binding'
  }

  #findProducer(use: ConsumerCandidate, inComposite = false): FoundProducer | undefined {
    const [first, ...others] = this.#rankedProducers(use)
    if (first === undefined) return this.#findClockProducer(use)
    const judgement = inComposite ? judgeCompositePart(first, use) : judgePair(first, use)
    const producer = judgement.kind === 'chance' ? undefined : toProducer(first)
    if (judgement.kind === 'chance' || producer === undefined) return this.#findClockProducer(use)
    const also = others.slice(0, MOST_OTHERS).map(toProducer)
    return { judgement, producer, also: also.filter((one) => one !== undefined) }
  }

  #findClockProducer({ value, consumer, message }: ConsumerCandidate): FoundProducer | undefined {
    const { started } = this.#input
    if (started === undefined || consumer.use !== 'value') return undefined
    const producer = findClockProducer(value, started + message.spoken.t)
    if (producer === undefined) return undefined
    const reason = 'a date that hangs on the moment at which it was sent'
    return { judgement: { kind: 'binding', confidence: 'low', reason }, producer, also: [] }
  }

  #keep({ value, consumer }: ConsumerCandidate, { judgement, producer, also }: FoundProducer): void {
    const { confidence, reason, kind } = judgement
    const consumers = [consumer]
    this.found.add(kind, { value, producer, also, consumers, confidence, standing: 'found', reason })
  }

  /** Where the server had said the value before it was sent, the best place first. */
  #rankedProducers(use: ConsumerCandidate): readonly ProducerCandidate[] {
    const earlier = (this.#input.producers.get(use.value) ?? []).filter((one) => isEarlier(one, use))
    const { pair } = use
    if (pair !== undefined) {
      const fitting = earlier.filter(({ form, spot }) => form !== 'token' && producesForPair(pair, spot))
      if (pair.pick === 'latest') return fitting.toReversed().slice(0, 1)
      return fitting.toSorted((a, b) => responseRank(a) - responseRank(b))
    }
    return this.#isClientValue(use, earlier)
      ? []
      : earlier.toSorted((a, b) => producerRank(a, use) - producerRank(b, use))
  }

  #isClientValue(use: ConsumerCandidate, earlier: readonly ProducerCandidate[]): boolean {
    const [first] = earlier
    if (first === undefined) return true
    if (earlier.length > MOST_APPEARANCES && distinctnessOf(use.value) !== 'strong') return true
    return this.#clientValues.isSentBefore(use, first.message.n)
  }

  // A value that the server sent as a single word is not composed of parts.
  #isServerWord(use: ConsumerCandidate): boolean {
    return !/\s/.test(use.value) && this.#rankedProducers(use).length > 0
  }

  #isOfferedBySchema({ value, message, consumer }: ConsumerCandidate): boolean {
    return this.#input.schemas.offers(message.tool, consumer.path, value)
  }
}

/** The leaf that holds a spot, and the texts opened on the way. */
function enclosingKeys({ path, inside }: ValueLocation): readonly string[] {
  return inside.map((_, depth) => locationKey({ path, inside: inside.slice(0, depth) }))
}

function locationKey({ path, inside }: ValueLocation): string {
  return JSON.stringify([path, inside])
}

function isEarlier({ message }: ProducerCandidate, use: ConsumerCandidate): boolean {
  return message.n < use.message.n && message.server === use.message.server
}

const FORM_RANK = { member: 0, nested: 1, token: 2 }
const NAME_RANK = { same: 0, kin: 1, none: 2 }

// A value that nobody makes up twice comes from where it was said first; any other from where it has the right name.
function producerRank(sighting: ProducerCandidate, use: ConsumerCandidate): number {
  const named = distinctnessOf(use.value) === 'strong' ? 0 : NAME_RANK[relateNames(sighting.names, use.names)]
  return named * 1e14 + responseRank(sighting) * 1e12 + sighting.message.n * 10 + FORM_RANK[sighting.form]
}

// An answer is owed; a notification comes when it comes, or not at all.
function responseRank({ message }: ProducerCandidate): number {
  return message.isResponse ? 0 : 1
}

function piecesOverlap(one: ConsumerCandidate, other: ConsumerCandidate): boolean {
  const [a, b] = [one.consumer.inside.at(-1), other.consumer.inside.at(-1)]
  return a?.kind === 'span' && b?.kind === 'span' && a.start < b.end && b.start < a.end
}

/** Bindings as they are found: uses of one value of one producer come together. */
class BindingCollector {
  readonly #bindings = new Map<string, GrowingBinding>()
  readonly #guesses = new Map<string, GrowingBinding>()
  readonly #shared = new SharedLocations()

  add(kind: 'binding' | 'guess', binding: Binding): void {
    const list = kind === 'binding' ? this.#bindings : this.#guesses
    const { value, producer, confidence } = binding
    const key = JSON.stringify([value, producer, confidence])
    const consumers = binding.consumers.map((consumer) => this.#shared.share(consumer))
    const known = list.get(key)
    if (known === undefined) list.set(key, { ...this.#detached(binding), consumers })
    else known.consumers.push(...consumers)
  }

  result(): FoundBindings {
    return { bindings: [...this.#bindings.values()], guesses: [...this.#guesses.values()] }
  }

  #detached(binding: Binding): Binding {
    const shared = (one: BindingProducer): BindingProducer =>
      one.kind === 'message' ? this.#shared.share(one) : one
    const { value, producer, also } = binding
    return { ...binding, value: detachedCopy(value), producer: shared(producer), also: also.map(shared) }
  }
}

interface GrowingBinding extends Binding {
  readonly consumers: BindingConsumer[]
}

const MOST_SHARED = 10_000

/** Ways into messages: calls of one tool have the same, and thousands of bindings share a few. */
class SharedLocations {
  readonly #known = new Map<string, ValueLocation>()

  /** The same place, with what it shares with others; nothing of it holds on to the message that it was found in. */
  share<Place extends ValueLocation>(place: Place): Place {
    const { path, inside } = place
    const key = JSON.stringify([path, inside])
    const known = this.#known.get(key) ?? detachedCopy({ path, inside })
    if (this.#known.size < MOST_SHARED) this.#known.set(key, known)
    return { ...place, ...known }
  }
}
