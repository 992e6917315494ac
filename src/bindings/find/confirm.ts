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
  /** The start of the other run. */
  readonly otherStarted?: string
}

export interface ConfirmedBindings extends FoundBindings {
  /** Bindings and guesses that the second run contradicts. */
  readonly refuted: readonly Binding[]
}

/**
 * Compares bindings with a second run. A binding is confirmed if the value is different and is still sent back, constant if
 * the value is the same, and refuted if the client sent something else. A confirmed guess becomes a binding.
 */
export function confirmBindings({ bindings, guesses }: FoundBindings, runs: RunPair): ConfirmedBindings {
  const secondRun = new SecondRunCheck(runs)
  const judged = bindings.map((binding) => secondRun.check(binding))
  const guessed = guesses.map((guess) => secondRun.check(guess))
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
    const sentValue = sent === undefined ? undefined : readLocation(sent.text, consumer)
    const producedValue = this.#producedValue(binding, binding.producer, sent?.t)
    if (sentValue === undefined || producedValue === undefined) return 'found'
    if (sentValue !== producedValue && !isSameMoment(binding.producer, sentValue, producedValue))
      return 'refuted'
    return sentValue === binding.value ? 'constant' : 'confirmed'
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
    const message = this.#counterparts.find(producer)
    return message === undefined ? undefined : readLocation(message.text, producer)
  }
}

// Some time passes between reading the clock and sending the message.
function isSameMoment(producer: BindingProducer, one: string, other: string): boolean {
  if (producer.kind !== 'clock' || producer.unit !== 'ms') return false
  return Math.abs(Date.parse(one) - Date.parse(other)) < 60_000
}

const STRONGEST: readonly BindingStatus[] = ['refuted', 'confirmed', 'constant']

/** Finds the message of a second run that corresponds to a message of the first run. */
export class MessageCounterparts {
  readonly #turns: readonly Turn[]
  readonly #pairs: ReadonlyMap<Turn, Turn>

  constructor(turns: readonly Turn[], other: readonly Turn[]) {
    this.#turns = turns
    this.#pairs = pairTurns(turns, other)
  }

  turnOf(turn: Turn): Turn | undefined {
    return this.#pairs.get(turn)
  }

  find({
    turn: index,
    frame,
    item,
  }: Pick<TapeLocation, 'turn' | 'frame' | 'item'>): RecordedMessage | undefined {
    const turn = this.#turns[index]
    const other = turn === undefined ? undefined : this.#pairs.get(turn)
    if (turn === undefined || other === undefined) return undefined
    const at = messageRoles(turn).findIndex(({ recorded }) => recorded?.n === frame && recorded.item === item)
    const role = messageRoles(turn)[at]?.role
    return messageRoles(other).find((message) => message.role === role)?.recorded
  }
}

// The n-th call of a tool in one run corresponds to its n-th call in the other run.
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
  readonly recorded: RecordedMessage | undefined
}

/** Names the messages of a turn by their role, such as the response or the second request of a method. */
function messageRoles({ trigger, steps }: Turn): readonly MessageRole[] {
  const counts = new Map<string, number>()
  return [{ role: 'trigger', recorded: trigger }, ...steps.flatMap((step) => stepRoles(step, counts))]
}

function stepRoles(step: TurnStep, counts: Map<string, number>): readonly MessageRole[] {
  if (step.kind === 'respond') return [{ role: 'response', recorded: step.message }]
  const first = step.kind === 'ask' ? step.request : step.message
  const method = 'method' in first.message ? first.message.method : ''
  const count = counts.get(method) ?? 0
  counts.set(method, count + 1)
  const role = `${step.kind} ${count} ${method}`
  return step.kind === 'notify'
    ? [{ role, recorded: first }]
    : [
        { role, recorded: first },
        { role: `answer ${count} ${method}`, recorded: step.answer },
      ]
}

function listUnder<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
