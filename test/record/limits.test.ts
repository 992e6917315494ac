import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { member } from '../../src/json/parse.ts'
import { fixtureServer, linesOf, record, until, type RecordedRun } from '../support/recorder.ts'

/** Makes calls one after the other, so that the tape grows message by message, then ends the session. */
async function call(run: RecordedRun, methods: readonly string[], size = 100): Promise<void> {
  for (const [id, method] of methods.entries()) {
    run.child.stdin.write(
      `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":["${'x'.repeat(size)}"]}\n`,
    )
    await run.line(`"id":${id},`)
  }
  run.child.stdin.end()
  await run.exited
}

const messagesOf = (tape: string): unknown[] =>
  linesOf(tape).flatMap(({ msg }) => (msg === undefined ? [] : [msg]))
const tapesBeside = (tape: string): string[] => readdirSync(dirname(tape)).toSorted()

test('--max-messages ends the tape and reports it, and the session continues', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['--max-messages', '4'] })
  await call(run, ['a', 'b', 'c', 'd'])
  expect(messagesOf(run.tape)).toHaveLength(4)
  expect(linesOf(run.tape).at(-2)).toMatchObject({ event: 'limit', limit: 'max-messages' })
  expect(await loadTape(run.tape)).toMatchObject({ ended: true, problems: [] })
  expect(run.stdout().toString().trim().split('\n')).toHaveLength(4)
  expect(run.stderr()).toMatch(
    /recorded 7 frames to .*, up to the limit of --max-messages; the session went on\nreelay: next, serve it .*\n$/,
  )
})

test('--max-size with --rotate starts a new tape, and no message is lost between them', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['--max-size', '1', '--rotate'] })
  await call(
    run,
    Array.from({ length: 110 }, () => 'm'),
    10_000,
  )
  expect(tapesBeside(run.tape)).toEqual([
    'session-2.tape.jsonl',
    'session-3.tape.jsonl',
    'session.tape.jsonl',
  ])
  const tapes = ['', '-2', '-3'].map((copy) => run.tape.replace('session.', `session${copy}.`))
  expect(tapes.flatMap((tape) => messagesOf(tape))).toHaveLength(220)
  for (const tape of tapes) expect(await loadTape(tape)).toMatchObject({ ended: true, problems: [] })
  expect(run.stderr()).toMatch(
    /recorded \d+ frames to 3 tapes, the last one .*session-3\.tape\.jsonl\nreelay: next, serve it .*\n$/,
  )
})

test('each tape of --rotate has the handshake, and can be served alone', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['--max-messages', '3', '--rotate'] })
  await call(run, ['initialize', 'ping', 'a', 'b'])
  const tapes = ['', '-2', '-3'].map((copy) => run.tape.replace('session.', `session${copy}.`))
  const methods = await Promise.all(
    tapes.map(async (tape) => {
      const { turns, problems } = await loadTape(tape)
      expect(problems).toEqual([])
      return turns.map(({ trigger, response }) => [
        trigger && member(trigger.message, 'method'),
        response !== undefined,
      ])
    }),
  )
  expect(methods.map((each) => each[0])).toEqual([
    ['initialize', true],
    ['initialize', true],
    ['initialize', true],
  ])
  expect(linesOf(tapes[1] ?? '').slice(1, 4)).toMatchObject([
    { event: 'continued', frames: 2 },
    { dir: 'c2s', msg: { id: 0, method: 'initialize' } },
    { dir: 's2c', msg: { id: 0 } },
  ])
})

test('--idle ends the tape of an idle session, not the session', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['--idle', '1'] })
  run.child.stdin.write('{"jsonrpc":"2.0","id":7,"method":"before"}\n')
  await run.line('"id":7,')
  await until(() => linesOf(run.tape).at(-1)?.['event'] === 'end')
  expect(linesOf(run.tape).at(-2)).toMatchObject({ event: 'limit', limit: 'idle' })
  await call(run, ['after'])
  expect(messagesOf(run.tape)).toHaveLength(2)
})

test('--only and --skip select by method; a response follows its request, and the handshake is always recorded', async () => {
  const run = record(fixtureServer('answer-calls'), {
    options: ['--only', 'tools/*,ping', '--skip', 'tools/list'],
  })
  await call(run, ['initialize', 'tools/list', 'tools/call', 'resources/read', 'ping'])
  const taped = linesOf(run.tape).flatMap(({ msg }) =>
    msg === undefined ? [] : [(msg as { id: number }).id],
  )
  expect(taped).toEqual([0, 0, 2, 2, 4, 4])
  expect((await loadTape(run.tape)).problems).toEqual([])
  expect(run.stdout().toString().trim().split('\n')).toHaveLength(5)
})

test('--pending reports a request that has had no response for a time, and the session continues', async () => {
  const run = record(fixtureServer('read-nothing'), { options: ['--pending', '1'] })
  run.child.stdin.write('{"jsonrpc":"2.0","id":"a","method":"tools/call"}\n')
  await until(() => run.stderr().includes('reelay: tools/call (id "a") has had no response for 1 s'))
  expect(linesOf(run.tape).at(-1)).toMatchObject({
    event: 'pending',
    conn: 1,
    dir: 'c2s',
    id: 'a',
    method: 'tools/call',
    ms: 1000,
  })
  expect(run.child.exitCode).toBeNull()
})
