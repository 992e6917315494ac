import {
  type Binding,
  type BindingConsumer,
  type BindingProducer,
  dateFromClock,
  type MessageProducer,
  type TapeLocation,
} from '../binding.ts'
import { renameInputResponses, inputRequestTexts, pairInputRequests } from './input-names.ts'
import { readLocation, writeLocation } from '../location.ts'
import { nameWords } from '../names.ts'
import { tapeMessageKey } from '../tape-messages.ts'
import { detachedCopy, distinctnessOf, labelWordsBefore, findPieces, type TextPiece } from '../values.ts'
import type { JsonPath } from '../../json/path.ts'
import type { RecordedMessage } from '../../tape/turns.ts'

interface LiveValueBinderOptions {
  /** Returns the current time in milliseconds, for dates that depend on it. */
  readonly now: () => number
}

interface ReboundMessage {
  /** The message with the live values filled in. All other bytes are unchanged. */
  readonly text: string
  readonly used: readonly Binding[]
  /** Recorded values that are still in the text, because the live server sent no value for them. */
  readonly unbound: readonly UnfilledBinding[]
}

export interface UnfilledBinding {
  readonly binding: Binding
  readonly consumer: BindingConsumer
  /** `silent`: the live message of the producer has not arrived. `missing`: it does not contain the value. */
  readonly why: 'silent' | 'missing'
}

/** Learns values from messages of the live server and fills them in for the recorded values. */
export class LiveValueBinder {
  readonly #now: () => number
  readonly #consumers = new Map<string, BoundConsumer[]>()
  readonly #producers = new Map<string, BoundProducer[]>()
  readonly #learned = new Map<string, string | undefined>()
  /** The keys of recorded messages whose live counterparts request input. */
  readonly #rounds = new Set<string>()
  readonly #values = new LiveValues()

  constructor(bindings: readonly Binding[], { now }: LiveValueBinderOptions) {
    this.#now = now
    for (const binding of bindings) this.#add(binding)
  }

  /** Learns from the live counterpart of a recorded message. Returns the bindings for which it has a value. */
  learn(recorded: Pick<RecordedMessage, 'n' | 'item' | 'text'>, liveText: string): readonly Binding[] {
    const learned: Binding[] = []
    const sources = this.#producers.get(recordedMessageKey(recorded)) ?? []
    const names = sources.some(producesInputName) ? pairInputNames(recorded.text, liveText) : undefined
    if (names !== undefined) this.#rounds.add(recordedMessageKey(recorded))
    for (const source of sources) {
      const { binding, producer } = source
      const live = detachedCopy(
        names !== undefined && producesInputName(source)
          ? names.get(binding.value)
          : readLocation(liveText, producer),
      )
      this.#learned.set(producerKey(producer), live)
      if (live === undefined) continue
      this.#values.learn(binding, live)
      learned.push(binding)
    }
    return learned
  }

  /** Returns true if a recorded and a live string or number differ only in values that the live server generated. */
  explains(expected: unknown, actual: unknown, path: JsonPath): boolean {
    return this.#values.explains(expected, actual, path)
  }

