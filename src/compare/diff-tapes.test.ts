import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tapeFile } from '../../test/serve/tape-file.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, type Said } from '../../test/support/tape-of.ts'
import type { JsonObject } from '../json/parse.ts'
import { diffTapes, type TapeDiff } from './diff-tapes.ts'

async function diffOf(before: readonly Said[], after: readonly Said[]): Promise<TapeDiff> {
  return diffTapes(tapeFile(...HANDSHAKE, ...before), tapeFile(...HANDSHAKE, ...after))
}

function structured(id: number, name: string, args: JsonObject, value: unknown): readonly Said[] {
  return [client(callOf(id, name, args)), server({ id, result: { content: [], structuredContent: value } })]
}

function failed(id: number, name: string, args: JsonObject, error: object): readonly Said[] {
  return [client(callOf(id, name, args)), server({ id, error })]
}

/** The kind of each exchange that differs, with its rules. */
function shown({ exchanges }: TapeDiff): readonly string[] {
  return exchanges.map(
    ({ kind, call: name, findings }) => `${kind} ${name}: ${findings.map(({ rule }) => rule).join(', ')}`,
  )
}

test('equal calls are paired in any order, however they overlap, and the others are added or removed', async () => {
  const before = [
    ...call(1, 'search', { q: 'a' }, 'A'),
    ...call(2, 'search', { q: 'b' }, 'B'),
    ...call(3, 'echo', { text: 'x' }, 'X'),
  ]
  const after = [
    client(callOf(7, 'echo', { text: 'x' })),
    client(callOf(8, 'search', { q: 'b' })),
    server(answerOf(8, 'B')),
    client(callOf(9, 'list', {})),
    server(answerOf(9, 'none')),
    server(answerOf(7, 'X')),
  ]
  const diff = await diffOf(before, after)
  expect(diff.summary).toMatchObject({ unchanged: 3, modified: 0, added: 1, removed: 1, breaking: 1 })
  expect(shown(diff)).toEqual([
    'removed tools/call search: call-removed',
    'added tools/call list: call-added',
  ])
})

test('a call with a changed argument is one modified call, with the difference of its request and its response', async () => {
  const args = { q: 'flights', limit: 10 }
  const diff = await diffOf(
    [
      ...structured(1, 'search', args, { total: 3 }),
      ...structured(2, 'search', { q: 'trains', limit: 10 }, { total: 1 }),
    ],
    [
      ...structured(1, 'search', { q: 'trains', limit: 10 }, { total: 1 }),
      ...structured(2, 'search', { ...args, limit: 20 }, { total: 4 }),
    ],
  )
  expect(diff.summary).toMatchObject({ unchanged: 2, modified: 1, added: 0, removed: 0, breaking: 0 })
  expect(diff.exchanges).toMatchObject([
    {
      kind: 'modified',
      before: 2,
      after: 3,
      findings: [
        { rule: 'request-changed', path: 'params.arguments.limit', before: 10, after: 20 },
        { rule: 'result-value-changed', path: 'result.structuredContent.total', before: 3, after: 4 },
      ],
    },
  ])
})

test('what breaks a client is named by its reason, and additions are additions', async () => {
  const before = [
    ...call(1, 'a', {}, 'fine'),
    ...call(2, 'b', {}, 'fine'),
    ...structured(3, 'c', {}, { id: 7, name: 'n', tags: ['x'] }),
    ...failed(4, 'd', {}, { code: -32602, message: 'bad' }),
    ...call(5, 'e', {}, '{"ok":true,"n":1}'),
    ...call(6, 'f', {}, '{"ok":true}'),
    client(callOf(7, 'g', {})),
    server(answerOf(7, 'answered')),
    ...call(8, 'h', {}, 'text'),
  ]
  const after = [
    ...failed(1, 'a', {}, { code: -32000, message: 'gone' }),
    client(callOf(2, 'b', {})),
    server({ id: 2, result: { content: [{ type: 'text', text: 'sorry' }], isError: true } }),
    ...structured(3, 'c', {}, { id: '7', tags: ['x', 'y'], extra: 1 }),
    ...failed(4, 'd', {}, { code: -32603, message: 'bad' }),
    ...call(5, 'e', {}, '{"ok":true}'),
    ...call(6, 'f', {}, 'ok'),
    client(callOf(7, 'g', {})),
    client(callOf(8, 'h', {})),
    server({ id: 8, result: { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] } }),
  ]
  const diff = await diffOf(before, after)
  expect(shown(diff)).toEqual([
    'modified tools/call a: success-to-error',
    'modified tools/call b: tool-error-appeared',
    'modified tools/call c: result-type-changed, result-field-removed, result-item-added, result-field-added',
    'modified tools/call d: error-code-changed',
    'modified tools/call e: result-field-removed',
    'modified tools/call f: result-format-lost',
    'modified tools/call g: response-lost',
    'modified tools/call h: content-kind-changed, result-field-removed, result-field-added, result-field-added',
  ])
  expect(diff.exchanges[4]?.findings[0]).toMatchObject({
    path: 'result.content[0].text.n',
    level: 'breaking',
  })
})

