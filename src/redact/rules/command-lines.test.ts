import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { Redactor } from '../redactor.ts'

const key = { name: 'k-test', hmac: (text: string) => createHmac('sha256', 'a key').update(text).digest() }
const SECRETS = /hunter2|correcthorse|s3cr3t|p@ssw|S3cret|Tr0ub4dor|abc123|Pa55word|9f86d081/

const messageWith = (text: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } })

/** As servers that are written in Go spell it. */
const escapedLikeGo = (json: string): string =>
  json.replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)

test.each([
  'run app --password hunter2x -u root',
  'tool --password=correcthorse run',
  'gpg --batch --passphrase hunter2x f',
  'keytool -list -storepass hunter2x',
  'login failed for --api-key abc123def456',
  'spawn: node server.js --token 9f86d081884c7d65',
  '["tool", "--password", "hunter2x"]',
  'started: ["tool","--api-key","abc123def"], ready',
  'PGPASSWORD=correcthorse psql -h db',
  'MYSQL_PWD=hunter2x mysql',
  'export SMTP_PASS=hunter2x',
  'curl -u bob:hunter2x https://h/',
  'curl -s --user "bob:s3cr3tpw" https://h',
  'mysql -h db -u root -pS3cretPw app',
  'mysqldump -phunter2x db',
  'sshpass -p hunter2x ssh bob@h',
  'redis-cli -a hunter2x ping',
  'docker login -u bob -p hunter2x reg.io',
  'docker login -p hunter2x reg.io',
  'mongosh -u bob -p hunter2x',
  'sqlcmd -S h -U sa -P Pa55word',
  'ldapsearch -x -D cn=a -w hunter2x',
  'smbclient //h/s -U bob%hunter2x',
  'unzip -P hunter2x a.zip',
  '7z x -phunter2x a.7z',
  'openssl rsa -passin pass:hunter2x',
  'PASSWORD: hunter2x',
  'password: p@ssw!ord',
  'Password: S3cretPw',
  'my password is hunter2x.',
  'the passphrase was "Tr0ub4dor&3"',
  '<password>hunter2</password>',
  '<Password type="x">correcthorse</Password>',
  '<ns:apiKey>abc123</ns:apiKey>',
  '<key>password</key>\n<string>hunter2</string>',
  '<add key="ApiKey" value="abc123" />',
  'machine h login bob password hunter2x',
  'machine h\n  login bob\n  password hunter2x',
  '{"db_password": {"sensitive": true, "type": "string", "value": "hunter2"}}',
  '{"credentials": {"user": "bob", "pass": "9f86d081884c7d65"}}',
  'https://h/cb?x=1&code=abc123abc123',
  '<a href="/cb?x=1&amp;code=abc123abc123">',
])('%s: the password is found, in a text and in a message, however that is escaped', (text) => {
  const redacted = [text, messageWith(text), escapedLikeGo(messageWith(text))].map((each) =>
    new Redactor({ key }).text(each),
  )
  for (const each of redacted) expect(each).not.toMatch(SECRETS)
  expect(() => redacted.slice(1).map((each) => JSON.parse(each) as unknown)).not.toThrow()
})

test.each([
  'password: string',
  'password: required, and of 8 characters',
  'password: z.string().min(8)',
  'password: this.form.password1',
  'const password = getPassword1()',
  'password is required',
  'password is 8 characters long',
  'The password was incorrect',
  'password is auto-generated',
  'token is a string; the token is used to log in; secret is optional',
  '--password <value>',
  '--password PASSWORD  the password',
  '--password to set the password',
  'use --password=<pw> or --password=PASSWORD or --password=$PASSWORD',
  '--password=string, --password=yourpassword, --password=my-secret',
  '--token TOKEN, --token <token>, --api-key YOUR_API_KEY',
  '--password-file /etc/pw1, --password-stdin abc123',
  '--pass-through x1y2z3 --bypass abc123x --max-tokens 100000',
  'PASSWORD=changeme DB_PASSWORD=password OLDPWD=/work/abc123',
  '<password>',
  'login <user> <password> [<otp>]',
  '<input type="password">Password</input><label for="password">Password</label>',
  'curl -u user:pass https://h; curl -u username:password x; curl -u $USER:$PASS x',
  'mysql -u root -p app',
  'docker run -p 8080:80 x; docker login -u bob --password-stdin',
  'mkdir -p /tmp/a1; cp -a abc123x y; ssh -p 2222x h; tar -P x1y2z3',
  '{"password": {"type": "string", "description": "--password <value>"}}',
  'https://github.com/o/r/commits?author=jane1234',
  '{"pass": 12, "fail": 3, "key": {"value": 7}, "password": {"value": "string"}}',
  'Release GPG key: 9554F04D7259F04124DE6B476D5A82AC7E37093B',
  'const TOKEN = "[A-Za-z0-9._~+/-]+=*"; const authKey = `${id_kp_1}.1`; signature: BufferSource$1;',
  '{"pass": "ドキュメントには少なくとも1つのmainランドマークがあります", "cookie": "🍪"}',
  'the password SHA256 is kept; set login and password 2 times',
])('%s: nothing is taken for a password', (text) => {
  expect(new Redactor({ key }).text(text)).toBe(text)
  expect(new Redactor({ key }).text(messageWith(text))).toBe(messageWith(text))
})

