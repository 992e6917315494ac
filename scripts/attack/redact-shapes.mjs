// Messages of any size that a hostile or unlucky server could send. `message(n)` returns about n characters of JSON.

const NAMES = [
  'password',
  'token',
  'api_key',
  'apiKey',
  'secret',
  'client_secret',
  'authorization',
  'cookie',
  'DB_PASSWORD',
  'credentials',
  'signature',
  'connectionString',
  'pwd',
  'value',
  'text',
]

/** Texts of n characters. */
const VALUES = {
  base64: (n) => randomOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', n),
  hex: (n) => randomOf('0123456789abcdef', n),
  digits: (n) => randomOf('0123456789', n),
  'one word': (n) => 'a'.repeat(n - 1) + '1',
  'one letter': (n) => 'x'.repeat(n),
  prose: (n) => repeated('The quick brown fox jumps over the lazy dog, 42 times. ', n),
  'JSON in text': (n) =>
    JSON.stringify(filled((at) => ({ password: `Hunter${at}xyz`, note: 'ordinary' }), n)),
  'JSON in JSON in text': (n) =>
    JSON.stringify({
      text: JSON.stringify({ text: JSON.stringify({ token: randomOf('abcdef0123456789', n) }) }),
    }),
  URL: (n) => `https://user:Pa55w0rd@host.example/path?token=${randomOf('abcdef0123456789', n)}`,
  'URL with many parameters': (n) =>
    `https://host.example/?${repeatedWith((at) => `token=abc${at}def123456&`, n)}`,
  dotenv: (n) => repeatedWith((at) => `VAR_${at}_PASSWORD=Hunter${at}xyz\n`, n),
  'dotenv, quoted': (n) => repeatedWith((at) => `VAR_${at}_TOKEN="Hunter${at}xyz9"\n`, n),
  YAML: (n) => repeatedWith((at) => `  password: Hunter${at}xyz\n`, n),
  XML: (n) => repeatedWith((at) => `<password>Hunter${at}xyz</password>`, n),
  'command lines': (n) => repeatedWith((at) => `curl -u user:Hunter${at}xyz https://h.example\n`, n),
  'base64 lines': (n) => repeatedWith(() => `${randomOf('ABCDEFabcdef0123456789+/', 76)}\n`, n),
  'base64 of secrets': (n) =>
    repeatedWith((at) => `${Buffer.from(`{"password":"Hunter${at}xyz"}`).toString('base64')} `, n),
  'percent-encoded': (n) => repeatedWith((at) => encodeURIComponent(`password="Hunter${at}xyz" `), n),
  'escaped twice': (n) => repeatedWith((at) => `\\"password\\":\\"Hunter${at}xyz\\", `, n),
}

/** Separators and openings: texts in which a pattern may begin everywhere and end nowhere. */
const RUNS = [
  ' ',
  '\n',
  '\t',
  '\r\n',
  '-',
  '--',
  '_',
  '.',
  ',',
  ';',
  ':',
  '=',
  '"',
  "'",
  '`',
  '\\',
  '\\\\"',
  '/',
  '//',
  '://',
  '@',
  '&',
  '?',
  '%',
  '%25',
  '%41',
  '<',
  '>',
  '</',
  '<a>',
  '<a ',
  '{',
  '}',
  '[',
  '{}',
  '{"',
  '[[',
  '{"a":',
  '<key>',
  '</key>',
  '<key>password</key>',
  '<password>',
  '<password ',
  'password',
  'password ',
  'password=',
  'password: ',
  'password:\n',
  'password = "',
  "password='",
  'password is ',
  'token is ',
  '"password"',
  'password\\',
  'api_key',
  'api key ',
  'token=',
  'token',
  '?token=',
  '&token=',
  '&code=',
  '--password ',
  '--password',
  '--token=',
  '-p ',
  ' -p',
  'PASSWORD=',
  'DB_PASSWORD ',
  'name="password" value=',
  'key="',
  'name="a" ',
  'value="',
  'Bearer ',
  'bearer',
  'basic ',
  'basic a',
  'Cookie: ',
  'cookie: a=',
  'cookie: a',
  'set-cookie: ',
  'Set-Cookie: a=',
  'Set-Cookie: a=b; ',
  'curl ',
  'curl -u ',
  'curl -u a:',
  'mysql ',
  'mysql -p',
  'sshpass -p ',
  'docker login ',
  'login ',
  'login a ',
  'login a password ',
  'password a ',
  'openssl -passin pass:',
  '-----BEGIN ',
  '-----BEGIN A ',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY----- a',
  '-----END ',
  '-----BEGIN RSA PRIVATE KEY-----\\n',
  'BEGIN RSA PRIVATE KEY ',
  'PRIVATE KEY ',
  'eyJ',
  'eyJhb',
  'eyJhbGciOi.',
  'eyJhbGciOiJ.eyJ',
  'eyJhbGciOiJh.aa.',
  'sk-',
  'sk-a',
  'sk-aaaaaaaaaaaaaaaaT3BlbkFJ',
  'SG.',
  'SG.aaaaaaaaaaaaaaaaaaaa',
  'SG.aaaaaaaaaaaaaaaaaaaa.',
  ':AA',
  '123456789:AA',
  '1Q~',
  'abc1Q~',
  'AccountKey=',
  'hooks.slack.com/services/',
  'twilio SK',
  'twilio',
  'a.',
  'a@',
  'a@a.',
  '://a:',
  '://a',
  'http://a:b',
  'T3BlbkFJ',
  'a=',
  'a=b',
  'a:b ',
  'ab=cdefgh ',
  'A=',
  'aa ',
  'a',
  '1',
  'A',
  'é',
  '😀',
  '\u2028',
]

