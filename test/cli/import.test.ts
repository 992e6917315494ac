import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ReplaySession } from '../../src/serve/session/replay-session.ts'
import { RecordingIndex } from '../../src/match/recording-index.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'

const foreign = (name: string): string => resolve('test/fixtures/foreign', name)

test('bare messages become a tape that plays, each with the side that sent it and the bytes that it had', async () => {
  const { tape, code, err } = await imported(foreign('orders.mcp.jsonl'))
  expect(code).toBe(0)
  expect(err).toContain('note: skipped 1 entries that are not single JSON-RPC messages')
  const { turns, strays } = await loadTape(tape)
  expect(strays).toEqual([])
  expect(turns.map(({ trigger, steps }) => [trigger?.message.kind, steps.map(({ kind }) => kind)])).toEqual([
    ['request', ['respond']],
    ['notification', ['ask']],
    ['request', ['notify', 'respond']],
  ])
  expect(turns[2]?.trigger?.text).toContain('"price": 30.0')
  const session = new ReplaySession(await loadTape(tape))
  const answer = await session.callTool({ name: 'total', arguments: { price: 30 } })
  expect(answer).toEqual({ content: [{ type: 'text', text: '30.00' }] })
})

test('the index is built from what shadow import --format mcp wrote: every call of it is found', async () => {
  const { tape, code } = await imported(foreign('orders.agentlog'))
  expect(code).toBe(0)
  const index = new RecordingIndex((await loadTape(tape)).turns)
  const answers = [
    { method: 'tools/list' },
    { method: 'resources/read', params: { uri: 'note://1' } },
    { method: 'prompts/get', params: { name: 'x' } },
    { method: 'tools/call', params: { name: 'search', arguments: { q: 'milk' } } },
    { method: 'tools/call', params: { name: 'search', arguments: { q: 'none' } } },
  ].map((asked) => index.answer({ server: 'imported', ...asked }))
  expect(answers).toEqual([
    { result: { tools: [{ name: 'search', description: 'finds', inputSchema: { type: 'object' } }] } },
    { result: { contents: [] } },
    { error: { code: -32602, message: 'no such prompt' } },
    { result: { content: [{ type: 'text', text: 'found' }] } },
    { result: { content: [{ type: 'text', text: 'nothing' }], isError: true } },
  ])
  expect(index.unconsumedKeys()).toEqual([])
})

test.each([
  ['an array', (lines: readonly string[]) => `[${lines.join(',\n')}]`],
  ['an array under messages', (lines: readonly string[]) => `{"session":"x","messages":[${lines.join()}]}`],
])('messages in %s are read too', async (_, written) => {
  const lines = readFileSync(foreign('orders.mcp.jsonl'), 'utf8').trim().split('\n').slice(0, -1)
  const file = join(temporaryFolder(), 'session.json')
  writeFileSync(file, written(lines))
  const { tape } = await imported(file)
  expect((await loadTape(tape)).turns).toHaveLength(3)
})

test('secrets get stand-ins on the way', async () => {
  const file = join(temporaryFolder(), 'secret.jsonl')
  const secret = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xLrUoI'].join('_')
  writeFileSync(file, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"token":"${secret}"}}\n`)
  const { tape } = await imported(file)
  expect(readFileSync(tape, 'utf8')).not.toContain(secret)
})

test.each([
  ['text', 'hello', [], 3, /the format of the file is not recognised/],
  ['text', '{"a":1}', ['--format', 'mcp'], 3, /contains no JSON-RPC message/],
  ['records', '{"kind":"metadata","payload":{}}', ['--format', 'agentlog'], 3, /contain no call/],
  ['text', '[]', ['--format', 'nonsense'], 2, /unknown format "nonsense"/],
])('%s that is no recording is refused: %j %j', async (_, content, options, exit, message) => {
  const file = join(temporaryFolder(), 'odd.txt')
  writeFileSync(file, content)
  const { code, err } = await imported(file, ...options)
  expect(code).toBe(exit)
  expect(err).toMatch(message)
})

async function imported(
  file: string,
  ...options: readonly string[]
): Promise<{ tape: string; code: number | null; err: string }> {
  const tape = join(temporaryFolder(), 'out.tape.jsonl')
  const env = { ...process.env, REELAY_HOME: temporaryFolder() }
  const run = start([process.execPath, REELAY, 'import', file, '-o', tape, ...options], { env })
  const { code } = await run.exited
  return { tape, code, err: run.stderr() }
}
