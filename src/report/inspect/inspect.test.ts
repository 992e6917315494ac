import { expect, test } from 'vitest'
import type { MessageFrame } from '../../tape/frame.ts'
import { buildTurns } from '../../tape/turn-builder.ts'
import { type Direction, classifyMessage } from '../../protocol/message.ts'
import { exchangesInTurns } from '../exchanges.ts'
import { inspectTape, frameTimestamp } from './inspect.ts'

test('a cancellation applies to the latest request with its id', () => {
  const exchanges = exchangesInTurns(
    buildTurns([
      said(1, 'c2s', { id: 1, method: 'first' }),
      said(2, 's2c', { id: 1, result: {} }),
      said(3, 'c2s', { id: 1, method: 'second' }),
      said(4, 'c2s', { id: '1', method: 'other' }),
      said(5, 'c2s', { method: 'notifications/cancelled', params: { requestId: 1 } }),
    ]),
  )
  expect(exchanges.map(({ request, outcome }) => [request.message.method, outcome.kind])).toEqual([
    ['first', 'ok'],
    ['second', 'cancelled'],
    ['other', 'unanswered'],
  ])
})

test('an answer that came despite a cancellation counts', () => {
  const [exchange] = exchangesInTurns(
    buildTurns([
      said(1, 'c2s', { id: 1, method: 'slow' }),
      said(2, 'c2s', { method: 'notifications/cancelled', params: { requestId: 1 } }),
      said(3, 's2c', { id: 1, result: {} }),
    ]),
  )
  expect(exchange).toMatchObject({ outcome: { kind: 'ok' }, latencyMs: 2 })
})

test('an error of any form has an outcome', () => {
  const errors = [{ code: 'E_ODD', message: 7 }, null, 'no', { code: 5, message: 'five' }]
  const frames = errors.flatMap((error, index) => [
    said(2 * index + 1, 'c2s', { id: index, method: 'any' }),
    said(2 * index + 2, 's2c', { id: index, error }),
  ])
  expect(exchangesInTurns(buildTurns(frames)).map(({ outcome }) => outcome)).toEqual([
    { kind: 'error', code: null, message: '' },
    { kind: 'error', code: null, message: '' },
    { kind: 'error', code: null, message: '' },
    { kind: 'error', code: 5, message: 'five' },
  ])
})

test('a time after the last possible date is shown as the last date', () => {
  const header = { reelay: 1, id: 'x', started: '2026-11-15T07:20:59.123Z', by: 'me', servers: {}, tags: {} }
  const tape = { path: 'x', header, turns: [], strays: [], rest: [], frames: 0, ended: false, problems: [] }
  expect(frameTimestamp(inspectTape(tape), 1e300)).toBe('+275760-09-13T00:00:00.000Z')
})

function said(n: number, dir: Direction, message: object): MessageFrame {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message })
  const place = { n, t: n, server: 'any', conn: 1, dir }
  return { kind: 'message', ...place, text, message: classifyMessage(JSON.parse(text)) }
}
