import type { Binding, FoundBindings, BindingProducer } from '../bindings/binding.ts'
import { formatTapeLocation, formatProducer } from '../correlate/place-text.ts'
import { LiveValueBinder, type UnfilledBinding } from '../bindings/carry/live-value-binder.ts'
import type { RecordedMessage, TurnStep } from '../tape/turn.ts'
import type { JsonPath } from '../json/find.ts'
import { classifyMessage } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import type { FilledMessage, CarriedValues, UnboundValue } from './values/carried-values.ts'
import { RecordedValueNames } from './recorded-names.ts'
import type { ReplayPlan, PlannedMessage } from './plan/plan.ts'

/** Carries values forward by the bindings that were found on the tape. */
export class BoundValues implements CarriedValues {
  readonly #rebinder: LiveValueBinder
  /** Nothing is sent by guesses; what they would have sent is known in case they are tried. */
  readonly #guesses: LiveValueBinder
  readonly #names = new RecordedValueNames()
  /** The frames in which live values are looked for, and those that they are put into. */
  readonly #producerFrames: ReadonlySet<number>
  readonly #consumerFrames: ReadonlySet<number>
  /** For each turn that sends such values, the turns that they come from. */
  readonly #producers = new Map<number, readonly number[]>()
  /** The index, among the client's messages, of each turn that they come from. */
  readonly #indexOf: ReadonlyMap<number, number>
  readonly #plan: ReplayPlan

  constructor({ bindings, guesses }: FoundBindings, { plan, now }: { plan: ReplayPlan; now: () => number }) {
    this.#rebinder = new LiveValueBinder(bindings, { now })
    this.#guesses = new LiveValueBinder(guesses, { now })
    const producers = [...bindings, ...guesses].flatMap(({ producer, also }) => [producer, ...also])
    this.#producerFrames = new Set(producers.flatMap(producerFrame))
    this.#consumerFrames = new Set(bindings.flatMap(({ consumers }) => consumers.map(({ frame }) => frame)))
    for (const binding of bindings) this.#link(binding)
    this.#plan = plan
    this.#indexOf = plan.indexesOf(new Set([...this.#producers.values()].flat()))
  }

  fill({ turn: { trigger } }: PlannedMessage): FilledMessage {
    if (trigger === undefined || !this.#consumerFrames.has(trigger.n))
      return { text: trigger?.text ?? '', unbound: NOTHING_UNBOUND }
    const { text, unbound } = this.#rebinder.fill(trigger)
    return { text, unbound: unbound.map(unboundValue) }
  }

  learn({ turn }: PlannedMessage, texts: readonly string[]): void {
    if (
      this.#producerFrames.size === 0 ||
      !turn.steps.some((step) => this.#producerFrames.has(serverMessageOf(step).n))
    )
      return
    const told = turn.steps.map(serverMessageOf)
    for (const text of texts) {
      const place = told.findIndex((spoken) => isSameKind(spoken, text))
      const [spoken] = place < 0 ? [] : told.splice(place, 1)
      if (spoken === undefined) continue
      for (const binding of this.#rebinder.learn(spoken, text))
        this.#names.learn(binding, this.#rebinder.liveValueOf(binding) ?? binding.value)
      this.#guesses.learn(spoken, text)
    }
  }

  producersOf(index: number): readonly number[] {
    const producers = this.#producers.get(this.#plan.placeOf(index)) ?? []
    return producers.flatMap((turn) => this.#indexOf.get(turn) ?? [])
  }

  fillAnswer(recorded: RecordedMessage): string {
    return this.#rebinder.fill(recorded).text
  }

  liveValueOf(binding: Binding): string | undefined {
    return this.#rebinder.liveValueOf(binding) ?? this.#guesses.liveValueOf(binding)
  }

  explains(expected: unknown, actual: unknown, path: JsonPath): boolean {
    return this.#rebinder.explains(expected, actual, path)
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
      ? `it comes from ${from}, and nothing came there in this run`
      : `it comes from ${from}, and the live server's answer holds nothing there`
  return {
    path: formatTapeLocation(consumer).replace(/^#\d+ /, ''),
    recorded: binding.value,
    why: reason,
    isProducerMissing: why === 'silent',
  }
}
