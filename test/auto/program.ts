import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { start } from '../support/recorder.ts'

export const AUTO: string = pathToFileURL(resolve('dist/lib/auto.js')).href
/** Answers with a ticket that it makes up, so that an answer from the tape cannot be mistaken for a live one. */
export const WEATHER: readonly string[] = [process.execPath, resolve('test/fixtures/weather/server.mjs')]
const NO_OUTSIDE = ['--require', resolve('test/fixtures/preload/no-outside.cjs')]

export const weatherIn = (...cities: string[]): Order => ({
  command: WEATHER,
  calls: cities.map((city) => ({ name: 'weather', arguments: { city } })),
})

/** A server that a program starts, and what it calls there. */
export interface Order {
  readonly command: readonly string[]
  readonly calls: readonly { readonly name: string; readonly arguments: object }[]
  readonly env?: Record<string, string>
}

export interface ProgramRun {
  readonly orders: readonly Order[]
  readonly env: Record<string, string>
  /** Whatever would start a process or open a socket ends the program with exit code 99. */
  readonly sealed?: boolean
  readonly flags?: readonly string[]
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program that knows nothing of Reelay, as `node --import reelay/auto` would. */
export async function runProgram(name: string, run: ProgramRun): Promise<Ended> {
  const { orders, env, sealed = false, flags = [] } = run
  const node = [process.execPath, ...(sealed ? NO_OUTSIDE : []), '--import', AUTO]
  return ended([...node, resolve('test/fixtures/programs', name), JSON.stringify(orders), ...flags], env)
}

export async function ended(
  command: readonly string[],
  env: Record<string, string>,
  { cwd }: { readonly cwd?: string } = {},
): Promise<Ended> {
  const program = start(command, {
    env: { PATH: process.env['PATH'], ...env },
    ...(cwd !== undefined && { cwd }),
  })
  program.child.stdin.end()
  const { code } = await program.exited
  return { code, stdout: program.stdout().toString(), stderr: program.stderr() }
}
