import { createHmac } from 'node:crypto'
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { seededRandom } from '../seeded-random.ts'
import { Redactor } from './redactor.ts'
import { defaultRules } from './rules/index.ts'
import { exampleOf } from './rules/token-shape.ts'

const key = { name: 'k-test', hmac: (text: string) => createHmac('sha256', 'a key').update(text).digest() }
const SECRET = 'ghp_a7K2mQ9xLw4Rt6YvB3nC8dE5fG1hJ0kPsUz2'
const NOTE = JSON.stringify({ note: `the key is ${SECRET}`, n: 1 })

const messageWith = (text: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } })

function redactedText(text: string): string {
  const message = new Redactor({ key }).text(messageWith(text))
  // What was redacted once is the same when a live client sends it again.
  expect(new Redactor({ key, source: 'live' }).text(message)).toBe(message)
  expect(new Redactor({ key, source: 'live' }).text(messageWith(text))).toBe(message)
  return (JSON.parse(message) as { result: { content: [{ text: string }] } }).result.content[0].text
}

const base64 = (data: Uint8Array | string): string => Buffer.from(data).toString('base64')
const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64')

test('a secret is found in lines of base64, wherever the lines break', () => {
  const url = 'https://eth-mainnet.g.alchemy.com/v2/'
  const secret = 'L2iLDgIqEuwYWf6X2rh2eS6mZCExhAPK'
  for (let before = 18; before < 78; before++) {
    const lines = base64(`${'some text before it '.repeat(4).slice(-before)}${url}${secret}\nand after it`)
    const redacted = redactedText(lines.replaceAll(/.{76}/g, '$&\n'))
    expect(fromBase64(redacted).toString()).not.toContain(secret)
  }
})

test('a JWT with any header is found in base64', () => {
  const [header = '', payload = ''] = ['{"ver":"2","use":"x"}', '{"sub":"ada"}'].map(base64)
  const jwt = `${header}.${payload}.h7Kq2mZx9Lw4Rt6YvB3nC8dE`.replaceAll('=', '')
  expect(fromBase64(redactedText(base64(jwt))).toString()).not.toContain('h7Kq2mZx9Lw4Rt6YvB3nC8dE')
})

test.each<[string, (text: string) => string, (text: string) => string]>([
  ['hex', (text) => Buffer.from(text).toString('hex'), (text) => Buffer.from(text, 'hex').toString()],
  [
    'base64 twice',
    (text) => base64(base64(text)),
    (text) => fromBase64(fromBase64(text).toString()).toString(),
  ],
  ['gzip in base64', (text) => base64(gzipSync(text)), (text) => gunzipSync(fromBase64(text)).toString()],
  ['zlib in base64', (text) => base64(deflateSync(text)), (text) => inflateSync(fromBase64(text)).toString()],
  [
    'UTF-16 in base64',
    (text) => base64(Buffer.from(text, 'utf16le')),
    (text) => fromBase64(text).toString('utf16le'),
  ],
])('a secret in %s is replaced, and the rest can be decoded as before', (_, encode, decode) => {
  const redacted = decode(redactedText(encode(NOTE)))
  expect(redacted).not.toContain(SECRET)
  expect(redacted).toMatch(/^\{"note":"the key is ghp_\w{36}","n":1\}$/)
  const harmless = encode(JSON.stringify({ note: 'nothing of interest is here, but it is long', n: 1 }))
  expect(redactedText(harmless)).toBe(harmless)
})

test('a command of PowerShell in base64 is searched', () => {
  const command = base64(Buffer.from(`$env:DB_PASSWORD = "h7Kq2mZx9Lw4"; run`, 'utf16le'))
  const [, encoded = ''] = /-enc (\S+)/.exec(redactedText(`powershell -enc ${command}`)) ?? []
  expect(fromBase64(encoded).toString('utf16le')).toMatch(
    /^\$env:DB_PASSWORD = "(?!h7Kq2mZx9Lw4).{12}"; run$/,
  )
})

test('a secret is found between the colors of a terminal', () => {
  const text = `\u001b[31mclient_secret\u001b[0m=\u001b[33ma7Kq2mZx9Lw4Rt6Y\u001b[0m`
  expect(redactedText(text)).not.toContain('a7Kq2mZx9Lw4Rt6Y')
})

test('HTML entities can have zeros before their number', () => {
  const text = Array.from(SECRET, (char) => `&#0${char.charCodeAt(0)};`).join('')
  expect(redactedText(text)).not.toBe(text)
})

