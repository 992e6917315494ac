import type { Turn } from '../../tape/turn.ts'
import type { Binding, BindingConsumer, FoundBindings, BindingProducer, BindingStatus } from '../binding.ts'
import { MessageCounterparts } from '../../correlate/counterpart.ts'
import { readLocation } from '../location.ts'
import { dateFromClock } from '../../correlate/relative-date.ts'

/** Two runs of one session. */
export interface RunPair {
  /** The turns that the bindings were found in. */
  readonly turns: readonly Turn[]
  readonly other: readonly Turn[]
  /** When the clock of the other run stood at 0. */
  readonly otherStarted?: string
}

export interface ConfirmedBindings extends FoundBindings {
  /** What the second run contradicts. */
  readonly refuted: readonly Binding[]
}

/**
 * Asks a second run: where the value is another one and still comes back, a binding is confirmed; where it is the same it is
 * a constant; where the client sent something else it is refuted. A guess that is confirmed becomes a binding.
 */
export function confirmBindings({ bindings, guesses }: FoundBindings, runs: RunPair): ConfirmedBindings {
  const witness = new SecondRunCheck(runs)
  const judged = bindings.map((binding) => witness.check(binding))
  const guessed = guesses.map((guess) => witness.check(guess))
  return {
    bindings: [...judged.filter(isNotRefuted), ...guessed.filter(({ standing }) => standing === 'confirmed')],
    guesses: guessed.filter(({ standing }) => standing === 'found' || standing === 'constant'),
    refuted: [...judged, ...guessed].filter(({ standing }) => standing === 'refuted'),
  }
}

function isNotRefuted({ standing }: Binding): boolean {
  return standing !== 'refuted'
}

class SecondRunCheck {
  readonly #counterparts: MessageCounterparts
  readonly #started: number

  constructor({ turns, other, otherStarted }: RunPair) {
    this.#counterparts = new MessageCounterparts(turns, other)
    this.#started = otherStarted === undefined ? Number.NaN : Date.parse(otherStarted)
  }

  check(binding: Binding): Binding {
    if (binding.standing === 'user') return binding
    const standings = binding.consumers.map((consumer) => this.#standing(binding, consumer))
    const standing = STRONGEST.find((one) => standings.includes(one)) ?? binding.standing
    return { ...binding, standing }
  }

  #standing(binding: Binding, consumer: BindingConsumer): BindingStatus {
    const sent = this.#counterparts.find(consumer)
    const there = sent === undefined ? undefined : readLocation(sent.text, consumer)
    const made = this.#producedValue(binding, binding.producer, sent?.t)
    if (there === undefined || made === undefined) return 'found'
    if (there !== made && !isSameMoment(binding.producer, there, made)) return 'refuted'
    return there === binding.value ? 'constant' : 'confirmed'
  }

  #producedValue(
    { value }: Binding,
    producer: BindingProducer,
    sentAt: number | undefined,
  ): string | undefined {
    if (producer.kind === 'clock') {
      const now = this.#started + (sentAt ?? Number.NaN)
      return Number.isFinite(now) ? dateFromClock(value, producer, now) : undefined
    }
    const said = this.#counterparts.find(producer)
    return said === undefined ? undefined : readLocation(said.text, producer)
  }
}

// Between reading the clock and sending what was read, a moment passes.
function isSameMoment(producer: BindingProducer, one: string, other: string): boolean {
  if (producer.kind !== 'clock' || producer.unit !== 'ms') return false
  return Math.abs(Date.parse(one) - Date.parse(other)) < 60_000
}

const STRONGEST: readonly BindingStatus[] = ['refuted', 'confirmed', 'constant']
