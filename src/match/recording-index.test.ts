import { expect, test } from 'vitest'
import {
  answerOf,
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../../test/support/tape-of.ts'
import { clientCallOf, turnStoreOf } from '../tape/turns.ts'
import type { MatchOutcome, MatcherOptions } from './matcher.ts'
import { RecordingIndex } from './recording-index.ts'
import { requestKey } from './request-key.ts'

test('a recorded request is found by its content, regardless of its id and the order of its keys', () => {
  const index = indexOf([...call(7, 'search', { q: 'größe', limit: 1 }, 'found')])
  const params = { arguments: { limit: 1, q: 'größe' }, name: 'search' }
  expect(shown(index.lookup({ server: 'demo', method: 'tools/call', params }))).toBe('found')
})

test('two equal requests get their two recorded answers, in order', () => {
  const index = indexOf([...call(1, 'count', {}, 'one'), ...call(2, 'count', {}, 'two')])
  expect([ask(index, 'count'), ask(index, 'count')]).toEqual(['one', 'two'])
})

test('answers are used in the order of the requests, even if they were recorded in another order', () => {
  const index = indexOf([
    client(callOf(1, 'count', {})),
    client(callOf(2, 'count', {})),
    server(answerOf(2, 'two')),
    server(answerOf(1, 'one')),
  ])
  expect([ask(index, 'count'), ask(index, 'count')]).toEqual(['one', 'two'])
})

test('by default, an unknown or used-up request has no answer', () => {
  const index = indexOf([...call(1, 'count', {}, 'one')])
  expect(ask(index, 'other')).toBe('unknown')
  expect([ask(index, 'count'), ask(index, 'count')]).toEqual(['one', 'exhausted'])
})

test('permissive repeats the last answer and marks it as repeated', () => {
  const index = indexOf([...call(1, 'count', {}, 'one'), ...call(2, 'count', {}, 'two')], {
    permissive: true,
  })
  const answers = [1, 2, 3, 4].map(() => ask(index, 'count'))
  expect(answers).toEqual(['one', 'two', 'two again', 'two again'])
  expect(ask(index, 'other')).toBe('unknown')
})

test('the recorded answer is returned unchanged, as a result or an error', () => {
  const index = indexOf([
    ...call(1, 'count', {}, 'one'),
    client(callOf(2, 'fail', {})),
    server({ id: 2, error: { code: -32000, message: 'no' } }),
  ])
  const answer = (name: string): unknown =>
    index.answer({ server: 'demo', method: 'tools/call', params: { name, arguments: {} } })
  expect([answer('count'), answer('fail')]).toEqual([
    { result: { content: [{ type: 'text', text: 'one' }] } },
    { error: { code: -32000, message: 'no' } },
  ])
})

test('by default, an unknown or used-up request throws an error with the method and the params', () => {
  const index = indexOf([...call(1, 'count', {}, 'one'), ...call(2, 'next', {}, 'two')])
  const request = {
    server: 'demo',
    method: 'tools/call',
    params: { name: 'search', arguments: { q: 'cats' } },
  }
  expect(() => index.answer(request)).toThrow(
    expect.objectContaining({
      code: 'CALL_NOT_RECORDED',
      message: 'no recorded answer (unknown) for tools/call search {"q":"cats"}',
      hint: 'next on the tape: #1 tools/call count {}',
    }),
  )
  const count = { server: 'demo', method: 'tools/call', params: { name: 'count', arguments: {} } }
  index.answer(count)
  expect(() => index.answer(count)).toThrow('no recorded answer (exhausted) for tools/call count {}')
})

test('permissive: an unknown request returns null, and a used-up one repeats the last answer', () => {
  const index = indexOf([...call(1, 'count', {}, 'one')], { permissive: true })
  const count = { server: 'demo', method: 'tools/call', params: { name: 'count', arguments: {} } }
  expect(index.answer({ server: 'demo', method: 'tools/call', params: { name: 'other' } })).toBeNull()
  expect(index.answer(count)).toEqual(index.answer(count))
})

test('each connection uses the recording from its beginning', () => {
  const first = indexOf([...call(1, 'count', {}, 'one'), ...call(2, 'count', {}, 'two')])
  expect(ask(first, 'count')).toBe('one')
  const second = first.forNewConnection()
  expect([ask(second, 'count'), ask(first, 'count'), ask(second, 'count')]).toEqual(['one', 'two', 'two'])
})

test('the handshake and ping can be sent any number of times, and are never left over', () => {
  const index = indexOf([...HANDSHAKE, client({ id: 1, method: 'ping' }), server({ id: 1, result: {} })])
  expect(index.unconsumedKeys()).toEqual([])
  const methods = ['initialize', 'initialize', 'ping', 'ping']
  expect(methods.map((method) => index.lookup({ server: 'demo', method }).kind)).toEqual(
    methods.map(() => 'hit'),
  )
})

test('unused recorded requests are listed in recorded order, and the first one is next', () => {
  const index = indexOf([
    ...HANDSHAKE,
    ...call(1, 'a', {}, 'A'),
    ...call(2, 'b', {}, 'B'),
    ...call(3, 'a', {}, 'A2'),
  ])
  ask(index, 'b')
  ask(index, 'a')
  expect(index.unconsumedKeys()).toEqual([
    { frame: 8, exchange: 4, server: 'demo', method: 'tools/call', params: { name: 'a', arguments: {} } },
  ])
  expect(index.next()?.frame).toBe(8)
  ask(index, 'a')
  expect(index.next()).toBeUndefined()
})

test('a recorded request without an answer is skipped, and is never next', () => {
  const index = indexOf([
    client(callOf(1, 'slow', {})),
    client(callOf(2, 'count', {})),
    ...call(3, 'count', {}, 'two'),
  ])
  expect(ask(index, 'slow')).toBe('unanswered')
  expect(ask(index, 'count')).toBe('two')
  expect(index.unconsumedKeys()).toEqual([])
})

test('a request that the client cancelled is played without an answer', () => {
  const index = indexOf([
    client(callOf(1, 'slow', {})),
    client({ method: 'notifications/cancelled', params: { requestId: 1 } }),
  ])
  expect(index.next()?.frame).toBe(1)
  expect(ask(index, 'slow')).toBe('no answer')
})

test('a subscription that lasted to the end is played without an answer', () => {
  const params = { _meta: ENVELOPE, notifications: { toolsListChanged: true } }
  const index = indexOf([
    client({ id: 'L', method: 'subscriptions/listen', params }),
    server({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 'L' } },
    }),
  ])
  expect(shown(index.lookup({ server: 'demo', method: 'subscriptions/listen', params }))).toBe('no answer')
})

