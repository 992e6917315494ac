import { expect, test } from 'vitest'
import { IsolationWatch, SESSION_MARKS } from './isolation.ts'
import type { ObservedCall } from './watch.ts'

function call(link: string, params: object, result: object, more: Partial<ObservedCall> = {}): ObservedCall {
  return {
    name: 'tools/call get',
    link,
    exchange: 1,
    method: 'tools/call',
    request: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    response: JSON.stringify({ jsonrpc: '2.0', id: 1, result }),
    notifications: undefined,
    state: 'done',
    why: undefined,
    duration: 5,
    findings: [],
    ...more,
  }
}

/** What the watch says about each call. */
function verdicts(...calls: readonly ObservedCall[]): readonly (string | undefined)[] {
  const watch = new IsolationWatch()
  return calls.map((each) => watch.failureOf(each)?.summary)
}

const [mark = ''] = SESSION_MARKS

test('a text of one client in a response to another one is a leak, and in a notification as well', () => {
  expect(
    verdicts(call('1', { text: `${mark} buy milk` }, {}), call('2', {}, { last: `${mark} buy milk` })),
  ).toEqual([undefined, `the response contains "${mark}", which belongs to another session`])
  const told = call(
    '2',
    {},
    {},
    { notifications: JSON.stringify({ connection: [{ data: `saved ${mark}` }] }) },
  )
  expect(verdicts(call('1', { text: mark }, {}), told)[1]).toContain('belongs to another session')
})

test('an id that the server made for one session is a leak where the other one did not ask for it', () => {
  const [mine, yours] = ['0b9c3f7e-6d1a-4c52-8f0e-1a2b3c4d5e6f', 'f47ac10b-58cc-4372-a567-0e02b2c3d479']
  const made = [call('1', { new: 1 }, { id: mine }), call('2', { new: 1 }, { id: yours })]
  expect(verdicts(...made, call('2', { list: 1 }, { ids: [yours, mine] }))[2]).toContain(mine)
  const asked = call('2', { id: mine }, { isError: true, text: `there is no note ${mine}` })
  expect(verdicts(...made, asked)[2]).toBeUndefined()
})

test('what all sessions get, and times, belong to nobody', () => {
  const shared = { version: '1.4.2', build: 'a81c6f04be', at: 1_763_588_449_123 }
  const later = { ...shared, at: 1_763_588_449_911 }
  expect(verdicts(call('1', {}, shared), call('2', {}, later), call('1', {}, later))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('a text without the mark that this session sends it with comes from an earlier session', () => {
  const sent = call(
    '1',
    { text: `${mark} buy apples and tea` },
    { text: `saved: ${mark} buy apples and tea` },
  )
  expect(verdicts(sent, call('1', {}, { found: ['buy apples and tea'] }))).toEqual([
    undefined,
    'the response contains "buy apples and tea", which an earlier session has sent',
  ])
})
