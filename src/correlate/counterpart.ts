import type { RecordedMessage, TurnStep, Turn } from '../tape/turn.ts'
import { member } from '../protocol/message.ts'
import type { TapeLocation } from '../bindings/binding.ts'

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
