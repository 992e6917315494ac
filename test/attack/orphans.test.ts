import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { ProcessFamily } from '../../src/link/process/process-family.ts'
import {
  fixtureServer,
  isAlive,
  record,
  type RecordedRun,
  temporaryFolder,
  until,
} from '../support/recorder.ts'

/** The recorder looks for processes of its server every half second. */
const LOOK_MS = 1500

const isLinux = process.platform === 'linux'

/** Ways to start a helper beside a server. `$1` is the file for its pid, and the rest is the server. */
const WRAPPERS = {
  nohup: 'nohup sleep 300 >/dev/null 2>&1 & echo $! > "$1.new"; mv "$1.new" "$1"; shift; exec "$@"',
  setsid: 'setsid sleep 300 >/dev/null 2>&1 & echo $! > "$1.new"; mv "$1.new" "$1"; shift; exec "$@"',
  'its own group':
    'set -m; sleep 300 >/dev/null 2>&1 & echo $! > "$1.new"; mv "$1.new" "$1"; shift; exec "$@"',
  'a wrapper that stays':
    'setsid sleep 300 >/dev/null 2>&1 & echo $! > "$1.new"; mv "$1.new" "$1"; shift; "$@"; true',
}

const ENDS: Record<string, (run: RecordedRun, server: number) => void> = {
  'the client closes its input': (run) => void run.child.stdin.end(),
  'the recorder gets SIGTERM': (run) => void run.child.kill('SIGTERM'),
  'the recorder gets SIGKILL': (run) => void run.child.kill('SIGKILL'),
}

const CASES = Object.keys(WRAPPERS).flatMap((wrapper) =>
  Object.keys(ENDS).map((end) => [wrapper, end] as const),
)

async function startWithHelper(
  wrapper: keyof typeof WRAPPERS,
): Promise<{ run: RecordedRun; helper: number; server: number }> {
  const file = join(temporaryFolder(), 'pid')
  const run = record(['/bin/sh', '-c', WRAPPERS[wrapper], 'sh', file, ...fixtureServer('answer-calls')])
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
  await run.line('"result"')
  await until(() => existsSync(file))
  const helper = Number(readFileSync(file, 'utf8'))
  onTestFinished(() => void (isAlive(helper) && process.kill(helper, 'SIGKILL')))
  const start = readFileSync(run.tape, 'utf8').match(/"event":"start","pid":(\d+)/)
  return { run, helper, server: Number(start?.[1]) }
}

test.runIf(isLinux)(
  'a helper that a server leaves behind is ended with the session',
  async () => {
    await Promise.all(
      CASES.map(async ([wrapper, end]) => {
        const { run, helper, server } = await startWithHelper(wrapper as keyof typeof WRAPPERS)
        expect(isAlive(helper)).toBe(true)
        await sleep(LOOK_MS) // until then, a helper that leaves its session is not known
        ENDS[end]?.(run, server)
        await until(() => !isAlive(helper) && !isAlive(server))
        await run.exited
      }),
    )
  },
  60_000,
)

test.skipIf(process.platform === 'win32')('a helper of a server that was killed is ended too', async () => {
  const { run, helper, server } = await startWithHelper('nohup')
  process.kill(server, 'SIGKILL')
  expect(await run.exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect(isAlive(helper)).toBe(false)
})

test.runIf(isLinux)('a helper in its own session is still known after its parent has ended', async () => {
  const script = 'setsid sleep 300 >/dev/null 2>&1 & echo $!; exec sleep 300'
  const server = spawn('/bin/sh', ['-c', script], { detached: true })
  const stranger = spawn('sleep', ['300'], { detached: true })
  onTestFinished(() => void stranger.kill('SIGKILL'))
  const helper = await new Promise<number>((found) =>
    server.stdout.once('data', (chunk) => found(Number(chunk))),
  )
  const seen: number[] = []
  const family = new ProcessFamily(server.pid!, (pid) => seen.push(pid))
  await until(() => {
    family.look()
    return seen.includes(helper)
  })
  server.kill('SIGKILL')
  await new Promise((gone) => server.once('exit', gone))
  expect(family.isAlive()).toBe(true)
  family.signal('SIGKILL')
  await until(() => !isAlive(helper))
  expect(family.isAlive()).toBe(false)
  expect(isAlive(stranger.pid!)).toBe(true)
})
