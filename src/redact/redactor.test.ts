import { createHmac } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { RedactionKey } from './placeholders.ts'
import { Redactor, type RedactorOptions } from './redactor.ts'
import { redactionRuleSet } from './rule-set.ts'

const keyOf = (secret: string): RedactionKey => ({
  name: `k-${secret}`,
  hmac: (text) => createHmac('sha256', secret).update(text).digest(),
})

const redactorWith = (options: Partial<RedactorOptions> = {}): Redactor =>
  new Redactor({ key: keyOf('test'), ...options })

const argumentsOf = (args: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: args } })

const redactedArguments = (args: object, options?: Partial<RedactorOptions>): unknown =>
  Object(JSON.parse(redactorWith(options).text(argumentsOf(args))))['params']['arguments']

describe('a stand-in has the shape of its value', () => {
  test.each([
    [
      'a UUID',
      '550e8400-e29b-41d4-a716-446655440000',
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    ],
    ['hex', 'deadbeef0123456789abcdef', /^[0-9a-f]{24}$/],
    ['upper-case hex', 'DEADBEEF0123456789ABCDEF', /^[0-9A-F]{24}$/],
    ['a token of GitHub', `ghp_${'a1'.repeat(18)}`, /^ghp_[0-9a-z]{36}$/],
    ['a JWT', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln', /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{43}$/],
    ['base64', 'c2VjcmV0IHZhbHVlIQ==', /^[A-Za-z0-9]{18}==$/],
    ['digits', '4111111111111111', /^[1-9]\d{15}$/],
    ['an address', 'jane.doe@corp.test', /^[a-z0-9]{10}@mail\.example$/],
    ['a word', 'correct horse', /^[a-z]{13}$/],
    ['a short word', 'zz', /^[a-z]{9}$/],
  ])('%s', (_, value, shape) => {
    const { password } = redactedArguments({ password: value }) as { password: string }
    expect(password).toMatch(shape)
    expect(password).not.toBe(value)
  })

  test('a number stays a number of as many digits, spelled as a number', () => {
    expect(redactorWith().text('{"pin":1234,"password":-5.25e3,"otp":000}')).toMatch(/^\{"pin":/)
    const text = redactorWith().text('{"params":{"pin":1234,"password":-5.25e3}}')
    expect(text).toMatch(/^\{"params":\{"pin":[1-9]\d{3},"password":-[1-9]\.\d\de3\}\}$/)
    expect(text).not.toContain('1234')
  })

  test('a private key keeps its armour and its lines', () => {
    const pem = `-----BEGIN RSA PRIVATE KEY-----\n${'Ab0/'.repeat(16)}\n${'xY9+'.repeat(8)}==\n-----END RSA PRIVATE KEY-----\n`
    const { text } = redactedArguments({ text: `key: ${pem}` }) as { text: string }
    expect(text).toMatch(
      /^key: -----BEGIN RSA PRIVATE KEY-----\n[A-Za-z0-9+/]{64}\n[A-Za-z0-9+/]{32}==\n-----END RSA PRIVATE KEY-----\n$/,
    )
    expect(text).not.toContain('Ab0/Ab0/')
  })
})

test('one value has one stand-in, in a body, a header, a URL and a command line', () => {
  const redactor = redactorWith()
  const value = 'tok-12345-abcdef'
  const standIn = redactor.secret(value)
  expect(redactor.text(argumentsOf({ a: value, b: `x ${value} y` }))).toBe(
    argumentsOf({ a: standIn, b: `x ${standIn} y` }),
  )
  expect(redactor.header('Authorization', `Bearer ${value}`)).toBe(`Bearer ${standIn}`)
  expect(redactor.header('Mcp-Param-Anything', value)).toBe(standIn)
  expect(redactor.header('Mcp-Param-Anything', `=?base64?${btoa(value)}?=`)).toBe(
    `=?base64?${btoa(standIn)}?=`,
  )
  expect(redactor.url(`/mcp?x=${value}&y=1`)).toBe(`/mcp?x=${standIn}&y=1`)
  expect(redactor.command(['serve', '--url', `http://h/${value}`])).toEqual([
    'serve',
    '--url',
    `http://h/${standIn}`,
  ])
})

test('a secret that is named late in a message is replaced in its beginning, too', () => {
  const args = redactedArguments({ note: 'log in with hunter2-xyz', password: 'hunter2-xyz' })
  expect(JSON.stringify(args)).not.toContain('hunter2')
})

test('another key makes other stand-ins', () => {
  const [one, other] = ['one', 'other'].map((name) =>
    new Redactor({ key: keyOf(name) }).secret('tok-12345-abcdef'),
  )
  expect(one).not.toBe(other)
})

test('what holds the protocol together is never touched, even if it equals a secret', () => {
  const redactor = redactorWith()
  for (const value of ['secret-name-1', 'secret-name-2', 'secret-name-3']) redactor.learn(value)
  const texts = [
    '{"jsonrpc":"2.0","id":"secret-name-1","method":"secret-name-2","params":{"name":"secret-name-3","_meta":{"progressToken":"secret-name-1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"secret-name-1","progress":1}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"secret-name-1","inputSchema":{"type":"object","properties":{"password":{"type":"string","default":"hunter2"}}}}],"nextCursor":"eyJvZmZzZXQiOjEwMH0="}}',
    '{"jsonrpc":"2.0","id":1,"result":{"maxTokens":1000,"tokens":5,"nextPageToken":"abcdef0123456789abcdef","usage":{"totalTokens":12}}}',
    '[{"jsonrpc":"2.0","id":"secret-name-1","method":"ping"}]',
  ]
  for (const text of texts) expect(redactor.text(text)).toBe(text)
})

test('every other byte of a message stays: order, spelling of numbers, escapes, spaces', () => {
  const text =
    '{ "b":1.0, "a" :12345678901234567890,"u":"na\\u00efve \\/ 日本","password":"hunter2" ,"z":[ 1e5 ]}'
  const redacted = redactorWith().text(text)
  const standIn = Object(JSON.parse(redacted))['password'] as string
  expect(redacted).toBe(text.replace('hunter2', standIn))
})

describe('names tell', () => {
  test.each([
    [{ password: 'hunter2' }],
    [{ apiKey: 'abc' }],
    [{ 'x-api-key': 'abc' }],
    [{ client_secret: 'abc def' }],
    [{ token: '9f86d081884c7d65' }],
    [{ headers: { Authorization: 'Bearer abc' } }],
    [{ accessTokens: 'no', access_token: 'yes!' }],
    [{ text: 'DB_PASSWORD=hunter2hunter2\nDEBUG=1' }],
    [{ text: 'config: {"password": "hunter2"}' }],
    [{ env: [{ name: 'HOST' }, { name: 'DB_PASSWORD', value: 'hunter2' }] }],
    [{ text: '[{"key": "api_key", "value": "hunter2"}]' }],
    [{ text: 'password=hunter2 or password: hunter2' }],
    [{ text: 'mysql --password=hunter2 -u root' }],
    [{ text: 'Server=x;User Id=sa;Password=hunter2;' }],
    [{ text: 'the key is sk-abcdefghijklmnopqrstuvwx0123456789' }],
    [{ text: 'GET / HTTP/1.1\r\nCookie: a=b; sid=abcdef123456\r\n\r\n' }],
    [{ text: 'Set-Cookie: sid=abcdef123456; Path=/' }],
    [{ text: 'postgres://bob:hunter2@db/x' }],
    [{ text: 'see https://host/cb?code=4f8a9c2e1b&x=1' }],
    [{ text: 'see https://host/cb?a=1&jwt=4f8a9c2e1b' }],
    [{ text: 'see https://host/cb?a=1&sid=4f8a9c2e1b' }],
    [{ text: 'see https://host/cb?a=1&ticket=4f8a9c2e1b' }],
    [{ text: 'see https://host/cb?a=1&hmac=4f8a9c2e1b' }],
    [{ text: 'see https://host/cb?a=1&nonce=4f8a9c2e1b' }],
    [{ text: 'see https://host/cb?a=1&sessionId=4f8a9c2e1b' }],
    [{ token: 'FlyV1 k8Jd02mXq7LwPz93hT' }],
    [{ token: 'v1.0-3f9a04d1c2b7e65f8a9b0c1d-e65f8a9b0c1d3f9a04d1' }],
    [{ text: 'AKIAQ3EGRJ7NUVTWXYZ2 secret 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' }],
    [{ text: '{&quot;password&quot;: &quot;hunter2&quot;}' }],
    [{ text: `next=${encodeURIComponent('postgres://bob:hunter2@db/x')}` }],
    [{ text: encodeURIComponent(encodeURIComponent('postgres://bob:hunter2@db/x')) }],
  ])('%j holds a secret', (args) => {
    expect(redactedArguments(args)).not.toEqual(args)
  })

  test.each([
    [{ password: 'string' }],
    [{ password: '<your password>' }],
    [{ password: '' }],
    [{ password: null }],
    [{ token: 'progress' }],
    [{ tokens: 12, max_tokens: 100 }],
    [{ list: [{ name: 'password' }, { value: 'hunter2' }], name: 'password', other: { value: 'hunter2' } }],
    [{ cursor: '9f86d081884c7d659a2feaa0c55ad015' }],
    [{ PWD: '/work/project1', INIT_CWD: '/work/project1' }],
    [{ text: 'const token = getToken(); password: string; secret?: boolean' }],
    [{ text: 'password: required, and of 8 characters; task-abcdefghijklmnopqrstuvwx0123456789' }],
    [{ text: 'https://host/a?page=2 and mailto:jane@corp.test' }],
    [
      {
        path: '/tmp/x-9f86d081884c7d65',
        hash: 'sha256-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      },
    ],
    [{ uri: 'file:///a/b.txt', mimeType: 'text/plain', key: 'value' }],
    [{ text: 'Send {"Authorization": "Bearer token"}, or Bearer <token>, or Bearer YOUR_TOKEN' }],
    [{ text: 'headers: { Authorization: `Bearer ${token}`, "X-Api-Key": "${key}", apiKey: "sk-..." }' }],
    [
      {
        text: 'Basic authentication, privateKey: CryptoKey, password: this.form.password, token: items[0].token',
      },
    ],
    [{ dependencies: { cookie: '^0.7.1', 'auth-token': '~6.0.0' }, exports: { cookie: './dist/cookie' } }],
  ])('%j holds none', (args) => {
    expect(redactedArguments(args)).toEqual(args)
  })
})

test('e-mail addresses stay unless they are asked for', () => {
  const args = { text: 'write to jane.doe@corp.test now' }
  expect(redactedArguments(args)).toEqual(args)
  expect(redactedArguments(args, { rules: redactionRuleSet({ email: true }) })).toEqual({
    text: expect.stringMatching(/^write to [a-z0-9]{10}@mail\.example now$/) as string,
  })
})

test('a project adds rules and fields, switches rules off, and allows values', () => {
  const rules = redactionRuleSet({
    rules: [{ name: 'ticket', keywords: ['ACME-'], pattern: /ACME-\d{6}/ }],
    fields: ['customerNumber'],
    off: ['github'],
    allow: [/^ACME-000000$/],
  })
  const github = `ghp_${'a1'.repeat(18)}`
  expect(
    redactedArguments({ a: 'ACME-123456 ACME-000000', customer_number: 42_123, b: github }, { rules }),
  ).toEqual({
    a: expect.stringMatching(/^(?!ACME-123456)\S+ ACME-000000$/) as string,
    customer_number: expect.toSatisfy((value: number) => value > 9999 && value !== 42_123) as number,
    b: github,
  })
  expect(rules.name).toBe('default-9+project')
})

test('headers of all kinds lose what is secret and keep the rest', () => {
  const redactor = redactorWith()
  const pairs = [
    ['Authorization', 'Basic Ym9iOmh1bnRlcjI=', /^Basic Ym9iO\S+$/],
    ['Cookie', 'sid=abc123; theme=dark1', /^sid=\w{7,}; theme=\w{7,}$/],
    ['Set-Cookie', 'sid=abc123; Path=/; HttpOnly', /^sid=\w{7,}; Path=\/; HttpOnly$/],
    ['Mcp-Session-Id', '550e8400-e29b-41d4-a716-446655440000', /^[0-9a-f-]{36}$/],
    ['X-Context7-API-Key', 'c7-abc', /^[\w-]{7,}$/],
    ['Location', '/cb?code=1&x=2', /^\/cb\?code=\d&x=2$/],
    ['DPoP', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln', /^eyJ\S+$/],
    ['X-Access-Key', 'plain-value', /^\S+$/],
    ['X-Functions-Key', 'plain-value', /^\S+$/],
    ['Ocp-Apim-Subscription-Key', 'plain-value', /^\S+$/],
    ['X-Session', 'plain-value', /^\S+$/],
    ['X-Csrf', 'plain-value', /^\S+$/],
    ['X-Custom-Creds', 'plain-value', /^\S+$/],
    ['X-User-Jwt', 'plain-value', /^\S+$/],
    ['X-Original-Authorization', 'Bearer plain-value', /^Bearer \S+$/],
  ] as const
  for (const [name, value, shape] of pairs) {
    expect(redactor.header(name, value)).toMatch(shape)
    expect(redactor.header(name, value)).not.toBe(value)
  }
  for (const [name, value] of [
    ['Accept', '*/*'],
    ['Mcp-Method', 'tools/call'],
    ['Mcp-Name', 'get_secret'],
    ['WWW-Authenticate', 'Bearer realm="x", scope="a b"'],
    ['Last-Event-ID', 'a::1'],
    ['Idempotency-Key', 'a-1'],
  ] as const)
    expect(redactor.header(name, value)).toBe(value)
})

test('an answer of an authorization server keeps its endpoints and types', () => {
  const answer = {
    token_endpoint: 't',
    token_type: 'Bearer',
    all: [{ id_token: 'x1', client_secret: 'z2' }],
    expires_in: 3600,
  }
  const redacted: unknown = JSON.parse(redactorWith().form(JSON.stringify(answer)))
  expect(redacted).toMatchObject({ token_endpoint: 't', token_type: 'Bearer', expires_in: 3600 })
  expect(JSON.stringify(redacted)).not.toMatch(/"(x1|z2)"/)
  expect(redactorWith().form('grant_type=refresh_token&refresh_token=1a&client_id=c')).toMatch(
    /^grant_type=refresh_token&refresh_token=\w{7,}&client_id=c$/,
  )
})

test('a value keeps its encoding, whatever the encoding of the text around it is', () => {
  const key = `${'aB3/'.repeat(21)}+9==`
  const text = `AccountKey=${key}\nnext=%2Flogin%3FAccountKey%3D${encodeURIComponent(key)}\nx &amp; y`
  const redactor = redactorWith()
  const placeholder = redactor.secret(key)
  const redacted = redactor.text(text)
  expect(redacted).toBe(
    `AccountKey=${placeholder}\nnext=%2Flogin%3FAccountKey%3D${encodeURIComponent(placeholder)}\nx &amp; y`,
  )
  const again = redactorWith({ source: 'again' })
  expect(again.text(redacted)).toBe(redacted)
})

test('a private key in the entities of HTML is replaced, and the message is still JSON', () => {
  const lines = ['-----BEGIN PRIVATE KEY-----', 'aB3/'.repeat(16), '-----END PRIVATE KEY-----']
  const entities = lines.join('\n').replaceAll(/[^]/g, (char) => `&#${char.charCodeAt(0)};`)
  const redacted = redactorWith().text(argumentsOf({ text: `a "b" \n${entities}` }))
  expect(JSON.stringify(JSON.parse(redacted))).not.toContain(entities)
})

describe('a text that takes too much work', () => {
  const text = argumentsOf({ password: 'Hunter2xyz', text: 'password=Hunter3xyz '.repeat(1000) })

  test('is withheld, and later texts are redacted as before', () => {
    const redactor = redactorWith({ maxWork: 10_000 })
    const why = 'searching it for secrets takes too long'
    expect(redactor.message(text)).toEqual({ kind: 'withheld', why })
    expect(redactor.text(text)).toBe(`[withheld: ${why}]`)
    expect(redactor.command(['server', `--text=${text}`]).join(' ')).not.toContain('Hunter3xyz')
    expect(redactor.withheldCount).toBeGreaterThan(1)
    expect(redactor.text('{"password":"Hunter2xyz"}')).toBe(redactorWith().text('{"password":"Hunter2xyz"}'))
  })

  test('is withheld if it is too long for a pattern, and the recording goes on', () => {
    const redactor = redactorWith({ maxWork: 1e9 })
    const long = argumentsOf({ token: 'a1b2c3d4'.repeat(1_000_000) })
    const why = 'it is too long to be searched for secrets'
    expect(redactor.message(long)).toEqual({ kind: 'withheld', why })
    expect(redactor.text('{"password":"Hunter2xyz"}')).toBe(redactorWith().text('{"password":"Hunter2xyz"}'))
    expect(() => redactorWith().text(long)).toThrow(why)
  })

  test('is redacted if there is no limit', () => {
    expect(redactorWith().text(text)).not.toMatch(/Hunter|withheld/)
  })
})

test.each([
  `ENTRY=access_token$production$${'a1b2c3d4'.repeat(2)}$${'0f9e8d7c'.repeat(4)}`,
  `https://host.example/a?q=secret-token%3Amercury_${'aB3_dE6-'.repeat(5)}`,
])('a placeholder that follows a prefix is known again where a name precedes it: %s', (text) => {
  const redacted = redactorWith().text(text)
  expect(redacted).not.toBe(text)
  expect(redactorWith({ source: 'again' }).text(redacted)).toBe(redacted)
})

test('a new secret is replaced also where it ends with a placeholder', () => {
  const { password } = redactedArguments({ password: 'aB3dE6'.repeat(6) }) as { password: string }
  const text = argumentsOf({ password: `Tr0ub4dor-${password}` })
  expect(redactorWith({ source: 'again' }).text(text)).not.toContain('Tr0ub4dor')
})

test('secrets that overlap many times over are replaced once, not again for each overlap', () => {
  let hashed = 0
  const key = {
    name: 'k-test',
    hmac: (text: string) => {
      hashed += text.length
      return createHmac('sha256', 'key').update(text).digest()
    },
  }
  const redactor = new Redactor({ key })
  const header = 'Authorization: Bearer abc.def.ghi0123456789'
  redactor.text(JSON.stringify({ text: JSON.stringify({ password: header }) }))
  hashed = 0
  const long = header.repeat(400)
  expect(redactor.text(JSON.stringify({ text: long }))).not.toContain('ghi0123456789')
  expect(hashed).toBeLessThan(50 * long.length)
})

const numberedSecret = (n: number): string => createHmac('sha256', 'secrets').update(`${n}`).digest('hex')

describe.each([true, false])('after thousands of secrets (all are kept: %s)', (keepsValues) => {
  test('each of them is still replaced where nothing else shows it, in any encoding', () => {
    const redactor = redactorWith({ keepsValues })
    for (let n = 0; n < 7000; n++) redactor.text(argumentsOf({ password: numberedSecret(n) }))
    for (let n = 0; n < 7000; n += 100) {
      const shown = [
        numberedSecret(n),
        encodeURIComponent(`"${numberedSecret(n)}"`),
        btoa(`it is ${numberedSecret(n)}!`),
      ]
      const redacted = redactor.text(argumentsOf({ text: shown.join(' ') }))
      for (const text of shown) expect(redacted).not.toContain(text)
      expect(redacted).toContain(redactor.secret(numberedSecret(n)))
    }
    expect(redactor.replacedCount).toBe(7000)
  })
})

test('a secret does not keep the memory of the message that it was in', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const redactor = redactorWith({ keepsValues: false })
  const used = (messages: number): number => {
    for (let n = 0; n < messages; n++)
      redactor.text(argumentsOf({ password: `Hunter2xyz-${n}-${messages}`, text: 'a'.repeat(100_000) }))
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = used(10)
  expect(used(100) - before).toBeLessThan(5_000_000)
})
