import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { Redactor } from './redactor.ts'

const key = { name: 'k-test', hmac: (text: string) => createHmac('sha256', 'a key').update(text).digest() }
const messageWith = (text: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } })

test.each([
  'error: api_key=SECRET',
  'Bad request: client_secret=SECRET',
  'Server=tcp:h,1433;Uid=sa;Pwd=SECRET;Encrypt=yes',
  'curl -H "Authorization: Token SECRET" https://h',
  "curl -b 'sid=SECRET' https://h",
  'ConvertTo-SecureString "SECRET" -AsPlainText -Force',
  '[Environment]::SetEnvironmentVariable("API_KEY", "SECRET", "User")',
  'setx API_TOKEN SECRET',
  'npm config set //r/:_authToken SECRET',
  'ENV API_KEY SECRET',
  'set -gx API_KEY SECRET',
  'aws configure set aws_secret_access_key SECRET',
  'kubectl create secret generic x --from-literal=foo=SECRET',
  'vault login SECRET',
  'sqlplus scott/SECRET@db',
  'u:SECRET@tcp(h:3306)/db?parseTime=true',
  'git+https://SECRET:x-oauth-basic@github.com/o/r.git',
  "CREATE USER x IDENTIFIED BY 'SECRET'",
  "ALTER USER x WITH PASSWORD 'SECRET'",
  'echo SECRET | docker login --password-stdin',
  'requirepass SECRET',
  '[["api_key","SECRET"]]',
  '{"Key":"DB_PASSWORD","Value":"SECRET"}',
  '{"k":"password","v":"SECRET"}',
  '{"name":"password","type":"hidden","value":"SECRET"}',
  '<input type="password" value="SECRET">',
  '<meta name="csrf-token" content="SECRET">',
  '<entry key="password">SECRET</entry>',
  '| password | SECRET |',
  '**Password:** SECRET',
  'Password\tSECRET',
  'api key: SECRET',
  'secret access key: SECRET',
  'password: |\n  SECRET',
  'password = r"SECRET"',
  'os.environ["API_KEY"] = "SECRET"',
  '.setPassword("SECRET")',
  'let token: string = "SECRET"',
  'password={SECRET}',
  'JSESSIONID=SECRET',
  'laravel_session=SECRET',
  'datadog_key = "SECRET"',
  'finnhubKey: SECRET',
])('%s: the secret is found', (text) => {
  for (const secret of ['h7Kq2mZx9Lw4Rt6Y', 'Tr0ub4dor9zq', 'k3J8mQ2vX7pL5nR9']) {
    const message = messageWith(text.replace('SECRET', secret))
    expect(new Redactor({ key }).text(message)).not.toContain(secret)
  }
})

test.each([
  'the token limit of gpt-4o-2024-08-06 and claude-3-5-sonnet-20241022',
  'password sha256Hex, token base64Url2, secret utf8mb4_general_ci',
  '["password","username1","email2"]',
  'const token = items[0].token; exports.id_pkcs9_at_counterSignature = 1',
  'private key 0x1f2e3d4c5b6a is an address',
  'token 2026-11-18T20:00:00Z',
  'header="Set-Cookie:", sep="\\015"',
  'authorization = base64.decodebytes(authorization)',
  'primaryKey: 9f86d081884c7d65, cacheKey: "h7Kq2mZx9Lw4Rt6Y"',
  'status code: 404, exit code: 1',
])('%s: nothing is taken for a secret', (text) => {
  expect(new Redactor({ key }).text(messageWith(text))).toBe(messageWith(text))
})

test('one-time codes and seed phrases are found', () => {
  const words = 'abandon ability able about above absent absorb abstract absurd abuse access accident'
  for (const [text, secret] of [
    ['Your verification code is 493027', '493027'],
    [`seed phrase: ${words}`, words],
  ] as const)
    expect(new Redactor({ key }).text(messageWith(text))).not.toContain(secret)
})
