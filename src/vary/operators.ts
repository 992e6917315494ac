import { isObject, member, parseJson } from '../json/parse.ts'
import { valueAtPath, formatPath, type JsonPath } from '../json/path.ts'
import { requestTarget } from '../protocol/message.ts'
import { toolsOnTape } from '../replay/plan/tool-safety.ts'
import { SchemaDocument, type SchemaNode } from '../schemas/schema-document.ts'
import { type FailingSession, toolOfTurn } from '../shrink/failing-session.ts'
import { withDependents, withRequirements } from '../shrink/reduce-set.ts'
import { turnLabel } from '../tape/turns.ts'
import {
  boundaryValues,
  hugeValues,
  oddTexts,
  otherArguments,
  otherTypes,
  placesIn,
  type ArgumentPlace,
  type OddValue,
} from './odd-values.ts'
import type { VariedStep } from './varied-session.ts'

/** A session that is varied, with what operators need to know about it. */
export interface VaryContext {
  readonly session: FailingSession
  readonly random: () => number
}

/** A changed session, and the change in words. */
interface Variation {
  readonly steps: readonly VariedStep[]
  readonly what: string
}

/** Changes a session in one place. Returns `undefined` if the session has nothing that it applies to. */
interface VaryOperator {
  readonly name: string
  /** How often it is used, beside the others. By default 1. */
  readonly weight?: number
  readonly vary: (steps: readonly VariedStep[], context: VaryContext) => Variation | undefined
}

/** Every operator. The first variations apply one of them each, in this order. */
export const VARY_OPERATORS: readonly VaryOperator[] = [
  { name: 'repeat', weight: 4, vary: repeatCall },
  { name: 'late', weight: 3, vary: repeatAtEnd },
  { name: 'missing', vary: changeArguments },
  { name: 'duplicate', vary: duplicateCall },
  { name: 'drop', weight: 2, vary: dropCall },
  { name: 'boundary', vary: (steps, context) => changeValue(steps, context, boundaryValues) },
  { name: 'stale', vary: sendStaleValues },
  { name: 'cancel', vary: cancelCall },
  { name: 'swap', vary: swapCalls },
  { name: 'type', vary: (steps, context) => changeValue(steps, context, otherTypes) },
  { name: 'crossed', vary: crossValues },
  { name: 'text', vary: (steps, context) => changeValue(steps, context, textsFor) },
  { name: 'together', vary: sendTogether },
  { name: 'huge', vary: (steps, context) => changeValue(steps, context, hugeValues) },
]

/** Picks an operator. */
export function pickOperator({ random }: Pick<VaryContext, 'random'>): VaryOperator | undefined {
  const weighted = VARY_OPERATORS.flatMap((operator) =>
    Array.from({ length: operator.weight ?? 1 }, () => operator),
  )
  return pick(weighted, { random })
}

function repeatCall(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const at = pickRequest(steps, context)
  if (at === undefined) return undefined
  const times = 1 + Math.floor(context.random() * 3)
  const copies = Array.from({ length: times }, () => steps[at]!)
  return {
    steps: steps.toSpliced(at + 1, 0, ...copies),
    what: `${nameOf(steps[at]!, context)} repeated ${times === 1 ? 'once' : `${times} times`}`,
  }
}

/** An early call is repeated at the end, when what it refers to may be gone. */
function repeatAtEnd(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const at = pickRequest(steps, context)
  if (at === undefined) return undefined
  const { isTogether: _, ...step } = steps[at]!
  const where = at + 1 + Math.floor(context.random() * (steps.length - at))
  const place = context.random() < 0.3 ? steps.length : where
  return {
    steps: steps.toSpliced(place, 0, step),
    what: `${nameOf(step, context)} again after ${place === steps.length ? 'everything else' : 'later calls'}`,
  }
}

function duplicateCall(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const at = pickRequest(steps, context)
  if (at === undefined) return undefined
  return {
    steps: steps.toSpliced(at + 1, 0, { ...steps[at]!, isTogether: true }),
    what: `${nameOf(steps[at]!, context)} sent twice at the same time`,
  }
}

