import {
  type Binding,
  type BindingConsumer,
  type FoundBindings,
  type BindingProducer,
  type BindingStatus,
  dateFromClock,
  type TapeLocation,
} from '../binding.ts'
import { readLocation } from '../location.ts'
import { member } from '../../json/parse.ts'
import type { Turn, RecordedMessage, TurnStep } from '../../tape/turns.ts'

/** Two runs of one session. */
interface RunPair {
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

/** Finds, in a second run of the same session, the message that stands where one of the first run stood. */
export class MessageCounterparts {
  readonly #turns: readonly Turn[]
  readonly #pairs: ReadonlyMap<Turn, Turn>

  constructor(turns: readonly Turn[], other: readonly Turn[]) {
    this.#turns = turns
    this.#pairs = pairTurns(turns, other)
  }

  find({
    turn: index,
    frame,
    item,
  }: Pick<TapeLocation, 'turn' | 'frame' | 'item'>): RecordedMessage | undefined {
    const turn = this.#turns[index]
    const other = turn === undefined ? undefined : this.#pairs.get(turn)
    if (turn === undefined || other === undefined) return undefined
    const at = messageRoles(turn).findIndex(({ spoken }) => spoken?.n === frame && spoken.item === item)
    const role = messageRoles(turn)[at]?.role
    return messageRoles(other).find((said) => said.role === role)?.spoken
  }
}

// The second call of a tool in one run is the second call of that tool in the other.
function pairTurns(turns: readonly Turn[], other: readonly Turn[]): ReadonlyMap<Turn, Turn> {
  const waiting = new Map<string, Turn[]>()
  for (const turn of other) listUnder(waiting, turnSubject(turn)).push(turn)
  const pairs = new Map<Turn, Turn>()
  for (const turn of turns) {
    const next = waiting.get(turnSubject(turn))?.shift()
    if (next !== undefined) pairs.set(turn, next)
  }
  return pairs
}

function turnSubject({ trigger }: Turn): string {
  const message = trigger?.message
  if (message?.kind !== 'request' && message?.kind !== 'notification') return ''
  return JSON.stringify([message.method, member(message.params, 'name') ?? null])
}

interface MessageRole {
  readonly role: string
  readonly spoken: RecordedMessage | undefined
}

/** The messages of a turn, each under a name that says its part: the second ask, the first progress. */
function messageRoles({ trigger, steps }: Turn): readonly MessageRole[] {
  const counts = new Map<string, number>()
  return [{ role: 'trigger', spoken: trigger }, ...steps.flatMap((step) => stepRoles(step, counts))]
}

function stepRoles(step: TurnStep, counts: Map<string, number>): readonly MessageRole[] {
  if (step.kind === 'respond') return [{ role: 'response', spoken: step.message }]
  const first = step.kind === 'ask' ? step.request : step.message
  const method = 'method' in first.message ? first.message.method : ''
  const count = counts.get(method) ?? 0
  counts.set(method, count + 1)
  const role = `${step.kind} ${count} ${method}`
  return step.kind === 'notify'
    ? [{ role, spoken: first }]
    : [
        { role, spoken: first },
        { role: `answer ${count} ${method}`, spoken: step.answer },
      ]
}

function listUnder<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
