import { TAPE_MATCHERS } from './matchers.ts'
import { finishTapesOf, openTapeOf, readArgumentsOfUseTape, type KnownTest } from './running-test.ts'
import type { TestTape, UseTapeOptions } from './test-tape.ts'

export { TapeDifferenceError } from './tape-difference.ts'
export type { TapeMode } from './tape-mode.ts'
export type { LiveServer, TapeCommand, TestTape, UseTapeOptions } from './test-tape.ts'
export type { SessionCall } from './session-calls.ts'
export type { TapeMatchers } from './matchers.ts'

/** Matchers for `expect.extend` of Playwright. */
export const tapeMatchers: typeof TAPE_MATCHERS = TAPE_MATCHERS

/** Opens a tape of the test: `useTape('triage', { live })`, or `useTape({ live })` for one named after the test. */
export interface UseTape {
  (name: string, options?: UseTapeOptions): Promise<TestTape>
  (options?: UseTapeOptions): Promise<TestTape>
}

/** The part of Playwright's `TestInfo` that is used here. */
interface PlaywrightTestInfo {
  readonly file: string
  readonly titlePath: readonly string[]
  readonly status?: string | undefined
  readonly errors: readonly unknown[]
  readonly config: { readonly updateSnapshots: string }
}

/**
 * A fixture that records what a test does with MCP servers, and replays it from then on.
 *
 * @example
 * const test = base.extend(tapeFixtures)
 * test('triage', async ({ useTape }) => {
 *   const tape = await useTape('triage', { live: { command: 'node', args: ['server.js'] } })
 * })
 */
export const tapeFixtures: {
  readonly useTape: (
    fixtures: object,
    use: (value: UseTape) => Promise<void>,
    testInfo: PlaywrightTestInfo,
  ) => Promise<void>
} = {
  // Playwright reads the names of other fixtures from the source of this function.
  // oxlint-disable-next-line no-empty-pattern
  useTape: async ({}, use, testInfo) => {
    const test = testOf(testInfo)
    await use((first?: string | UseTapeOptions, second?: UseTapeOptions) => {
      const { name, options } = readArgumentsOfUseTape<UseTapeOptions>(first, second)
      return openTapeOf(test, name, options)
    })
    const { errors, status = 'passed' } = testInfo
    await finishTapesOf(test, errors.length === 0 && status === 'passed')
  },
}

/** `--update-snapshots` alone means `changed`; without it, the value is `missing`. */
function testOf({ file, titlePath, config: { updateSnapshots } }: PlaywrightTestInfo): KnownTest {
  return {
    file,
    names: titlePath.slice(1), // the first is the file
    isUpdating: updateSnapshots === 'all' || updateSnapshots === 'changed',
    update: 'playwright test -u',
  }
}
