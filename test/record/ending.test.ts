import { expect, test } from 'vitest'
import { fixtureServer, isAlive, linesOf, record } from '../support/recorder.ts'

test('a signal that ends a wrapper also ends the processes that it started, even if a request is still open', async () => {
  const run = record(['/bin/sh', '-c', '"$@"; true', 'sh', ...fixtureServer('stay-whatever-happens')])
  const { pids } = JSON.parse(await run.line('pids')) as { pids: number[] }
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"never-answered"}\n')
  run.child.kill('SIGTERM')
  expect(await run.exited).toEqual({ code: null, signal: 'SIGTERM' })
  expect(pids.some(isAlive)).toBe(false)
})

test('a cancelled request is not waited for when the input ends', async () => {
  const run = record(fixtureServer('stay-whatever-happens'))
  await run.line('pids')
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"slow"}\n')
  run.child.stdin.end('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
  expect((await run.exited).signal).toBe('SIGKILL')
})

test('if the client only closes its side, the server is ended step by step', async () => {
  const run = record(fixtureServer('stay-whatever-happens'))
  const { pids } = JSON.parse(await run.line('pids')) as { pids: number[] }
  run.child.stdin.end()
  expect((await run.exited).signal).toBe('SIGKILL')
  expect(pids.some(isAlive)).toBe(false)
})

test('a server that exits when its input ends gets no signal', async () => {
  const run = record(fixtureServer('answer-calls'))
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
  expect(await run.exited).toEqual({ code: 0, signal: null })
  expect(linesOf(run.tape).filter(({ event }) => event === 'signal')).toEqual([])
})

test('a server that still has to send a response when the input ends is given time for it', async () => {
  const run = record(fixtureServer('answer-late'))
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"slow"}\n')
  expect(await run.exited).toEqual({ code: 0, signal: null })
  expect(run.stdout().toString()).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
})
