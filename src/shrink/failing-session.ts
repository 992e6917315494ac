import type { Binding, FoundBindings } from '../bindings/binding.ts'
import { canonicalJson } from '../json/canonical.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import { calledTool } from '../protocol/message.ts'
import { callKey, cancelledKey, linkNameOf } from '../replay/plan/plan.ts'
import { selectServerPart, type ServerPart } from '../replay/plan/server-part.ts'
import { isReadOnlyTool, toolsOnTape } from '../replay/plan/tool-safety.ts'
import { tapeBindings } from '../replay/values/tape-bindings.ts'
import type { Tape } from '../store/file/read.ts'
import type { Turn } from '../tape/turns.ts'
import { isHandshakeTurn } from './candidate.ts'
import { type ItemNeeds, withRequirements } from './reduce-set.ts'

/** A session on a tape, with what its messages need from each other. */
export interface FailingSession {
  readonly tape: Tape
  readonly part: ServerPart
  readonly bindings: FoundBindings
  /** The positions of the turns that can be removed. */
  readonly items: readonly number[]
  readonly needs: readonly ItemNeeds[]
}

export async function readFailingSession(
  tape: Tape,
  options: { readonly server?: string | undefined; readonly bindings?: string | undefined },
): Promise<FailingSession> {
  const part = await selectServerPart(tape, options.server)
  const bindings = await tapeBindings(tape, options)
  const items: number[] = []
  for (let place = 0; place < part.turns.size; place++) {
    const turn = part.turns.at(place)
    if (turn?.trigger !== undefined && !isHandshakeTurn(turn)) items.push(place)
  }
  const needs = [...bindings.bindings.flatMap(needsOf), ...cancellationNeeds(part, items)]
  return { tape, part, bindings, items, needs }
}

function needsOf({ producer, also, consumers }: Binding): readonly ItemNeeds[] {
  const producers = [producer, ...also]
  if (producers.some(({ kind }) => kind === 'clock')) return []
  const anyOf = producers.flatMap((each) => (each.kind === 'message' ? [each.turn] : []))
  return consumers.map(({ turn }) => ({ item: turn, anyOf }))
}

/** A cancellation makes no sense without the request that it cancels. */
function cancellationNeeds({ turns }: ServerPart, items: readonly number[]): readonly ItemNeeds[] {
  const calls = new Map<string, number>()
  return items.flatMap((item) => {
    const turn = turns.at(item)
    const message = turn?.trigger?.message
    if (turn === undefined || message === undefined) return []
    if (message.kind === 'request') calls.set(callKey(linkNameOf(turn), message.id), item)
    const key = message.kind === 'notification' ? cancelledKey(linkNameOf(turn), message) : undefined
    const call = key === undefined ? undefined : calls.get(key)
    return call === undefined ? [] : [{ item, anyOf: [call] }]
  })
}

/** The messages that were sent before the response to one of them. */
export function itemsUntil({ part, items }: FailingSession, item: number): ReadonlySet<number> {
  const end = part.turns.at(item)?.response?.n ?? Infinity
  return new Set(items.filter((each) => (part.turns.at(each)?.trigger?.n ?? 0) <= end))
}

/**
 * Sessions that are likely to show the failure of one call, the smallest first. They begin with what the call needs, and add calls
 * that share a value with one of these, one call of every other tool, the last calls before it, all calls of the same tools, or all
 * calls that may write. Each is completed by what its calls need.
 */
export function likelySessions(session: FailingSession, item: number): readonly ReadonlySet<number>[] {
  const { needs, part } = session
  const tools = toolsOnTape(part)
  const earlier = [...itemsUntil(session, item)]
  const toolOf = (each: number): string | undefined => toolOfTurn(part.turns.at(each))
  const complete = (chosen: Iterable<number>): ReadonlySet<number> =>
    new Set([...chosen].flatMap((each) => [...withRequirements(each, needs)]))
  const slice = complete([item])
  const sharing = complete([...slice, ...turnsWithValuesOf(part, earlier, slice)])
  const names = new Set([...sharing].map(toolOf))
  const lastOfEach = new Map(earlier.map((each) => [toolOf(each), each]))
  const writes = earlier.filter((each) => !isReadOnlyTool(tools.get(toolOf(each) ?? '')))
  const sessions = [
    slice,
    sharing,
    complete([...sharing, ...lastOfEach.values()]),
    complete([...slice, ...earlier.slice(-RECENT_CALLS)]),
    complete([...sharing, ...earlier.filter((each) => names.has(toolOf(each)))]),
    complete([...slice, ...writes]),
  ]
  return sessions.toSorted((one, other) => one.size - other.size)
}

const RECENT_CALLS = 12

/** The messages whose arguments share a value with those of the chosen ones. */
function turnsWithValuesOf(
  part: ServerPart,
  items: readonly number[],
  chosen: ReadonlySet<number>,
): readonly number[] {
  const values = new Map(items.map((item) => [item, argumentValues(part.turns.at(item))]))
  const wanted = new Set([...chosen].flatMap((item) => [...(values.get(item) ?? [])]))
  return items.filter((item) => [...(values.get(item) ?? [])].some((value) => wanted.has(value)))
}

/** The texts and numbers in the arguments of a call that are unlikely to be equal by chance. */
function argumentValues(turn: Turn | undefined): ReadonlySet<string> {
  const params = member(parseJson(turn?.trigger?.text ?? ''), 'params')
  const given = member(params, 'arguments') ?? member(params, 'uri')
  const found = new Set<string>()
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect)
    else if (isObject(value)) Object.values(value).forEach(collect)
    else if (typeof value === 'string' ? value.length > 1 : typeof value === 'number')
      found.add(canonicalJson(value))
  }
  collect(given)
  return found
}

/** The tools that a session calls and that may write, by the lists of tools on the whole tape. */
export async function writingTools(
  session: Pick<Tape, 'turns'>,
  { tape, server }: { readonly tape: Tape; readonly server?: string | undefined },
): Promise<readonly string[]> {
  const listed = toolsOnTape(await selectServerPart(tape, server))
  const called = new Set(session.turns.flatMap((turn) => toolOfTurn(turn) ?? []))
  return [...called].filter((tool) => !isReadOnlyTool(listed.get(tool)))
}

export function toolOfTurn(turn: Turn | undefined): string | undefined {
  const message = turn?.trigger?.message
  return message?.kind === 'request' ? calledTool(message) : undefined
}
