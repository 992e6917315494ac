import { expect, test } from 'vitest'
import { HeldClock } from '../support/held-clock.ts'
import { playingWith, type Run } from '../support/session-player.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'
import { parseFaultRules, type FaultSetting } from '../../src/faults/fault-rules.ts'
import type { SessionPlayerOptions } from '../../src/serve/player/session-player.ts'

const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'a' }, 'A'),
  ...call(2, 'search', { q: 'b' }, 'B'),
  ...call(3, 'count', {}, 'one'),
]
const A = callOf('a', 'search', { q: 'a' })

test('a delay holds the answer back on the clock', () => {
  const clock = new HeldClock()
  const run = struck([{ tool: 'search', delay: '2s' }], { clock })
  run.say(A)
  clock.pass(1999)
  expect(run.heard()).toEqual([])
  clock.pass(1)
  expect(run.heard()).toEqual(['answer "a": A'])
})

test('a delayed request that is cancelled is not answered', () => {
  const clock = new HeldClock()
  const run = struck([{ tool: 'search', delay: 5 }], { clock })
  run.say(A, { method: 'notifications/cancelled', params: { requestId: 'a' } })
  clock.pass(10)
  expect(run.out).toEqual([])
})

test('a timeout never answers', () => {
  const run = struck([{ method: 'tools/call', timeout: true }])
  run.say(A)
  expect(run.out).toEqual([])
})

test('an error stands in for the answer, and a retry gets the recorded one', () => {
  const run = struck([
    { tool: 'search', nth: 1, error: { code: -32000, message: 'busy', data: { after: 1 } } },
  ])
  run.say(A, { ...A, id: 'again' })
  expect(run.out[0]).toBe(
    '{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"busy","data":{"after":1}}}',
  )
  expect(run.heard()[1]).toBe('answer "again": A')
})

test.each([
  ['truncated', '{"jsonrpc":"2.0","id":"a","result":{"c'],
  ['not-json', 'Internal Server Error'],
  ['wrong-id', '{"jsonrpc":"2.0","id":"reelay-wrong-id","result":{"content":[{"type":"text","text":"A"}]}}'],
  ['id-as-string', '{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"A"}]}}'],
  [
    'result-and-error',
    '{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"A"}]},"error":{"code":-32603,"message":"injected"}}',
  ],
  ['error-without-code', '{"jsonrpc":"2.0","id":"a","error":{"message":"injected"}}'],
  ['no-result', '{"jsonrpc":"2.0","id":"a"}'],
  ['no-version', '{"id":"a","result":{"content":[{"type":"text","text":"A"}]}}'],
])('a malformed answer can be %s', (malformed, text) => {
  const run = struck([{ tool: 'search', malformed }])
  run.say(A)
  expect(run.out).toEqual([text])
})

test('the id of a request that is a number comes back as a string', () => {
  const run = struck([{ malformed: 'id-as-string' }])
  run.say({ ...A, id: 7 })
  expect(run.out).toEqual(['{"jsonrpc":"2.0","id":"7","result":{"content":[{"type":"text","text":"A"}]}}'])
})

test.each<[string, number[], number[]]>([
  ['backwards', [50, 20, 10], []],
  ['above-total', [50, 150, 1e9], []],
  ['after-response', [], [99]],
])('progress can go %s, and the response stays', (progress, before, after) => {
  const run = struck([{ tool: 'search', progress }])
  run.say({ ...A, params: { name: 'search', arguments: { q: 'a' }, _meta: { progressToken: 'token' } } })
  expect(run.heard()).toEqual([...before.map(progressNote), 'answer "a": A', ...after.map(progressNote)])
})

test('progress can have a token of no request', () => {
  const run = struck([{ progress: 'unknown-token' }])
  run.say(A)
  expect(run.heard()[0]).toContain('"progressToken":"reelay-unknown-token"')
})

