import type { Turn } from '../tape/turn.ts'
import type { Binding, Consumer, Correlation, Producer, Standing } from './binding.ts'
import { Counterparts } from './counterpart.ts'
import { readSpot } from './lens.ts'
import { dateAt } from './relative-date.ts'

/** Two runs of one session. */
export interface TwoRuns {
  /** The turns that the bindings were found in. */
  readonly turns: readonly Turn[]
  readonly other: readonly Turn[]
  /** When the clock of the other run stood at 0. */
  readonly otherStarted?: string
}

export interface Confirmed extends Correlation {
  /** What the second run contradicts. */
  readonly refuted: readonly Binding[]
}

/**
 * Asks a second run: where the value is another one and still comes back, a binding is confirmed; where it is the same it is
 * a constant; where the client sent something else it is refuted. A guess that is confirmed becomes a binding.
 */
export function confirm({ bindings, guesses }: Correlation, runs: TwoRuns): Confirmed {
  const witness = new Witness(runs)
  const judged = bindings.map((binding) => witness.judge(binding))
  const guessed = guesses.map((guess) => witness.judge(guess))
  return {
    bindings: [...judged.filter(isHolding), ...guessed.filter(({ standing }) => standing === 'confirmed')],
    guesses: guessed.filter(({ standing }) => standing === 'found' || standing === 'constant'),
    refuted: [...judged, ...guessed].filter(({ standing }) => standing === 'refuted'),
  }
}

function isHolding({ standing }: Binding): boolean {
  return standing !== 'refuted'
}

class Witness {
  readonly #counterparts: Counterparts
  readonly #started: number

  constructor({ turns, other, otherStarted }: TwoRuns) {
    this.#counterparts = new Counterparts(turns, other)
    this.#started = otherStarted === undefined ? Number.NaN : Date.parse(otherStarted)
  }

  judge(binding: Binding): Binding {
    if (binding.standing === 'user') return binding
    const standings = binding.consumers.map((consumer) => this.#standing(binding, consumer))
    const standing = STRONGEST.find((one) => standings.includes(one)) ?? binding.standing
    return { ...binding, standing }
  }

  #standing(binding: Binding, consumer: Consumer): Standing {
    const sent = this.#counterparts.of(consumer)
    const there = sent === undefined ? undefined : readSpot(sent.text, consumer)
    const made = this.#made(binding, binding.producer, sent?.t)
    if (there === undefined || made === undefined) return 'found'
    if (there !== made && !isSameMoment(binding.producer, there, made)) return 'refuted'
    return there === binding.value ? 'constant' : 'confirmed'
  }

  #made({ value }: Binding, producer: Producer, sentAt: number | undefined): string | undefined {
    if (producer.kind === 'clock') {
      const now = this.#started + (sentAt ?? Number.NaN)
      return Number.isFinite(now) ? dateAt(value, producer, now) : undefined
    }
    const said = this.#counterparts.of(producer)
    return said === undefined ? undefined : readSpot(said.text, producer)
  }
}

// Between reading the clock and sending what was read, a moment passes.
function isSameMoment(producer: Producer, one: string, other: string): boolean {
  if (producer.kind !== 'clock' || producer.unit !== 'ms') return false
  return Math.abs(Date.parse(one) - Date.parse(other)) < 60_000
}

const STRONGEST: readonly Standing[] = ['refuted', 'confirmed', 'constant']