/** Sometimes the calls that need its values are left out, too; otherwise they send recorded ones. */
function dropCall(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  if (steps.length < 2) return undefined
  const at = pickRequest(steps, context)
  if (at === undefined) return undefined
  const { item } = steps[at]!
  const dropped = context.random() < 0.5 ? withDependents([item], context.session.needs) : new Set([item])
  const rest = steps.filter((step) => !dropped.has(step.item))
  if (rest.length === 0) return undefined
  return {
    steps: rest,
    what: `without ${nameOf(steps[at]!, context)}${dropped.size > 1 ? ' and what needs it' : ''}`,
  }
}

/** Moves a call to another place that is not before the calls whose values it sends. */
function swapCalls(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  if (steps.length < 2) return undefined
  const from = pickRequest(steps, context)
  if (from === undefined) return undefined
  const step = steps[from]!
  const rest = steps.toSpliced(from, 1)
  const needed = withRequirements(step.item, context.session.needs)
  const first = rest.findLastIndex(({ item }) => item !== step.item && needed.has(item)) + 1
  const to = first + Math.floor(context.random() * (rest.length - first + 1))
  if (to === from) return undefined
  const { isTogether: _, ...alone } = step
  return {
    steps: rest.toSpliced(to, 0, alone),
    what: `${nameOf(step, context)} ${to < from ? 'earlier' : 'later'}`,
  }
}

function sendStaleValues(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const at = pickStep(steps, context, (step) => bindingsOf(step, context).length > 0)
  if (at === undefined) return undefined
  const step: VariedStep = { ...steps[at]!, hasStaleValues: true }
  const what = `${nameOf(step, context)} with values of an earlier session`
  return { steps: steps.toSpliced(at + 1, 0, step), what }
}

/** Sends the value of another binding: the id of another object, or of an object of another kind. */
function crossValues(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const { bindings } = context.session.bindings
  const at = pickStep(steps, context, (step) => bindingsOf(step, context).length > 0)
  if (at === undefined) return undefined
  const step = steps[at]!
  const own = pick(bindingsOf(step, context), context)!
  const others = Array.from(bindings.keys()).filter((other) => {
    const { producer, value } = bindings[other]!
    const isBefore = steps
      .slice(0, at)
      .some(({ item }) => producer.kind === 'message' && item === producer.turn)
    return other !== own && isBefore && value !== bindings[own]!.value
  })
  const other = pick(others, context)
  if (other === undefined) return undefined
  return {
    steps: steps.toSpliced(at + 1, 0, { ...step, crossed: new Map([[own, other]]) }),
    what: `${nameOf(step, context)} with a value that belongs to another call`,
  }
}

function cancelCall(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const at = pickRequest(steps, context)
  if (at === undefined) return undefined
  const { isTogether: _, ...step } = steps[at]!
  return {
    steps: steps.toSpliced(at, 0, { ...step, isCancelled: true }),
    what: `${nameOf(step, context)} cancelled and sent again`,
  }
}

/** Sends a call while the one before it is open, if it does not need its values. */
function sendTogether(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const at = pick(
    indexesOf(steps, (step, place) => {
      const before = steps[place - 1]
      return (
        before !== undefined &&
        step.isTogether !== true &&
        !withRequirements(step.item, context.session.needs).has(before.item)
      )
    }),
    context,
  )
  if (at === undefined) return undefined
  const step: VariedStep = { ...steps[at]!, isTogether: true }
  return {
    steps: steps.with(at, step),
    what: `${nameOf(step, context)} at the same time as the call before it`,
  }
}

