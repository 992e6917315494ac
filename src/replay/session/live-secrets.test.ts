import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { Redactor } from '../../redact/redactor.ts'
import { SecretRestorer } from './live-secrets.ts'

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
