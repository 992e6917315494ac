import { usageInTest } from './tape-difference.ts'
import { finishTapesOf, openTapeOf, readArgumentsOfUseTape, type KnownTest } from './running-test.ts'
import type { TestTape, UseTapeOptions } from './test-tape.ts'

export { expectTape } from './matchers.ts'
export { TapeDifferenceError } from './tape-difference.ts'
export type { TapeMode } from './tape-mode.ts'
export type { LiveServer, TapeCommand, TestTape, UseTapeOptions } from './test-tape.ts'
export type { SessionCall } from './session-calls.ts'
export type { TapeMatchers } from './matchers.ts'

/** The part of the context of a test that is used here. */
interface NodeTestContext {
  readonly name: string
  readonly fullName?: string
  readonly filePath?: string | undefined
  readonly passed?: boolean
  after(hook: () => Promise<void>): void
}

export interface NodeTapeOptions extends UseTapeOptions {
  /** The context of the test: the first argument of its function. */
  readonly test: NodeTestContext
}

/**
 * Records what the test does with an MCP server, and replays it from then on.
 *
 * @example
 * const tape = await useTape('triage', { test, live: { command: 'node', args: ['server.js'] } })
 * await client.connect(await tape.transport())
 */
export function useTape(name: string, options: NodeTapeOptions): Promise<TestTape>
export function useTape(options: NodeTapeOptions): Promise<TestTape>
export async function useTape(first: string | NodeTapeOptions, second?: NodeTapeOptions): Promise<TestTape> {
  const { name, options } = readArgumentsOfUseTape<NodeTapeOptions>(first, second)
  const { test: context, ...rest } = options
  if (typeof context?.after !== 'function')
    throw usageInTest(
      'useTape needs the context of the test',
      "write test('…', async (test) => { const tape = await useTape('…', { test, … }) })",
    )
  const test: KnownTest = {
    file: context.filePath ?? process.argv[1] ?? 'test',
    names: (context.fullName ?? context.name).split(' > '),
    isUpdating: process.execArgv.includes('--test-update-snapshots'),
    update: 'node --test --test-update-snapshots (Node 22.3 or newer), or REELAY_MODE=update',
  }
  context.after(() => finishTapesOf(test, context.passed !== false))
  return openTapeOf(test, name, rest)
}
