import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerOf, call, client, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import type { Turn } from '../../tape/turns.ts'
import { findBindings } from '../find/find-bindings.ts'
import { LiveValueBinder } from './live-value-binder.ts'

const NOW = Date.parse('2027-03-01T12:00:00Z')

interface Session {
  readonly turns: readonly Turn[]
  readonly binder: LiveValueBinder
  /** Returns the live response to a recorded turn. */
  readonly answer: (turn: number, message: object) => void
  /** Returns the arguments that are sent instead of the recorded ones. */
  readonly sent: (turn: number) => unknown
  readonly unbound: (turn: number) => readonly string[]
}

function sessionOf(...said: readonly Said[]): Session {
  const { turns, header } = tapeOf(...said)
  const binder = new LiveValueBinder(findBindings(turns, header).bindings, { now: () => NOW })
  const bind = (turn: number): ReturnType<LiveValueBinder['fill']> => {
    const trigger = turns[turn]?.trigger
    if (trigger === undefined) throw new Error('nothing was sent in this turn')
    return binder.fill(trigger)
  }
  return {
    turns,
    binder,
    answer: (turn, message) => {
      const response = turns[turn]?.response
      if (response !== undefined) binder.learn(response, JSON.stringify(message))
    },
    sent: (turn) => JSON.parse(bind(turn).text).params.arguments,
    unbound: (turn) => bind(turn).unbound.map(({ binding, why }) => `${binding.value} ${why}`),
  }
}

function asked(id: number, name: string, args: object): Said {
  return client({ id, method: 'tools/call', params: { name, arguments: args } })
}

test('the live value replaces the recorded one, and every other byte is unchanged', () => {
  const request =
    '{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{"name":"get","arguments":{"id" : "a1b2c3d4","n":1.0,"s":"\\u00e9"}}}'
  const { turns, binder, answer } = sessionOf(...call(1, 'create', {}, '{"id":"a1b2c3d4"}'), client(request))
  answer(0, answerOf(9, '{"note":"new","id":"ffff0000"}'))
  const trigger = turns[1]?.trigger
  expect(trigger && binder.fill(trigger).text).toBe(request.replace('a1b2c3d4', 'ffff0000'))
})

test('live values are found in prose, even if other parts of the text differ', () => {
  const { answer, sent } = sessionOf(
    ...call(1, 'start', {}, 'Started upload up_8c1d9e20 for you.'),
    asked(2, 'finish', { upload: 'up_8c1d9e20', note: 'finish up_8c1d9e20 now' }),
  )
  answer(0, answerOf(1, '3 uploads wait.\nStarted upload up_00_ff-11 for you.'))
  expect(sent(1)).toEqual({ upload: 'up_00_ff-11', note: 'finish up_00_ff-11 now' })
})

test('similar values of a list keep their positions', () => {
  const { answer, sent } = sessionOf(
    ...call(1, 'list', {}, '- item a1b2c3 (open)\n- item d4e5f6 (open)\n- item g7h8i9 (done)'),
    asked(2, 'close', { ids: ['d4e5f6', 'g7h8i9'] }),
  )
  answer(0, answerOf(1, '- item z1z1z1 (done)\n- item y2y2y2 (open)\n- item x3x3x3 (open)'))
  expect(sent(1)).toEqual({ ids: ['y2y2y2', 'x3x3x3'] })
})

test('both parts of a composite, and values in JSON and base64 of the client, are replaced', () => {
  const { answer, sent } = sessionOf(
    asked(1, 'create_issue', {}),
    server({ id: 1, result: { structuredContent: { project: { key: 'APO' }, issue: { id: 'x8y2z4w6' } } } }),
    asked(2, 'close', {
      ref: 'APO/x8y2z4w6',
      body: '{"issue": "x8y2z4w6"}',
      state: btoa('{"id":"x8y2z4w6"}'),
    }),
  )
  answer(0, { id: 1, result: { structuredContent: { project: { key: 'LONGER' }, issue: { id: 'n0w' } } } })
  expect(sent(1)).toEqual({ ref: 'LONGER/n0w', body: '{"issue": "n0w"}', state: btoa('{"id":"n0w"}') })
})

test('a number stays a number unless the live value is a string', () => {
  const { answer, sent } = sessionOf(
    asked(1, 'create_issue', {}),
    server({ id: 1, result: { structuredContent: { id: 42 } } }),
    asked(2, 'get_issue', { issueId: 42 }),
  )
  answer(0, { id: 1, result: { structuredContent: { id: 43 } } })
  expect(sent(1)).toEqual({ issueId: 43 })
  answer(0, { id: 1, result: { structuredContent: { id: 'I-43' } } })
  expect(sent(1)).toEqual({ issueId: 'I-43' })
})

test('input responses are sent with the live names and the live state', () => {
  const { turns, binder, answer } = sessionOf(
    asked(1, 'deploy', {}),
    server({
      id: 1,
      result: { resultType: 'input_required', inputRequests: { ok: {}, why: {} }, requestState: 's1' },
    }),
    client({
      id: 2,
      method: 'tools/call',
      params: { name: 'deploy', inputResponses: { ok: { action: 'accept' }, why: {} }, requestState: 's1' },
    }),
  )
  answer(0, { id: 1, result: { inputRequests: { 'k-1': {}, 'k-2': {} }, requestState: 'live' } })
  const trigger = turns[1]?.trigger
  expect(trigger && JSON.parse(binder.fill(trigger).text).params).toEqual({
    name: 'deploy',
    inputResponses: { 'k-1': { action: 'accept' }, 'k-2': {} },
    requestState: 'live',
  })
})

