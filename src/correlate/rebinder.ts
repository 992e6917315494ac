import type { Spoken } from '../tape/turn.ts'
import type { Path } from '../wire/members.ts'
import type { Binding, Consumer, Producer } from './binding.ts'
import { detached } from './detached.ts'
import { readSpot } from './lens.ts'
import { LiveValues } from './live-values.ts'
import { messageKey } from './messages.ts'
import { dateAt } from './relative-date.ts'
import { withInputNames } from './round-names.ts'
import { inputsIn, pairInputs } from './round-pairs.ts'
import { writeSpot } from './splice.ts'

export interface RebinderOptions {
  /** The time now, in milliseconds: dates that hang on it are made anew. */
  readonly now: () => number
}

export interface Rebound {
  /** The message with the live values in place, every other byte as it was. */
  readonly text: string
  readonly used: readonly Binding[]
  /** Values of the recorded server that are still in the text, because the live one has given no other. */
  readonly unbound: readonly UnboundHandle[]
}

export interface UnboundHandle {
  readonly binding: Binding
  readonly consumer: Consumer
  /** `silent`: no live message of the producer came; `missing`: one came and the value was not in it. */
  readonly why: 'silent' | 'missing'
}

/** Carries the values of a live server forward: learns them from its messages, and puts them where the recorded ones stood. */
export class Rebinder {
  readonly #now: () => number
  readonly #consumers = new Map<string, Use[]>()
  readonly #producers = new Map<string, Source[]>()
  readonly #learned = new Map<string, string | undefined>()
  /** The live messages that ask for input. */
  readonly #rounds = new Set<string>()
  readonly #values = new LiveValues()

  constructor(bindings: readonly Binding[], { now }: RebinderOptions) {
    this.#now = now
    for (const binding of bindings) this.#add(binding)
  }

  /** Takes what the live server said where `recorded` stands on the tape, and gives the bindings that it has a value for. */
  learn(recorded: Pick<Spoken, 'n' | 'item' | 'text'>, liveText: string): readonly Binding[] {
    const learned: Binding[] = []
    const sources = this.#producers.get(keyOf(recorded)) ?? []
    const names = sources.some(isInputName) ? namesInRound(recorded.text, liveText) : undefined
    if (names !== undefined) this.#rounds.add(keyOf(recorded))
    for (const source of sources) {
      const { binding, producer } = source
      const live = detached(
        names !== undefined && isInputName(source) ? names.get(binding.value) : readSpot(liveText, producer),
      )
      this.#learned.set(producerKey(producer), live)
      if (live === undefined) continue
      this.#values.learn(binding, live)
      learned.push(binding)
    }
    return learned
  }

  /** Whether a recorded and a live text or number at a path differ in nothing but values that were made up anew. */
  explains(expected: unknown, actual: unknown, path: Path): boolean {
    return this.#values.explain(expected, actual, path)
  }

  /** The recorded message of the client with the live values in it. A value that was changed in `text` is left alone. */
  bind(recorded: Pick<Spoken, 'n' | 'item' | 'text'>, text: string = recorded.text): Rebound {
    const used = new Set<Binding>()
    const unbound: UnboundHandle[] = []
    const composed = new Set<Consumer>()
    const names = new Map<string, string | undefined>()
    let bound = text
    for (const { binding, consumer } of this.#consumers.get(keyOf(recorded)) ?? []) {
      if (readSpot(bound, consumer) !== binding.value) continue
      const live = this.#liveValue(binding)
      if (consumer.use === 'key' && (live.kind === 'value' || this.#isNotAskedFor(binding))) {
        names.set(binding.value, live.kind === 'value' ? live.value : undefined)
        used.add(binding)
        continue
      }
      const written = live.kind === 'value' ? withValue(bound, { binding, consumer }, live.value) : undefined
      if (written !== undefined) used.add(binding)
      else if (binding.standing !== 'constant')
        unbound.push({ binding, consumer, why: live.kind === 'value' ? 'missing' : live.kind })
      bound = written ?? bound
      if (written !== undefined && consumer.use === 'part') composed.add(consumer)
    }
    for (const { path } of composed) this.#learnComposed(text, bound, path)
    if (names.size > 0) bound = withInputNames(bound, names)
    return { text: bound, used: [...used], unbound }
  }

  /** Whether the live server asks for input, and not for this one. */
  #isNotAskedFor(binding: Binding): boolean {
    return producersOf(binding).some(
      (producer) => producer.kind === 'message' && this.#rounds.has(messageKey(producer)),
    )
  }

