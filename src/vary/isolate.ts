import { isObject } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'
import { isPlainlyOk } from '../protocol/outcome.ts'
import { seededRandom } from '../seeded-random.ts'
import { partsOf } from '../schemas/schema-parts.ts'
import { type FailingSession, readFailingSession } from '../shrink/failing-session.ts'
import { SESSION_MARKS } from '../shrink/isolation.ts'
import type { Failure } from '../shrink/watch.ts'
import type { Tape } from '../store/file/read.ts'
import { placesIn } from './odd-values.ts'
import { argumentsOf } from './operators.ts'
import { SessionRunner, type RunnerOptions } from './session-runner.ts'
import { nothingToSend, resultOf, type VaryResult } from './vary.ts'
import type { VariedStep } from './varied-session.ts'

export interface IsolateOptions extends RunnerOptions {
  readonly tape: Tape
  readonly server?: string | undefined
  readonly bindings?: string | undefined
  readonly seed: number
  /** How many random orders are tried after the fixed ones. */
  readonly rounds: number
  /** Tools and methods whose results all sessions may see. */
  readonly shared: readonly string[]
}

/**
 * Plays a session twice at the same time, as two users, and looks for values of one in what the server sends to the other. Texts that the
 * client may choose freely get a mark, so that it is known whose they are.
 */
export async function isolateTape(options: IsolateOptions): Promise<VaryResult> {
  const { seed, rounds, signal, shared } = options
  const session = await readFailingSession(options.tape, options)
  const runner = new SessionRunner(session, options)
  try {
    const { items, marks } = await calibrate(session, runner)
    const both = sessionsOf(items, session, marks)
    const random = seededRandom(seed)
    const orders = [
      ...ORDERS,
      ...Array.from({ length: rounds }, () => ({
        name: 'both sessions in a random order',
        order: (pair: SessionPair) => shuffled(pair, random),
      })),
    ]
    const isIgnored = ({ call }: Failure): boolean => shared.some((name) => call.split(' ').includes(name))
    let stopped: VaryResult['stopped'] = 'runs'
    for (const [at, { name, order }] of orders.entries()) {
      if (signal.aborted) stopped = 'interrupted'
      if (stopped !== 'runs') break
      await runner.tryOut({
        steps: order(both),
        variation: [name],
        run: at + 1,
        oracles: ['isolation'],
        isIgnored,
      })
    }
    return resultOf(runner, { seed, stopped })
  } finally {
    runner.close()
  }
}

/** The same session as two users play it. */
interface SessionPair {
  readonly first: readonly VariedStep[]
  readonly second: readonly VariedStep[]
  /** What the second client asks for with the values that the server generated for the first one. */
  readonly crossed: readonly VariedStep[]
  /** What both clients ask for with values that the server has never generated, each with its own. */
  readonly unknown: readonly VariedStep[]
}

/** The orders in which the messages of both sessions are sent. */
const ORDERS: readonly {
  readonly name: string
  readonly order: (pair: SessionPair) => readonly VariedStep[]
}[] = [
  { name: 'both sessions in turns', order: ({ first, second }) => inTurns(first, second) },
  {
    name: 'both sessions at the same time',
    order: ({ first, second }) =>
      inTurns(first, second).map((step) => (step.session === SECOND ? { ...step, isTogether: true } : step)),
  },
  { name: 'one session after the other', order: ({ first, second }) => [...first, ...second] },
  {
    name: 'both sessions in turns, then values of the other one',
    order: ({ first, second, crossed }) => [...inTurns(first, second), ...crossed],
  },
  {
    name: 'both sessions in turns, then unknown values',
    order: ({ first, second, unknown }) => [...inTurns(first, second), ...unknown],
  },
  { name: 'values of the other session at once', order: crossedEarly },
]

const FIRST = 1
const SECOND = 2

/** The call of the first client is followed by the same call of the second one with the values of the first. */
function crossedEarly({ first, second, crossed }: SessionPair): readonly VariedStep[] {
  return first.flatMap((step, at) => [
    step,
    ...(second[at] === undefined ? [] : [second[at]]),
    ...crossed.filter(({ item }) => item === step.item),
  ])
}

function inTurns(first: readonly VariedStep[], second: readonly VariedStep[]): readonly VariedStep[] {
  return first.flatMap((step, at) => [step, ...(second[at] === undefined ? [] : [second[at]])])
}

function shuffled({ first, second }: SessionPair, random: () => number): readonly VariedStep[] {
  const steps: VariedStep[] = []
  let [one, other] = [0, 0]
  while (one < first.length || other < second.length) {
    const isFirst = other >= second.length || (one < first.length && random() < 0.5)
    const step = isFirst ? first[one++] : second[other++]
    if (step !== undefined) steps.push(random() < 0.4 ? { ...step, isTogether: true } : step)
  }
  return steps
}

function sessionsOf(
  items: readonly number[],
  session: FailingSession,
  marks: ReadonlySet<string>,
): SessionPair {
  const stepsOf = (number: number): readonly VariedStep[] =>
    items.map((item) => ({ item, session: number, edit: markedArguments(item, session, { marks, number }) }))
  const [first, second] = [stepsOf(FIRST), stepsOf(SECOND)]
  const consumers = new Set(
    session.bindings.bindings.flatMap(({ producer, consumers: all }) =>
      producer.kind === 'message' ? all.map(({ turn }) => turn) : [],
    ),
  )
  const crossed = second
    .filter(({ item }) => consumers.has(item))
    .map((step): VariedStep => ({ ...step, valuesOf: FIRST }))
  const unknown = items
    .filter((item) => consumers.has(item))
    .flatMap((item) => [FIRST, SECOND].flatMap((number) => unknownStep(item, number, session) ?? []))
  return { first, second, crossed, unknown }
}

