import { expect, test } from 'vitest'
import { classifyMessage, META_KEYS } from '../protocol/message.ts'
import type { Frame } from './frame.ts'
import { messagesInFrame, TurnBuilder, buildTurns } from './turn-builder.ts'
import type { RecordedMessage, TurnStep } from './turns.ts'

test('turns keep the order of the requests if responses arrive out of order', () => {
  const turns = buildTurns(
    tape(
      client({ id: 1, method: 'slow' }),
      client({ id: 2, method: 'quick' }),
      server({ id: 2, result: {} }),
      server({ id: 1, result: {} }),
    ),
  )
  expect(turns.map(show)).toEqual(['slow@1: =4', 'quick@2: =3'])
  expect(turns.map((turn) => (turn.response?.t ?? 0) - (turn.trigger?.t ?? 0))).toEqual([30, 10])
})

test('a response belongs to the request whose id has the same JSON type', () => {
  expect(
    shown(
      client({ id: 0, method: 'zero' }),
      client({ id: '0', method: 'text' }),
      server({ id: '0', result: {} }),
      server({ id: 0, error: { code: -1, message: 'no' } }),
    ),
  ).toEqual(['zero@1: =4', 'text@2: =3'])
})

test('an id that is used again after its answer opens a new turn', () => {
  expect(
    shown(
      client({ id: 1, method: 'a' }),
      server({ id: 1, result: 1 }),
      client({ id: 1, method: 'b' }),
      server({ id: 1, result: 2 }),
    ),
  ).toEqual(['a@1: =2', 'b@3: =4'])
})

test('a request that was never answered has no response', () => {
  const [turn] = buildTurns(
    tape(client({ id: 1, method: 'lost' }), client({ method: 'notifications/initialized' })),
  )
  expect(turn?.response).toBeUndefined()
  expect(turn?.steps).toEqual([])
})

test('a request of the server is not taken for a response with the same id', () => {
  expect(
    shown(
      client({ id: 0, method: 'tools/call' }),
      server({ id: 0, method: 'sampling/createMessage' }),
      client({ id: 0, result: { text: 'hi' } }),
      server({ id: 0, result: {} }),
    ),
  ).toEqual(['tools/call@1: ?2/3 =4'])
})

test('requests of the server with the same id are answered in their order', () => {
  expect(
    shown(
      client({ id: 1, method: 'a' }),
      server({ id: 7, method: 'ping' }),
      server({ id: 7, method: 'roots/list' }),
      client({ id: 7, result: {} }),
      client({ id: 7, result: { roots: [] } }),
    ),
  ).toEqual(['a@1: ?2/4 ?3/5'])
})

test('a request of the server that the client never answered stays open', () => {
  expect(shown(client({ id: 1, method: 'a' }), server({ id: 9, method: 'roots/list' }))).toEqual([
    'a@1: ?2/-',
  ])
})

test('responses without a request or an id and values that are not messages belong to no turn', () => {
  const builder = new TurnBuilder()
  const frames = tape(
    client({ id: 1, method: 'a' }),
    server({ id: null, error: { code: -32700, message: 'Parse error' } }),
    server({ id: 2, result: {} }),
    client({ id: 1, result: {} }),
    server({ id: 1, result: {} }),
    server({ id: 1, result: 'again' }),
    server({ nonsense: true }),
  )
  for (const frame of frames) builder.add(frame)
  expect(builder.turns().map(show)).toEqual(['a@1: =5'])
  expect(builder.strays().map(({ n }) => n)).toEqual([2, 3, 4, 6, 7])
})

test('progress belongs to the request with its token and type of token, also after the response', () => {
  expect(
    shown(
      client({ id: 1, method: 'a', params: { _meta: { progressToken: 7 } } }),
      client({ id: 2, method: 'b', params: { _meta: { progressToken: '7' } } }),
      server({ method: 'notifications/progress', params: { progressToken: 7, progress: 1 } }),
      server({ method: 'notifications/progress', params: { progressToken: '7', progress: 1 } }),
      server({ id: 1, result: {} }),
      server({ method: 'notifications/progress', params: { progressToken: 7, progress: 2 } }),
    ),
  ).toEqual(['a@1: !3 =5 !6', 'b@2: !4'])
})