test('an ordinary text about passwords and commands is not even looked at closely', () => {
  const text = Buffer.from(
    'Use --password <value>, or set the token in the settings. The password is required. mysql and curl are installed; docker run -d x.',
  )
  expect(new Redactor({ key }).mayContainSecrets(text)).toBe(false)
})

test.each([
  [
    ['curl', '-u', 'bob:hunter2x', 'https://h/'],
    ['curl', '-u', 'bob:', 'https://h/'],
  ],
  [
    ['mysql', '-phunter2x', '-h', 'db'],
    ['mysql', '-p', '-h', 'db'],
  ],
  [
    ['sh', '-c', 'PGPASSWORD=hunter2x psql'],
    ['sh', '-c', 'PGPASSWORD= psql'],
  ],
  [
    ['app', '--password', 'hunter2x', '--password', 'with space hunter2'],
    ['app', '--password', '', '--password', ''],
  ],
  [
    ['app', '--pass=hunter2x', '-storepass', 'hunter2x'],
    ['app', '--pass=', '-storepass', ''],
  ],
])('%j: of a command line that is recorded, every word keeps its place', (command, kept) => {
  const words = new Redactor({ key }).command(command)
  expect(words).toHaveLength(command.length)
  expect(words.join(' ')).not.toMatch(SECRETS)
  for (const [index, word] of kept.entries()) expect(words[index]).toContain(word.split(' ')[0])
})

test('a password on a command line has the stand-in that it has in a message', () => {
  const redactor = new Redactor({ key })
  const [, , password = ''] = redactor.command(['app', '--password', 'hunter2x'])
  expect(password).toBe(redactor.secret('hunter2x'))
  const [, , user = ''] = redactor.command(['curl', '-u', 'bob:hunter2x'])
  expect(user).toBe(`bob:${password}`)
})

test('a command line in a list of arguments is read as one', () => {
  const args = {
    command: 'app',
    args: ['--verbose', '--password', 'correcthorse', '--token', '9f86d081884c7d65', '-v'],
  }
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'm', params: { arguments: args } })
  const redacted = new Redactor({ key }).text(text)
  expect(redacted).not.toMatch(SECRETS)
  expect(redacted).toContain('"--verbose","--password","')
})

test.each([
  'apiVersion: v1\nkind: Secret\ndata:\n  name: shop\n  config: hunter2hunter2\n',
  'apiVersion: v1\nstringData:\n  config: "hunter2x"\nkind: Secret\n',
  '{"kind":"List","items":[{"data":{"config":"hunter2x"},"kind":"Secret"}]}',
  'found:\n{\n  "kind": "Secret",\n  "data": { "config": "hunter2x" }\n}',
])('a value in the data of a Kubernetes Secret is replaced: %j', (text) => {
  expect(new Redactor({ key }).text(messageWith(text))).not.toMatch(SECRETS)
})

test('other resources of Kubernetes are kept', () => {
  const text = 'kind: ConfigMap\ndata:\n  secretName: shop\n  config: hunter2hunter2\n'
  const json = '{"kind":"ConfigMap","data":{"config":"hunter2x"}}'
  for (const each of [text, json])
    expect(new Redactor({ key }).text(messageWith(each))).toBe(messageWith(each))
})

test('a random value of a variable that ends in _KEY is replaced, an ordinary one is not', () => {
  const random = `export ADAFRUIT_KEY="9f86d081884c7d659a2feaa0c55ad015"`
  expect(new Redactor({ key }).text(messageWith(random))).not.toMatch(SECRETS)
  const ordinary = 'PRIMARY_KEY=id SORT_KEY=created_at CACHE_KEY=users:12 PUBLIC_KEY: abc123'
  expect(new Redactor({ key }).text(messageWith(ordinary))).toBe(messageWith(ordinary))
})

test('a value without quotes may contain an equals sign', () => {
  const text = 'client_secret=9f86d081884c=7d659a2feaa0c55ad015 and more'
  expect(new Redactor({ key }).text(messageWith(text))).not.toMatch(/9f86d081|feaa0c55/)
})
