import { canonicalJson } from '../json/canonical.ts'
import { isObject, member } from '../json/parse.ts'
import { diffFields } from '../match/field-diff.ts'
import { comparedParams } from '../match/request-key.ts'
import { calledTool, toolOrPromptName } from '../protocol/message.ts'
import { clientCallOf, type ClientCall, type KeyedTurns, type TurnStore } from '../tape/turns.ts'

/** How names of the later tape are written on the earlier one. */
export interface NameMap {
  /** Servers of the later tape by their names on the earlier one. */
  readonly server: (after: string) => string
  /** Tools of the later tape by their names on the earlier one. */
  readonly tool: (after: string) => string
}

/**
 * Pairs the requests of two tapes. Equal requests are paired first, the first with the first and so on; then requests that are equal once
 * carried values are replaced; then similar requests of the same tool. The work grows with the length of the tapes, not with its square.
 */
export class ExchangePairing {
  /** For each turn of the earlier tape the index of its counterpart, or -1. */
  readonly afterOf: Int32Array
  readonly #isPaired: Uint8Array
  readonly #before: TurnStore
  readonly #after: TurnStore
  readonly #names: NameMap
  /** Names that the earlier tape calls. A driver that calls a tool by its new name on both tapes means the same tool. */
  readonly #calledBefore: ReadonlySet<string>

  constructor(before: TurnStore, after: TurnStore, names: NameMap) {
    this.#before = before
    this.#after = after
    this.#names = names
    this.#calledBefore = calledNames(before)
    this.afterOf = new Int32Array(before.size).fill(-1)
    this.#isPaired = new Uint8Array(after.size)
  }

