import type { Binding, FoundBindings, BindingProducer, BindingStatus } from '../../bindings/binding.ts'
import { LiveValueBinder, type UnfilledBinding } from '../../bindings/carry/live-value-binder.ts'
import { distinctnessOf } from '../../bindings/values.ts'
import { formatTapeLocation, formatProducer, formatValueLocation } from '../../bindings/location-text.ts'
import type { JsonPath } from '../../json/path.ts'
import { parseJson } from '../../json/parse.ts'
import { classifyMessage } from '../../protocol/message.ts'
import type { ShownBinding } from '../control/commands.ts'
import type { PlannedMessage, ReplayPlan } from '../plan/plan.ts'
import type { RecordedMessage, TurnStep } from '../../tape/turns.ts'

/** Carries values that the live server generates, such as ids, into the messages that sent the recorded ones. */
export interface CarriedValues {
  /** Replaces recorded values in a message with live ones. */
  fill(planned: PlannedMessage): FilledMessage
  /** The values of a message that come from the live server, for display. */
  describe(planned: PlannedMessage): readonly ShownBinding[]
  /** Returns true if values of later messages come from the answer to this one. */
  learnsFrom(planned: PlannedMessage): boolean
  /** Learns live values from what the server sent for a message. */
  learn(planned: PlannedMessage, texts: readonly string[]): void
  /** Indexes of messages whose answers contain values that this one sends. */
  producersOf(index: number): readonly number[]
  /** Replaces recorded values in an answer to a request of the server with live ones. */
  fillAnswer(recorded: RecordedMessage): string
  /** The live value of a binding or guess; `undefined` while it is unknown. */
  liveValueOf(binding: Binding): string | undefined
  /** Returns true if two values differ only in values that the live server generates. */
  readonly explains: (expected: unknown, actual: unknown, path: JsonPath) => boolean
  /** Returns true if the user's bindings file says that the server generates this recorded value. */
  isBoundByUser(recorded: unknown): boolean
  /** Replaces live values in a text with the recorded ones, if they are unique enough to be found. */
  recorded(text: string): string
}

interface FilledMessage {
  readonly text: string
  readonly unbound: readonly UnboundValue[]
}

/** A recorded value whose live value is unknown. */
export interface UnboundValue {
  readonly path: string
  readonly recorded: string
  readonly why: string
  /** True if the message that contains the value did not come, which is reported elsewhere; false if it came without the value. */
  readonly isProducerMissing: boolean
}

const NO_UNBOUND_VALUES: readonly UnboundValue[] = []

/** Sends the recorded bytes. */
export const NO_CARRIED_VALUES: CarriedValues = {
  fill: ({ text }) => ({ text, unbound: NO_UNBOUND_VALUES }),
  describe: () => [],
  learnsFrom: () => false,
  learn: () => {},
  producersOf: () => [],
  fillAnswer: ({ text }) => text,
  liveValueOf: () => undefined,
  explains: () => false,
  isBoundByUser: () => false,
  recorded: (text) => text,
}

/** Returns the values that are carried by these bindings. */
export function createCarriedValues(plan: ReplayPlan, correlate: FoundBindings | false): CarriedValues {
  if (correlate === false || correlate.bindings.length + correlate.guesses.length === 0)
    return NO_CARRIED_VALUES
  return new BoundValues(correlate, { plan, now: () => Date.now() })
}

/** Carries values by bindings. */
class BoundValues implements CarriedValues {
  readonly #binder: LiveValueBinder
  /** Guesses are not applied, but their live values are kept in case they are tried. */
  readonly #guesses: LiveValueBinder
  readonly #names = new RecordedValueNames()
  readonly #boundByUser: ReadonlySet<string>
  /** The frames that live values are read from, and those that they are written to. */
  readonly #producerFrames: ReadonlySet<number>
  readonly #consumerFrames: ReadonlySet<number>
  /** For each turn that sends carried values, the turns that they come from. */
  readonly #producers = new Map<number, readonly number[]>()
  /** The index of the client's message for each of these turns. */
  readonly #indexOf: ReadonlyMap<number, number>
  readonly #plan: ReplayPlan
  readonly explains: CarriedValues['explains'] = (expected, actual, path) =>
    this.#binder.explains(expected, actual, path)