/** Sends one more call with a changed value next to the recorded one, or sometimes in its place. */
function changeValue(
  steps: readonly VariedStep[],
  context: VaryContext,
  valuesFor: (place: ArgumentPlace) => readonly OddValue[],
): Variation | undefined {
  const at = pickStep(steps, context, (step) => argumentsOf(step, context) !== undefined)
  if (at === undefined) return undefined
  const step = steps[at]!
  const fitting = argumentPlaces(step, context).filter((each) => valuesFor(each).length > 0)
  const place = pick(fitting, context)
  const chosen = place && pick(valuesFor(place), context)
  if (place === undefined || chosen === undefined) return undefined
  return insertChanged(steps, context, {
    at,
    step: stepWithValue(step, { path: place.path, value: chosen.value }, context),
    what: `${nameOf(step, context)} with ${placeName(step, place, context)}: ${chosen.why}`,
  })
}

function changeArguments(steps: readonly VariedStep[], context: VaryContext): Variation | undefined {
  const at = pickStep(steps, context, (step) => isObject(argumentsOf(step, context)?.value))
  if (at === undefined) return undefined
  const step = steps[at]!
  const given = argumentsOf(step, context)
  const chosen = isObject(given?.value) ? pick(otherArguments(given.value), context) : undefined
  if (given === undefined || chosen === undefined) return undefined
  return insertChanged(steps, context, {
    at,
    step: { ...step, edit: { path: given.path, value: chosen.value } },
    what: `${nameOf(step, context)} ${chosen.why}`,
  })
}

/** The recorded call stays, so that the rest of the session has its values. Sometimes it is replaced, so that they are missing. */
function insertChanged(
  steps: readonly VariedStep[],
  { random }: VaryContext,
  { at, step, what }: { readonly at: number; readonly step: VariedStep; readonly what: string },
): Variation {
  const choice = random()
  if (choice < 0.2) return { steps: steps.with(at, step), what }
  return { steps: steps.toSpliced(choice < 0.6 ? at : at + 1, 0, step), what }
}

function textsFor({ value }: ArgumentPlace): readonly OddValue[] {
  return typeof value === 'string' ? oddTexts() : []
}

interface GivenArguments {
  readonly path: JsonPath
  readonly value: unknown
  readonly nodes: readonly SchemaNode[]
}

/** What a caller chooses in a request: the arguments of a tool or prompt, or a URI. */
export function argumentsOf(
  { item }: Pick<VariedStep, 'item'>,
  { session }: Pick<VaryContext, 'session'>,
): GivenArguments | undefined {
  const known = knownArguments.get(session) ?? argumentsByItem(session)
  knownArguments.set(session, known)
  return known.get(item)
}

/** Compiling the schema of a tool takes longer than sending a call. */
const knownArguments = new WeakMap<FailingSession, ReadonlyMap<number, GivenArguments>>()

function argumentsByItem({ part, items }: FailingSession): ReadonlyMap<number, GivenArguments> {
  const nodes = new Map(
    [...toolsOnTape(part)].map(([tool, description]) => {
      const schema = member(description, 'inputSchema')
      return [tool, schema === undefined ? [] : [new SchemaDocument(schema).node]]
    }),
  )
  return new Map(
    items.flatMap((item): readonly (readonly [number, GivenArguments])[] => {
      const turn = part.turns.at(item)
      const params = member(parseJson(turn?.trigger?.text ?? ''), 'params')
      const given = member(params, 'arguments')
      if (isObject(given)) {
        const own = nodes.get(toolOfTurn(turn) ?? '') ?? []
        return [[item, { path: ['params', 'arguments'], value: given, nodes: own }]]
      }
      const uri = member(params, 'uri')
      return typeof uri === 'string' ? [[item, { path: ['params', 'uri'], value: uri, nodes: [] }]] : []
    }),
  )
}

/** The values that calls of the same tool have in this place. */
function recordedValues(
  step: Pick<VariedStep, 'item'>,
  path: JsonPath,
  { session }: Pick<VaryContext, 'session'>,
): readonly unknown[] {
  const tool = toolOfTurn(session.part.turns.at(step.item))
  return session.items.flatMap((item) => {
    if (toolOfTurn(session.part.turns.at(item)) !== tool) return []
    const found = valueAtPath(argumentsOf({ item }, { session })?.value, path)
    return found === undefined ? [] : [found]
  })
}

