import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { askThrough, forward } from '../support/forward.ts'
import { ask, httpServer, post, recordUrl, startRecorder, type Listener } from '../support/http.ts'
import { linesOf, until } from '../support/recorder.ts'

const messagesOf = (lines: readonly Record<string, unknown>[]): unknown[] =>
  lines.flatMap(({ msg }) => (msg === undefined ? [] : [msg]))
const methodsOf = (lines: readonly Record<string, unknown>[]): unknown[] =>
  messagesOf(lines).flatMap((msg) => (msg as { method?: string }).method ?? [])

test('--max-messages ends the tape of a proxy and reports it, and clients notice nothing', async () => {
  const server = await httpServer(answering)
  const run = await startRecorder(`${server.origin}/mcp`, '--max-messages', '4')
  for (const method of ['a', 'b', 'c'])
    expect((await ask(run.url, post(call(method)))).body.toString()).toContain(`"result":"${method}"`)
  run.child.kill('SIGINT')
  await run.exited
  expect(methodsOf(linesOf(run.tape))).toEqual(['a', 'b'])
  expect(linesOf(run.tape).at(-2)).toMatchObject({ event: 'limit', limit: 'max-messages' })
  expect(await loadTape(run.tape)).toMatchObject({ ended: true, problems: [] })
  expect(run.stderr()).toMatch(
    /up to the limit of --max-messages; the session went on\nreelay: next, serve it .*\n$/,
  )
})

test('--rotate starts a new tape behind a proxy; each can be read, has its own clock, and no message is lost', async () => {
  const server = await httpServer(answering)
  const { url, tape, lines } = await recordUrl(`${server.origin}/mcp`, {
    limits: { maxMessages: 2, rotate: true },
  })
  for (const method of ['a', 'b', 'c']) await ask(url, post(call(method)))
  await lines()
  const tapes = ['', '-2', '-3'].map((copy) => tape.replace('session.', `session${copy}.`))
  expect(tapes.map((each) => methodsOf(linesOf(each)))).toEqual([['a'], ['b'], ['c']])
  for (const each of tapes) {
    const { ended, problems, turns } = await loadTape(each)
    expect({ ended, problems, answered: turns.every(({ response }) => response) }).toEqual({
      ended: true,
      problems: [],
      answered: true,
    })
    const times = linesOf(each).flatMap(({ t }) => (typeof t === 'number' ? [t] : []))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  }
})

test('each tape of --rotate behind a proxy has the handshake, with its heads', async () => {
  const server = await httpServer(answering)
  const { url, tape, lines } = await recordUrl(`${server.origin}/mcp`, {
    limits: { maxMessages: 2, rotate: true },
  })
  for (const method of ['initialize', 'b', 'c']) await ask(url, post(call(method)))
  await lines()
  const third = linesOf(tape.replace('session.', 'session-3.'))
  expect(methodsOf(third)).toEqual(['initialize', 'c'])
  expect(third.slice(1, 6)).toMatchObject([
    { event: 'continued', frames: 4 },
    { x: 1, http: { method: 'POST' } },
    { x: 1, msg: { method: 'initialize' } },
    { x: 1, http: { status: 200 } },
    { x: 1, dir: 's2c', msg: {} },
  ])
})

test('--max-size ends a tape that has become too large', async () => {
  const server = await httpServer(answering)
  const { url, lines } = await recordUrl(`${server.origin}/mcp`, { limits: { maxBytes: 3000 } })
  for (let calls = 0; calls < 10; calls++) await ask(url, post(call('x'.repeat(400))))
  const recorded = await lines()
  expect(messagesOf(recorded).length).toBeLessThan(10)
  expect(recorded.at(-2)).toMatchObject({ event: 'limit', limit: 'max-size' })
})

test('--idle ends the tape of an unused proxy', async () => {
  const server = await httpServer(answering)
  const run = await startRecorder(`${server.origin}/mcp`, '--idle', '1')
  await ask(run.url, post(call('before')))
  await until(() => linesOf(run.tape).at(-1)?.['event'] === 'end')
  expect(linesOf(run.tape).at(-2)).toMatchObject({ event: 'limit', limit: 'idle' })
  await ask(run.url, post(call('after')))
  expect(methodsOf(linesOf(run.tape))).toEqual(['before'])
})

test('--only and --skip select by method over HTTP; responses follow their own request, even if ids repeat', async () => {
  const server = await httpServer(answering)
  const { url, tape, lines } = await recordUrl(`${server.origin}/mcp`, {
    only: ['tools/*', 'ping'],
    skip: ['tools/list'],
  })
  await Promise.all(
    ['initialize', 'tools/list', 'tools/call', 'resources/read', 'ping'].map((method) =>
      ask(url, post(call(method))),
    ),
  )
  const recorded = await lines()
  const kept = ['initialize', 'ping', 'tools/call']
  expect(new Set(methodsOf(recorded))).toEqual(new Set(kept))
  const { turns, strays } = await loadTape(tape)
  expect(strays).toEqual([])
  const results = turns.map(({ response }): unknown => Object(JSON.parse(response?.text ?? ''))['result'])
  expect(new Set(results)).toEqual(new Set(kept))
})

test('limits and server names also apply to a forward proxy', async () => {
  const server = await httpServer(answering)
  const { proxy, tape, lines } = await forward(undefined, { limits: { maxMessages: 2, rotate: true } })
  for (const method of ['a', 'b']) await askThrough(proxy, `${server.origin}/mcp`, post(call(method)))
  await lines()
  const second = tape.replace('session.', 'session-2.')
  expect(readdirSync(dirname(tape)).filter((file) => file.includes('session-2'))).toHaveLength(1)
  for (const each of [tape, second]) {
    const { header, turns } = await loadTape(each)
    expect(Object.values(header.servers)).toEqual([{ transport: 'http', url: server.origin }])
    expect(turns.every(({ response }) => response !== undefined)).toBe(true)
  }
})

test('--pending notes a slow request once, and its response is still recorded', async () => {
  const waiting: (() => unknown)[] = []
  const server = await httpServer(async (req, res) => {
    const isSlow = (await text(req)).includes('slow')
    const reply = (): unknown => res.end('{"jsonrpc":"2.0","id":1,"result":{}}')
    if (isSlow) waiting.push(reply)
    else reply()
  })
  const run = await startRecorder(`${server.origin}/mcp`, '--pending', '1')
  await ask(run.url, post(call('quick')))
  const answer = ask(run.url, post(call('slow')))
  await until(() => run.stderr().includes('slow (id 1) has had no response for 1 s'))
  for (const reply of waiting) reply()
  await answer
  run.child.kill('SIGTERM')
  await run.exited
  const noted = linesOf(run.tape).filter(({ event }) => event === 'pending')
  expect(noted).toEqual([
    expect.objectContaining({ conn: 2, x: 2, dir: 'c2s', id: 1, method: 'slow', ms: 1000 }),
  ])
  expect((await loadTape(run.tape)).turns.every(({ response }) => response)).toBe(true)
})

function call(method: string): object {
  return { jsonrpc: '2.0', id: 1, method }
}

/** Answers with the name of the method. */
const answering: Listener = async (req, res) => {
  const { id, method } = JSON.parse(await text(req)) as { id: number; method: string }
  res.writeHead(200, { 'Content-Type': 'application/json' })
  res.end(JSON.stringify({ jsonrpc: '2.0', id, result: method }))
}
