import { TestTape, type UseTapeOptions } from './test-tape.ts'
import type { RunningTest } from './tape-path.ts'

/** The tapes that each running test has opened, until it ends. */
const openTapes = new Map<string, TestTape[]>()

/** How long the hook of a runner may take: a server may be slow to end. */
export const END_TIMEOUT_MS = 60_000

/** What a runner says about the test that runs; the rest is known here. */
export type KnownTest = Omit<RunningTest, 'nth'>

/** Opens one more tape of a test. `isFirst` says that the end of the test is not yet awaited. */
export async function openTapeOf(
  test: KnownTest,
  name: string | undefined,
  options: UseTapeOptions,
): Promise<TestTape> {
  const key = keyOf(test)
  const opened = openTapes.get(key) ?? []
  openTapes.set(key, opened)
  const nth = opened.length + 1
  const tape = await TestTape.open({ ...test, nth }, name, options)
  opened.push(tape)
  return tape
}

/** Finishes all tapes of a test. Throws the first difference after all are closed. */
export async function finishTapesOf(
  test: Pick<KnownTest, 'file' | 'names'>,
  hasPassed: boolean,
): Promise<void> {
  const key = keyOf(test)
  const opened = openTapes.get(key) ?? []
  openTapes.delete(key)
  const ends = await Promise.allSettled(opened.map((tape) => tape.finish(hasPassed)))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

function keyOf({ file, names }: Pick<KnownTest, 'file' | 'names'>): string {
  return JSON.stringify([file, ...names])
}

/** Tells apart `useTape(name, options)` and `useTape(options)`. */
export function readArgumentsOfUseTape<Options extends object>(
  first: string | Options | undefined,
  second: Options | undefined,
): { readonly name: string | undefined; readonly options: Options | Record<string, never> } {
  return typeof first === 'string'
    ? { name: first, options: second ?? {} }
    : { name: undefined, options: first ?? {} }
}