  /** Fills live values into a recorded message of the client. Values that were changed in `text` are kept. */
  fill(recorded: Pick<RecordedMessage, 'n' | 'item' | 'text'>, text: string = recorded.text): ReboundMessage {
    const used = new Set<Binding>()
    const unbound: UnfilledBinding[] = []
    const composed = new Set<BindingConsumer>()
    const names = new Map<string, string | undefined>()
    let bound = text
    for (const { binding, consumer } of this.#consumers.get(recordedMessageKey(recorded)) ?? []) {
      if (readLocation(bound, consumer) !== binding.value) continue
      const live = this.#liveValue(binding)
      if (consumer.use === 'key' && (live.kind === 'value' || this.#isNoLongerRequested(binding))) {
        names.set(binding.value, live.kind === 'value' ? live.value : undefined)
        used.add(binding)
        continue
      }
      const written =
        live.kind === 'value' ? writeLiveValue(bound, { binding, consumer }, live.value) : undefined
      if (written !== undefined) used.add(binding)
      else if (binding.standing !== 'constant')
        unbound.push({ binding, consumer, why: live.kind === 'value' ? 'missing' : live.kind })
      bound = written ?? bound
      if (written !== undefined && consumer.use === 'part') composed.add(consumer)
    }
    for (const { path } of composed) this.#learnComposed(text, bound, path)
    if (names.size > 0) bound = renameInputResponses(bound, names)
    return { text: bound, used: [...used], unbound }
  }

  /** The places in a recorded message of the client that live values are filled into, with their bindings. */
  consumersOf(recorded: Pick<RecordedMessage, 'n' | 'item'>): readonly BoundConsumer[] {
    return this.#consumers.get(recordedMessageKey(recorded)) ?? []
  }

  /** Returns true if the live server requests input, but not this one. */
  #isNoLongerRequested(binding: Binding): boolean {
    return producersOf(binding).some(
      (producer) => producer.kind === 'message' && this.#rounds.has(tapeMessageKey(producer)),
    )
  }

  #learnComposed(recorded: string, bound: string, path: JsonPath): void {
    const [then, now] = [recorded, bound].map((text) => readLocation(text, { path, inside: [] }))
    if (then !== undefined && now !== undefined && then !== now) this.#values.learnComposed(then, now)
  }

  /** Returns `undefined` as long as the live value is not known. */
  liveValueOf(binding: Binding): string | undefined {
    const live = this.#liveValue(binding)
    return live.kind === 'value' ? live.value : undefined
  }

  #add(binding: Binding): void {
    for (const producer of producersOf(binding)) {
      if (producer.kind === 'message')
        appendTo(this.#producers, tapeMessageKey(producer), { binding, producer })
    }
    for (const consumer of binding.consumers) {
      const uses = appendTo(this.#consumers, tapeMessageKey(consumer), { binding, consumer })
      if (uses.length > 1) uses.sort((a, b) => spanStart(b.consumer) - spanStart(a.consumer))
    }
  }

  #liveValue(binding: Binding): LiveValue {
    let cameWithout = false
    for (const producer of producersOf(binding)) {
      if (producer.kind === 'clock')
        return { kind: 'value', value: dateFromClock(binding.value, producer, this.#now()) }
      const key = producerKey(producer)
      const value = this.#learned.get(key)
      if (value !== undefined) return { kind: 'value', value }
      cameWithout ||= this.#learned.has(key)
    }
    return { kind: cameWithout ? 'missing' : 'silent' }
  }
}

interface BoundConsumer {
  readonly binding: Binding
  readonly consumer: BindingConsumer
}

interface BoundProducer {
  readonly binding: Binding
  readonly producer: MessageProducer
}

type LiveValue =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: UnfilledBinding['why'] }

// An equal value keeps its spelling.
function writeLiveValue(
  text: string,
  { binding, consumer }: BoundConsumer,
  live: string,
): string | undefined {
  return live === binding.value ? text : writeLocation(text, consumer, live)
}

function producesInputName({ producer }: BoundProducer): boolean {
  return producer.inside[0]?.kind === 'key'
}

/** Maps recorded names of input requests to live ones. Returns `undefined` if one of the messages requests no input. */
function pairInputNames(recordedText: string, liveText: string): ReadonlyMap<string, string> | undefined {
  const [recorded, live] = [inputRequestTexts(recordedText), inputRequestTexts(liveText)]
  return recorded === undefined || live === undefined ? undefined : pairInputRequests(recorded, live)
}

function producersOf({ producer, also }: Binding): readonly BindingProducer[] {
  return [producer, ...also]
}

// Ranges of one text are replaced from its end, so that the offsets of the others stay valid.
function spanStart({ inside }: BindingConsumer): number {
  const last = inside.at(-1)
  return last?.kind === 'span' ? last.start : -1
}

function producerKey(producer: MessageProducer): string {
  return JSON.stringify([tapeMessageKey(producer), producer.path, producer.inside])
}