function replaced(root: unknown, [segment, ...rest]: JsonPath, value: unknown): unknown {
  if (segment === undefined) return value
  if (Array.isArray(root))
    return root.map((item: unknown, at) => (at === segment ? replaced(item, rest, value) : item))
  return isObject(root) ? { ...root, [segment]: replaced(root[segment], rest, value) } : root
}

/** The bindings whose values a message sends, by their places in the list. */
function bindingsOf({ item, edit, hasStaleValues }: VariedStep, { session }: VaryContext): readonly number[] {
  if (edit !== undefined || hasStaleValues) return []
  return session.bindings.bindings.flatMap(({ producer, consumers }, at) =>
    producer.kind === 'message' && consumers.some(({ turn }) => turn === item) ? [at] : [],
  )
}

function pickRequest(steps: readonly VariedStep[], context: VaryContext): number | undefined {
  const { turns } = context.session.part
  return pickStep(steps, context, ({ item }) => turns.summary(item).trigger === 'request')
}

/** Every method and tool is as likely as any other, however often it is called. */
function pickStep(
  steps: readonly VariedStep[],
  context: VaryContext,
  isMeant: (step: VariedStep, at: number) => boolean,
): number | undefined {
  const byKind = new Map<string, number[]>()
  for (const at of indexesOf(steps, isMeant)) {
    const { method, name = '' } = context.session.part.turns.summary(steps[at]?.item ?? -1)
    const kind = `${method} ${name}`
    byKind.set(kind, [...(byKind.get(kind) ?? []), at])
  }
  return pick(pick([...byKind.values()], context) ?? [], context)
}

function indexesOf(
  steps: readonly VariedStep[],
  isMeant: (step: VariedStep, at: number) => boolean,
): readonly number[] {
  return steps.flatMap((step, at) => (isMeant(step, at) ? [at] : []))
}

function pick<Item>(items: readonly Item[], { random }: Pick<VaryContext, 'random'>): Item | undefined {
  return items[Math.floor(random() * items.length)]
}

/** Such as `tools/call get_order (#12 on the tape)`. */
export function nameOf(step: Pick<VariedStep, 'item'>, context: Pick<VaryContext, 'session'>): string {
  const turn = context.session.part.turns.at(step.item)
  return `${callOf(step, context)}${turn === undefined ? '' : ` (${turnLabel(turn)} on the tape)`}`
}

/** Such as `tools/call get_order`. */
export function callOf(
  { item }: Pick<VariedStep, 'item'>,
  { session }: Pick<VaryContext, 'session'>,
): string {
  const message = session.part.turns.at(item)?.trigger?.message
  const method = message !== undefined && 'method' in message ? message.method : ''
  const target = message !== undefined && 'params' in message ? requestTarget(message.params) : undefined
  return target === undefined ? method : `${method} ${target}`
}

/** Every value that a caller chooses in a request. */
export function argumentPlaces(
  step: Pick<VariedStep, 'item'>,
  context: Pick<VaryContext, 'session'>,
): readonly ArgumentPlace[] {
  const given = argumentsOf(step, context)
  if (given === undefined) return []
  const { value, nodes } = given
  return typeof value === 'string'
    ? [{ path: [], value, nodes, recorded: [value] }]
    : placesIn(value, nodes, (inner) => recordedValues(step, inner, context))
}

/** The step with another value at a place of its arguments. */
export function stepWithValue(
  step: VariedStep,
  { path: inner, value: chosen }: { readonly path: JsonPath; readonly value: unknown },
  context: Pick<VaryContext, 'session'>,
): VariedStep {
  const given = argumentsOf(step, context)
  if (given === undefined) return step
  return { ...step, edit: { path: given.path, value: replaced(given.value, inner, chosen) } }
}

/** The name of a place in the arguments, as in reports. */
export function placeName(
  { item }: Pick<VariedStep, 'item'>,
  { path }: Pick<ArgumentPlace, 'path'>,
  context: Pick<VaryContext, 'session'>,
): string {
  return formatPath([...(argumentsOf({ item }, context)?.path.slice(1) ?? []), ...path])
}
