import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

export const REELAY: string = resolve('dist/cli/main.js')

export const fixtureServer = (name: string, ...args: string[]): string[] => [
  process.execPath,
  resolve('test/fixtures/servers', `${name}.mjs`),
  ...args,
]

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reelay-test-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  readonly stdout: () => Buffer
  readonly stderr: () => string
  /** Resolves with a line of stdout that holds this text. */
  readonly line: (text: string) => Promise<string>
}

/** Starts a program as a client would, and collects what it says. */
export function start(
  command: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Running {
  const [file = '', ...args] = command
  const child = spawn(file, args, options)
  onTestFinished(() => void child.kill('SIGKILL'))
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin.on('error', () => {}) // the other side may leave first
  const stdout = (): Buffer => Buffer.concat(out)
  const stderr = (): string => Buffer.concat(err).toString()
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) =>
    child.on('close', (code, signal) => done({ code, signal })),
  )
  const line = (text: string): Promise<string> =>
    new Promise((found, lost) => {
      const gone = (): void => lost(new Error(`"${text}" was never said; stderr: ${stderr()}`))
      const look = (): void => {
        const lines = stdout().toString().split('\n').slice(0, -1)
        const hit = lines.findLast((each) => each.includes(text))
        if (hit === undefined) return
        child.stdout.off('data', look)
        child.off('close', gone)
        found(hit)
      }
      child.stdout.on('data', look)
      child.on('close', gone)
      look()
    })
  return { child, exited, stdout, stderr, line }
}

export interface RecordedRun extends Running {
  readonly tape: string
}

/** Starts `reelay record` in front of a server command, with a tape in a folder of its own. */
export function record(
  server: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; options?: readonly string[] } = {},
): RecordedRun {
  const tape = join(temporaryFolder(), 'tapes', 'session.tape.jsonl')
  const command = [
    process.execPath,
    REELAY,
    'record',
    '-o',
    tape,
    ...(options.options ?? []),
    '--',
    ...server,
  ]
  return { tape, ...start(command, options) }
}

/** The frames of a tape as plain objects, header first. */
export function linesOf(tape: string): Record<string, unknown>[] {
  const lines = readFileSync(tape, 'utf8').split('\n')
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** The most memory that a process ever used, in MiB, where the system tells. */
export function peakMemory({ child }: Running): number {
  if (process.platform !== 'linux') return 0
  const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

/** Ended, and only waiting for whoever adopted it to notice. */
function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false // no /proc here, or gone by now
  }
}

/** Waits for something to become true; the test's own time limit ends the wait. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolveLater) => setTimeout(resolveLater, 20))
}
