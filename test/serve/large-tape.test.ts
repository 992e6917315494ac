import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ServeProcess } from './serve-process.ts'
import { tapeFile } from './tape-file.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

const LONG = 'x'.repeat(10_000)
const CALLS = 900

test('a large tape is served from its file, with the index that is made now and with the one that was left', async () => {
  const tape = tapeFile(...HANDSHAKE, ...calls(), ...progressing())
  const first = await ask(tape)
  expect(existsSync(`${tape}.idx`)).toBe(true)
  expect(first.lines).toEqual([
    `{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"answer 450 ${LONG}"}]}}`,
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}}',
    '{"jsonrpc":"2.0","id":"b","result":{"content":[{"type":"text","text":"slow"}]}}',
    expect.stringContaining('"replay_miss"'),
  ])
  expect(first.stderr).toContain(`reelay serve: ${tape}, ${CALLS + 2} exchanges, legacy 2025-11-25`)
  expect(first.stderr).toContain(`2 requests answered, 1 miss, ${CALLS - 1} left over`)
  expect(first.stderr).toContain('not requested: #2 tools/call get {"n":0}')
  expect(await ask(tape)).toEqual(first)
})

test('what is ignored on a large tape is looked for in every call of it', async () => {
  const tape = tapeFile(...HANDSHAKE, ...calls())
  const serve = new ServeProcess([tape, '--ignore', 'params.arguments.n'])
  serve.say(callOf(1, 'get', { n: -1 }))
  const [answer] = await serve.heard(1)
  expect(answer).toContain('"answer 0 ')
  await serve.end()
})

async function ask(tape: string): Promise<Awaited<ReturnType<ServeProcess['end']>>> {
  const serve = new ServeProcess([tape])
  serve.say(callOf('a', 'get', { n: 450 }))
  await serve.heard(1)
  const params = { name: 'slow', arguments: {}, _meta: { progressToken: 'mine' } }
  serve.say({ id: 'b', method: 'tools/call', params })
  await serve.heard(3)
  serve.say(callOf('c', 'get', { n: -1 }))
  await serve.heard(4)
  return serve.end()
}

function calls(): readonly Said[] {
  return Array.from({ length: CALLS }, (_, n) => call(n + 1, 'get', { n }, `answer ${n} ${LONG}`)).flat()
}

function progressing(): readonly Said[] {
  const params = { name: 'slow', arguments: {}, _meta: { progressToken: 5 } }
  return [
    client({ id: 5000, method: 'tools/call', params }),
    server({ method: 'notifications/progress', params: { progressToken: 5, progress: 1 } }),
    server(answerOf(5000, 'slow')),
  ]
}
