import { isDeepStrictEqual } from 'node:util'
import { ReelayError } from '../errors.ts'
import { isObject, member, parseJson, type JsonObject } from '../json/parse.ts'
import { parsePath, valueAtPath, type PathPattern } from '../json/path.ts'
import type { LiveClient } from '../replay/session/live-client.ts'
import { whyPatternIsSlow } from '../redact/slow-patterns.ts'

/** Calls of tools, what is expected of their results, and values that later calls use. */
export interface Scenario {
  readonly steps: readonly ScenarioStep[]
}

interface ScenarioStep {
  readonly call: string
  readonly args: JsonObject
  readonly expect: readonly Expectation[]
  /** Names of values in the result, for `${name}` in the arguments of later calls. */
  readonly capture: readonly Capture[]
}

interface Expectation {
  readonly path: string
  readonly pattern: PathPattern
  readonly check: (value: unknown) => boolean
  /** What the value has to be, in words. */
  readonly wanted: string
}

interface Capture {
  readonly name: string
  readonly path: string
  readonly pattern: PathPattern
}

/** Checks the parsed text of a scenario file. */
export function readScenario(value: unknown, file: string): Scenario {
  const steps = member(value, 'steps')
  if (!Array.isArray(steps) || steps.length === 0) throw invalid(file, 'it has no list "steps"')
  return { steps: steps.map((step: unknown, at) => readStep(step, `${file}, step ${at + 1}`)) }
}

function readStep(step: unknown, where: string): ScenarioStep {
  if (!isObject(step)) throw invalid(where, 'it is not an object')
  const unknown = Object.keys(step).find((key) => !STEP_KEYS.includes(key))
  if (unknown !== undefined) throw invalid(where, `there is no key ${unknown}; use ${STEP_KEYS.join(', ')}`)
  const { call, args = {}, expect = {}, capture = {} } = step
  if (typeof call !== 'string') throw invalid(where, '"call" has to name a tool')
  if (!isObject(args)) throw invalid(where, '"args" has to be an object')
  if (!isObject(expect)) throw invalid(where, '"expect" has to be an object of paths and values')
  if (!isObject(capture)) throw invalid(where, '"capture" has to be an object of names and paths')
  return {
    call,
    args,
    expect: Object.entries(expect).map(([path, wanted]) => readExpectation(path, wanted, where)),
    capture: Object.entries(capture).map(([name, path]) => {
      if (typeof path !== 'string' || !/^\w+$/.test(name))
        throw invalid(where, `"capture" needs names and paths, as in id: structuredContent.id`)
      return { name, path, pattern: parsePath(path) }
    }),
  }
}

const STEP_KEYS = ['call', 'args', 'expect', 'capture']

function readExpectation(path: string, wanted: unknown, where: string): Expectation {
  const pattern = parsePath(path)
  const [only, ...others] = isObject(wanted) ? Object.keys(wanted) : []
  const operand = only === undefined ? undefined : member(wanted, only)
  if (others.length === 0 && only === 'type' && typeof operand === 'string')
    return { path, pattern, check: (value) => typeOf(value) === operand, wanted: `of type ${operand}` }
  if (others.length === 0 && only === 'contains' && typeof operand === 'string')
    return {
      path,
      pattern,
      check: (value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).includes(operand),
      wanted: `with ${JSON.stringify(operand)}`,
    }
  if (others.length === 0 && only === 'matches' && typeof operand === 'string') {
    const expression = readPattern(operand, where)
    return { path, pattern, check: (value) => expression.test(String(value)), wanted: `like /${operand}/` }
  }
  return {
    path,
    pattern,
    check: (value) => isDeepStrictEqual(value, wanted),
    wanted: JSON.stringify(wanted),
  }
}