/** A call with values that look like those of the server, and are different in each session. */
function unknownStep(item: number, number: number, session: FailingSession): VariedStep | undefined {
  const given = argumentsOf({ item }, { session })
  if (given === undefined) return undefined
  const carried = new Set(
    session.bindings.bindings.flatMap(({ value, consumers }) =>
      consumers.some(({ turn }) => turn === item) ? [value] : [],
    ),
  )
  const other = (value: unknown): unknown => {
    if (typeof value === 'string' && carried.has(value))
      return value.replaceAll(/\d/g, (digit) => String((Number(digit) + number) % 10))
    if (Array.isArray(value)) return value.map(other)
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, other(each)]))
      : value
  }
  return {
    item,
    session: number,
    hasStaleValues: true,
    edit: { path: given.path, value: other(given.value) },
  }
}

/** Finds the messages that can be sent, and the texts that can be marked without changing how calls end. */
async function calibrate(
  session: FailingSession,
  runner: SessionRunner,
): Promise<{ readonly items: readonly number[]; readonly marks: ReadonlySet<string> }> {
  let marks = markableTexts(session)
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const unsent = new Set<number>()
    const failed = new Set<number>()
    await runner.tryOut({
      steps: session.items.map((item) => ({
        item,
        edit: markedArguments(item, session, { marks, number: FIRST }),
      })),
      variation: ['one session alone'],
      run: 0,
      oracles: [],
      onStep: ({ item }, { state, answer, recordedAnswer, sent }) => {
        if (state === 'held' || state === 'unbound' || state === 'skipped') unsent.add(item)
        const wasFine = recordedAnswer === undefined || isPlainlyOk(recordedAnswer)
        if (sent !== undefined && wasFine && answer !== undefined && !isPlainlyOk(answer)) failed.add(item)
      },
    })
    const items = session.items.filter((item) => !unsent.has(item))
    if (items.length === 0) throw nothingToSend(runner.held)
    const refused = new Set([...failed].flatMap((item) => textsIn(item, session).map(({ text }) => text)))
    const kept = new Set([...marks].filter((text) => !refused.has(text)))
    if (kept.size === marks.size || attempt === MOST_ATTEMPTS - 1) return { items, marks: kept }
    marks = kept
  }
  return { items: session.items, marks: new Set() }
}

const MOST_ATTEMPTS = 3

/** A text in the arguments of a call. */
interface ArgumentText {
  readonly text: string
  readonly path: JsonPath
  /** It can be any text: nothing in the schema, the bindings or its form says otherwise. */
  readonly isFree: boolean
}

/** Texts that are free wherever they are used, and that no server has sent before. */
function markableTexts(session: FailingSession): ReadonlySet<string> {
  const free = new Set<string>()
  const fixed = new Set<string>()
  let received = ''
  for (const item of session.items) {
    for (const { text, isFree } of textsIn(item, session)) {
      if (free.has(text)) continue
      if (isFree && !received.includes(text)) free.add(text)
      else fixed.add(text)
    }
    received += session.part.turns.at(item)?.response?.text ?? ''
  }
  for (const item of session.items)
    for (const { text, isFree } of textsIn(item, session)) if (!isFree) fixed.add(text)
  return new Set([...free].filter((text) => !fixed.has(text)))
}

function textsIn(item: number, session: FailingSession): readonly ArgumentText[] {
  const given = argumentsOf({ item }, { session })
  if (given === undefined || !isObject(given.value)) return []
  const carried = session.bindings.bindings.flatMap(({ consumers }) =>
    consumers.filter(({ turn }) => turn === item).map(({ path }) => path.join('.')),
  )
  return placesIn(given.value, given.nodes, () => []).flatMap(({ path, value, nodes }) => {
    if (typeof value !== 'string') return []
    const isCarried = carried.includes([...given.path, ...path].join('.'))
    const isLimited = partsOf(nodes).parts.some(({ schema }) =>
      ['enum', 'const', 'format', 'pattern', 'anyOf', 'oneOf'].some((keyword) => keyword in schema),
    )
    const longest = Math.min(
      ...partsOf(nodes).parts.map(({ schema }) =>
        typeof schema['maxLength'] === 'number' ? schema['maxLength'] : Infinity,
      ),
    )
    const isFree = !isCarried && !isLimited && looksFree(value) && value.length + MARK_LENGTH <= longest
    return [{ text: value, path, isFree }]
  })
}

/** No path, URL, number, date, address or name with a fixed form. */
function looksFree(text: string): boolean {
  return /^[\p{L}][\p{L}\p{N} ,.!?'()-]{1,300}$/u.test(text) && !/^[\p{L}\p{N}]*\d[\p{L}\p{N}-]*$/u.test(text)
}

/** The arguments with the marks of a session; `undefined` if they have none. */
function markedArguments(
  item: number,
  session: FailingSession,
  { marks, number }: { readonly marks: ReadonlySet<string>; readonly number: number },
): VariedStep['edit'] {
  const given = argumentsOf({ item }, { session })
  if (given === undefined || !isObject(given.value)) return undefined
  let isMarked = false
  const marked = (value: unknown): unknown => {
    if (typeof value === 'string' && marks.has(value)) {
      isMarked = true
      return `${SESSION_MARKS[number - 1]} ${value}`
    }
    if (Array.isArray(value)) return value.map(marked)
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, marked(each)]))
      : value
  }
  const value = marked(given.value)
  return isMarked ? { path: given.path, value } : undefined
}

const MARK_LENGTH = Math.max(...SESSION_MARKS.map(({ length }) => length + 1))
