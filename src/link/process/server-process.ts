import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { ReelayError } from '../../errors.ts'
import { monotonicNow, sleep } from './monotonic-clock.ts'
import { ProcessFamily, signalChild } from './process-family.ts'

/** How a process ended: exactly one of the two is set. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server that runs as a child process and leads its own process group and session. */
export interface ServerProcess {
  readonly command: readonly string[]
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Undefined if the command could not be started. */
  readonly pid: number | undefined
  /** The server and what it started. Undefined if the command could not be started. */
  readonly family: ProcessFamily | undefined
  /** Ends the family if this process is killed. */
  readonly guard: KillGuard
  /** Rejects with the system's error if the command could not be started. */
  readonly exited: Promise<ProcessExit>
}

interface StartServerOptions {
  readonly cwd?: string | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** Signals of the user or the client that are meant for the server. */
export const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
]

/** Starts the server command with pipes. This file is loaded before the first spawn, so it must load very little. */
export async function startServer(
  command: readonly [string, ...string[]],
  { cwd, env }: StartServerOptions = {},
): Promise<ServerProcess> {
  const [file, ...args] = command
  const start = await loadSpawn()
  // The guard is started first, so that a server can be left behind only if we are killed between the next two calls.
  const guard = startKillGuard()
  // In its own group the server can be ended with its children, and Ctrl+C reaches it only once: through us.
  const detached = process.platform !== 'win32'
  const child = start(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached })
  const family = child.pid === undefined ? undefined : guard.watch(child.pid)
  if (family === undefined) guard.dismiss()
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  exited.catch(() => {}) // a rejection that is awaited later must not end the process now
  return { command, child, pid: child.pid, family, guard, exited }
}

/** On Windows npx and similar commands are .cmd files, which Node does not start by itself. */
export async function loadSpawn(): Promise<typeof spawn> {
  if (process.platform !== 'win32') return spawn
  return (await import('cross-spawn')).default as unknown as typeof spawn
}

/** Ends a server and what it started if this process dies without ending them. */
interface KillGuard {
  /** Sets the server, and keeps looking for processes that leave its group. */
  watch(pid: number): ProcessFamily
  dismiss(): void
}

/**
 * A client may end us with SIGKILL, which would have ended the server if the client had started it directly. The guard is a
 * shell that waits on a pipe. When we are gone, it gives the processes time to exit, and then sends SIGTERM and SIGKILL.
 */
function startKillGuard(): KillGuard {
  if (process.platform === 'win32') return { watch: (pid) => new ProcessFamily(pid), dismiss() {} }
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'reelay-guard'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: {},
  })
  guard.on('error', () => {}) // without a shell, only this last safety net is missing
  // There is no pipe if the process may not open that many files.
  const input: Writable | undefined = guard.stdin
  input?.on('error', () => {})
  guard.unref()
  let looking: NodeJS.Timeout | undefined
  return {
    watch: (pid) => {
      input?.write(`${pid}\n`)
      const family = new ProcessFamily(
        pid,
        (found, startedAt) => void input?.write(`${found} ${startedAt}\n`),
      )
      looking = setInterval(() => family.look(), LOOK_MS).unref()
      return family
    },
    dismiss: () => {
      clearInterval(looking)
      signalChild(guard, 'SIGKILL')
    },
  }
}

const LOOK_MS = 500

/** The first line of its input is the group. The others are processes that have left the group, with their start times. */
const GUARD_SCRIPT = `
PATH=/usr/bin:/bin
read group || exit 0
others=
while read pid started; do others="$others $pid:$started"; done
started() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
}
descendants() {
  for child in $(cat /proc/$1/task/*/children 2>/dev/null); do
    echo "$child:$(started "$child")"
    descendants "$child"
  done
}
others="$others $(descendants "$group")"
for other in $others; do others="$others $(descendants "\${other%:*}")"; done
living() {
  for other in $others; do
    [ "$(started "\${other%:*}")" = "\${other#*:}" ] && echo "\${other%:*}"
  done
}
leave() {
  tries=$1
  while [ "$tries" -gt 0 ]; do
    kill -0 "-$group" 2>/dev/null || [ -n "$(living)" ] || exit 0
    sleep 0.1
    tries=$((tries - 1))
  done
}
end() {
  kill "-$1" "-$group" 2>/dev/null
  for pid in $(living); do kill "-$1" "$pid" 2>/dev/null; done
}
leave 10
end TERM
leave 15
end KILL
`

/** Explains why a server did not start. */
export async function serverStartError({ command, exited }: ServerProcess): Promise<ReelayError> {
  const cause = await exited.then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  )
  if (/^https?:\/\//i.test(command[0] ?? '')) return urlAsCommand(command[0] ?? '', cause)
  return commandStartError(`the server command ${command[0]}`, cause)
}

function urlAsCommand(url: string, cause: unknown): ReelayError {
  return new ReelayError('COMMAND_NOT_FOUND', `${url} is a URL, and not a server command`, {
    hint: `for a server over HTTP: --url ${url}`,
    cause,
  })
}

/** Explains why a command did not start. */
export function commandStartError(what: string, cause: NodeJS.ErrnoException | undefined): ReelayError {
  const program = cause?.path ?? what
  if (cause?.code === 'ENOENT')
    return new ReelayError('COMMAND_NOT_FOUND', `${what} was not found`, {
      hint: missingCommandHint(program),
      cause,
    })
  return new ReelayError('COMMAND_NOT_RUNNABLE', `${what} could not be started: ${cause?.message}`, {
    hint: cause?.code === 'EACCES' ? notExecutableHint(program) : 'try to run it by hand in the same folder',
    cause,
  })
}

