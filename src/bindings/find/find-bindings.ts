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
  /** The start of the recording, from the header of the tape. It is needed to find dates that depend on the current time. */
  readonly started?: string
}

/**
 * Finds the values that the server generated and the client sent back, from the tape alone. Messages are read one by one and
 * several times, so that the memory depends on the number of bindings and not on the size of the tape.
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

/** Collects the parts of leaves that are not bound as a whole. Parts of bound leaves would match other values by chance. */
function sentPieces(sent: readonly TapeMessage[], finder: BindingFinder): SentValues {
  const wanted = new SentValues()
  for (const message of sent)
    for (const use of finder.leavesToSplit(consumerCandidatesIn(message))) wanted.addPieces(use)
  return wanted
}

type ProducersByValue = ReadonlyMap<string, readonly ProducerCandidate[]>

// Limits the cost of a handle that every response repeats. Values that the protocol renews with each response are exempt.
const MOST_PRODUCERS = 100

/** Adds the locations where the server sent the values, except for values that are already known. */
function addProducerCandidates(
  known: ProducersByValue,
  messages: readonly TapeMessage[],
  values: SentValues,
): ProducersByValue {
  const wanted = new SentValueScanner(values)
  const sources = new Map<string, ProducerCandidate[]>()
  const isFull = (value: string): boolean =>
    known.has(value) || (sources.get(value)?.length ?? 0) >= MOST_PRODUCERS
  for (const message of messages) {
    if (message.dir === 'c2s') continue
    for (const source of producerCandidatesIn(message, wanted, isFull)) {
      if (known.has(source.value)) continue
      const list = sources.get(source.value) ?? []
      if (list.length >= MOST_PRODUCERS && !isRenewedByProtocol(source.location)) continue
      const kept = detachedCandidate(source)
      list.push(kept)
      if (list.length === 1) sources.set(kept.value, list)
    }
  }
  return known.size === 0 ? sources : new Map([...known, ...sources])
}

function detachedCandidate({ message, ...seen }: ProducerCandidate): ProducerCandidate {
  return { message, ...detachedCopy(seen) }
}

const MOST_OTHERS = 3

// A value that appears more often is a common word. BlazeMeter uses the same limit.
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

/** Binds values of the client to earlier locations in messages of the server. Messages have to be passed in recorded order. */
class BindingFinder {
  readonly found: BindingCollector = new BindingCollector()
  readonly #input: FinderInput
  readonly #clientValues: ClientValues

  constructor(known: FinderInput) {
    this.#input = known
    this.#clientValues = new ClientValues((value) => known.producers.has(value))
  }

  /** Returns the leaves whose parts may be bound: the server did not send them as a whole. */
  leavesToSplit(uses: readonly ConsumerCandidate[]): readonly ConsumerCandidate[] {
    this.#note(uses)
    return uses.filter(
      (whole) =>
        whole.hasPieces &&
        this.#findProducer(whole)?.judgement.kind !== 'binding' &&
        !this.#isServerWord(whole),
    )
  }

  /** Binds the leaves of one message. Values inside a leaf that is bound as a whole are skipped. */
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

  // If one part of a composite is a handle, the other parts may be plain words: `APO/5f2c9d1e`.
  #bindPieces(whole: ConsumerCandidate): void {
    const pieces = consumerPieces(whole, (value) => this.#input.producers.has(value))
    const bound: ConsumerCandidate[] = []
    for (const inComposite of [false, true]) {
      if (inComposite && bound.length === 0) return
      for (const piece of pieces) {
        if (bound.some((other) => piecesOverlap(other, piece))) continue
        if (this.#bind(piece, inComposite)) bound.push(piece)
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
    const producer = findClockProducer(value, started + message.recorded.t)
    if (producer === undefined) return undefined
    const reason = 'a date that depends on the time of the request'
    return { judgement: { kind: 'binding', confidence: 'low', reason }, producer, also: [] }
  }

  #keep({ value, consumer }: ConsumerCandidate, { judgement, producer, also }: FoundProducer): void {
    const { confidence, reason, kind } = judgement
    const consumers = [consumer]
    this.found.add(kind, { value, producer, also, consumers, confidence, standing: 'found', reason })
  }

  /** Returns the locations where the server sent the value earlier, best first. */
  #rankedProducers(use: ConsumerCandidate): readonly ProducerCandidate[] {
    const earlier = (this.#input.producers.get(use.value) ?? []).filter((one) => isEarlier(one, use))
    const { pair } = use
    if (pair !== undefined) {
      const fitting = earlier.filter(
        ({ form, location }) => form !== 'token' && producesForPair(pair, location),
      )
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

/** Returns the keys of the leaf and of the decoded texts that contain a location. */
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
const NAME_RANK = { same: 0, related: 1, none: 2 }

// A distinct value comes from its first location. Any other value comes from the location with the best name.
function producerRank(source: ProducerCandidate, use: ConsumerCandidate): number {
  const named = distinctnessOf(use.value) === 'strong' ? 0 : NAME_RANK[relateNames(source.names, use.names)]
  return named * 1e14 + responseRank(source) * 1e12 + source.message.n * 10 + FORM_RANK[source.form]
}

// Responses come first, because a notification may arrive late or not at all.
function responseRank({ message }: ProducerCandidate): number {
  return message.isResponse ? 0 : 1
}

function piecesOverlap(one: ConsumerCandidate, other: ConsumerCandidate): boolean {
  const [a, b] = [one.consumer.inside.at(-1), other.consumer.inside.at(-1)]
  return a?.kind === 'span' && b?.kind === 'span' && a.start < b.end && b.start < a.end
}

/** Collects bindings. Consumers of the same value from the same producer are joined in one binding. */
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

/** Paths into messages. Thousands of bindings share a few of them, because calls of one tool have the same paths. */
class SharedLocations {
  readonly #known = new Map<string, ValueLocation>()

  /** Returns an equal location with a shared path, which does not keep the text of a message in memory. */
  share<Location extends ValueLocation>(location: Location): Location {
    const { path, inside } = location
    const key = JSON.stringify([path, inside])
    const known = this.#known.get(key) ?? detachedCopy({ path, inside })
    if (this.#known.size < MOST_SHARED) this.#known.set(key, known)
    return { ...location, ...known }
  }
}
