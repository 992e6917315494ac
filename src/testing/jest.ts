import { usageInTest } from './tape-difference.ts'
import { isObject, member } from '../json/parse.ts'
import { TAPE_MATCHERS, type TapeMatchers } from './matchers.ts'
import { finishTapesOf, openTapeOf, readArgumentsOfUseTape, type KnownTest } from './running-test.ts'
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
  readonly afterEach: (hook: () => Promise<void>) => void
}

const { expect, afterEach } = jestGlobals()
expect.extend(TAPE_MATCHERS)
afterEach(async () => {
  const test = runningTest()
  if (test !== undefined) await finishTapesOf(test, !hasFailed())
})

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
      'call it in a test; test.concurrent is not supported, because Jest does not say which test is running',
    )
  return openTapeOf(test, name, options)
}

function jestGlobals(): JestGlobals {
  const { expect: found, afterEach: hook } = globalThis as unknown as Partial<JestGlobals>
  if (found !== undefined && hook !== undefined) return { expect: found, afterEach: hook }
  throw usageInTest(
    'reelay/jest was imported outside Jest, or Jest injects no globals',
    'import it in a test file, and leave injectGlobals of the Jest config on',
  )
}

function runningTest(): KnownTest | undefined {
  const state = expect.getState()
  const [testPath, name] = [member(state, 'testPath'), member(state, 'currentTestName')]
  if (typeof testPath !== 'string' || typeof name !== 'string') return undefined
  const isUpdating = member(member(state, 'snapshotState'), '_updateSnapshot') === 'all'
  return { file: testPath, names: [name], isUpdating, update: 'jest -u' }
}

/** Whether the current test has failed. Jest keeps that in a global of its test runner, under a symbol. */
function hasFailed(): boolean {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (symbol.description !== 'JEST_STATE_SYMBOL') continue
    const state: unknown = Reflect.get(globalThis, symbol)
    const errors = member(member(state, 'currentlyRunningTest'), 'errors')
    if (Array.isArray(errors)) return errors.length > 0
  }
  const suppressed = member(expect.getState(), 'suppressedErrors')
  return !isObject(suppressed) && Array.isArray(suppressed) && suppressed.length > 0
}