test('a message that names no request belongs to the most recent open one', () => {
  expect(
    shown(
      client({ id: 1, method: 'a' }),
      client({ id: 2, method: 'b' }),
      server({ method: 'notifications/message' }),
      server({ id: 2, result: {} }),
      server({ method: 'notifications/message' }),
      server({ method: 'notifications/progress', params: { progressToken: 'unknown' } }),
      server({ id: 0, method: 'roots/list' }),
    ),
  ).toEqual(['a@1: !5 !6 ?7/-', 'b@2: !3 =4'])
})

test("with nothing open it follows the client's last message, be it a notification", () => {
  expect(
    shown(
      client({ id: 0, method: 'initialize' }),
      server({ id: 0, result: {} }),
      server({ method: 'notifications/message' }),
      client({ method: 'notifications/initialized' }),
      server({ method: 'notifications/tools/list_changed' }),
      client({ id: 0, result: {} }),
      server({ method: 'notifications/message' }),
    ),
  ).toEqual(['initialize@1: =2 !3', 'notifications/initialized@4: !5 !7'])
})

test('messages of the server before any of the client form a turn without a trigger', () => {
  expect(
    shown(
      server({ method: 'notifications/message' }),
      server({ id: 1, method: 'ping' }),
      client({ id: 1, result: {} }),
      client({ id: 1, method: 'a' }),
      server({ id: 1, result: {} }),
    ),
  ).toEqual(['(server first): !1 ?2/3', 'a@4: =5'])
})

test('a cancelled request gets no further messages, but its late response counts', () => {
  expect(
    shown(
      client({ id: 1, method: 'a' }),
      client({ id: 2, method: 'b' }),
      client({ method: 'notifications/cancelled', params: { requestId: 2 } }),
      server({ method: 'notifications/message' }),
      server({ id: 2, result: {} }),
    ),
  ).toEqual(['a@1: !4', 'b@2: =5', 'notifications/cancelled@3:'])
})

test('a cancellation by the server belongs to the turn of the cancelled request', () => {
  expect(
    shown(
      client({ id: 1, method: 'a' }),
      server({ id: 5, method: 'elicitation/create' }),
      client({ id: 2, method: 'b' }),
      server({ method: 'notifications/cancelled', params: { requestId: 5 } }),
    ),
  ).toEqual(['a@1: ?2/- !4', 'b@3:'])
})

test('a subscription gets only messages that carry its id', () => {
  expect(
    shown(
      client({ id: 'L1', method: 'subscriptions/listen' }),
      client({ id: 2, method: 'subscriptions/listen' }),
      server({ method: 'notifications/subscriptions/acknowledged', params: tagged('L1') }),
      client({ id: 3, method: 'tools/call' }),
      client({ id: 4, method: 'subscriptions/listen' }),
      server({ method: 'notifications/tools/list_changed', params: tagged(2) }),
      server({ method: 'notifications/message' }),
      server({ method: 'notifications/cancelled', params: { requestId: 2 } }),
      server({ id: 'L1', result: tagged('L1') }),
    ),
  ).toEqual([
    'subscriptions/listen@1: !3 =9',
    'subscriptions/listen@2: !6 !8',
    'tools/call@4: !7',
    'subscriptions/listen@5:',
  ])
})

test('messages of different connections and servers are kept apart', () => {
  expect(
    shown(
      { ...client({ id: 1, method: 'a' }), conn: 1 },
      { ...client({ id: 1, method: 'b' }), conn: 2 },
      { ...client({ id: 1, method: 'c' }), server: 'other' },
      { ...server({ id: 1, result: {} }), server: 'other' },
      { ...server({ id: 1, result: {} }), conn: 2 },
      { ...server({ method: 'notifications/message' }), conn: 1 },
    ),
  ).toEqual(['a@1: !6', 'b@2: =5', 'c@3: =4'])
})

test('in stateless revisions equal ids are distinguished by their HTTP exchange', () => {
  const modern = { _meta: { [META_KEYS.protocolVersion]: '2026-07-28' } }
  expect(
    shown(
      { ...client({ id: 1, method: 'a', params: modern }), x: 1 },
      { ...client({ id: 1, method: 'b', params: modern }), x: 2 },
      { ...server({ method: 'notifications/message' }), x: 1 },
      { ...server({ id: 1, result: {} }), x: 2 },
      { ...server({ id: 1, result: {} }), x: 3 },
      { ...server({ id: 1, result: {} }), x: 1 },
    ),
  ).toEqual(['a@1: !3 =6', 'b@2: =4'])
})