function readPattern(source: string, where: string): RegExp {
  let pattern: RegExp
  try {
    pattern = new RegExp(source, 'u')
  } catch (error) {
    throw invalid(where, error instanceof Error ? error.message : 'a pattern is invalid')
  }
  const slow = whyPatternIsSlow(pattern)
  if (slow !== undefined) throw invalid(where, `the pattern /${source}/ could take forever: ${slow}`)
  return pattern
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function invalid(where: string, why: string): ReelayError {
  return new ReelayError('USAGE', `${where} is invalid: ${why}`, { hint: 'see docs/reference/scenario.md' })
}

/** One call of a scenario, and what was not as expected. */
export interface StepResult {
  readonly step: number
  readonly call: string
  readonly args: JsonObject
  readonly duration: number
  readonly problems: readonly string[]
  readonly result?: unknown
  readonly error?: unknown
}

/** Makes the calls one after the other. A problem does not stop it, but a call whose values are missing is not made. */
export async function* runScenario(client: LiveClient, { steps }: Scenario): AsyncGenerator<StepResult> {
  const captured = new Map<string, unknown>()
  for (const [at, { call, args, expect, capture }] of steps.entries()) {
    const missing = namesIn(args).filter((name) => !captured.has(name))
    if (missing.length > 0) {
      const why = `not called: no earlier call has captured ${missing.join(', ')}`
      yield { step: at + 1, call, args, duration: 0, problems: [why] }
      continue
    }
    const sent = filledIn(args, captured) as JsonObject
    const began = performance.now()
    const outcome = await client.request('tools/call', { name: call, arguments: sent })
    const duration = performance.now() - began
    const result = 'result' in outcome ? outcome.result : undefined
    const problems = [...unexpectedFailure(outcome, expect), ...checkResult(result, expect)]
    for (const { name, path, pattern } of capture) {
      const value = resultValue(result, pattern)
      if (value === undefined) problems.push(`nothing to capture as ${name} at ${path}`)
      else captured.set(name, value)
    }
    yield { step: at + 1, call, args: sent, duration, problems, ...outcome }
  }
}

/** A failure is a problem unless the scenario says what to expect of `isError`. */
function unexpectedFailure(outcome: object, expect: readonly Expectation[]): readonly string[] {
  if ('error' in outcome) {
    const { error } = outcome
    return [`answered with error ${String(member(error, 'code'))}: ${String(member(error, 'message'))}`]
  }
  if (expect.some(({ path }) => path === 'isError')) return []
  const text = textOf(member(outcome, 'result'))
  return member(member(outcome, 'result'), 'isError') === true ? [`failed: ${text}`] : []
}

function checkResult(result: unknown, expect: readonly Expectation[]): readonly string[] {
  return expect.flatMap(({ path, pattern, check, wanted }) => {
    const value = path === 'isError' ? isError(result) : resultValue(result, pattern)
    return check(value) ? [] : [`${path} is ${JSON.stringify(value) ?? 'missing'}, expected ${wanted}`]
  })
}

/** `text` is the text of the whole content, and `text.order.id` a value in a text that is JSON. */
function resultValue(result: unknown, [first, ...rest]: PathPattern): unknown {
  if (first !== 'text') return valueAtPath(result, first === undefined ? [] : [first, ...rest])
  const text = textOf(result)
  return rest.length === 0 ? text : valueAtPath(parseJson(text), rest)
}

function isError(result: unknown): boolean {
  return member(result, 'isError') === true
}

/** All texts of a result, one under the other. */
function textOf(result: unknown): string {
  const content = member(result, 'content')
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((item) => (typeof member(item, 'text') === 'string' ? [member(item, 'text')] : []))
    .join('\n')
}

const PLACE = /\$\{(\w+)\}/g

function namesIn(value: unknown): readonly string[] {
  return [...JSON.stringify(value).matchAll(PLACE)].map(([, name = '']) => name)
}

/** `"${id}"` alone becomes the captured value itself; inside a longer text it becomes text. */
function filledIn(value: unknown, captured: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => filledIn(item, captured))
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filledIn(each, captured)]))
  if (typeof value !== 'string') return value
  const whole = /^\$\{(\w+)\}$/.exec(value)?.[1]
  if (whole !== undefined) return captured.get(whole)
  return value.replace(PLACE, (_, name: string) => String(captured.get(name)))
}