function recordedMessageKey({ n, item }: Pick<RecordedMessage, 'n' | 'item'>): string {
  return tapeMessageKey({ frame: n, ...(item === undefined ? {} : { item }) })
}

// Most lists have one item. An array literal with one item needs less memory than an empty array after `push`.
function appendTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): Item[] {
  const list = lists.get(key)
  list?.push(item)
  const added = list ?? [item]
  if (list === undefined) lists.set(key, added)
  return added
}

/** Maps recorded values to live ones, with the names under which they are trusted. */
class LiveValues {
  readonly #known = new Map<string, KnownLiveValue[]>()

  learn(binding: Binding, live: string): void {
    const words = new Set([binding.producer, ...binding.consumers].flatMap(locationWords))
    this.#add(binding.value, { live, words, isDistinct: distinctnessOf(binding.value) === 'strong' })
  }

  /** Learns a text that is composed of live values, because the server may repeat it. */
  learnComposed(recorded: string, live: string): void {
    if (distinctnessOf(recorded) === 'strong')
      this.#add(recorded, { live, words: new Set(), isDistinct: true })
  }

  /**
   * Returns true if two strings or numbers differ only in values that the live server generated. A small number or a plain
   * word counts only under a name of its binding, because other values may be equal by chance.
   */
  explains(expected: unknown, actual: unknown, path: JsonPath): boolean {
    if (!isScalar(expected) || !isScalar(actual)) return false
    const [recorded, live] = [String(expected), String(actual)]
    const names = nameWords(path.findLast((step) => typeof step === 'string') ?? '')
    if (this.#liveFormsOf(recorded, names).includes(live)) return true
    return recorded !== live && this.#translate(recorded, names) === live
  }

  #add(recorded: string, known: KnownLiveValue): void {
    const list = this.#known.get(recorded) ?? []
    this.#known.set(recorded, [...list.filter(({ live }) => live !== known.live), known])
  }

  /** Replaces all known recorded values in a text by live ones. */
  #translate(text: string, names: readonly string[]): string {
    let translated = ''
    let at = 0
    for (const { start, end } of dropOverlaps(findPieces(text, (piece) => this.#known.has(piece)))) {
      const label = labelWordsBefore(text, start).flatMap(nameWords)
      const live = this.#liveFormsOf(text.slice(start, end), [...names, ...label]).at(-1)
      translated += text.slice(at, start) + (live ?? text.slice(start, end))
      at = end
    }
    return translated + text.slice(at)
  }

  #liveFormsOf(recorded: string, names: readonly string[]): readonly string[] {
    return (this.#known.get(recorded) ?? [])
      .filter(({ isDistinct, words }) => isDistinct || names.some((name) => words.has(name)))
      .map(({ live }) => live)
  }
}

interface KnownLiveValue {
  readonly live: string
  /** The words of its names in messages of the server and the client. */
  readonly words: ReadonlySet<string>
  readonly isDistinct: boolean
}

/** Returns the words of the last two names of a path: `issue.id` becomes `issue`, `id`. */
function locationWords(place: BindingProducer | TapeLocation): readonly string[] {
  if ('kind' in place && place.kind === 'clock') return []
  const inner = place.inside.flatMap((step) => (step.kind === 'json' ? step.path : []))
  const names = [...place.path.slice(1), ...inner].filter((step) => typeof step === 'string')
  return names
    .filter((name) => !CONTAINER_NAMES.has(name))
    .slice(-2)
    .flatMap(nameWords)
}

const CONTAINER_NAMES: ReadonlySet<string> = new Set(['arguments', 'structuredContent', 'content', 'text'])

/** Keeps the first of overlapping pieces, which is the longest. */
function dropOverlaps(pieces: readonly TextPiece[]): readonly TextPiece[] {
  const kept: TextPiece[] = []
  for (const one of pieces)
    if (!kept.some(({ start, end }) => one.start < end && start < one.end)) kept.push(one)
  return kept.toSorted((a, b) => a.start - b.start)
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