test('a field that other results lack, or that the outputSchema does not require, may be absent', async () => {
  const seen = await diffOf(
    [...structured(1, 'get', { id: 1 }, { a: 1, b: 2 }), ...structured(2, 'get', { id: 2 }, { a: 1 })],
    [...structured(1, 'get', { id: 1 }, { a: 1 }), ...structured(2, 'get', { id: 2 }, { a: 1 })],
  )
  expect(shown(seen)).toEqual(['modified tools/call get: optional-field-absent'])
  const outputSchema = { type: 'object', properties: { a: {}, b: {} }, required: ['a'] }
  const list = (id: number): readonly Said[] => [
    client({ id, method: 'tools/list' }),
    server({ id, result: { tools: [{ name: 'get', inputSchema: { type: 'object' }, outputSchema }] } }),
  ]
  const declared = await diffOf(
    [
      ...list(1),
      ...structured(2, 'get', { id: 1 }, { a: 1, b: 2 }),
      ...structured(3, 'get', { id: 2 }, { a: 1, b: 2 }),
    ],
    [...list(1), ...structured(2, 'get', { id: 1 }, { a: 1 }), ...structured(3, 'get', { id: 2 }, { b: 2 })],
  )
  expect(shown(declared)).toEqual([
    'modified tools/call get: optional-field-absent',
    'modified tools/call get: result-field-removed',
  ])
})

const session = (basket: string, item: string, at: string): readonly Said[] => [
  ...structured(1, 'create_basket', {}, { id: basket, created: at }),
  ...structured(2, 'add_item', { basket, name: 'pen' }, { item, basket }),
  ...call(3, 'remove_item', { basket, item }, `removed ${item} from ${basket}`),
]

test('generated values that are sent back, and times, are counted and not reported', async () => {
  const diff = await diffOf(
    session('bsk-4f1a09c2', 'itm-77120', '1970-01-01T00:00:00.002Z'),
    session('bsk-99d0e1b7', 'itm-10442', '1970-01-01T00:00:00.003Z'),
  )
  expect(shown(diff)).toEqual([])
  expect(diff.summary).toMatchObject({ unchanged: 4, modified: 0, breaking: 0 })
  expect(diff.summary.folded.carried).toBeGreaterThanOrEqual(4)
})

test('an id that nobody sends back is a changed value', async () => {
  const diff = await diffOf(
    structured(1, 'owner', {}, { id: 'usr-4f1a09c2' }),
    structured(1, 'owner', {}, { id: 'usr-99d0e1b7' }),
  )
  expect(shown(diff)).toEqual(['modified tools/call owner: result-value-changed'])
})

test('items with an id are compared as themselves wherever they are, and another order is one finding', async () => {
  const rows = Array.from({ length: 5 }, (_, id) => ({ id: `r${id}`, price: id }))
  const moved = [rows[4], rows[0], rows[1], { id: 'r2', price: 99 }, rows[3]]
  const diff = await diffOf(structured(1, 'list', {}, { rows }), structured(1, 'list', {}, { rows: moved }))
  expect(diff.exchanges[0]?.findings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    'result-order-changed result.structuredContent.rows',
    'result-value-changed result.structuredContent.rows[2].price',
  ])
})

const lists = (tool: string, uri: string, prompts: readonly object[]): readonly Said[] => [
  client({ id: 1, method: 'tools/list' }),
  server({
    id: 1,
    result: {
      tools: [
        {
          name: tool,
          description: 'Finds flights between two cities',
          inputSchema: { type: 'object', properties: { from: { type: 'string' }, to: { type: 'string' } } },
        },
      ],
    },
  }),
  client({ id: 2, method: 'resources/list' }),
  server({ id: 2, result: { resources: [{ uri, name: uri }] } }),
  client({ id: 3, method: 'prompts/list' }),
  server({ id: 3, result: { prompts } }),
]

test('tools, prompts and resources that are gone, renamed or new are found, and calls of a renamed tool are paired', async () => {
  const diff = await diffOf(
    [
      ...lists('search_flights', 'file:///a', [{ name: 'plan' }]),
      ...call(4, 'search_flights', { from: 'A' }, 'x'),
    ],
    [...lists('find_flights', 'file:///b', []), ...call(4, 'find_flights', { from: 'A' }, 'x')],
  )
  expect(diff.surface.map(({ rule, subject }) => `${rule} ${subject}`)).toEqual([
    'tool-renamed tool search_flights',
    'prompt-removed prompt plan',
    'resource-removed resource file:///a',
    'resource-added resource file:///b',
  ])
  expect(diff.summary).toMatchObject({ added: 0, removed: 0 })
})

const tape = (value: number): string => tapeFile(...HANDSHAKE, ...structured(1, 'load', {}, { value }))

