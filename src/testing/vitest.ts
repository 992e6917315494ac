import { expect, onTestFinished, TestRunner, type TestContext } from 'vitest'
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

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-explicit-any -- the type parameters have to be those of Vitest
  interface Matchers<T = any> extends TapeMatchers<T> {}
}

expect.extend(TAPE_MATCHERS)

export interface VitestTapeOptions extends UseTapeOptions {
  /** The context of the test. Concurrent tests need it, because Vitest does not say which of them is running. */
  readonly test?: Pick<TestContext, 'task' | 'onTestFinished'>
}

/**
 * Records what the test does with an MCP server, and replays it from then on.
 *
 * @example
 * const tape = await useTape('triage', { live: { command: 'node', args: ['server.js'] } })
 * await client.connect(await tape.transport())
 */
export function useTape(name: string, options?: VitestTapeOptions): Promise<TestTape>
export function useTape(options?: VitestTapeOptions): Promise<TestTape>
export async function useTape(
  first?: string | VitestTapeOptions,
  second?: VitestTapeOptions,
): Promise<TestTape> {
  const { name, options } = readArgumentsOfUseTape<VitestTapeOptions>(first, second)
  const { test: context, ...rest } = options
  const test = context === undefined ? runningTest() : testOf(context.task)
  const finished = context === undefined ? onTestFinished : context.onTestFinished
  // Registered before the tape is opened, because afterwards another test may be the current one.
  finished(
    ({ task }) => finishTapesOf(test, !['fail', 'skip'].includes(task.result?.state ?? '')),
    END_TIMEOUT_MS,
  )
  return openTapeOf(test, name, rest)
}

function runningTest(): KnownTest {
  const { currentTestName, testPath } = expect.getState()
  if (currentTestName === undefined || testPath === undefined)
    throw usageInTest(
      'useTape was called outside a test',
      'call it in a test; in a hook, pass { test } with the context of the test',
    )
  const task: unknown = TestRunner.getCurrentTest()
  if (member(task, 'concurrent') === true)
    throw usageInTest(
      'useTape needs the context of a concurrent test',
      "write test.concurrent('…', async (test) => { const tape = await useTape('…', { test, … }) })",
    )
  return { file: testPath, names: currentTestName.split(' > '), ...updating() }
}

function testOf(task: TestContext['task']): KnownTest {
  const names: string[] = [task.name]
  for (let { suite } = task; suite !== undefined; { suite } = suite) names.unshift(suite.name)
  return { file: task.file.filepath, names, ...updating() }
}

function updating(): Pick<KnownTest, 'isUpdating' | 'update'> {
  // Vitest has no public way to ask for `-u`.
  const state: unknown = expect.getState().snapshotState
  return { isUpdating: member(state, '_updateSnapshot') === 'all', update: 'vitest -u' }
}