  constructor({ bindings, guesses }: FoundBindings, { plan, now }: { plan: ReplayPlan; now: () => number }) {
    this.#binder = new LiveValueBinder(bindings, { now })
    this.#guesses = new LiveValueBinder(guesses, { now })
    const producers = [...bindings, ...guesses].flatMap(({ producer, also }) => [producer, ...also])
    this.#producerFrames = new Set(producers.flatMap(producerFrame))
    this.#consumerFrames = new Set(bindings.flatMap(({ consumers }) => consumers.map(({ frame }) => frame)))
    for (const binding of bindings) this.#link(binding)
    this.#boundByUser = new Set(
      bindings.filter(({ standing }) => standing === 'user').map(({ value }) => value),
    )
    this.#plan = plan
    this.#indexOf = plan.indexesOf(new Set([...this.#producers.values()].flat()))
  }

  fill({ turn: { trigger } }: PlannedMessage): FilledMessage {
    if (trigger === undefined || !this.#consumerFrames.has(trigger.n))
      return { text: trigger?.text ?? '', unbound: NOTHING_UNBOUND }
    const { text, unbound } = this.#binder.fill(trigger)
    return { text, unbound: unbound.map(unboundValue) }
  }

  describe({ turn: { trigger } }: PlannedMessage): readonly ShownBinding[] {
    if (trigger === undefined || !this.#consumerFrames.has(trigger.n)) return []
    return this.#binder.consumersOf(trigger).map(({ binding, consumer }) => ({
      path: formatValueLocation(consumer),
      recorded: binding.value,
      live: this.#binder.liveValueOf(binding),
      from: formatProducer(binding.producer),
    }))
  }

  learnsFrom({ turn }: PlannedMessage): boolean {
    if (this.#producerFrames.size === 0) return false
    return turn.steps.some((step) => this.#producerFrames.has(serverMessageOf(step).n))
  }

  learn(planned: PlannedMessage, texts: readonly string[]): void {
    if (!this.learnsFrom(planned)) return
    const recorded = planned.turn.steps.map(serverMessageOf)
    for (const text of texts) {
      const place = recorded.findIndex((message) => isSameKind(message, text))
      const [message] = place < 0 ? [] : recorded.splice(place, 1)
      if (message === undefined) continue
      for (const binding of this.#binder.learn(message, text))
        if (binding.producer.kind === 'message')
          this.#names.learn(binding.value, this.#binder.liveValueOf(binding) ?? binding.value)
      this.#guesses.learn(message, text)
    }
  }

  producersOf(index: number): readonly number[] {
    const producers = this.#producers.get(this.#plan.placeOf(index)) ?? []
    return producers.flatMap((turn) => this.#indexOf.get(turn) ?? [])
  }

  fillAnswer(recorded: RecordedMessage): string {
    return this.#binder.fill(recorded).text
  }

  liveValueOf(binding: Binding): string | undefined {
    return this.#binder.liveValueOf(binding) ?? this.#guesses.liveValueOf(binding)
  }

  isBoundByUser(recorded: unknown): boolean {
    return typeof recorded === 'string' && this.#boundByUser.has(recorded)
  }

  recorded(text: string): string {
    return this.#names.restore(text)
  }

  #link({ producer, consumers }: Binding): void {
    if (producer.kind !== 'message') return
    for (const { turn } of consumers) {
      if (turn === producer.turn) continue
      const known = this.#producers.get(turn) ?? []
      if (!known.includes(producer.turn)) this.#producers.set(turn, [...known, producer.turn])
    }
  }
}

const NOTHING_UNBOUND: readonly UnboundValue[] = []

function producerFrame(producer: BindingProducer): readonly number[] {
  return producer.kind === 'message' ? [producer.frame] : []
}

function serverMessageOf(step: TurnStep): RecordedMessage {
  return step.kind === 'ask' ? step.request : step.message
}

function isSameKind({ message }: RecordedMessage, text: string): boolean {
  const live = classifyMessage(parseJson(text))
  if (live.kind !== message.kind) return false
  return !('method' in live) || !('method' in message) || live.method === message.method
}

function unboundValue({ binding, consumer, why }: UnfilledBinding): UnboundValue {
  const from = formatProducer(binding.producer)
  const reason =
    why === 'silent'
      ? `it comes from ${from}, which this run did not receive`
      : `it comes from ${from}, and the live message has no value there`
  return {
    path: formatValueLocation(consumer),
    recorded: binding.value,
    why: reason,
    isProducerMissing: why === 'silent',
  }
}

/** Maps unique live values back to the recorded ones. */
export class RecordedValueNames {
  readonly #recorded = new Map<string, string>()
  /** The lengths of the live values, longest first. */
  #lengths: readonly number[] = []

  /** Only unique values can be found in a text: a small number may be a count. */
  learn(value: string, live: string): void {
    if (live === value || distinctnessOf(live) !== 'strong') return
    this.#recorded.set(live, value)
    if (!this.#lengths.includes(live.length))
      this.#lengths = [...this.#lengths, live.length].toSorted((a, b) => b - a)
  }

  /** Replaces live values in a text with the recorded ones. */
  restore(text: string): string {
    if (this.#recorded.size === 0) return text
    const parts: string[] = []
    let copied = 0
    for (let at = 0; at < text.length; at++) {
      const live = this.#nameAt(text, at)
      if (live === undefined) continue
      parts.push(text.slice(copied, at), this.#recorded.get(live) ?? live)
      copied = at + live.length
      at = copied - 1
    }
    return copied === 0 ? text : parts.join('') + text.slice(copied)
  }

  // Tries the longest value first, and only whole words: `12` is not part of `2012`.
  #nameAt(text: string, start: number): string | undefined {
    if (isInWord(text, start)) return undefined
    for (const length of this.#lengths) {
      const name = text.slice(start, start + length)
      if (this.#recorded.has(name) && !isWordlike(text, start + length)) return name
    }
    return undefined
  }
}

function isInWord(text: string, at: number): boolean {
  return at > 0 && WORDLIKE_END.test(text.slice(Math.max(0, at - 2), at))
}

function isWordlike(text: string, at: number): boolean {
  return at < text.length && WORDLIKE_START.test(text.slice(at, at + 2))
}

const WORDLIKE_END = /[\p{L}\p{N}]$/u
const WORDLIKE_START = /^[\p{L}\p{N}]/u

/** A binding and its result in a run. */
export interface CarriedBinding {
  /** The recorded value, and the live one; `undefined` if the live server did not send it. */
  readonly value: string
  readonly live: string | undefined
  /** Locations as in a bindings file. */
  readonly from: string
  readonly to: readonly string[]
  /** `confirmed`: the live value differs and was accepted; `constant`: it is equal; `refuted`: the recorded value had to be sent. */
  readonly standing: BindingStatus
}

/** Returns true if the message in a frame was answered as recorded, and `undefined` if it was not processed. */
type HasPassedAt = (frame: number) => boolean | undefined

export function carriedBinding(
  binding: Binding,
  live: string | undefined,
  isGoodAt: HasPassedAt,
): CarriedBinding {
  const { value, producer, consumers } = binding
  const standing = standingOf(binding, live, isGoodAt)
  return { value, live, from: formatProducer(producer), to: consumers.map(formatTapeLocation), standing }
}

function standingOf(
  { value, consumers, standing }: Binding,
  live: string | undefined,
  isGoodAt: HasPassedAt,
): BindingStatus {
  if (standing === 'user' || live === undefined) return standing
  if (live === value) return 'constant'
  const using = consumers.flatMap(({ frame }) => isGoodAt(frame) ?? [])
  const isTaken = using.length > 0 && using.every((isGood) => isGood)
  return isTaken ? 'confirmed' : standing
}
