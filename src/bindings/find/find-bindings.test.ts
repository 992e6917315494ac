import { expect, test } from 'vitest'
import { answerOf, call, client, ENVELOPE, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import type { FoundBindings } from '../binding.ts'
import { findBindings } from './find-bindings.ts'
import { formatTapeLocation, formatProducer } from '../location-text.ts'
import { wordHash } from './message-words.ts'

const UUID = '5f2c9d1e-0b1f-4111-8222-abcdefabcdef'

function bindingsOf(...said: readonly Said[]): FoundBindings {
  const tape = tapeOf(...said)
  return findBindings(tape.turns, { started: tape.header.started })
}

function formatted({ bindings }: FoundBindings): readonly string[] {
  return bindings.flatMap(({ producer, consumers, confidence }) =>
    consumers.map(
      (consumer) => `${formatProducer(producer)} -> ${formatTapeLocation(consumer)} (${confidence})`,
    ),
  )
}

function structured(id: number, structuredContent: object): Said {
  return server({ id, result: { content: [], structuredContent } })
}

function asked(id: number, name: string, args: object): Said {
  return client({ id, method: 'tools/call', params: { name, arguments: args } })
}

function page(id: number, cursor: string | undefined, next: string | undefined): readonly Said[] {
  return [
    client({ id, method: 'tools/list', params: cursor === undefined ? {} : { cursor } }),
    server({ id, result: { tools: [], ...(next === undefined ? {} : { nextCursor: next }) } }),
  ]
}

test('an id in structured content is found where it is sent back, whole or as a part', () => {
  const found = bindingsOf(
    asked(1, 'create_issue', { title: 'a bug' }),
    structured(1, { issue: { id: UUID } }),
    asked(2, 'get_issue', { issueId: UUID }),
    structured(2, {}),
    asked(3, 'read', { uri: `issue://acme/${UUID}/comments?after=1` }),
  )
  expect(formatted(found)).toEqual([
    '#1 result.structuredContent.issue.id -> #2 params.arguments.issueId (high)',
    '#1 result.structuredContent.issue.id -> #3 params.arguments.uri > characters 13-49 (high)',
  ])
})

test('an id is found in prose, in JSON in a text, in JSON in that JSON, and in base64', () => {
  const nested = JSON.stringify({ payload: JSON.stringify({ job: 'j-77x12' }) })
  const encoded = btoa(JSON.stringify({ run: 'r9k2m4p6' }))
  const found = bindingsOf(
    ...call(1, 'start', {}, 'Started upload up_8c1d9e20 for you.'),
    ...call(2, 'submit', {}, nested),
    ...call(3, 'open', {}, JSON.stringify({ state: encoded })),
    asked(4, 'finish', { upload: 'up_8c1d9e20', job: 'j-77x12', run: 'r9k2m4p6' }),
  )
  expect(formatted(found)).toEqual([
    '#1 result.content[0].text > text "Started upload {} for you" -> #4 params.arguments.upload (high)',
    '#2 result.content[0].text > json payload > json job -> #4 params.arguments.job (high)',
    '#3 result.content[0].text > json state > base64 > json run -> #4 params.arguments.run (high)',
  ])
})

test('the parts of a composite are bound one by one', () => {
  const found = bindingsOf(
    asked(1, 'create_issue', { title: 'a bug' }),
    structured(1, { project: { key: 'APO' }, issue: { id: 'x8y2z4w6' } }),
    asked(2, 'close', { ref: 'APO/x8y2z4w6' }),
  )
  expect(formatted(found)).toEqual([
    '#1 result.structuredContent.issue.id -> #2 params.arguments.ref > characters 4-12 (high)',
    '#1 result.structuredContent.project.key -> #2 params.arguments.ref > characters 0-3 (low)',
  ])
})

test('a group of a UUID is not a value, neither in messages of the server nor in messages of the client', () => {
  const found = bindingsOf(
    asked(1, 'make_item', {}),
    structured(1, { item: { id: UUID, number: 8222 } }),
    asked(2, 'get_item', { itemId: 4111, number: 4111, short: '5f2c9d1e', tail: 'abcdefabcdef' }),
    structured(2, {}),
    asked(3, 'get_item', { itemId: '5f2c9d1e-1111-4111-8222-abcdefabcdef' }),
  )
  expect(formatted(found)).toEqual([])
  expect(found.guesses).toEqual([])
})

test('a UUID is found among other parts of a composite', () => {
  const found = bindingsOf(
    ...call(1, 'start', {}, `Started job/${UUID}/2 for you.`),
    asked(2, 'stop', { uri: `jobs:${UUID}/${UUID}0` }),
  )
  expect(formatted(found)).toEqual([
    '#1 result.content[0].text > text "Started job/{}/" -> #2 params.arguments.uri > characters 5-41 (medium)',
  ])
})

test('a value is not confused with another one that has the same hash and length', () => {
  const [said, sent] = ['d02b32c9-5642-4c9c-826a-84bd0b509a10', '03af0c5e-cfe2-4af9-9f9b-3f2480973069']
  expect(wordHash(said)).toBe(wordHash(sent))
  const found = bindingsOf(
    asked(1, 'make_item', {}),
    structured(1, { item: { id: said }, link: `item://${said}` }),
    asked(2, 'get_item', { itemId: sent, link: `item://${sent}` }),
  )
  expect(found).toEqual({ bindings: [], guesses: [] })
})

test('numbers of a client that counts up to the ids of the server are not ids', () => {
  const found = bindingsOf(
    asked(1, 'make_item', { count: 4711 }),
    structured(1, { item: { id: 123456 } }),
    asked(2, 'make_item', { count: 123456, index: 123456, limit: 123456 }),
    structured(2, { item: { id: 4711 } }),
    asked(3, 'get_item', { count: 4712, itemId: 4711, parent: 123456 }),
  )
  expect(formatted(found)).toEqual([
    '#2 result.structuredContent.item.id -> #3 params.arguments.itemId (medium)',
    '#1 result.structuredContent.item.id -> #3 params.arguments.parent (high)',
  ])
})

test('a small number is bound only if the names mean the same, and is at most a guess otherwise', () => {
  const found = bindingsOf(
    asked(1, 'create_issue', { title: 'a bug' }),
    structured(1, { id: 7, priority: 3, page: 2 }),
    asked(2, 'get_issue', { issue_id: 7, parent_id: 7, priority: 3, limit: 7, page: 2 }),
  )
  expect(formatted(found)).toEqual([
    '#1 result.structuredContent.id -> #2 params.arguments.issue_id (medium)',
  ])
  expect(found.guesses.flatMap(({ consumers }) => consumers.map(formatTapeLocation))).toEqual([
    '#2 params.arguments.parent_id',
  ])
})

test('each page is requested with the cursor of the previous page, even if the cursors are short', () => {
  const found = bindingsOf(...page(1, undefined, '2'), ...page(2, '2', ''), ...page(3, '', undefined))
  expect(formatted(found)).toEqual([
    '#1 result.nextCursor -> #2 params.cursor (certain)',
    '#2 result.nextCursor -> #3 params.cursor (certain)',
  ])
})

test('the state and the names of input requests, and task ids, are bound by the protocol', () => {
  const found = bindingsOf(
    client({ id: 1, method: 'tools/call', params: { name: 'deploy', arguments: {}, _meta: ENVELOPE } }),
    server({
      id: 1,
      result: {
        resultType: 'input_required',
        inputRequests: { ok: { method: 'elicitation/create', params: { message: 'sure?' } } },
        requestState: 'v1.a',
      },
    }),
    client({
      id: 2,
      method: 'tools/call',
      params: {
        name: 'deploy',
        arguments: {},
        inputResponses: { ok: { action: 'accept' } },
        requestState: 'v1.a',
        _meta: ENVELOPE,
      },
    }),
    server({ id: 2, result: { resultType: 'task', taskId: 't', status: 'working' } }),
    client({ id: 3, method: 'tasks/get', params: { taskId: 't', _meta: ENVELOPE } }),
  )
  expect(formatted(found)).toEqual([
    '#1 result.requestState -> #2 params.requestState (certain)',
    '#1 result.inputRequests > key 0 -> #2 params.inputResponses > key 0 (certain)',
    '#2 result.taskId -> #3 params.taskId (certain)',
  ])
})

test('a value that the client sent first is its own, even if the server repeats it', () => {
  const found = bindingsOf(
    asked(1, 'create', { id: UUID, note: 'about order zx81-qq' }),
    structured(1, { id: UUID, order: 'zx81-qq' }),
    asked(2, 'get', { id: UUID, order: 'zx81-qq' }),
  )
  expect(formatted(found)).toEqual([])
})

test('the beginning of a longer path or URI is not a handle', () => {
  const found = bindingsOf(
    client({ id: 1, method: 'resources/list' }),
    server({ id: 1, result: { resources: [{ uri: 'demo://box4/a1/static/x.md' }] } }),
    ...call(2, 'where', {}, 'Kept in /srv/box4/data/x.md'),
    client({ id: 3, method: 'resources/read', params: { uri: 'demo://box4/a1/dynamic/7' } }),
    asked(4, 'read', { path: '/srv/box4/data/y.md' }),
  )
  expect(formatted(found)).toEqual([])
})

test('an enum value or default in the schema of a tool is not a handle', () => {
  const inputSchema = {
    type: 'object',
    properties: { model_id: { enum: ['fast-2a', 'good-2b'] }, region_id: { default: 'eu-west-1' } },
  }
  const found = bindingsOf(
    client({ id: 1, method: 'tools/list' }),
    server({ id: 1, result: { tools: [{ name: 'ask', inputSchema }] } }),
    asked(2, 'status', {}),
    structured(2, { model_id: 'fast-2a', region_id: 'eu-west-1', other_id: 'q2w3e4r5' }),
    asked(3, 'ask', { model_id: 'fast-2a', region_id: 'eu-west-1', other_id: 'q2w3e4r5' }),
  )
  expect(formatted(found)).toEqual([
    '#2 result.structuredContent.other_id -> #3 params.arguments.other_id (high)',
  ])
})

test('a value of one server is not bound to a request to another', () => {
  const found = bindingsOf(asked(1, 'create', {}), structured(1, { id: UUID }), {
    ...asked(1, 'get', { id: UUID }),
    server: 'other',
  })
  expect(formatted(found)).toEqual([])
})

test('a date is bound to the clock if it is a common number of days from the day of the request', () => {
  const found = bindingsOf(
    asked(1, 'remind', { due: '2026-11-22', born: '1815-12-10', party: '2026-12-24' }),
    server(answerOf(1, 'ok')),
  )
  expect(formatted(found)).toEqual(['now + 7 days -> #1 params.arguments.due (low)'])
})

test('words that stand for a choice are not bound, even if the server sent them first', () => {
  const found = bindingsOf(
    asked(1, 'list_issues', {}),
    structured(1, { issues: [{ status: 'open', type: 'incident', priority: 'urgent', lang: 'en-GB' }] }),
    asked(2, 'list_issues', {
      status: 'open',
      type: 'incident',
      priority: 'urgent',
      lang: 'en-GB',
      all: true,
    }),
  )
  expect(formatted(found)).toEqual([])
})

test('a value may come from an error, a notification or a request of the server, and be used in the response to it', () => {
  const ids = ['el-4f5a6b7c', 'no-1a2b3c4d', 'as-9z8y7x6w']
  const found = bindingsOf(
    asked(1, 'pay', {}),
    server({
      id: 1,
      error: { code: -32042, message: 'sign in', data: { elicitations: [{ elicitationId: ids[0] }] } },
    }),
    asked(2, 'pay', { after: ids[0] }),
    server({ method: 'notifications/message', params: { level: 'info', data: `ticket ${ids[1]}` } }),
    server({
      id: 9,
      method: 'elicitation/create',
      params: { message: `Which? ${ids[2]}`, requestedSchema: {} },
    }),
    client({ id: 9, result: { action: 'accept', content: { pick: ids[2] } } }),
    server({ id: 2, result: { content: [] } }),
    asked(3, 'close', { ticket: ids[1] }),
  )
  expect(formatted(found)).toEqual([
    '#1 error.data.elicitations[0].elicitationId -> #2 params.arguments.after (high)',
    'frame 5 params.message > text "Which? {}" -> frame 6 result.content.pick (high)',
    'frame 4 params.data > text "ticket {}" -> #3 params.arguments.ticket (high)',
  ])
})

test('an answer of the client may contain a value from a later turn', () => {
  const found = bindingsOf(
    asked(1, 'pay', {}),
    server({ id: 9, method: 'elicitation/create', params: { message: 'Which?', requestedSchema: {} } }),
    asked(2, 'list_tickets', {}),
    structured(2, { ticket: { id: 'no-1a2b3c4d' } }),
    client({ id: 9, result: { action: 'accept', content: { ticketId: 'no-1a2b3c4d' } } }),
    server({ id: 1, result: { content: [] } }),
  )
  expect(formatted(found)).toEqual([
    '#2 result.structuredContent.ticket.id -> frame 5 result.content.ticketId (high)',
  ])
})

test('a value that occurs more than fifty times is a common word, unless it is unlikely to be generated twice', () => {
  const echoes = Array.from({ length: 51 }, (_, n) => [
    asked(n, 'look_order', {}),
    structured(n, { order: { id: 4711 }, session: { id: 's3ss10n-id-9f8e' } }),
  ]).flat()
  const found = bindingsOf(...echoes, asked(99, 'close_order', { orderId: 4711, session: 's3ss10n-id-9f8e' }))
  expect(formatted(found)).toEqual([
    '#1 result.structuredContent.session.id -> #52 params.arguments.session (high)',
  ])
})
