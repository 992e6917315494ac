import type { Spoken, Step, Turn } from '../tape/turn.ts'
import { member } from '../wire/message.ts'
import type { Place } from './binding.ts'

/** Finds, in a second run of the same session, the message that stands where one of the first run stood. */
export class Counterparts {
  readonly #turns: readonly Turn[]
  readonly #pairs: ReadonlyMap<Turn, Turn>

  constructor(turns: readonly Turn[], other: readonly Turn[]) {
    this.#turns = turns
    this.#pairs = pairTurns(turns, other)
  }

  of({ turn: index, frame, item }: Pick<Place, 'turn' | 'frame' | 'item'>): Spoken | undefined {
    const turn = this.#turns[index]
    const other = turn === undefined ? undefined : this.#pairs.get(turn)
    if (turn === undefined || other === undefined) return undefined
    const at = spokenIn(turn).findIndex(({ spoken }) => spoken?.n === frame && spoken.item === item)
    const role = spokenIn(turn)[at]?.role
    return spokenIn(other).find((said) => said.role === role)?.spoken
  }
}

// The second call of a tool in one run is the second call of that tool in the other.
function pairTurns(turns: readonly Turn[], other: readonly Turn[]): ReadonlyMap<Turn, Turn> {
  const waiting = new Map<string, Turn[]>()
  for (const turn of other) listIn(waiting, subjectOf(turn)).push(turn)
  const pairs = new Map<Turn, Turn>()
  for (const turn of turns) {
    const next = waiting.get(subjectOf(turn))?.shift()
    if (next !== undefined) pairs.set(turn, next)
  }
  return pairs
}

function subjectOf({ trigger }: Turn): string {
  const message = trigger?.message
  if (message?.kind !== 'request' && message?.kind !== 'notification') return ''
  return JSON.stringify([message.method, member(message.params, 'name') ?? null])
}

interface Role {
  readonly role: string
  readonly spoken: Spoken | undefined
}

/** The messages of a turn, each under a name that says its part: the second ask, the first progress. */
function spokenIn({ trigger, steps }: Turn): readonly Role[] {
  const counts = new Map<string, number>()
  return [{ role: 'trigger', spoken: trigger }, ...steps.flatMap((step) => rolesIn(step, counts))]
}

function rolesIn(step: Step, counts: Map<string, number>): readonly Role[] {
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

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
