import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leaks, LOOKS, NAMED, type Planted } from '../../test/support/planted.ts'
import type { RedactionKey } from './placeholders.ts'
import { Redactor } from './redactor.ts'
import { cases } from '../../test/support/cases.ts'

const key: RedactionKey = {
  name: 'k-test',
  hmac: (text) => createHmac('sha256', 'a key').update(text).digest(),
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Ways to hide a value in a text. */
const HIDE: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => `before ${value} behind`,
  (value) => `https://host/path?q=${encodeURIComponent(value)}&n=1`,
  (value) => base64(value),
  (value) => base64(`x${value}`),
  (value) => base64(`xy${value}z`),
  (value) => `data:text/plain;base64,${base64(`some text: ${value}`)}`,
  (value) => JSON.stringify({ inner: [value] }),
  (value) => JSON.stringify(JSON.stringify({ inner: value })),
  (value) => `Result: ${JSON.stringify({ inner: value })}`,
]

const hide = fc.constantFrom(...HIDE)
const messageWith = (text: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } })

test('what can be told by its looks is found in every spelling, and the message is still the same message', () => {
  fc.assert(
    fc.property(LOOKS, hide, (planted, hidden) => {
      const text = new Redactor({ key }).text(messageWith(hidden(planted.value)))
      expect(leaks(text, [planted])).toEqual([])
      expect(JSON.parse(text)).toMatchObject({
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'text' }] },
      })
    }),
    cases(1000),
  )
})

test('what was said to be secret once is found in every spelling from then on', () => {
  fc.assert(
    fc.property(NAMED, hide, fc.boolean(), (planted, hidden, isFromEnv) => {
      const redactor = new Redactor({ key })
      const first = named(redactor, planted, isFromEnv)
      const text = first + redactor.text(messageWith(hidden(planted.value)))
      expect(leaks(text, [planted])).toEqual([])
    }),
    cases(1000),
  )
})

function named(redactor: Redactor, { value }: Planted, isFromEnv: boolean): string {
  if (isFromEnv) redactor.learnEnv({ SERVICE_PASSWORD: value })
  return isFromEnv ? '' : redactor.text(JSON.stringify({ params: { arguments: { password: value } } }))
}

test('a text that was redacted is left alone the second time', () => {
  const again = new Redactor({ key, source: 'again' })
  fc.assert(
    fc.property(fc.oneof(LOOKS, NAMED), hide, (planted, hidden) => {
      const redactor = new Redactor({ key })
      redactor.learn(planted.value)
      const message = JSON.stringify({
        result: { password: planted.value, text: hidden(planted.value), pin: 1234 },
      })
      const once = redactor.text(message)
      expect(again.text(once)).toBe(once)
    }),
    cases(500),
  )
})

test('a live text gets the stand-ins of the tape, whether it holds the secret or its stand-in', () => {
  fc.assert(
    fc.property(LOOKS, hide, (planted, hidden) => {
      const taped = new Redactor({ key }).text(messageWith(hidden(planted.value)))
      const live = new Redactor({ key, source: 'live' })
      expect(live.text(messageWith(hidden(planted.value)))).toBe(taped)
      expect(live.text(taped)).toBe(taped)
    }),
    cases(300),
  )
})

test('a stand-in in which another kind of token stands by chance is left alone', () => {
  const value =
    'sk-ant-api03-huU3Eg64b6s6AJkmQ5ndw2TsYzDxPuRW5PmdZ8gJTPGXUaGS5JBvhTXJIayVHlH4Z4IEXypdAG63lrpz'
  const taped = new Redactor({ key }).text(value)
  expect(taped).toContain('hf_')
  expect(new Redactor({ key, source: 'live' }).text(taped)).toBe(taped)
  expect(new Redactor({ key, source: 'again' }).text(taped)).toBe(taped)
})

test('a message without secrets keeps every byte', () => {
  const redactor = new Redactor({ key })
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (json) => {
      const text = `{"jsonrpc":"2.0","id":1,"result":${json}}`
      expect(redactor.text(text)).toBe(text)
    }),
    cases(500),
  )
})