/** All shapes. The rules give the keywords and prefixes. */
export function messageShapes(rules) {
  const keywords = [...new Set(rules.flatMap((rule) => [...rule.keywords, ...(rule.prefixes ?? [])]))]
  return [
    ...NAMES.flatMap((name) =>
      Object.entries(VALUES).map(([kind, value]) => shape(`${name}: ${kind}`, (n) => ({ [name]: value(n) }))),
    ),
    ...keywords.map((keyword) => textShape(`${shown(keyword)} repeated`, (n) => repeated(keyword, n))),
    ...keywords.map((keyword) =>
      textShape(`${shown(keyword)} then one word`, (n) => keyword + randomOf('abcdef0123456789', n)),
    ),
    ...keywords.map((keyword) =>
      textShape(`${shown(keyword)} many secrets`, (n) =>
        repeatedWith((at) => `${keyword}${randomOf('abcdef0123456789', 30)}${at} `, n),
      ),
    ),
    ...RUNS.map((run) =>
      textShape(`password and ${shown(run)} repeated`, (n) => `password=Hunter2xyz ${repeated(run, n)}`),
    ),
    ...RUNS.map((run) =>
      textShape(`${shown(run)} repeated, then a secret`, (n) => `${repeated(run, n)} password=Hunter2xyz`),
    ),
    ...RUNS.map((run) => shape(`secret: ${shown(run)} repeated`, (n) => ({ secret: repeated(run, n) }))),
    ...STRUCTURES,
  ]
}