test('a noise profile next to the earlier tape explains its differences', async () => {
  const [before, after] = [tape(1), tape(2)]
  expect(shown(await diffTapes(before, after))).toEqual(['modified tools/call load: result-value-changed'])
  const id = /"id":"([^"]+)"/.exec(readFileSync(before, 'utf8'))?.[1]
  writeFileSync(
    before.replace('.tape.jsonl', '.noise.yaml'),
    `reelayNoise: 1\ntape: ${id}\nruns: 0\nexchanges:\n  - exchange: 2\n    call: tools/call load\n    noise:\n      - path: result.structuredContent.value\n        varies: value\n        class: { is: any }\n        by: hand\n`,
  )
  const diff = await diffTapes(before, after)
  expect(shown(diff)).toEqual([])
  expect(diff.summary.folded.profile).toBe(1)
})

test('a question that the server asks now, and not before, breaks clients that cannot answer', async () => {
  const diff = await diffOf(call(1, 'pay', {}, 'ok'), [
    client(callOf(1, 'pay', {})),
    server({ id: 's1', method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: {} } }),
    client({ id: 's1', result: { action: 'accept' } }),
    server(answerOf(1, 'ok')),
  ])
  expect(shown(diff)).toEqual(['modified tools/call pay: server-request-added'])
})

const turnOf = (id: number, name: string, ...said: readonly Said[]): readonly Said[] => [
  client(callOf(id, name, {})),
  ...said,
  server(answerOf(id, 'done')),
]

test('messages that belong to no call, such as logs and roots/list, may fall into another call', async () => {
  const log = server({ method: 'notifications/message', params: { level: 'info', data: 'x' } })
  const roots = [server({ id: 'r', method: 'roots/list' }), client({ id: 'r', result: { roots: [] } })]
  const early = [...turnOf(1, 'one', log, ...roots), ...turnOf(2, 'two')]
  const late = [...turnOf(1, 'one'), ...turnOf(2, 'two', log, ...roots)]
  const diff = await diffOf(early, late)
  expect(shown(diff)).toEqual([])
  expect(diff.summary.folded.moved).toBe(4)
  expect(shown(await diffOf(early, [...turnOf(1, 'one'), ...turnOf(2, 'two')]))).toEqual([
    'modified tools/call one: server-request-removed, notifications-changed',
  ])
})

const listOfTool = (name: string): readonly Said[] => [
  client({ id: 90, method: 'tools/list' }),
  server({
    id: 90,
    result: {
      tools: [
        {
          name,
          description: 'Returns the sum of two numbers',
          inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
        },
      ],
    },
  }),
]

test('a tool that is called by its old and its new name on both tapes is compared with itself', async () => {
  const unknown = { code: -32602, message: 'unknown tool' }
  const args = { a: 1, b: 2 }
  const diff = await diffOf(
    [
      ...listOfTool('addNumbers'),
      ...call(1, 'addNumbers', args, '3'),
      ...failed(2, 'add-numbers', args, unknown),
    ],
    [
      ...listOfTool('add-numbers'),
      ...failed(1, 'addNumbers', args, unknown),
      ...call(2, 'add-numbers', args, '3'),
    ],
  )
  expect(diff.surface.map(({ rule }) => rule)).toContain('tool-renamed')
  expect(shown(diff)).toEqual([
    'modified tools/call addNumbers: success-to-error',
    'modified tools/call add-numbers: error-to-success',
  ])
})

test('an error that is reported in another form is no success', async () => {
  const asResult = [
    client(callOf(1, 'add', { a: 'x' })),
    server({ id: 1, result: { content: [{ type: 'text', text: 'not a number' }], isError: true } }),
  ]
  const asError = failed(1, 'add', { a: 'x' }, { code: -32602, message: 'not a number' })
  expect(shown(await diffOf(asResult, asError))).toEqual(['modified tools/call add: tool-error-to-error'])
  expect(shown(await diffOf(asError, asResult))).toEqual(['modified tools/call add: error-form-changed'])
})

function listed(id: number, names: readonly string[], cursor?: string, nextCursor?: string): readonly Said[] {
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }))
  return [
    client({ id, method: 'tools/list', params: cursor === undefined ? {} : { cursor } }),
    server({ id, result: { tools, ...(nextCursor !== undefined && { nextCursor }) } }),
  ]
}

test('pages of a list are compared together, and pages that nobody asked for are unknown', async () => {
  const paged = [...listed(1, ['a', 'b'], undefined, '2'), ...listed(2, ['c'], '2')]
  const joined = await diffOf(paged, listed(1, ['a', 'b', 'c']))
  expect([joined.summary.breaking, joined.surface]).toEqual([0, []])
  expect(shown(joined)).toEqual(['removed tools/list: poll-removed'])
  const gone = await diffOf(paged, listed(1, ['a', 'b']))
  expect(gone.surface.map(({ rule, subject }) => `${rule} ${subject}`)).toEqual(['tool-removed tool c'])
  const unfinished = await diffOf(paged, listed(1, ['a', 'b'], undefined, '2'))
  expect(unfinished.summary.breaking).toBe(0)
})
