import { canonicalJson } from '../wire/canonical.ts'
import { leavesOf } from '../wire/leaves.ts'
import { membersOf, rangeAt } from '../wire/members.ts'
import { member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** What a server asks for in a round of input: under each name that it made up, the JSON text of what it wants. */
export type Inputs = ReadonlyMap<string, string>

/** The inputs that an answer asks for; undefined when it asks for none. */
export function inputsIn(text: string): Inputs | undefined {
  return text.includes('"inputRequests"') ? textsAt(text, ['result', 'inputRequests']) : undefined
}

/** The answers to such a round that a request brings. */
export function answersIn(text: string): Inputs | undefined {
  return text.includes('"inputResponses"') ? textsAt(text, ['params', 'inputResponses']) : undefined
}

function textsAt(text: string, path: readonly string[]): Inputs | undefined {
  const range = rangeAt(text, path)
  if (range === undefined || text[range.start] !== '{') return undefined
  const json = text.slice(range.start, range.end)
  return new Map([...membersOf(json)].map(([name, { start, end }]) => [name, json.slice(start, end)]))
}

/**
 * Which live input is which recorded one, recorded name → live name. The same wish is the same input whatever it is called; then
 * counts the name, then how much of the wish is the same. Nothing is paired with a wish of another kind.
 */
export function pairInputs(recorded: Inputs, live: Inputs): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>()
  const left = { recorded: wishesIn(recorded), live: wishesIn(live) }
  for (const isSame of [SAME_ALL, SAME_CONTENT, SAME_NAME]) pairBy(left, pairs, isSame)
  for (const one of left.recorded) {
    const nearest = nearestOf(one, left.live)
    if (nearest === undefined) continue
    pairs.set(one.name, nearest.name)
    left.live.splice(left.live.indexOf(nearest), 1)
  }
  return pairs
}

interface Wish {
  readonly name: string
  readonly method: unknown
  /** One text for equal wishes. */
  readonly content: string
  /** The leaves of it, each with its place. */
  readonly leaves: ReadonlySet<string>
}

type KeyOf = (wish: Wish) => string

const SAME_ALL: KeyOf = ({ name, content }) => `${name}\n${content}`
const SAME_CONTENT: KeyOf = ({ content }) => content
const SAME_NAME: KeyOf = ({ name, method }) => `${name}\n${String(method)}`

function wishesIn(inputs: Inputs): Wish[] {
  return [...inputs].map(([name, json]) => {
    const value = parseJson(json)
    const leaves = leavesOf(json).map(({ path, start, end }) =>
      JSON.stringify([path, json.slice(start, end)]),
    )
    return { name, method: member(value, 'method'), content: canonicalJson(value), leaves: new Set(leaves) }
  })
}

/** Pairs the first with the first of those that have the same key, and takes both away. */
function pairBy(left: { recorded: Wish[]; live: Wish[] }, pairs: Map<string, string>, keyOf: KeyOf): void {
  const free = grouped(left.live, keyOf)
  const taken = new Set<Wish>()
  left.recorded = left.recorded.filter((one) => {
    const other = free.get(keyOf(one))?.shift()
    if (other === undefined) return true
    pairs.set(one.name, other.name)
    taken.add(other)
    return false
  })
  left.live = left.live.filter((one) => !taken.has(one))
}

function grouped(wishes: readonly Wish[], keyOf: KeyOf): ReadonlyMap<string, Wish[]> {
  const groups = new Map<string, Wish[]>()
  for (const wish of wishes) groups.set(keyOf(wish), [...(groups.get(keyOf(wish)) ?? []), wish])
  return groups
}

/** Of those of its kind, the one with which it shares most; of equally near ones the first. */
function nearestOf({ method, leaves }: Wish, others: readonly Wish[]): Wish | undefined {
  const near = others.slice(0, MOST).filter((other) => other.method === method)
  const shared = (other: Wish): number => [...other.leaves].filter((leaf) => leaves.has(leaf)).length
  return near.map((other) => ({ other, score: shared(other) })).toSorted((a, b) => b.score - a.score)[0]
    ?.other
}

// Each is held against all: a round that asks for more at once than this is none that a client answers.
const MOST = 100