function missingCommandHint(program: string): string {
  if (/\s/.test(program) && !existsSync(program)) return `leave out the quotes around it: -- ${program}`
  if (/^\w+=/.test(program))
    return `to set a variable for the command, put env before it: -- env ${program} …`
  if (DATA_FILES.test(program) && isFile(program)) return DATA_FILE_HINT
  if (isFile(program) && !/[/\\]/.test(program))
    return `to start the file in this folder: ${startOf(program)}`
  if (SHELL_WORDS.includes(program)) return `${program} is a command of the shell: -- sh -c '${program} …'`
  const tool = LAUNCHERS[program]
  if (tool !== undefined) return `${program} is a part of ${tool}: install it, or check the PATH`
  if (program === 'python') return 'on many systems its name is python3'
  return 'check the spelling and the PATH; relative paths start at the folder you are in'
}

function notExecutableHint(program: string): string {
  if (DATA_FILES.test(program)) return DATA_FILE_HINT
  if (!isFile(program)) return 'it is not a program that can be run: check the command'
  return `it is not executable: ${SCRIPT_RUNNERS[extname(program)] === undefined ? `run chmod +x ${program}` : `start it with ${startOf(program)}`}`
}

/** What people put before a command in a shell. */
const SHELL_WORDS = ['cd', 'source', '.', 'export', 'alias', 'exec']

const LAUNCHERS: Readonly<Record<string, string>> = {
  npx: 'Node',
  uvx: 'uv (https://docs.astral.sh/uv)',
  uv: 'uv (https://docs.astral.sh/uv)',
  bunx: 'Bun (https://bun.sh)',
  docker: 'Docker',
  deno: 'Deno (https://deno.com)',
}

const DATA_FILES = /\.(json|jsonc|toml|ya?ml|md|txt)$/i
const DATA_FILE_HINT =
  'it is not a program: give the command that starts the server; reelay wrap edits the config of a client'

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function startOf(script: string): string {
  const runner = SCRIPT_RUNNERS[extname(script)]
  return runner === undefined ? `./${script}` : `${runner} ${script}`
}

const SCRIPT_RUNNERS: Readonly<Record<string, string>> = {
  '.js': 'node',
  '.cjs': 'node',
  '.mjs': 'node',
  '.py': 'python',
  '.sh': 'sh',
}

interface EndServerOptions {
  readonly family: ProcessFamily
  readonly exited: Promise<unknown>
  /** Whether the client is known to be gone. That it sends nothing more is not enough. */
  readonly isClientGone: () => boolean
  /** Whether the user is waiting. A busy server is then given little time to exit. */
  readonly isHurried?: boolean
  /** Whether the client has only probed the server, and kills it one second after SIGTERM. */
  readonly isProbeOver?: () => boolean
  /** Whether the server still has to send responses that the client may read. */
  readonly isServerBusy?: () => Promise<boolean>
  /** The time of the server's last output, in the milliseconds of `monotonicNow()`. */
  readonly lastOutputAt?: () => number
  readonly onSignal?: (signal: NodeJS.Signals) => void
}

const POLL_MS = 100
const GRACE_MS = { gone: 1000, hurried: 200, quiet: 2000, busy: 300_000, afterTerm: 1500 } as const

/**
 * Ends a server whose input was closed. Most servers then exit by themselves. One that does not is sent SIGTERM and then
 * SIGKILL, together with the processes that it started. Input may also end because a pipe ran out while its client is still
 * reading, so a server that still has to send responses is given time to send them.
 */
export async function endServer(options: EndServerOptions): Promise<void> {
  await waitForVoluntaryExit(options)
  if (!options.family.isAlive()) return
  signalServer(options, 'SIGTERM')
  await waitForExit(options, options.isProbeOver?.() === true ? GRACE_MS.hurried : GRACE_MS.afterTerm)
  if (options.family.isAlive()) signalServer(options, 'SIGKILL')
}

async function waitForVoluntaryExit(options: EndServerOptions): Promise<void> {
  const since = monotonicNow()
  const waitForNextPoll = pollUntilExit(options)
  while (options.family.isAlive() && !(await isGraceOver(options, since))) await waitForNextPoll()
}

async function isGraceOver(options: EndServerOptions, since: number): Promise<boolean> {
  const now = monotonicNow()
  if (options.isHurried === true || options.isProbeOver?.() === true) return now - since >= GRACE_MS.hurried
  if (options.isClientGone()) return now - since >= GRACE_MS.gone
  const silence = now - Math.max(since, options.lastOutputAt?.() ?? 0)
  if (silence < GRACE_MS.quiet) return false
  return silence >= GRACE_MS.busy || !(await options.isServerBusy?.())
}

async function waitForExit(options: EndServerOptions, limit: number): Promise<void> {
  const since = monotonicNow()
  const waitForNextPoll = pollUntilExit(options)
  while (options.family.isAlive() && monotonicNow() - since < limit) await waitForNextPoll()
}

/**
 * The exit of the server is an event, but the exit of its children can only be polled. No timer is left behind, because it would keep this
 * process alive.
 */
function pollUntilExit({ exited }: EndServerOptions): () => Promise<void> {
  let hasExited = false
  const exit = exited.then(
    () => void (hasExited = true),
    () => void (hasExited = true),
  )
  return async () => {
    if (hasExited) return sleep(POLL_MS / 10)
    let timer: NodeJS.Timeout | undefined
    const nextPoll = new Promise<void>((resolve) => void (timer = setTimeout(resolve, POLL_MS)))
    await Promise.race([exit, nextPoll])
    clearTimeout(timer)
  }
}

function signalServer({ family, onSignal }: EndServerOptions, signal: 'SIGTERM' | 'SIGKILL'): void {
  onSignal?.(signal)
  family.signal(signal)
}
