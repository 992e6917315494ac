import { usageInTest } from './tape-difference.ts'
import { member } from '../json/parse.ts'
import { TAPE_MATCHERS, type TapeMatchers } from './matchers.ts'
import {
  END_TIMEOUT_MS,
  finishTapesOf,
  openTapeOf,
  readArgumentsOfUseTape,
  type KnownTest,
} from './running-test.ts'
import type { TestTape, UseTapeOptions } from './test-tape.ts'

export { TapeDifferenceError } from './tape-difference.ts'
export type { TapeMode } from './tape-mode.ts'
export type { LiveServer, TapeCommand, TestTape, UseTapeOptions } from './test-tape.ts'
export type { SessionCall } from './session-calls.ts'
export type { TapeMatchers } from './matchers.ts'

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Jest declares its matchers in a namespace
  namespace jest {
    interface Matchers<R> extends TapeMatchers<R> {}
  }
}

/** The globals of Jest that are used here. */
interface JestGlobals {
  readonly expect: { extend(matchers: object): void; getState(): object }
  readonly afterEach: (hook: () => Promise<void>, timeout: number) => void
  readonly afterAll: (hook: () => Promise<void>, timeout: number) => void
}

const { expect, afterEach, afterAll } = jestGlobals()
expect.extend(TAPE_MATCHERS)
afterEach(async () => {
  const test = runningTest()
  if (test !== undefined) await finishTapesOf(test, !hasFailed())
}, END_TIMEOUT_MS)

/** Concurrent tests that have opened a tape. Jest runs no hook at their ends, so they are finished after the last one. */
const concurrentTests = new Map<unknown, KnownTest>()
afterAll(async () => {
  const ends = await Promise.allSettled(
    [...concurrentTests].map(([identity, test]) => finishTapesOf(test, errorsOf(identity)?.length === 0)),
  )
  concurrentTests.clear()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}, END_TIMEOUT_MS)

/**
 * Records what the test does with an MCP server, and replays it from then on.
 *
 * @example
 * const tape = await useTape('triage', { live: { command: 'node', args: ['server.js'] } })
 * await client.connect(await tape.transport())
 */
export function useTape(name: string, options?: UseTapeOptions): Promise<TestTape>
export function useTape(options?: UseTapeOptions): Promise<TestTape>
export async function useTape(first?: string | UseTapeOptions, second?: UseTapeOptions): Promise<TestTape> {
  const { name, options } = readArgumentsOfUseTape<UseTapeOptions>(first, second)
  const test = runningTest()
  if (test === undefined)
    throw usageInTest(
      'useTape was called outside a test',
      'call it in a test; test.concurrent needs Jest 30, which says which test is running',
    )
  const identity = testIdentity()
  if (member(identity, 'concurrent') === true) concurrentTests.set(identity, test)
  return openTapeOf(test, name, options)
}

function jestGlobals(): JestGlobals {
  const given = globalThis as unknown as Partial<JestGlobals>
  if (given.expect !== undefined && given.afterEach !== undefined && given.afterAll !== undefined)
    return given as JestGlobals
  throw usageInTest(
    'reelay/jest was imported outside Jest, or Jest injects no globals',
    'import it in a test file, and leave injectGlobals of the Jest config on',
  )
}

function runningTest(): KnownTest | undefined {
  const state = expect.getState()
  // Several concurrent tests run at a time; Jest 30 knows which of them has called this.
  const own = called(member(state, 'currentConcurrentTestName'))
  const [testPath, name] = [member(state, 'testPath'), own ?? member(state, 'currentTestName')]
  if (typeof testPath !== 'string' || typeof name !== 'string') return undefined
  const isUpdating = member(member(state, 'snapshotState'), '_updateSnapshot') === 'all'
  return { file: testPath, names: [name], isUpdating, update: 'jest -u' }
}

/** Whether the test that calls this has failed. Earlier versions of Jest keep that in a global of its test runner, under a symbol. */
function hasFailed(): boolean {
  const own = errorsOf(testIdentity())
  if (own !== undefined) return own.length > 0
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (symbol.description !== 'JEST_STATE_SYMBOL') continue
    const state: unknown = Reflect.get(globalThis, symbol)
    const errors = member(member(state, 'currentlyRunningTest'), 'errors')
    if (Array.isArray(errors)) return errors.length > 0
  }
  const suppressed = member(expect.getState(), 'suppressedErrors')
  return Array.isArray(suppressed) && suppressed.length > 0
}

/** The entry of the running test in the test runner, from Jest 30 on. */
function testIdentity(): unknown {
  return called(member(expect.getState(), 'currentTestIdentity'))
}

function errorsOf(identity: unknown): readonly unknown[] | undefined {
  const errors = member(identity, 'errors')
  return Array.isArray(errors) ? errors : undefined
}

function called(value: unknown): unknown {
  return typeof value === 'function' ? Reflect.apply(value, undefined, []) : undefined
}
