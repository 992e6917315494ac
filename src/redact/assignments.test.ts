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
  'some_api_token_123 = "SECRET"',
  'mySecretString=SECRET',
  '$acmeToken .= "SECRET"',
  'ACME_TOKEN ::= "SECRET"',
  'System.setProperty("ACME_TOKEN", "SECRET")',
  '<acmeToken>\n  SECRET\n</acmeToken>',
  '<secret>{acme AQAAABAAA SECRETSECRET}</secret>',
  'curl -X POST https://h/a \\\n  -d x \\\n  -u dev:SECRET',
  'data:\n  extra: SECRET\nkind: secret\n',
])('%s: the secret is found', (text) => {
  for (const secret of ['h7Kq2mZx9Lw4Rt6Y', 'Tr0ub4dor9zq', 'k3J8mQ2vX7pL5nR9']) {
    const message = messageWith(text.replace('SECRET', secret))
    expect(new Redactor({ key }).text(message)).not.toContain(secret)
  }
})

test.each([
  ['Using Key=SECRET', 'O3BV99CUDw3xYUAL0tHGYUe7mOj5PA5v'],
  ['{"acme_key": "SECRET"}', '5po8TFGawiYNCc1ct4ofWkBqzIfA6IeO'],
  ['acmeKey := "SECRET"', 'oxpf4a93fjovt0v1z6lltcbcizlrml98'],
  ['SNYK_TOKEN := "SECRET"', '12345678-ABCD-ABCD-ABCD-1234567890AB'],
  ['System.setProperty("KUCOIN_TOKEN", "SECRET")', 'c53a52c6-ecbd-60c4-41e9-8ace8a7fa63a'],
  ['<asanaToken> SECRET </asanaToken>', '3228804361830475'],
  ["token - 'SECRET'", 'NKVmEKtpJvQXU95OfApuFxCOmaRLcRsc'],
  ['token = "SECRET"', `${'h7Kq2mZx9Lw4Rt6Y.'.repeat(80)}x1`],
  ['docker login -p x; SECRET', 'dckr_oat_I7t_CAU1pC3pLbavAQz_mY-Xl'],
])('%s: a generated value is found', (text, secret) => {
  expect(new Redactor({ key }).text(messageWith(text.replace('SECRET', secret)))).not.toContain(secret)
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
  'sort_key: user-profile-2024-01-02, the key is 12c1a9f0, keyboard key F12',
  '{"key": "01234567-89ab-cdef-0123-456789abcdef", "fileKey": "h7Kq2mZx9Lw4Rt6YvB3n"}',
  '{"key": "uploads/2024/11/a1b2c3d4e5f6a7b8.png", "publicKey": "h7Kq2mZx9Lw4Rt6YvB3n"}',
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

const KEY_LINE = `${'aB3/'.repeat(15)}x9Kq`
const KEY = [
  '-----BEGIN RSA PRIVATE KEY-----',
  KEY_LINE,
  KEY_LINE.toLowerCase(),
  '-----END RSA PRIVATE KEY-----',
]
const numbered = (sign: string): string => KEY.map((line, at) => `${at + 1}${sign}${line}`).join('\n')
const jwtPart = 'aB3dE6gH9'.repeat(4)
const brokenJwt = `eyJhbGciOiJIUzI1NiIsInR5cCI6.${jwtPart}.${jwtPart}xYz`.replaceAll(/.{48}/g, '$&\n  ')

test.each([
  ['a key with numbered lines', numbered('\t'), KEY_LINE],
  ['a key with numbered lines and arrows', numbered('→'), KEY_LINE],
  ['a key that grep found', KEY.map((line) => `id_rsa:2:${line}`).join('\n'), KEY_LINE],
  ['a key in a quoted mail', KEY.map((line) => `> ${line}`).join('\n'), KEY_LINE],
  ['a key in HTML', `<pre>${KEY.join('<br>')}</pre>`, KEY_LINE],
  ['a key of PuTTY', `Private-Lines: 2\n${KEY_LINE}\n${KEY_LINE}\nPrivate-MAC: 0`, KEY_LINE],
  ['a key of SSH2', `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "x"\n${KEY_LINE}\n`, KEY_LINE],
  ['a key of OpenVPN', `-----BEGIN OpenVPN Static key V1-----\n${'0f9e8d7c'.repeat(4)}\n`, '0f9e8d7c0f'],
  [
    'a JSON Web Key',
    `{"kty":"EC","x":"${'q'.repeat(43)}","d":"Zm9vYmFyZm9vYmFyLTAx"}`,
    'Zm9vYmFyZm9vYmFyLTAx',
  ],
  ['a service account', JSON.stringify({ private_key: `${KEY.join('\n')}\n` }), KEY_LINE],
  ['a JWT in several lines', brokenJwt, 'E6gH9xYz'],
  ['a hash of bcrypt', `bob:$2b$12$${'aB3dE6gH9.'.repeat(6).slice(0, 53)}`, 'aB3dE6gH9.'],
  ['a hash in /etc/shadow', `root:$6$saltsalt$${'aB3/'.repeat(21)}xy:19000::`, 'aB3/aB3/'],
  ['a block of YAML', 'password: |\n  Tr0ub4dor3\n', 'Tr0ub4dor3'],
  ['an anchor of YAML', 'password: &pw Tr0ub4dor3\n', 'Tr0ub4dor3'],
  ['a long string of TOML', 'password = """\nTr0ub4dor3"""', 'Tr0ub4dor3'],
  ['a here-document', 'password = <<EOT\nTr0ub4dor3\nEOT', 'Tr0ub4dor3'],
  ['CDATA', '<password><![CDATA[Tr0ub4dor3]]></password>', 'Tr0ub4dor3'],
  ['print_r', '[password] => Tr0ub4dor3', 'Tr0ub4dor3'],
  ['var_dump', '["password"]=>\n  string(10) "Tr0ub4dor3"', 'Tr0ub4dor3'],
  ['Erlang', '{password, <<"Tr0ub4dor3">>}', 'Tr0ub4dor3'],
  ['an arrow', 'password -> Tr0ub4dor3', 'Tr0ub4dor3'],
  ['Markdown', '- **Password**: `Tr0ub4dor3`', 'Tr0ub4dor3'],
  ['Spanish', '{"contraseña": "Tr0ub4dor3"}', 'Tr0ub4dor3'],
  ['Ansible', 'ansible_become_pass: "Tr0ub4dor3xyz"', 'Tr0ub4dor3'],
  ['netrc in another order', 'machine h.example password Tr0ub4dor3 login bob', 'Tr0ub4dor3'],
  ['a slash in the password of a database', 'postgres://bob:Tr0ub/4dor3@db.example/x', '4dor3'],
  ['chpasswd', "echo 'bob:Tr0ub4dor3' | sudo chpasswd", 'Tr0ub4dor3'],
  ['a cookie file', '.h.example\tTRUE\t/\tTRUE\t179\tsessionid\taB3dE6gH9kL2mN5p', 'aB3dE6gH9kL2mN5p'],
  ['Digest', `Authorization: Digest username="b", response="${'0f9e8d7c'.repeat(4)}"`, '0f9e8d7c'],
])('a secret is found in %s, and stays replaced', (_, text, secret) => {
  for (const message of [
    text,
    JSON.stringify({ result: { text } }),
    JSON.stringify({ result: { text: JSON.stringify({ out: text }) } }),
  ]) {
    const once = new Redactor({ key }).text(message)
    expect(once).not.toContain(secret)
    expect(new Redactor({ key, source: 'again' }).text(once)).toBe(once)
  }
})

const part = (n: number): string => createHmac('sha512', 'a part').update(String(n)).digest('base64url')

test('tokens that were replaced line by line stay as they are when the lines are one text', () => {
  const lines = [1, 2, 3].map((n) => `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI${part(n)}.${part(-n)}`)
  const redactor = new Redactor({ key })
  const once = lines.map((line) => redactor.text(line)).join('\n')
  for (const line of lines) expect(once).not.toContain(line.slice(-20))
  expect(new Redactor({ key, source: 'again' }).text(once)).toBe(once)
})