test.each([
  ['is-error', { content: [{ type: 'text', text: 'injected failure' }], isError: true }],
  ['not-error', { content: [{ type: 'text', text: 'A' }], isError: false }],
  ['wrong-structure', { content: [{ type: 'text', text: 'A' }], structuredContent: { injected: [null] } }],
  ['empty', {}],
  ['unknown-content', { content: [{ type: 'hologram', data: 'injected' }] }],
])('a result can be changed to %s', (result, expected) => {
  const run = struck([{ tool: 'search', result }])
  run.say(A)
  expect(JSON.parse(run.out[0] ?? '')).toEqual({ jsonrpc: '2.0', id: 'a', result: expected })
})

test.each([
  ['cursor-loop', { tools: [{ name: 'a' }, { name: 'b' }], nextCursor: 'page-1' }],
  ['empty', { tools: [], nextCursor: 'next' }],
  ['vanish', { tools: [{ name: 'b' }], nextCursor: 'next' }],
  ['repeat', { tools: [{ name: 'a' }, { name: 'b' }, { name: 'a' }, { name: 'b' }], nextCursor: 'next' }],
])('a list can be changed: %s', (listing, expected) => {
  const tools = [{ name: 'a' }, { name: 'b' }]
  const said = [
    client({ id: 1, method: 'tools/list' }),
    server({ id: 1, result: { tools, nextCursor: 'next' } }),
  ]
  const run = playingWith({ faults: parseFaultRules([{ listing }]) }, ...said)
  run.say({ id: 1, method: 'tools/list' })
  expect(JSON.parse(run.out[0] ?? '').result).toEqual(expected)
})

test.each([
  ['unknown-tool', { code: -32602, message: 'Unknown tool: search' }],
  ['method-not-found', { code: -32601, message: 'Method not found: tools/call' }],
])('a server can refuse what it has offered: %s', (refuse, error) => {
  const run = struck([{ tool: 'search', refuse }])
  run.say(A)
  expect(JSON.parse(run.out[0] ?? '').error).toEqual(error)
})