  #learnComposed(recorded: string, bound: string, path: Path): void {
    const [then, now] = [recorded, bound].map((text) => readSpot(text, { path, inside: [] }))
    if (then !== undefined && now !== undefined && then !== now) this.#values.learnComposed(then, now)
  }

  /** The live counterpart of a bound value; none while it is not known. */
  liveValueOf(binding: Binding): string | undefined {
    const live = this.#liveValue(binding)
    return live.kind === 'value' ? live.value : undefined
  }

  #add(binding: Binding): void {
    for (const producer of producersOf(binding)) {
      if (producer.kind === 'message') addTo(this.#producers, messageKey(producer), { binding, producer })
    }
    for (const consumer of binding.consumers) {
      const uses = addTo(this.#consumers, messageKey(consumer), { binding, consumer })
      if (uses.length > 1) uses.sort((a, b) => startOf(b.consumer) - startOf(a.consumer))
    }
  }

  #liveValue(binding: Binding): LiveValue {
    let cameWithout = false
    for (const producer of producersOf(binding)) {
      if (producer.kind === 'clock')
        return { kind: 'value', value: dateAt(binding.value, producer, this.#now()) }
      const key = producerKey(producer)
      const value = this.#learned.get(key)
      if (value !== undefined) return { kind: 'value', value }
      cameWithout ||= this.#learned.has(key)
    }
    return { kind: cameWithout ? 'missing' : 'silent' }
  }
}

interface Use {
  readonly binding: Binding
  readonly consumer: Consumer
}

interface Source {
  readonly binding: Binding
  readonly producer: MessageProducer
}

type LiveValue = { readonly kind: 'value'; readonly value: string } | { readonly kind: UnboundHandle['why'] }
type MessageProducer = Extract<Producer, { kind: 'message' }>

// What is the same now stays as it is spelled.
function withValue(text: string, { binding, consumer }: Use, live: string): string | undefined {
  return live === binding.value ? text : writeSpot(text, consumer, live)
}

function isInputName({ producer }: Source): boolean {
  return producer.inside[0]?.kind === 'key'
}

/** Which of the recorded inputs the live server asks for, and under which names; undefined when it asks for none. */
function namesInRound(recordedText: string, liveText: string): ReadonlyMap<string, string> | undefined {
  const [recorded, live] = [inputsIn(recordedText), inputsIn(liveText)]
  return recorded === undefined || live === undefined ? undefined : pairInputs(recorded, live)
}

function producersOf({ producer, also }: Binding): readonly Producer[] {
  return [producer, ...also]
}

// Two stretches of one text are written from its end, so that the first stays where it was.
function startOf({ inside }: Consumer): number {
  const last = inside.at(-1)
  return last?.kind === 'span' ? last.start : -1
}

function producerKey(producer: MessageProducer): string {
  return JSON.stringify([messageKey(producer), producer.path, producer.inside])
}

function keyOf({ n, item }: Pick<Spoken, 'n' | 'item'>): string {
  return messageKey({ frame: n, ...(item === undefined ? {} : { item }) })
}

// Most lists have one item, and one that began empty has room for many.
function addTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): Item[] {
  const list = lists.get(key)
  list?.push(item)
  const added = list ?? [item]
  if (list === undefined) lists.set(key, added)
  return added
}
