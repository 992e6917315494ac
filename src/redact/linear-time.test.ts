import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { Redactor } from './redactor.ts'

// `npm run attack -- redact` measures some hundred shapes of messages. These are the ones that once took quadratic time.

const key = {
  name: 'k-test',
  hmac: (text: string) => createHmac('sha256', 'test').update(text).digest(),
}

const message = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result })

const list = (length: number, item: (at: number) => unknown): unknown[] =>
  Array.from({ length: Math.ceil(length) }, (_, at) => item(at))

/** Number of characters that are hashed to make the placeholder of a value. */
function hashedCharacters(length: number): number {
  let count = 0
  const hmac = (text: string): Uint8Array => {
    count += text.length
    return key.hmac(text)
  }
  new Redactor({ key: { ...key, hmac } }).text(message({ token: 'a1b2c3d4'.repeat(length / 8) }))
  return count
}

test('the characters that are hashed for a long value grow with its length', () => {
  expect(hashedCharacters(80_000) / hashedCharacters(10_000)).toBeLessThan(9)
})

test.each<[string, (n: number) => string]>([
  ['a long token', (n) => message({ token: 'a1b2c3d4'.repeat(n / 8) })],
  ['a repeated prefix', (n) => message({ text: 'AKIA'.repeat(n / 4) })],
  ['many named pairs', (n) => message(list(n / 40, (at) => ({ name: 'PASSWORD', value: `Hunter${at}xyz` })))],
  ['many secrets in a text', (n) => message(list(n / 20, (at) => `password=Hunter${at}xyz`).join(' '))],
  ['a word full of JWT beginnings', (n) => message({ text: 'eyJhb'.repeat(n / 5) })],
  ['a line full of cookies', (n) => message({ text: 'cookie: '.repeat(n / 8) })],
  ['padding in the middle', (n) => message({ password: `${'='.repeat(n)}x` })],
  ['a host of many names', (n) => message({ password: `a@${'b.'.repeat(n / 2)} ` })],
  ['a Kubernetes manifest', (n) => message(`kind: Secret\n${'            image: nginx\n'.repeat(n / 25)}`)],
  ['keys that may be secret', (n) => message({ text: 'sort key a1b2c3d4e5f6 '.repeat(n / 22) })],
  ['a deep batch', (n) => `${'["password",'.repeat(n / 13)}1${']'.repeat(n / 13)}`],
])('eight times as much of %s does not take much more than eight times as long', (_, text) => {
  const cpuOf = (n: number): number => {
    const input = text(n)
    const before = process.cpuUsage()
    new Redactor({ key }).text(input)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  cpuOf(4000) // compiles the code
  const small = Math.max(cpuOf(20_000), cpuOf(20_000), 2000)
  expect(cpuOf(160_000) / small).toBeLessThan(30) // linear is 8, quadratic is 64
})
