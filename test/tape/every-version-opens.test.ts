import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadTape, openTape } from '../../src/store/file/read.ts'
import { encodeFrame } from '../../src/tape/codec.ts'
import { encodeHeader, TAPE_VERSION } from '../../src/tape/header.ts'
import type { TurnStep, Turn } from '../../src/tape/turns.ts'
import { detectRevision } from '../../src/protocol/revisions/index.ts'

const FOLDER = 'test/fixtures/tapes'
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.tape.jsonl'))

test('there is a tape of every version that was ever written', () => {
  const versions = new Set(files.map((file) => Number(/^v(\d+)-/.exec(file)?.[1])))
  expect(versions).toEqual(new Set(Array.from({ length: TAPE_VERSION }, (_, index) => index + 1)))
})

test.each(files)('%s opens without a problem', async (file) => {
  expect(await loadTape(join(FOLDER, file))).toMatchObject({ ended: true, problems: [], strays: [] })
})

const FIRST = join(FOLDER, 'v1-first.tape.jsonl')

test('a tape of the current version is written again byte for byte', async () => {
  const reader = await openTape(FIRST)
  const lines = [encodeHeader(reader.header)]
  for await (const frame of reader.frames()) lines.push(encodeFrame(frame))
  expect(`${lines.join('\n')}\n`).toBe(readFileSync(FIRST, 'utf8'))
})

test('the first tape still has the same turns', async () => {
  const { turns, rest, frames } = await loadTape(FIRST)
  expect(turns.map(show)).toMatchInlineSnapshot(`
    [
      "2 initialize, respond 4",
      "5 notifications/initialized",
      "6 tools/list, respond 7",
      "8 tools/call, notify 10, ask 13 answered by 14, notify 16, respond 17",
      "9 tools/call, notify 11, respond 12",
    ]
  `)
  expect(rest.map((frame) => `${frame.n} ${frame.kind === 'event' ? frame.event : frame.kind}`)).toEqual([
    '1 start',
    '3 stderr',
    '15 raw',
    '18 eof',
    '19 exit',
    '20 end',
  ])
  expect(frames).toBe(20)
})

test('the handshake of a tape is kept, with versions and capabilities', async () => {
  const { turns } = await loadTape(FIRST)
  const [handshake] = turns
  expect(handshake?.trigger?.message).toMatchObject({
    method: 'initialize',
    params: { capabilities: { sampling: {} } },
  })
  expect(handshake?.response?.message).toMatchObject({
    outcome: { result: { capabilities: { logging: {} } } },
  })
  const { revision, version } = detectRevision(exchangesOf(turns))
  expect([revision?.era, version]).toEqual(['legacy', '2025-11-25'])
})

test('latency is correct for each request, even if responses overlap', async () => {
  const { turns } = await loadTape(FIRST)
  const latencies = turns.map(({ trigger, response }) => (response?.t ?? NaN) - (trigger?.t ?? NaN))
  expect(latencies.map((latency) => latency.toFixed(3))).toEqual([
    '48.488',
    'NaN',
    '1.534',
    '454.752',
    '4.764',
  ])
})

test('a message of a tape is plain JSON-RPC, with its sender, time and server', async () => {
  const { turns } = await loadTape(FIRST)
  const call = turns[3]?.trigger
  expect(call).toMatchObject({ n: 8, t: 60.018, server: 'notes', conn: 1, dir: 'c2s' })
  expect(call?.text).toBe(
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"summarize","arguments":{},"_meta":{"progressToken":2}}}',
  )
})

function show({ trigger, steps }: Turn): string {
  const { message } = trigger ?? {}
  const method = message !== undefined && 'method' in message ? message.method : 'no trigger'
  return [`${trigger?.n ?? '-'} ${method}`, ...steps.map(showStep)].join(', ')
}

function showStep(step: TurnStep): string {
  return step.kind === 'ask'
    ? `ask ${step.request.n} answered by ${step.answer?.n ?? 'nobody'}`
    : `${step.kind} ${step.message.n}`
}

function exchangesOf(turns: readonly Turn[]): Parameters<typeof detectRevision>[0] {
  return turns.flatMap(({ trigger, response }) => {
    if (trigger?.message.kind !== 'request') return []
    const answer = response?.message.kind === 'response' ? response.message : undefined
    return [{ request: trigger.message, response: answer }]
  })
}
