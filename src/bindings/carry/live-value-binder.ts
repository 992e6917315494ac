import {
  type Binding,
  type BindingConsumer,
  type BindingProducer,
  dateFromClock,
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
  /** The time now, in milliseconds: dates that hang on it are made anew. */
  readonly now: () => number
}

interface ReboundMessage {
  /** The message with the live values in place, every other byte as it was. */
  readonly text: string
  readonly used: readonly Binding[]
  /** Values of the recorded server that are still in the text, because the live one has given no other. */
  readonly unbound: readonly UnfilledBinding[]
}

export interface UnfilledBinding {
  readonly binding: Binding
  readonly consumer: BindingConsumer
  /** `silent`: no live message of the producer came; `missing`: one came and the value was not in it. */
  readonly why: 'silent' | 'missing'
}

/** Carries the values of a live server forward: learns them from its messages, and puts them where the recorded ones stood. */
export class LiveValueBinder {
  readonly #now: () => number
  readonly #consumers = new Map<string, BoundConsumer[]>()
  readonly #producers = new Map<string, BoundProducer[]>()
  readonly #learned = new Map<string, string | undefined>()
  /** The live messages that ask for input. */
  readonly #rounds = new Set<string>()
  readonly #values = new LiveValues()

  constructor(bindings: readonly Binding[], { now }: LiveValueBinderOptions) {
    this.#now = now
    for (const binding of bindings) this.#add(binding)
  }

  /** Takes what the live server said where `recorded` stands on the tape, and gives the bindings that it has a value for. */
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

  /** Whether a recorded and a live text or number at a path differ in nothing but values that were made up anew. */
  explains(expected: unknown, actual: unknown, path: JsonPath): boolean {
    return this.#values.explains(expected, actual, path)
  }

  /** The recorded message of the client with the live values in it. A value that was changed in `text` is left alone. */
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

  /** Whether the live server asks for input, and not for this one. */
  #isNoLongerRequested(binding: Binding): boolean {
    return producersOf(binding).some(
      (producer) => producer.kind === 'message' && this.#rounds.has(tapeMessageKey(producer)),
    )
  }

  #learnComposed(recorded: string, bound: string, path: JsonPath): void {
    const [then, now] = [recorded, bound].map((text) => readLocation(text, { path, inside: [] }))
    if (then !== undefined && now !== undefined && then !== now) this.#values.learnComposed(then, now)
  }

  /** The live counterpart of a bound value; none while it is not known. */
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
type MessageProducer = Extract<BindingProducer, { kind: 'message' }>

// What is the same now stays as it is spelled.
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

/** Which of the recorded inputs the live server asks for, and under which names; undefined when it asks for none. */
function pairInputNames(recordedText: string, liveText: string): ReadonlyMap<string, string> | undefined {
  const [recorded, live] = [inputRequestTexts(recordedText), inputRequestTexts(liveText)]
  return recorded === undefined || live === undefined ? undefined : pairInputRequests(recorded, live)
}

function producersOf({ producer, also }: Binding): readonly BindingProducer[] {
  return [producer, ...also]
}

// Two stretches of one text are written from its end, so that the first stays where it was.
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

// Most lists have one item, and one that began empty has room for many.
function appendTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): Item[] {
  const list = lists.get(key)
  list?.push(item)
  const added = list ?? [item]
  if (list === undefined) lists.set(key, added)
  return added
}

/** Which live values stand for which recorded ones, and where that is believed. */
class LiveValues {
  readonly #known = new Map<string, KnownLiveValue[]>()

  learn(binding: Binding, live: string): void {
    const words = new Set([binding.producer, ...binding.consumers].flatMap(locationWords))
    this.#add(binding.value, { live, words, isDistinct: distinctnessOf(binding.value) === 'strong' })
  }

  /** What was sent in the place of a text that is composed of such values: the server may say it back. */
  learnComposed(recorded: string, live: string): void {
    if (distinctnessOf(recorded) === 'strong')
      this.#add(recorded, { live, words: new Set(), isDistinct: true })
  }

  /**
   * Whether two texts or numbers at a path differ in nothing but values that the live server made up anew. A small number or
   * a plain word is one only under a name that its binding has, because any count may happen to be the same number.
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

  /** The recorded text with every value that is known to be another one now in its live form. */
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
  /** The words by which the value goes, where it was said and where it was sent. */
  readonly words: ReadonlySet<string>
  readonly isDistinct: boolean
}

/** The words of the last names on the way to a place: `issue.id` is issue, id. */
function locationWords(place: BindingProducer | TapeLocation): readonly string[] {
  if ('kind' in place && place.kind === 'clock') return []
  const inner = place.inside.flatMap((lens) => (lens.kind === 'json' ? lens.path : []))
  const names = [...place.path.slice(1), ...inner].filter((step) => typeof step === 'string')
  return names
    .filter((name) => !CONTAINER_NAMES.has(name))
    .slice(-2)
    .flatMap(nameWords)
}

const CONTAINER_NAMES: ReadonlySet<string> = new Set(['arguments', 'structuredContent', 'content', 'text'])

/** The longest came first: what lies within one that was taken is not taken again. */
function dropOverlaps(pieces: readonly TextPiece[]): readonly TextPiece[] {
  const taken: TextPiece[] = []
  for (const one of pieces)
    if (!taken.some(({ start, end }) => one.start < end && start < one.end)) taken.push(one)
  return taken.toSorted((a, b) => a.start - b.start)
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
