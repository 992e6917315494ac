import type { Binding, Correlation, Producer } from '../correlate/binding.ts'
import { placeText, producerText } from '../correlate/place-text.ts'
import { Rebinder, type UnboundHandle } from '../correlate/rebinder.ts'
import type { Spoken, Step } from '../tape/turn.ts'
import type { Path } from '../wire/members.ts'
import { classify } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Carried, Carrier, Unbound } from './carrier.ts'
import { RecordedNames } from './recorded-names.ts'
import type { Plan, Planned } from './plan.ts'

/** Carries values forward by the bindings that were found on the tape. */
export class TapeCarrier implements Carrier {
  readonly #rebinder: Rebinder
  /** Nothing is sent by guesses; what they would have sent is known in case they are tried. */
  readonly #guesses: Rebinder
  readonly #names = new RecordedNames()
  /** The frames in which live values are looked for, and those that they are put into. */
  readonly #telling: ReadonlySet<number>
  readonly #sending: ReadonlySet<number>
  /** For each turn that sends such values, the turns that they come from. */
  readonly #producers = new Map<number, readonly number[]>()
  /** The index, among the client's messages, of each turn that they come from. */
  readonly #indexOf: ReadonlyMap<number, number>
  readonly #plan: Plan

  constructor({ bindings, guesses }: Correlation, { plan, now }: { plan: Plan; now: () => number }) {
    this.#rebinder = new Rebinder(bindings, { now })
    this.#guesses = new Rebinder(guesses, { now })
    const producers = [...bindings, ...guesses].flatMap(({ producer, also }) => [producer, ...also])
    this.#telling = new Set(producers.flatMap(frameOf))
    this.#sending = new Set(bindings.flatMap(({ consumers }) => consumers.map(({ frame }) => frame)))
    for (const binding of bindings) this.#link(binding)
    this.#plan = plan
    this.#indexOf = plan.indexesOf(new Set([...this.#producers.values()].flat()))
  }

  bind({ turn: { trigger } }: Planned): Carried {
    if (trigger === undefined || !this.#sending.has(trigger.n))
      return { text: trigger?.text ?? '', unbound: NONE }
    const { text, unbound } = this.#rebinder.bind(trigger)
    return { text, unbound: unbound.map(asUnbound) }
  }

  learn({ turn }: Planned, texts: readonly string[]): void {
    if (this.#telling.size === 0 || !turn.steps.some((step) => this.#telling.has(messageIn(step).n))) return
    const told = turn.steps.map(messageIn)
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

  answer(recorded: Spoken): string {
    return this.#rebinder.bind(recorded).text
  }

  liveOf(binding: Binding): string | undefined {
    return this.#rebinder.liveValueOf(binding) ?? this.#guesses.liveValueOf(binding)
  }

  explains(expected: unknown, actual: unknown, path: Path): boolean {
    return this.#rebinder.explains(expected, actual, path)
  }

  recorded(text: string): string {
    return this.#names.in(text)
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

const NONE: readonly Unbound[] = []

function frameOf(producer: Producer): readonly number[] {
  return producer.kind === 'message' ? [producer.frame] : []
}

function messageIn(step: Step): Spoken {
  return step.kind === 'ask' ? step.request : step.message
}

function isSameKind({ message }: Spoken, text: string): boolean {
  const live = classify(parseJson(text))
  if (live.kind !== message.kind) return false
  return !('method' in live) || !('method' in message) || live.method === message.method
}

function asUnbound({ binding, consumer, why }: UnboundHandle): Unbound {
  const from = producerText(binding.producer)
  const reason =
    why === 'silent'
      ? `it comes from ${from}, and nothing came there in this run`
      : `it comes from ${from}, and the live server's answer holds nothing there`
  return {
    path: placeText(consumer).replace(/^#\d+ /, ''),
    recorded: binding.value,
    why: reason,
    isSilent: why === 'silent',
  }
}
