import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import {
  fixtureServer,
  isAlive,
  linesOf,
  record,
  REELAY,
  start,
  temporaryFolder,
  until,
} from '../support/recorder.ts'

const client = [process.execPath, resolve('test/fixtures/clients/start-and-wait.mjs')]

interface Stubborn {
  readonly tape: string
  readonly pids: readonly number[]
}

/** A client, the recorder, and a server with a child that stay whatever happens. */
async function startStubborn(
  wrap: (server: string[]) => string[],
): Promise<Stubborn & { client: ReturnType<typeof start> }> {
  const tape = join(temporaryFolder(), 'x.tape.jsonl')
  const server = wrap(fixtureServer('stay-whatever-happens'))
  const run = start([...client, process.execPath, REELAY, 'record', '-q', '-o', tape, '--', ...server])
  const { recorder } = JSON.parse(await run.line('recorder')) as { recorder: number }
  const { pids } = JSON.parse(await run.line('pids')) as { pids: number[] }
  return { client: run, tape, pids: [recorder, ...pids] }
}

const wrappers: [string, (server: string[]) => string[]][] = [
  ['started directly', (server) => server],
  ['behind sh -c', (server) => ['/bin/sh', '-c', '"$@"; true', 'sh', ...server]],
  ['behind npx', (server) => ['npx', '--no', '--', ...server]],
]

test.each(wrappers)('a client killed with SIGKILL leaves no process, the server %s', async (_, wrap) => {
  const { client: run, pids, tape } = await startStubborn(wrap)
  run.child.kill('SIGKILL')
  await until(() => !pids.some(isAlive))
  const signals = linesOf(tape).filter(({ event }) => event === 'signal')
  expect(signals.map(({ signal, by }) => [signal, by])).toEqual([
    ['SIGTERM', 'reelay'],
    ['SIGKILL', 'reelay'],
  ])
  expect((await loadTape(tape)).ended).toBe(true)
})

test.each(wrappers)('a recorder killed with SIGKILL leaves no process, the server %s', async (_, wrap) => {
  const { pids, tape } = await startStubborn(wrap)
  process.kill(pids[0]!, 'SIGKILL')
  await until(() => !pids.some(isAlive))
  expect(await loadTape(tape)).toMatchObject({ ended: false, problems: [] })
})

test('a recorder killed with SIGKILL right after its start leaves no server either, not even a stubborn one', async () => {
  for (const delay of [0, 1, 2, 3, 5, 8, 13, 40]) {
    const file = join(temporaryFolder(), 'pid')
    const script = 'trap "" TERM HUP INT; echo $$ > "$1.tmp"; mv "$1.tmp" "$1"; while :; do sleep 1; done'
    const run = record(['/bin/sh', '-c', script, 'sh', file])
    await until(() => existsSync(file) && existsSync(run.tape))
    await sleep(delay)
    run.child.kill('SIGKILL')
    await until(() => !isAlive(Number(readFileSync(file, 'utf8'))))
    expect(run.child.killed).toBe(true)
  }
}, 60_000)

test('a client that is killed while the server does not read leaves no process', async () => {
  const flood = [process.execPath, resolve('test/fixtures/clients/flood-and-wait.mjs')]
  const tape = join(temporaryFolder(), 'x.tape.jsonl')
  const run = start([
    ...flood,
    process.execPath,
    REELAY,
    'record',
    '-q',
    '-o',
    tape,
    '--',
    ...fixtureServer('read-nothing'),
  ])
  const { recorder } = JSON.parse(await run.line('recorder')) as { recorder: number }
  const { pid } = JSON.parse(await run.line('pid')) as { pid: number }
  run.child.kill('SIGKILL')
  await until(() => ![recorder, pid].some(isAlive))
  expect(await loadTape(tape)).toMatchObject({ ended: true })
})

test('a signal that ends a wrapper ends what it started, though a request is still open', async () => {
  const run = record(['/bin/sh', '-c', '"$@"; true', 'sh', ...fixtureServer('stay-whatever-happens')])
  const { pids } = JSON.parse(await run.line('pids')) as { pids: number[] }
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"never-answered"}\n')
  run.child.kill('SIGTERM')
  expect(await run.exited).toEqual({ code: null, signal: 'SIGTERM' })
  expect(pids.some(isAlive)).toBe(false)
})

test('a request that the client took back is not waited for when the input ends', async () => {
  const run = record(fixtureServer('stay-whatever-happens'))
  await run.line('pids')
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"slow"}\n')
  run.child.stdin.end('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
  expect((await run.exited).signal).toBe('SIGKILL')
})

test('a client that only closes its end gets the server ended, step by step', async () => {
  const run = record(fixtureServer('stay-whatever-happens'))
  const { pids } = JSON.parse(await run.line('pids')) as { pids: number[] }
  run.child.stdin.end()
  expect((await run.exited).signal).toBe('SIGKILL')
  expect(pids.some(isAlive)).toBe(false)
})

test('a server that ends itself when its input ends is not hurried', async () => {
  const run = record(fixtureServer('answer-calls'))
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
  expect(await run.exited).toEqual({ code: 0, signal: null })
  expect(linesOf(run.tape).filter(({ event }) => event === 'signal')).toEqual([])
})

test('a server that still owes an answer when the input ends is left to give it', async () => {
  const run = record(fixtureServer('answer-late'))
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"slow"}\n')
  expect(await run.exited).toEqual({ code: 0, signal: null })
  expect(run.stdout().toString()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
})

test('a server started and stopped at once, as a probe does, leaves a tape that is whole', async () => {
  const run = record(fixtureServer('answer-calls'))
  run.child.stdin.write(
    '{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{}}\n',
  )
  await run.line('probe')
  run.child.kill('SIGTERM')
  expect(await run.exited).toEqual({ code: null, signal: 'SIGTERM' })
  expect(await loadTape(run.tape)).toMatchObject({ ended: true, problems: [] })
})

test('the tape holds every message that crossed before the recorder was killed', async () => {
  const calls = 300
  const run = record(fixtureServer('answer-calls'))
  for (let id = 0; id < calls; id++) {
    run.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"m","params":[${id}]}\n`)
    await run.line(`"id":${id},`)
  }
  run.child.kill('SIGKILL')
  await run.exited
  const tape = await loadTape(run.tape)
  expect(tape.problems).toEqual([])
  expect(tape.turns.filter(({ response }) => response !== undefined)).toHaveLength(calls)
})

test('a client that does not read makes the server wait, not the recorder grow', async () => {
  const run = record(fixtureServer('pour-out', '30000'), { options: ['-q'] })
  run.child.stdout.pause()
  const linesWritten = (): number => run.stderr().split('\n').length - 1
  await until(() => linesWritten() > 0)
  let written = 0
  while (written !== linesWritten()) {
    written = linesWritten()
    await sleep(500)
  }
  expect(written).toBeLessThan(300)
  expect(residentMegabytes(run.child.pid!)).toBeLessThan(200)
  run.child.stdout.resume()
  run.child.stdin.end()
  await run.exited
  expect(run.stdout().length).toBeGreaterThan(299_000_000)
})

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

test('64 messages of 1 MB in flight both ways do not deadlock', async () => {
  const run = record(fixtureServer('echo-bytes'))
  const line = `{"jsonrpc":"2.0","method":"m","params":"${'x'.repeat(1_000_000)}"}\n`
  for (let sent = 0; sent < 64; sent++) run.child.stdin.write(line)
  run.child.stdin.end()
  expect((await run.exited).code).toBe(0)
  expect(run.stdout().length).toBe(64 * line.length)
})
