import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { fixtureServer, record, until } from '../support/recorder.ts'

test('a server that is started and stopped at once leaves a complete tape', async () => {
  const run = record(fixtureServer('answer-calls'))
  run.child.stdin.write(
    '{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{}}\n',
  )
  await run.line('probe')
  run.child.kill('SIGTERM')
  expect(await run.exited).toEqual({ code: null, signal: 'SIGTERM' })
  expect(await loadTape(run.tape)).toMatchObject({ ended: true, problems: [] })
})

test('the tape contains every message that was forwarded before the recorder was killed', async () => {
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