test('a value that the live server did not send is reported with the reason', () => {
  const { answer, unbound } = sessionOf(
    ...call(1, 'create', {}, '{"id":"a1b2c3d4"}'),
    asked(2, 'get', { id: 'a1b2c3d4' }),
  )
  expect(unbound(1)).toEqual(['a1b2c3d4 silent'])
  answer(0, answerOf(1, '{"error":"no room"}'))
  expect(unbound(1)).toEqual(['a1b2c3d4 missing'])
})

test('if the producer sends no value, another location of the value is used', () => {
  const { answer, sent } = sessionOf(
    ...call(1, 'create', {}, '{"id":"a1b2c3d4"}'),
    ...call(2, 'list', {}, '[{"id":"a1b2c3d4"}]'),
    asked(3, 'get', { id: 'a1b2c3d4' }),
  )
  answer(1, answerOf(2, '[{"id":"ffff0000"}]'))
  expect(sent(2)).toEqual({ id: 'ffff0000' })
})

test('a value that was changed on purpose is kept', () => {
  const { turns, binder, answer } = sessionOf(
    ...call(1, 'create', {}, '{"id":"a1b2c3d4"}'),
    asked(2, 'get', { id: 'a1b2c3d4' }),
  )
  answer(0, answerOf(1, '{"id":"ffff0000"}'))
  const trigger = turns[1]?.trigger
  const changed = trigger?.text.replace('a1b2c3d4', 'mine') ?? ''
  expect(trigger && binder.fill(trigger, changed)).toEqual({ text: changed, used: [], unbound: [] })
})

test('a date relative to the day of the recording becomes relative to today', () => {
  const { sent } = sessionOf(asked(1, 'remind', { due: '2026-11-22', at: '2026-11-15T00:00:00.001Z' }))
  expect(sent(0)).toEqual({ due: '2027-03-08', at: '2026-11-15T00:00:00.001Z' })
})

test('a live text that differs from the recorded one only in generated values is explained', () => {
  const { binder, answer } = sessionOf(
    ...call(1, 'create', {}, '{"id":"a1b2c3d4"}'),
    asked(2, 'get', { id: 'a1b2c3d4' }),
  )
  answer(0, answerOf(1, '{"id":"ffff0000"}'))
  expect(binder.explains('item a1b2c3d4 is open', 'item ffff0000 is open', ['text'])).toBe(true)
  expect(binder.explains('item a1b2c3d4 is open', 'item ffff0000 is shut', ['text'])).toBe(false)
})

test('a value of several tokens is explained as a whole', () => {
  const { binder, answer } = sessionOf(
    ...call(1, 'create', {}, JSON.stringify({ etag: '"a1b2c3d4"' })),
    asked(2, 'update', { ifMatch: '"a1b2c3d4"' }),
  )
  answer(0, answerOf(1, JSON.stringify({ etag: 'W/"ffff0000"' })))
  expect(binder.explains('"a1b2c3d4"', 'W/"ffff0000"', ['etag'])).toBe(true)
})

test('a small number is explained only under the names of its binding', () => {
  const { binder, answer } = sessionOf(
    asked(1, 'create_issue', {}),
    server({ id: 1, result: { structuredContent: { issue: { id: 42 } } } }),
    asked(2, 'get_issue', { issueId: 42 }),
  )
  answer(0, { id: 1, result: { structuredContent: { issue: { id: 43 } } } })
  expect(binder.explains(42, 43, ['result', 'issue', 'id'])).toBe(true)
  expect(binder.explains('Issue 42 has 42 votes', 'Issue 43 has 42 votes', ['result', 'text'])).toBe(true)
  expect(binder.explains(42, 43, ['result', 'votes'])).toBe(false)
  expect(binder.explains('Issue 42 has 42 votes', 'Issue 43 has 43 votes', ['result', 'text'])).toBe(false)
})

test('a live text that only looks like a number is sent as a string', () => {
  const { answer, sent } = sessionOf(
    asked(1, 'create_issue', {}),
    server({ id: 1, result: { structuredContent: { id: 42 } } }),
    asked(2, 'get_issue', { issueId: 42 }),
  )
  answer(0, { id: 1, result: { structuredContent: { id: '007' } } })
  expect(sent(1)).toEqual({ issueId: '007' })
})

test('any live id replaces any recorded one, in any surrounding text', () => {
  const id = fc.stringMatching(/^[a-z]{2,5}[0-9]{3,6}[a-z0-9]{2,6}$/)
  const words = fc.stringMatching(/^[a-z ,.]{0,20}$/)
  fc.assert(
    fc.property(id, id, words, words, (recorded, live, before, after) => {
      const text = (value: string): string => `${before} id: ${value} ${after}`
      const { answer, sent } = sessionOf(
        ...call(1, 'make', {}, text(recorded)),
        asked(2, 'use', { id: recorded }),
      )
      answer(0, answerOf(1, text(live)))
      expect(sent(1)).toEqual({ id: live })
    }),
  )
})