test('hashes, images and identifiers are kept', () => {
  for (const text of [
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    base64(Uint8Array.from({ length: 3000 }, (_, at) => (at * at * 7 + at) & 255)),
    base64(gzipSync('nothing '.repeat(500))),
    '0123456789'.repeat(20),
  ])
    expect(redactedText(text)).toBe(text)
})

const asEntities = (text: string): string => text.replaceAll(/./gs, (char) => `&#${char.charCodeAt(0)};`)
const again = (text: string): string => new Redactor({ key, source: 'again' }).text(text)

test.each<[string, (text: string) => string]>([
  ['gzip in base64', (text) => `data: ${base64(gzipSync(`note: ${text}.`))}.`],
  ['zlib in base64', (text) => `data: ${base64(deflateSync(`note: ${text}.`))}.`],
  ['HTML', (text) => `<pre>{&quot;note&quot;: &quot;${asEntities(text)}&quot;}</pre>`],
  ['colors of a terminal', (text) => `\u001b[31m${text}\u001b[0m`],
  ['the path of a URL', (text) => `https://host.example/v1/${encodeURIComponent(text)}/items`],
])('a placeholder of any kind in %s is not replaced again', (_, wrap) => {
  const random = seededRandom(15)
  const pick = (below: number): number => Math.floor(random() * below)
  const fresh = new Redactor({ key })
  for (const { shapes = [] } of defaultRules())
    for (const shape of shapes) {
      const once = fresh.text(messageWith(wrap(exampleOf(shape, pick))))
      expect(again(once)).toBe(once)
    }
})

test('the placeholder of a card number with spaces is not replaced again', () => {
  const once = new Redactor({ key }).text('{"result":{"password":"4111 1111 1111 1111"}}')
  expect(once).toMatch(/"[1-9]\d{3} \d{4} \d{4} \d{4}"/)
  expect(new Redactor({ key, source: 'live' }).text(once)).toBe(once)
  const other = '{"result":{"password":"4012 8888 8888 1881"}}'
  expect(new Redactor({ key, source: 'live' }).text(other)).not.toContain('8888')
})

// With this key, each of these placeholders contains by chance what looks like the start of a token, or of a password.
test.each<[string, (text: string) => string]>([
  [
    ['cnvca', 'c6NhT9aO6ZjNt3YPXY95b1g-DUJjUIKY_Tv1uGNXEu6ezoGg'].join(''),
    (text) => `\u001b[31m${text}\u001b[0m`,
  ],
  [
    [
      '5fm3tf7wi1ngz1ikl4uqt5tw50o.2whjz',
      '.acc_B8l2cj3P64yHoTEWNakoqKG3Q6iTsuT8.LIse-D79ckV0SjhUtVW4AlFlYqkMp4m',
    ].join(''),
    (text) => `https://h.example/cb?next=${encodeURIComponent(`/x?y=${text}`)}`,
  ],
  [
    [
      'https://discordapp.com/api/webhooks/6129715965674665100/',
      'Es2gATZhgXTiDBQ_kwMR4Kdifl_r4gp8EvW7hiYOcZDUjwbvnkVwbqXgemHaEq9V',
    ].join(''),
    (text) => JSON.stringify({ inner: JSON.stringify({ deep: [text] }) }),
  ],
  [['SharedAccessKey=', 'nXBE5Su7Er2PPArI6JrLP1uahE5D4kxVK0osl8oN2Yo='].join(''), (text) => `note: ${text}.`],
  [
    ['SharedAccessKey=', '/vPMMbkv6sdfiqGYTL9VzTtDCuNvaVfPG/K2pD/Ur3n='].join(''),
    (text) => base64(`note: ${text}.`),
  ],
])('a placeholder that looks like something else is not replaced again: %#', (value, wrap) => {
  const secrets = {
    name: 'k-secrets',
    hmac: (text: string) => createHmac('sha256', 'secrets').update(text).digest(),
  }
  const once = new Redactor({ key: secrets }).text(messageWith(wrap(value)))
  expect(once).not.toContain(value)
  expect(new Redactor({ key: secrets, source: 'again' }).text(once)).toBe(once)
  const next = once.replace('"}]', ` and password=Tr0ub4dor-and-3"}]`)
  expect(new Redactor({ key: secrets, source: 'again' }).text(next)).not.toContain('Tr0ub4dor')
})