test('a server can agree to another protocol version than it did', () => {
  const run = struck([{ downgrade: '2024-11-05' }])
  const clientInfo = { name: 'live', version: '1' }
  run.say({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  expect(JSON.parse(run.out[0] ?? '').result.protocolVersion).toBe('2024-11-05')
  run.say(A)
  expect(run.heard()[1]).toBe('answer "a": A')
})

test('the dates of a result can be off', () => {
  const said = call(1, 'now', {}, 'it is 2026-11-15T10:00:00.000Z')
  const run = playingWith({ faults: parseFaultRules([{ skew: '-10m' }]) }, ...said)
  run.say(callOf(1, 'now', {}))
  expect(run.heard()).toEqual(['answer 1: it is 2026-11-15T09:50:00.000Z'])
})

test('unknown notifications can flood a client before the answer', () => {
  const run = struck([{ tool: 'search', flood: 3 }])
  run.say(A)
  expect(run.heard().map((each) => each.split(' ')[0])).toEqual([
    ...Array.from({ length: 3 }, () => 'notifications/reelay/flood'),
    'answer',
  ])
})

test('only the first requests fail', () => {
  const run = struck([{ tool: 'search', first: 2, error: { code: -32000, message: 'busy' } }])
  run.say(A, { ...A, id: 'b' }, { ...A, id: 'c' })
  expect(run.out.map((text) => 'error' in JSON.parse(text))).toEqual([true, true, false])
})

test('an answer can come twice', () => {
  const run = struck([{ tool: 'search', duplicate: true }])
  run.say(A)
  expect(run.heard()).toEqual(['answer "a": A', 'answer "a": A'])
})

test('a late answer comes when the client has cancelled, and not before', () => {
  const run = struck([{ tool: 'search', late: true }])
  run.say(A)
  expect(run.out).toEqual([])
  run.say({ method: 'notifications/cancelled', params: { requestId: 'a' } })
  expect(run.heard()).toEqual(['answer "a": A'])
})

test('a dropped stream brings what came before the answer, and no answer', () => {
  const said = [
    client(callOf(1, 'work', {})),
    server({ method: 'notifications/message', params: { data: 'working' } }),
    server(answerOf(1, 'done')),
  ]
  const dropped: string[] = []
  const faultActions = () => ({ drop: () => void dropped.push('dropped') })
  const run = playingWith({ faults: parseFaultRules([{ drop: true }]), faultActions }, ...said)
  run.say(callOf(1, 'work', {}))
  expect(run.heard()).toEqual(['notifications/message {"data":"working"}'])
  expect(dropped).toEqual(['dropped'])
})

test('a fault that only a transport can cause is caused by the transport', () => {
  const done: unknown[] = []
  const faultActions = () => ({
    disconnect: (): void => void done.push('disconnect'),
    http: (response: unknown): void => void done.push(response),
  })
  const faults = parseFaultRules([
    { tool: 'count', disconnect: true },
    { tool: 'search', nth: 1, http: 503 },
    { tool: 'search', nth: 2, http: { status: 429, headers: { 'retry-after': 7 }, body: 'later' } },
  ])
  const run = playingWith({ faults, faultActions }, ...SESSION)
  run.say(A, A, callOf(1, 'count', {}))
  expect(run.out).toEqual([])
  expect(done).toEqual([
    { status: 503, headers: {}, body: '' },
    { status: 429, headers: { 'retry-after': '7' }, body: 'later' },
    'disconnect',
  ])
})

test('a fault that the transport cannot cause is refused at the start', () => {
  expect(() => struck([{ tool: 'search', http: 500 }])).toThrow('[0]: the fault "http" cannot be used here')
})

test('a storm tells again and again that a list changed, and then the answer comes', () => {
  const run = struck([{ tool: 'search', storm: { count: 3, list: 'prompts' } }])
  run.say(A)
  expect(run.heard()).toEqual([
    ...Array.from({ length: 3 }, () => 'notifications/prompts/list_changed'),
    'answer "a": A',
  ])
})

test('faults are no doing of the client: they are listed, and nothing drifts', () => {
  const run = struck([{ tool: 'search', timeout: true }])
  run.say(A, callOf('b', 'search', { q: 'b' }), callOf('c', 'count', {}))
  expect(run.player.drift()).toEqual({
    answered: 1,
    leftOver: [],
    misses: [],
    notes: [],
    faults: [
      'tools/call search {"q":"a"} is never answered',
      'tools/call search {"q":"b"} is never answered',
    ],
  })
})

test('a request that is not on the tape can be struck too, and is then no miss', () => {
  const run = struck([{ tool: 'search', error: { code: 1, message: 'no' } }])
  run.say(callOf(1, 'search', { q: 'never recorded' }))
  expect(run.player.drift().misses).toEqual([])
})

test('every second call, or the calls with some params, are struck', () => {
  const error = { code: 1, message: 'no' }
  const second = struck([{ tool: 'search', every: 2, error }])
  const ofA = struck([{ params: { arguments: { q: 'a' } }, error }])
  for (const run of [second, ofA]) run.say(A, callOf('b', 'search', { q: 'b' }))
  expect(second.out.map((text) => 'error' in JSON.parse(text))).toEqual([false, true])
  expect(ofA.out.map((text) => 'error' in JSON.parse(text))).toEqual([true, false])
})

test('chance strikes the same calls for the same seed, and others for another', () => {
  expect(strikes(7)).toBe(strikes(7))
  expect(strikes(7)).not.toBe(strikes(8))
  expect(strikes(7).split(',').length).toBeGreaterThan(8)
})

/** The pings that came through. */
function strikes(seed: number): string {
  const run = struck([{ method: 'ping', probability: 0.5, timeout: true }], { seed })
  for (let id = 0; id < 40; id++) run.say({ id, method: 'ping' })
  return run.out.map((text) => JSON.parse(text).id).join()
}

function struck(faults: readonly FaultSetting[], options: Partial<SessionPlayerOptions> = {}): Run {
  return playingWith({ faults: parseFaultRules(faults), ...options }, ...SESSION)
}

function progressNote(step: number): string {
  return `notifications/progress {"progressToken":"token","progress":${step},"total":100}`
}
