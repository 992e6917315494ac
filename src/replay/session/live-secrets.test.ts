import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { Redactor } from '../../redact/redactor.ts'
import { liveSecrets, SecretRestorer } from './live-secrets.ts'

const key = { name: 'k-test', hmac: (text: string) => createHmac('sha256', 'a key').update(text).digest() }

test('a stand-in is put back wherever it stands, escaped as it must be', () => {
  const redactor = new Redactor({ key })
  const pairs = new SecretRestorer(redactor, [])
  const standIn = redactor.secret('hunter2 "and" more')
  expect(pairs.reveal(JSON.stringify({ a: standIn, b: [`so: ${standIn}!`] }))).toBe(
    JSON.stringify({ a: 'hunter2 "and" more', b: ['so: hunter2 "and" more!'] }),
  )
})

test('a number of few digits is put back only where a name says that it is a secret', () => {
  const redactor = new Redactor({ key })
  const pairs = new SecretRestorer(redactor, ['customerNumber'])
  const standIn = redactor.secret('4711')
  const text = `{"pin":${standIn},"count":${standIn},"customer_number":"${standIn}","list":[${standIn}]}`
  expect(pairs.reveal(text)).toBe(
    `{"pin":4711,"count":${standIn},"customer_number":"4711","list":[${standIn}]}`,
  )
  expect(pairs.reveal(`no JSON ${standIn}`)).toBe(`no JSON ${standIn}`)
})

test('without the key of the tape, placeholders of the same form are equal, and other words are not', () => {
  const other = { name: 'k-gone', hmac: (text: string) => createHmac('sha256', 'lost').update(text).digest() }
  const recorded = new Redactor({ key: other }).secret('9c0d1e2f3a4b5c6d')
  const secrets = liveSecrets({ redaction: { rules: 'default-1', key: 'k-gone' } })
  const live = secrets?.hide('{"token":"9c0d1e2f3a4b5c6d"}').slice(10, -2) ?? ''
  expect(live).not.toBe('9c0d1e2f3a4b5c6d')
  const areEqual = (one: string, two: string) => secrets?.differsInPlaceholders?.(one, two)
  expect(areEqual(`token = ${recorded}\nport = 1`, `token = ${live}\nport = 1`)).toBe(true)
  expect(areEqual(`token = ${recorded}\nport = 1`, `token = ${live}\nport = 2`)).toBe(false)
  expect(areEqual(`token = none\nport = 1`, `token = ${live}\nport = 1`)).toBe(false)
})