  /** Pairs requests with equal params. `isSame` compares the responses of two exchanges. */
  pairEqual(isSame: (before: number, after: number) => boolean): void {
    const [ours, theirs] = [
      this.#before.keyedBy(pairingKey),
      this.#after.keyedBy((call) => pairingKey(this.#renamed(call))),
    ]
    for (let index = 0; index < this.#before.size; index++) {
      if (!isRequest(this.#before, index) || this.afterOf[index] !== -1) continue
      const call = clientCallOf(this.#before.trigger(index))
      if (call === undefined) continue
      const key = pairingKey(call)
      if (ours.first(key) !== index) continue // the chain was paired from its first request on
      this.#pairChains(chainFrom(ours, key), chainFrom(theirs, key), isSame)
    }
  }

  /** Where one of two chains is longer, exchanges with equal responses belong together. */
  #pairChains(
    before: readonly number[],
    after: readonly number[],
    isSame: (before: number, after: number) => boolean,
  ): void {
    if (before.length === after.length || Math.min(before.length, after.length) === 0)
      return before.forEach((index, at) => this.#pair(index, after[at]))
    if (before.length > LONGEST_ALIGNED || after.length > LONGEST_ALIGNED)
      return before.forEach((index, at) => this.#pair(index, after[at]))
    let from = 0
    for (const index of before) {
      const found = after.findIndex((other, at) => at >= from && isSame(index, other))
      if (found < 0) continue
      this.#pair(index, after[found])
      from = found + 1
    }
    const rest = after.filter((index) => this.#isPaired[index] === 0)
    before.filter((index) => this.afterOf[index] === -1).forEach((index, at) => this.#pair(index, rest[at]))
  }

  /** Pairs requests that are equal once values of the earlier tape are replaced. Returns the new pairs. */
  pairRenamed(renamed: (value: unknown) => unknown): readonly number[] {
    const waiting = new Map<string, number[]>()
    for (const index of this.added()) listOf(waiting, this.#keyOfAfter(index)).push(index)
    const paired: number[] = []
    for (const index of this.removed()) {
      const call = clientCallOf(this.#before.trigger(index))
      if (call === undefined) continue
      const found = waiting.get(pairingKey({ ...call, params: renamed(call.params) }))?.shift()
      if (found === undefined) continue
      this.#pair(index, found)
      paired.push(index)
    }
    return paired
  }

  /** Pairs the remaining requests of the same tool, or method, by similarity. Returns the new pairs. */
  pairSimilar(): readonly number[] {
    const groups = new Map<string, { before: PairedCall[]; after: PairedCall[] }>()
    const groupOf = (call: ClientCall): { before: PairedCall[]; after: PairedCall[] } => {
      const key = groupKey(call)
      const group = groups.get(key) ?? { before: [], after: [] }
      groups.set(key, group)
      return group
    }
    for (const index of this.removed()) {
      const call = clientCallOf(this.#before.trigger(index))
      if (call !== undefined) groupOf(call).before.push({ index, params: similarParams(call) })
    }
    for (const index of this.added()) {
      const call = clientCallOf(this.#after.trigger(index))
      const known = call && this.#renamed(call)
      if (known !== undefined) groupOf(known).after.push({ index, params: similarParams(known) })
    }
    const paired: number[] = []
    for (const group of groups.values())
      for (const [one, other] of similarPairs(group.before, group.after)) {
        this.#pair(one, other)
        paired.push(one)
      }
    return paired.toSorted((one, other) => one - other)
  }

  /** Requests of the earlier tape without a counterpart. */
  removed(): readonly number[] {
    return indexesWhere(this.#before, (index) => this.afterOf[index] === -1 && isRequest(this.#before, index))
  }

  /** Requests of the later tape without a counterpart. */
  added(): readonly number[] {
    return indexesWhere(this.#after, (index) => this.#isPaired[index] === 0 && isRequest(this.#after, index))
  }

  #pair(before: number, after: number | undefined): void {
    if (after === undefined) return
    this.afterOf[before] = after
    this.#isPaired[after] = 1
  }

  #keyOfAfter(index: number): string {
    const call = clientCallOf(this.#after.trigger(index))
    return call === undefined ? '' : pairingKey(this.#renamed(call))
  }

  #renamed(call: ClientCall): ClientCall {
    const server = this.#names.server(call.server)
    const tool = calledTool(call)
    const known = tool === undefined ? undefined : this.#names.tool(tool)
    const isKept = known === tool || this.#calledBefore.has(tool ?? '')
    if (isKept || !isObject(call.params)) return { ...call, server }
    return { ...call, server, params: { ...call.params, name: known } }
  }
}

function calledNames(turns: TurnStore): ReadonlySet<string> {
  const names = new Set<string>()
  for (let index = 0; index < turns.size; index++) {
    const { method, name } = turns.summary(index)
    if (name !== undefined && method === 'tools/call') names.add(name)
  }
  return names
}

/** Longer chains of equal requests are paired in order. */
const LONGEST_ALIGNED = 200

/** Requests with equal keys are the same call. Unlike the key of a recording, it does not depend on the protocol revision. */
function pairingKey(call: ClientCall): string {
  return canonicalJson([call.server, call.method, comparedParams(call)])
}

function chainFrom(keyed: KeyedTurns, key: string): readonly number[] {
  const chain: number[] = []
  for (let index = keyed.first(key); index >= 0; index = keyed.next(index)) chain.push(index)
  return chain
}

function isRequest(turns: TurnStore, index: number): boolean {
  return turns.summary(index).trigger === 'request'
}

function indexesWhere(turns: TurnStore, isMeant: (index: number) => boolean): readonly number[] {
  const indexes: number[] = []
  for (let index = 0; index < turns.size; index++) if (isMeant(index)) indexes.push(index)
  return indexes
}

interface PairedCall {
  readonly index: number
  readonly params: unknown
}

/** Another resource or completion is another call. Another argument of the same tool is not. */
function groupKey(call: ClientCall): string {
  const { server, method, params } = call
  const target = toolOrPromptName(call) ?? member(params, 'uri') ?? member(params, 'ref') ?? null
  return canonicalJson([server, method, target])
}

function similarParams(call: ClientCall): unknown {
  const params = comparedParams(call)
  return member(params, 'arguments') ?? (calledTool(call) === undefined ? params : {})
}

function similarPairs(
  before: readonly PairedCall[],
  after: readonly PairedCall[],
): readonly (readonly [number, number])[] {
  if (before.length === 0 || after.length === 0) return []
  const pairs: (readonly [number, number])[] = []
  const open = { before: new Set(before), after: new Set(after) }
  const pair = (one: PairedCall, other: PairedCall): void => {
    pairs.push([one.index, other.index])
    open.before.delete(one)
    open.after.delete(other)
  }
  pairByOneArgument(open, pair)
  const [ours, theirs] = [[...open.before], [...open.after]]
  for (let start = 0; start < Math.max(ours.length, theirs.length); start += WINDOW)
    pairNearest(ours.slice(start, start + WINDOW), theirs.slice(start, start + WINDOW), pair)
  return pairs
}

interface OpenCalls {
  readonly before: Set<PairedCall>
  readonly after: Set<PairedCall>
}

type PairCalls = (before: PairedCall, after: PairedCall) => void

/** Pairs calls that are equal except for one argument, by a table of the calls without each of their arguments. */
function pairByOneArgument(open: OpenCalls, pair: PairCalls): void {
  const waiting = new Map<string, PairedCall[]>()
  for (const call of open.after)
    for (const key of keysWithoutOne(call.params)) listOf(waiting, key).push(call)
  for (const call of open.before) {
    for (const key of keysWithoutOne(call.params)) {
      const found = waiting.get(key)?.find((other) => open.after.has(other))
      if (found === undefined) continue
      pair(call, found)
      break
    }
  }
}

/** A call with more arguments is compared as a whole. */
const MOST_ARGUMENTS = 16

/** One key for each argument: the other arguments. With a single argument nothing is left that could be equal. */
function keysWithoutOne(params: unknown): readonly string[] {
  if (!isObject(params)) return []
  const names = Object.keys(params)
  if (names.length < 2 || names.length > MOST_ARGUMENTS) return []
  return names.map((name) => {
    const { [name]: _, ...rest } = params
    return `${name} ${canonicalJson(rest)}`
  })
}

/** So many calls of a tool are compared with each other. Calls that are further apart are not. */
const WINDOW = 48

function pairNearest(before: readonly PairedCall[], after: readonly PairedCall[], pair: PairCalls): void {
  const rated = before.flatMap((one, at) =>
    after.flatMap((other, place) => {
      const distance = distanceBetween(one.params, other.params)
      return distance === undefined ? [] : [{ one, other, distance, apart: Math.abs(at - place) }]
    }),
  )
  rated.sort((a, b) => a.distance - b.distance || a.apart - b.apart)
  const paired = new Set<PairedCall>()
  for (const { one, other } of rated) {
    if (paired.has(one) || paired.has(other)) continue
    paired.add(one).add(other)
    pair(one, other)
  }
}

/** Returns `undefined` if two calls have nothing in common: neither the names of their arguments nor a value. */
function distanceBetween(before: unknown, after: unknown): number | undefined {
  const { distance } = diffFields(before, after, [])
  if (distance < FARTHEST || !isObject(before) || !isObject(after)) return distance
  const names = Object.keys(before)
  const hasSameNames =
    names.length === Object.keys(after).length && names.every((name) => Object.hasOwn(after, name))
  const values = new Set(Object.values(after).map(canonicalJson))
  return hasSameNames || Object.values(before).some((value) => values.has(canonicalJson(value)))
    ? distance
    : undefined
}

const FARTHEST = 0.9

function listOf<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