test('an answer to a server without sessions belongs to the exchange that asked, whatever its connection', () => {
  expect(
    shown(
      { ...client({ id: 1, method: 'a' }), conn: 1, x: 1 },
      { ...client({ id: 2, method: 'b' }), conn: 2, x: 2 },
      { ...server({ id: 0, method: 'elicitation/create' }), conn: 1, x: 1 },
      { ...server({ id: 0, method: 'elicitation/create' }), conn: 2, x: 2 },
      { ...client({ id: 0, result: {} }), conn: 3, x: 3 },
      { ...client({ id: 0, result: {} }), conn: 4, x: 4 },
      { ...server({ id: 2, result: {} }), conn: 2, x: 2 },
      { ...server({ id: 1, result: {} }), conn: 1, x: 1 },
    ),
  ).toEqual(['a@1: ?3/5 =8', 'b@2: ?4/6 =7'])
})

test('a progress token has precedence over the HTTP exchange', () => {
  expect(
    shown(
      { ...client({ id: 1, method: 'a', params: { _meta: { progressToken: 1 } } }), x: 1 },
      { ...client({ id: 2, method: 'b' }), x: 2 },
      { ...server({ method: 'notifications/progress', params: { progressToken: 1 } }), x: 2 },
      { ...server({ method: 'notifications/message' }), x: 1 },
    ),
  ).toEqual(['a@1: !3 !4', 'b@2:'])
})

test('with sessions a response may arrive in the HTTP exchange of a resumed stream', () => {
  expect(
    shown({ ...client({ id: 1, method: 'a' }), x: 1 }, { ...server({ id: 1, result: {} }), x: 2 }),
  ).toEqual(['a@1: =2'])
})

test('the items of a batch are separate messages with their own text', () => {
  const text = '[ {"jsonrpc":"2.0","id":1.0,"method":"a"} ,{"jsonrpc":"2.0","method":"b"},[], 7]'
  const [frame] = tape({ dir: 'c2s', text })
  const items = frame?.kind === 'message' ? messagesInFrame(frame) : []
  expect(items.map(({ text: own, item, message }) => [item, message.kind, own])).toEqual([
    [0, 'request', '{"jsonrpc":"2.0","id":1.0,"method":"a"}'],
    [1, 'notification', '{"jsonrpc":"2.0","method":"b"}'],
    [2, 'invalid', '[]'],
    [3, 'invalid', '7'],
  ])
  expect(shown({ dir: 'c2s', text }, server({ id: 1, result: {} }))).toEqual(['a@1: =2', 'b@1:'])
})

function tagged(id: unknown): object {
  return { _meta: { [META_KEYS.subscriptionId]: id } }
}

interface SentMessage {
  readonly dir: 'c2s' | 's2c'
  readonly text: string
  readonly server?: string
  readonly conn?: number
  readonly x?: number
}

function client(message: object): SentMessage {
  return { dir: 'c2s', text: JSON.stringify({ jsonrpc: '2.0', ...message }) }
}

function server(message: object): SentMessage {
  return { dir: 's2c', text: JSON.stringify({ jsonrpc: '2.0', ...message }) }
}

function tape(...messages: readonly SentMessage[]): readonly Frame[] {
  return messages.map((one, index) => ({
    kind: 'message',
    server: 'demo',
    conn: 1,
    ...one,
    n: index + 1,
    t: (index + 1) * 10,
    message: classifyMessage(JSON.parse(one.text)),
  }))
}

function shown(...messages: readonly SentMessage[]): readonly string[] {
  return buildTurns(tape(...messages)).map(show)
}

function show({
  trigger,
  steps,
}: {
  readonly trigger: RecordedMessage | undefined
  readonly steps: readonly TurnStep[]
}): string {
  const who = trigger === undefined ? '(server first)' : `${methodOf(trigger)}@${trigger.n}`
  return [`${who}:`, ...steps.map(showStep)].join(' ')
}

function showStep(step: TurnStep): string {
  if (step.kind === 'ask') return `?${step.request.n}/${step.answer?.n ?? '-'}`
  return `${step.kind === 'notify' ? '!' : '='}${step.message.n}`
}

function methodOf({ message }: RecordedMessage): string {
  return 'method' in message ? message.method : message.kind
}
