import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as rest } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { httpServer } from '../support/http.ts'
import { linesOf, peakMemory } from '../support/recorder.ts'
import { RECORDERS, type Recorder } from '../support/recorders.ts'

const EVENTS = 20_000
const MIB = 1024 * 1024
const MOST_MIB = 140 // the recorder alone takes 50, and each stream is 100
const STREAM_BYTES = Array.from({ length: EVENTS }, (_, at) => event(at + 1).length).reduce((a, b) => a + b)
const STREAM = { 'Content-Type': 'text/event-stream' }
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' }

describe.each(['reverse', 'forward'] as const)('through the %s proxy', (kind) => {
  test('a stream of many thousand events is recorded to the last one, in little memory', async () => {
    const run = await RECORDERS[kind](await eventServer())
    const answer = await run.open(CALL)
    expect(await progressIn(answer)).toEqual({ count: EVENTS, inOrder: true })
    expect(peakMemory(run)).toBeLessThan(MOST_MIB)
    await stop(run)
    expect(await progressIn(createReadStream(run.tape))).toEqual({ count: EVENTS, inOrder: true })
    expect(await lastLine(run.tape)).toMatchObject({ event: 'end' })
  }, 120_000)

  test('a client that reads slowly slows the server down, and does not fill our memory', async () => {
    const run = await RECORDERS[kind](await eventServer())
    const answer = await run.open(CALL)
    let bytes = 0
    for await (const chunk of answer) {
      const before = Math.floor(bytes / MIB)
      bytes += (chunk as Buffer).length
      if (Math.floor(bytes / MIB) > before) await rest(10) // the server could send all of it meanwhile
    }
    expect(bytes).toBe(STREAM_BYTES)
    expect(peakMemory(run)).toBeLessThan(MOST_MIB)
    await stop(run)
  }, 120_000)

  test('a result of 50 MB is forwarded and recorded completely, in little more memory than its size', async () => {
    const text = 'x'.repeat(MIB)
    const { origin } = await httpServer(async (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).write('{"jsonrpc":"2.0","id":1,"result":["')
      for (let left = 50; left > 0; left--) await sent(res, text)
      res.end('"]}')
    })
    const run = await RECORDERS[kind](`${origin}/mcp`)
    const length = '{"jsonrpc":"2.0","id":1,"result":[""]}'.length + 50 * MIB
    let bytes = 0
    for await (const chunk of await run.open(CALL)) bytes += (chunk as Buffer).length
    expect(bytes).toBe(length)
    expect(peakMemory(run)).toBeLessThan(300)
    await stop(run)
    const { turns, problems } = await loadTape(run.tape)
    expect(problems).toEqual([])
    expect(turns[0]?.response?.text.length).toBe(length)
  }, 120_000)

  test('the server notices a client that disconnects during a large result, and the partial result is on the tape', async () => {
    let left: Promise<unknown> | undefined
    const { origin } = await httpServer(async (_req, res) => {
      left = once(res, 'close')
      res.writeHead(200, { 'Content-Type': 'application/json' }).write('{"jsonrpc":"2.0","result":"')
      while (!res.destroyed) await sent(res, 'x'.repeat(MIB))
    })
    const run = await RECORDERS[kind](`${origin}/mcp`)
    const answer = await run.open(CALL)
    answer.on('error', () => {})
    for (let bytes = 0; bytes < 5 * MIB;) bytes += ((await once(answer, 'data')) as [Buffer])[0].length
    answer.destroy()
    await left
    await stop(run)
    const lines = linesOf(run.tape).filter(({ x }) => x === 1)
    expect(lines.at(-1)).toMatchObject({ event: 'abort', by: 'client' })
    expect(lines.at(-2)).toMatchObject({ raw: expect.stringMatching(/^\{"jsonrpc":"2.0"/), why: 'cut off' })
    expect(String(lines.at(-2)?.['raw']).length).toBeGreaterThan(5 * MIB)
  })

  test('the client notices a server that dies half-way, and the partial response is on the tape', async () => {
    const begun = '{"jsonrpc":"2.0","id":1,"res'
    const { origin } = await httpServer((_req, res) => {
      res.writeHead(200, STREAM).write(`${event(1)}data: ${begun}`, () => res.destroy())
    })
    const run = await RECORDERS[kind](`${origin}/mcp`)
    const answer = await run.open(CALL)
    await expect(answer.toArray()).rejects.toThrow('aborted')
    await stop(run)
    expect(
      linesOf(run.tape)
        .filter(({ x }) => x === 1)
        .slice(-3),
    ).toMatchObject([
      { msg: { method: 'notifications/progress' } },
      { dir: 's2c', raw: `data: ${begun}`, why: 'cut off' },
      { event: 'abort', by: 'server' },
    ])
  })
})

/** Answers each request with as many events as a day may bring, as fast as they are taken. */
async function eventServer(): Promise<string> {
  const { origin } = await httpServer(async (_req, res) => {
    res.writeHead(200, STREAM)
    for (let n = 1; n <= EVENTS; n++) if (!res.write(event(n))) await once(res, 'drain')
    res.end()
  })
  return `${origin}/mcp`
}

function event(progress: number): string {
  const params = { progressToken: 1, progress, message: 'x'.repeat(5 * 1024) }
  return `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`
}

async function sent(res: ServerResponse, text: string): Promise<void> {
  await new Promise<unknown>((done) => res.write(text, done))
}

/** How many events there are in a stream or on a tape, and whether each is the one after the last. */
async function progressIn(
  input: IncomingMessage | ReturnType<typeof createReadStream>,
): Promise<{ count: number; inOrder: boolean }> {
  let count = 0
  let inOrder = true
  for await (const line of createInterface({ input })) {
    const progress = /"progress":(\d+)/.exec(line)?.[1]
    if (progress !== undefined) inOrder &&= Number(progress) === ++count
  }
  return { count, inOrder }
}

async function lastLine(tape: string): Promise<Record<string, unknown>> {
  let last = ''
  for await (const line of createInterface({ input: createReadStream(tape) })) last = line
  return JSON.parse(last) as Record<string, unknown>
}

async function stop({ child, exited }: Recorder): Promise<void> {
  child.kill('SIGTERM')
  expect((await exited).code).toBe(0)
}
