import { isObject, member } from '../json/parse.ts'
import { describeRequest } from '../match/describe-request.ts'
import { escapeControlChars } from '../text.ts'
import { usageInTest } from './tape-difference.ts'
import type { SessionCall } from './session-calls.ts'
import type { TestTape } from './test-tape.ts'

/** Checks of the requests that a test has sent. */
export interface TapeMatchers<Returned = void> {
  /** The tool was called. Arguments that are given have to be equal; other arguments of the call do not matter. */
  toHaveCalled(tool: string, args?: object): Returned
  /** The tool was called this often. */
  toHaveCalledTimes(tool: string, times: number): Returned
  /** These tools were called in this order. Other calls between them do not matter. */
  toHaveCalledInOrder(tools: readonly string[]): Returned
  /** No request was answered with an error, and no tool with `isError`. */
  toHaveNoErrors(): Returned
  /** Every call was answered within this many milliseconds; with a tool, every call of it. */
  toRespondWithin(milliseconds: number, tool?: string): Returned
}

interface MatcherResult {
  readonly pass: boolean
  readonly message: () => string
  readonly expected?: unknown
  readonly actual?: unknown
}

// oxlint-disable-next-line typescript/no-explicit-any -- the type that `expect.extend` of the runners asks for
type Matcher = (received: unknown, ...args: any[]) => MatcherResult

/** The matchers in the form of `expect.extend`, which Vitest, Jest and Playwright share. */
export const TAPE_MATCHERS: Readonly<Record<keyof TapeMatchers, Matcher>> = {
  toHaveCalled: (received: unknown, tool: string, args?: object) => {
    const calls = callsOf(received).filter((call) => call.tool === tool)
    const pass = calls.some((call) => args === undefined || includes(call.args, args))
    const wanted = args === undefined ? tool : `${tool} ${JSON.stringify(args, namedMatcher)}`
    return {
      pass,
      message: () => explain(received, pass, `call ${wanted}`),
      ...(args !== undefined && { expected: args, actual: calls.map((call) => call.args) }),
    }
  },
  toHaveCalledTimes: (received: unknown, tool: string, times: number) => {
    const count = callsOf(received).filter((call) => call.tool === tool).length
    const pass = count === times
    return {
      pass,
      message: () => explain(received, pass, `call ${tool} ${times} times, and it was called ${count} times`),
      expected: times,
      actual: count,
    }
  },
  toHaveCalledInOrder: (received: unknown, tools: readonly string[]) => {
    const called = callsOf(received).flatMap((call) => (call.tool === undefined ? [] : [call.tool]))
    let at = 0
    for (const tool of called) if (tool === tools[at]) at++
    const pass = at === tools.length
    return {
      pass,
      message: () => explain(received, pass, `call ${tools.join(', then ')}`),
      expected: tools,
      actual: called,
    }
  },
  toHaveNoErrors: (received: unknown) => {
    const failed = callsOf(received).filter(isFailed)
    const pass = failed.length === 0
    return { pass, message: () => explain(received, pass, 'get no errors', failed) }
  },
  toRespondWithin: (received: unknown, milliseconds: number, tool?: string) => {
    const calls = callsOf(received).filter((call) => tool === undefined || call.tool === tool)
    const slow = calls.filter(({ duration = Infinity }) => duration > milliseconds)
    const pass = slow.length === 0
    return {
      pass,
      message: () => explain(received, pass, `get every response within ${milliseconds} ms`, slow),
    }
  },
}

/** The matchers for runners without `expect`, such as node:test. A check that fails throws an `AssertionError`. */
export function expectTape(tape: TestTape): TapeMatchers {
  const check = (matcher: keyof TapeMatchers, ...args: readonly unknown[]): void => {
    const { pass, message, expected, actual } = TAPE_MATCHERS[matcher](tape, ...args)
    if (pass) return
    const { AssertionError } = process.getBuiltinModule('node:assert')
    throw new AssertionError({ message: message(), expected, actual, operator: matcher })
  }
  return {
    toHaveCalled: (tool, args) => check('toHaveCalled', tool, args),
    toHaveCalledTimes: (tool, times) => check('toHaveCalledTimes', tool, times),
    toHaveCalledInOrder: (tools) => check('toHaveCalledInOrder', tools),
    toHaveNoErrors: () => check('toHaveNoErrors'),
    toRespondWithin: (milliseconds, tool) => check('toRespondWithin', milliseconds, tool),
  }
}

function callsOf(received: unknown): readonly SessionCall[] {
  const calls: unknown = typeof received === 'object' && received !== null && Reflect.get(received, 'calls')
  if (Array.isArray(calls)) return calls as readonly SessionCall[]
  throw usageInTest(
    'this matcher checks a tape of useTape',
    "write expect(tape).toHaveCalled('search'), with the tape that useTape has returned",
  )
}

function isFailed({ result, error }: SessionCall): boolean {
  return error !== undefined || member(result, 'isError') === true
}

/** Says what was expected, and lists the calls, or those of them that matter. */
function explain(
  received: unknown,
  pass: boolean,
  what: string,
  calls: readonly SessionCall[] = callsOf(received),
): string {
  const lines = calls.slice(0, MOST_LISTED).map((call) => `  ${escapeControlChars(callText(call))}`)
  const more = calls.length > MOST_LISTED ? [`  … and ${calls.length - MOST_LISTED} more`] : []
  const list =
    lines.length === 0
      ? ['  there were no calls over tape.transport(); those of tape.url() and tape.command() are not seen']
      : [...lines, ...more]
  return [`expected the session ${pass ? 'not ' : ''}to ${what}; its calls:`, ...list].join('\n')
}

const MOST_LISTED = 30

function callText(call: SessionCall): string {
  const { method, params, error, duration } = call
  const time = duration === undefined ? 'not answered' : `${duration.toFixed(1)} ms`
  const message = member(error, 'message')
  const failure =
    error === undefined ? (isFailed(call) ? ', isError' : '') : `, error: ${String(message).slice(0, 200)}`
  return `${describeRequest({ method, params }, 100)}   ${time}${failure}`
}

/** Everything in `expected` is in `actual`: members of objects, items of lists by index. Asymmetric matchers decide themselves. */
function includes(actual: unknown, expected: unknown): boolean {
  if (isAsymmetric(expected)) return Boolean(expected.asymmetricMatch(actual))
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, at) => includes(actual[at], item))
    )
  if (isObject(expected))
    return (
      isObject(actual) && Object.entries(expected).every(([name, value]) => includes(actual[name], value))
    )
  return Object.is(actual, expected)
}

/** A matcher such as `expect.any(String)`. Its methods are those of its class. */
interface AsymmetricMatcher {
  asymmetricMatch(actual: unknown): unknown
  toAsymmetricMatcher?(): string
  toString(): string
}

function isAsymmetric(value: unknown): value is AsymmetricMatcher {
  return (
    typeof value === 'object' && value !== null && typeof Reflect.get(value, 'asymmetricMatch') === 'function'
  )
}

/** Shows a matcher by its name. */
function namedMatcher(_key: string, value: unknown): unknown {
  if (!isAsymmetric(value)) return value
  const sample: unknown = Reflect.get(value, 'sample')
  return value.toAsymmetricMatcher?.() ?? `${value.toString()} ${String(sample)}`
}