const STRUCTURES = [
  shape('many named pairs', (n) => filled((at) => ({ name: 'DB_PASSWORD', value: `Hunter${at}xyz` }), n)),
  shape('many equal named pairs', (n) => filled(() => ({ name: 'DB_PASSWORD', value: 'Hunter2xyz' }), n)),
  shape('many random tokens', (n) => filled(() => ({ token: randomOf('abcdef0123456789', 32) }), n)),
  shape('many numbers', (n) => filled((at) => ({ pin: 100_000 + at }), n)),
  shape('many members', (n) => Object.fromEntries(filled((at) => [`token${at}`, `abc${at}def4567`], n))),
  shape('many secret members', (n) =>
    Object.fromEntries(filled((at) => [`x${at}_password`, `Hunter${at}xyz`], n)),
  ),
  shape('many long keys', (n) =>
    Object.fromEntries(filled((at) => [`${'k'.repeat(200)}${at}password`, 'Hunter2xyz'], n)),
  ),
  shape('many GitHub tokens in a list', (n) =>
    filled(() => `ghp_${randomOf('abcdefghij0123456789', 36)}`, n),
  ),
  shape('many options in a list', (n) => filled((at) => (at % 2 ? `Hunter${at}xyz` : '--password'), n)),
  shape('many strings of JSON', (n) => filled((at) => JSON.stringify({ password: `Hunter${at}xyz` }), n)),
  shape('a list of key lines', (n) => [
    '-----BEGIN PRIVATE KEY-----',
    ...filled(() => randomOf('ABCDEFabcdef0123456789', 64), n),
  ]),
  shape('many private keys', (n) =>
    filled(
      () =>
        `-----BEGIN PRIVATE KEY-----\n${randomOf('ABCDEFabcdef0123456789', 64)}\n-----END PRIVATE KEY-----`,
      n,
    ),
  ),
  textShape(
    'one private key',
    (n) => `-----BEGIN PRIVATE KEY-----\n${VALUES['base64 lines'](n)}-----END PRIVATE KEY-----`,
  ),
  shape('one key name', (n) => ({ [`${'a'.repeat(n)}password`]: 'Hunter2xyz' })),
  raw('deep lists', (n) => `${'['.repeat(n / 2)}"password=Hunter2xyz"${']'.repeat(n / 2)}`),
  raw(
    'deep lists of secrets',
    (n) => `${'["ghp_abcdefghijabcdefghij0123456789012345",'.repeat(n / 46)}1${']'.repeat(n / 46)}`,
  ),
  raw('deep objects', (n) => `${'{"token":'.repeat(n / 10)}"Hunter2xyz9abc"${'}'.repeat(n / 10)}`),
  raw(
    'deep objects with siblings',
    (n) => `${'{"password":"Hunter2xyz","a":'.repeat(n / 30)}1${'}'.repeat(n / 30)}`,
  ),
  textShape('deep lists in text', (n) => `x ${'['.repeat(n / 2)}"password=Hunter2xyz"${']'.repeat(n / 2)}`),
  textShape(
    'deep objects in text',
    (n) => `x ${'{"password":'.repeat(n / 13)}"Hunter2xyz"${'}'.repeat(n / 13)} y`,
  ),
  textShape('many objects in text', (n) => repeatedWith((at) => `{"password":"Hunter${at}xyz"} `, n)),
  textShape('many JSON lines', (n) => repeatedWith((at) => `{"password":"Hunter${at}xyz"}\n`, n)),
  textShape('a known secret, many times', (n) => repeated('password=Hunter2xyz Hunter2xyz ', n)),
  textShape(
    'a known secret in base64, many times',
    (n) => `password=Hunter2xyz9ab ${repeated(`${Buffer.from('xHunter2xyz9ab').toString('base64')} `, n)}`,
  ),
  textShape(
    'many secrets, then their copies',
    (n) =>
      repeatedWith((at) => `password=Hunter${at}xyz `, n / 2) +
      repeatedWith((at) => `Hunter${at}xyz `, n / 2),
  ),
  textShape('secrets that contain each other', (n) =>
    repeatedWith((at) => `password=A1${'b'.repeat((at % 240) + 4)} `, n),
  ),
  textShape(
    'secrets with a common beginning',
    (n) => repeatedWith((at) => `password=${'A1b2'.repeat(50)}${at} `, n) + 'A1b2'.repeat(n / 40),
  ),
  textShape('words', (n) => `password=Hunter2xyz ${repeatedWith((at) => `word${at} `, n)}`),
  textShape(
    'base64 of base64 of base64',
    (n) => `password=Hunter2xyz ${base64(base64(base64(`password=Hunter2xyz ${'a'.repeat(n / 2.4)}`)))}`,
  ),
  textShape('base64 of many secrets', (n) =>
    base64(repeatedWith((at) => `password=Hunter${at}xyz\n`, n * 0.75)),
  ),
  textShape('percent-encoding of many secrets', (n) =>
    encodeURIComponent(repeatedWith((at) => `password=Hunter${at}xyz\n`, n * 0.75)),
  ),
  textShape('one dashed word', (n) => `password=Hunter2xyz ${repeated('ab-', n)}`),
  textShape('one dotted word', (n) => `password=Hunter2xyz ${repeated('ab.', n)}`),
  textShape('one random word', (n) => `password=Hunter2xyz ${VALUES.base64(n)}`),
  textShape('a long assigned value', (n) => `token=${randomOf('abcdef0123456789', n)}`),
  textShape('a long bearer token', (n) => `Authorization: Bearer ${randomOf('abcdef0123456789', n)}`),
  textShape('a long bearer word', (n) => `Authorization: Bearer ${'a'.repeat(n)}`),
  textShape('a long cookie', (n) => `Cookie: ${repeatedWith((at) => `a${at}=b${at}; `, n)}`),
  textShape('a long JWT', (n) => `eyJhbGciOiJIUzI1NiJ9.${randomOf('abcdef0123456789', n)}.abcdef`),
  textShape('many dots after a JWT', (n) => `eyJhbGciOiJIUzI1NiJ9${repeated('.ab', n)}`),
]

function shape(name, result) {
  return { name, message: (n) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: result(n) }) }
}

function textShape(name, text) {
  return shape(`text: ${name}`, (n) => ({ content: [{ type: 'text', text: text(n) }] }))
}

function raw(name, result) {
  return { name, message: (n) => `{"jsonrpc":"2.0","id":1,"result":${result(n)}}` }
}

function shown(text) {
  return JSON.stringify(text).slice(0, 24)
}

function base64(text) {
  return Buffer.from(text).toString('base64')
}

function repeated(text, n) {
  return text.repeat(Math.ceil(n / text.length)).slice(0, n)
}

function repeatedWith(part, n) {
  const parts = []
  let length = 0
  for (let at = 0; length < n; at++) {
    parts.push(part(at))
    length += parts.at(-1).length
  }
  return parts.join('')
}

function filled(item, n) {
  const items = []
  let length = 0
  for (let at = 0; length < n; at++) {
    items.push(item(at))
    length += JSON.stringify(items.at(-1)).length + 1
  }
  return items
}

/** The same texts in every run. */
function randomOf(alphabet, n) {
  let text = ''
  for (let at = 0; at < n; at++) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    text += alphabet[(seed >>> 8) % alphabet.length]
  }
  return text
}

let seed = 1