test('a request of the server and the response to it are not answers of the server', () => {
  const index = indexOf([
    client(callOf(0, 'ask', {})),
    server({ id: 0, method: 'roots/list' }),
    client({ id: 0, result: { roots: [] } }),
    server(answerOf(0, 'asked')),
  ])
  expect(ask(index, 'ask')).toBe('asked')
  expect(index.lookup({ server: 'demo', method: 'roots/list' }).kind).toBe('unknown')
})

test('requests that differ only at ignored paths are equal', () => {
  const index = indexOf([...call(1, 'a', { at: 1 }, 'one'), ...call(2, 'a', { at: 2 }, 'two')], {
    ignore: ['params.arguments.at'],
  })
  expect([ask(index, 'a', { at: 9 }), ask(index, 'a', { at: 8 })]).toEqual(['one', 'two'])
})

test('a request to one server is never answered by another', () => {
  const index = indexOf(call(1, 'a', {}, 'one').map((said) => ({ ...said, server: 'other' })))
  expect(ask(index, 'a')).toBe('unknown')
})

function indexOf(said: readonly Said[], options?: MatcherOptions): RecordingIndex {
  return new RecordingIndex(tapeOf(...said).turns, options)
}

function ask(index: RecordingIndex, name: string, args = {}): string {
  return shown(index.lookup({ server: 'demo', method: 'tools/call', params: { name, arguments: args } }))
}

function shown(outcome: MatchOutcome): string {
  if (outcome.kind !== 'hit') return outcome.kind
  const text = /"text":"(.*?)"/.exec(outcome.turn.response?.text ?? '')?.[1] ?? 'no answer'
  return outcome.repeated ? `${text} again` : text
}

test('requests whose keys have the same hash never get the answers of each other', () => {
  const { turns } = tapeOf(...call(1, 'a', { n: 1 }, 'one'), ...call(2, 'a', { n: 2 }, 'two'))
  const store = turnStoreOf(turns)
  const collides = {
    first: () => 0,
    next: (index: number) => (index + 1 < store.size ? index + 1 : -1),
    read: (index: number, key: string) => {
      const recorded = clientCallOf(store.trigger(index))
      return recorded !== undefined && requestKey(recorded) === key ? store.at(index) : undefined
    },
  }
  const index = new RecordingIndex(Object.assign(store, { keyedBy: () => collides }))
  const askFor = (n: number): string => {
    const outcome = index.lookup({
      server: 'demo',
      method: 'tools/call',
      params: { name: 'a', arguments: { n } },
    })
    return outcome.kind === 'hit' ? (outcome.turn.response?.text ?? '') : outcome.kind
  }
  expect(askFor(2)).toContain('two')
  expect(askFor(3)).toBe('unknown')
})
