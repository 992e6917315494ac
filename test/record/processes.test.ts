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
  await Promise.all([0, 1, 2, 3, 5, 8, 13, 40].map(killSoonAfterStart))
}, 60_000)

async function killSoonAfterStart(delay: number): Promise<void> {
  const file = join(temporaryFolder(), 'pid')
  const script = 'trap "" TERM HUP INT; echo $$ > "$1.tmp"; mv "$1.tmp" "$1"; while :; do sleep 1; done'
  const run = record(['/bin/sh', '-c', script, 'sh', file])
  await until(() => existsSync(file) && existsSync(run.tape))
  await sleep(delay)
  run.child.kill('SIGKILL')
  await until(() => !isAlive(Number(readFileSync(file, 'utf8'))))
  expect(run.child.killed).toBe(true)
}

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
