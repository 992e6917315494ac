// Fake secrets of every kind that the default rules know, and the ways in which a text can contain one. The fakes are made at run
// time from the shapes of the rules, so that no scanner takes this repository for a leak.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { root } from '../run.mjs'

/** Loads a module of the built program. */
export const fromDist = (...path) => import(pathToFileURL(join(root, 'dist', ...path)).href)

/** Returns a generator of numbers below its argument. Every run uses the same ones. */
export async function picker(seed) {
  const { seededRandom } = await fromDist('seeded-random.js')
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

/** Every kind of secret: `make` returns a new fake and the part of it that must not remain. */
export async function secretKinds() {
  const { defaultRules } = await fromDist('redact', 'rules', 'index.js')
  const { exampleOf } = await fromDist('redact', 'rules', 'token-shape.js')
  const ofRules = defaultRules().flatMap((rule) =>
    (rule.shapes ?? []).map((shape) => ({
      rule: rule.name,
      name: `${rule.name} ${shape}`,
      make: (pick) => fakeOf(rule, () => exampleOf(shape, pick)),
    })),
  )
  return [
    ...ofRules,
    ...OTHER_KINDS.map((kind) => ({ ...kind, make: (pick) => kind.make((shape) => exampleOf(shape, pick)) })),
  ]
}

/** A rule can demand more than its shapes say, such as a digit, so a fake that it does not match is made anew. */
function fakeOf({ name, pattern }, fill) {
  for (let tries = 0; tries < 20; tries++) {
    const text = fill()
    const match = new RegExp(pattern.source, pattern.flags.replace('g', '')).exec(text)
    if (match !== null) return { text, secret: match.groups?.secret ?? match[0] }
  }
  throw new Error(`the rule ${name} does not match its own examples`)
}

/** Kinds that no shape describes. */
const OTHER_KINDS = [
  ...['PRIVATE KEY', 'RSA PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'PGP PRIVATE KEY BLOCK'].map((label) => ({
    rule: 'private-key',
    name: label,
    make: (fill) => pem(label, fill),
  })),
  ...['postgres', 'mongodb+srv', 'redis', 'amqp'].map((scheme) => ({
    rule: 'url-password',
    name: `password in ${scheme}://`,
    make: (fill) => connection(scheme, fill),
  })),
  { rule: 'aws-secret-key', name: 'AWS key pair', make: awsPair },
  { rule: 'key-variable', name: 'variable that ends in _KEY', make: keyVariable },
]

function pem(label, fill) {
  const lines = [fill('{64b}'), fill('{64b}'), fill('{40b}')]
  return {
    text: [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n'),
    secret: lines[1],
  }
}

function connection(scheme, fill) {
  const secret = fill('{5a}7{8a}')
  return { text: `${scheme}://app:${secret}@db.example:5432/main`, secret }
}

function awsPair(fill) {
  const secret = fill('aB3{37b}')
  return { text: `${fill('AKIA{16u}')} secret ${secret}`, secret }
}

function keyVariable(fill) {
  const secret = fill('a7{28a}')
  return { text: `ADAFRUIT_KEY="${secret}"`, secret }
}

const escaped = (text) => JSON.stringify(text).slice(1, -1)
const base64 = (text) => Buffer.from(text).toString('base64')
const everyChar = (text, spell) => [...Buffer.from(text)].map(spell).join('')
const hex = (byte) => byte.toString(16).padStart(2, '0')
const percentEveryByte = (text) => everyChar(text, (byte) => `%${hex(byte).toUpperCase()}`)
const unicodeEscapes = (text) => everyChar(text, (byte) => `\\u00${hex(byte)}`)

const utf16 = (text) => Buffer.from(text, 'utf16le')
const decodeRun = (text, decode) => {
  const [, run = ''] = /: ([A-Za-z0-9+/=]+)\./.exec(text) ?? []
  try {
    return decode(Buffer.from(run, 'base64')).toString()
  } catch {
    return ''
  }
}

/**
 * The ways to write a value in a text. `spell` is the spelling of the secret alone, if it is not one of the usual ones. `decode`
 * decodes a redacted text again, if the secret alone has no spelling.
 */
export const WRAPPINGS = {
  bare: { wrap: (value) => value },
  sentence: { wrap: (value) => `Use ${value} for the next call, please.` },
  'JSON in text': { wrap: (value) => `Result: ${JSON.stringify({ note: value, n: 1 })}` },
  'JSON in JSON': { wrap: (value) => JSON.stringify({ inner: JSON.stringify({ deep: [value] }) }) },
  'unicode escapes': { wrap: (value) => `{"note": "${unicodeEscapes(value)}"}`, spell: unicodeEscapes },
  base64: { wrap: (value) => base64(`note: ${value}.`) },
  'base64url, shifted': {
    wrap: (value) => `data:text/plain;base64,${Buffer.from(`- ${value}\n`).toString('base64url')}`,
  },
  'base64 lines': {
    wrap: (value) => base64(`some text before it: ${value}\nand after it`).replaceAll(/.{76}/g, '$&\n'),
  },
  'JSON key': { wrap: (value) => JSON.stringify({ [value]: true }) },
  YAML: { wrap: (value) => `service:\n  entry: ${JSON.stringify(value)}\n  debug: false\n` },
  dotenv: { wrap: (value) => `DEBUG=1\nENTRY=${value}\nPORT=80\n` },
  'URL query': { wrap: (value) => `https://host.example/a?page=2&q=${encodeURIComponent(value)}&n=1` },
  'URL path': { wrap: (value) => `https://host.example/v1/${encodeURIComponent(value)}/items` },
  'percent-encoded': { wrap: (value) => `next=${encodeURIComponent(`/login?back=${value}`)}` },
  'percent-encoded twice': {
    wrap: (value) => `next=${encodeURIComponent(encodeURIComponent(`back=${value}`))}`,
    spell: (value) => encodeURIComponent(encodeURIComponent(value)),
  },
  'every byte percent-encoded': { wrap: (value) => `q=${percentEveryByte(value)}`, spell: percentEveryByte },
  header: { wrap: (value) => `GET / HTTP/1.1\r\nHost: h.example\r\nX-Note: ${value}\r\n\r\n` },
  markdown: { wrap: (value) => `Run it:\n\n\`\`\`\n${value}\n\`\`\`\n\nor \`${value}\`.` },
  HTML: { wrap: (value) => `<p class="x">${value}</p><a data-x="${value}">more</a>` },
  'HTML entities': {
    wrap: (value) => `<pre>{&quot;note&quot;: &quot;${everyChar(value, (byte) => `&#${byte};`)}&quot;}</pre>`,
    spell: (value) => everyChar(value, (byte) => `&#${byte};`),
  },
  CSV: { wrap: (value) => `id,entry,date\n1,${value},2026-01-02\n2,"${value}",2026-01-03\n` },
  hex: {
    wrap: (value) => `payload 0x${Buffer.from(`note: ${value}.`).toString('hex')}`,
    spell: (value) => Buffer.from(value).toString('hex'),
  },
  'base64 twice': {
    wrap: (value) => `data: ${base64(base64(`note: ${value}.`))}.`,
    decode: (text) => decodeRun(text, (bytes) => Buffer.from(bytes.toString(), 'base64')),
  },
  'gzip in base64': {
    wrap: (value) => `data: ${gzipSync(`note: ${value}.`).toString('base64')}.`,
    decode: (text) => decodeRun(text, gunzipSync),
  },
  'zlib in base64': {
    wrap: (value) => `data: ${deflateSync(`note: ${value}.`).toString('base64')}.`,
    decode: (text) => decodeRun(text, inflateSync),
  },
  'UTF-16 in base64': {
    wrap: (value) => `data: ${utf16(`note: ${value}.`).toString('base64')}.`,
    decode: (text) => decodeRun(text, (bytes) => bytes.toString('utf16le')),
  },
  'terminal colors': { wrap: (value) => `\u001b[31m${value}\u001b[0m` },
  'URL in a URL in JSON in a text': {
    wrap: (value) =>
      `See ${JSON.stringify({ url: `https://h.example/cb?next=${encodeURIComponent(`/x?y=${value}`)}` })} now`,
  },
  'log line': { wrap: (value) => `2026-01-02T03:04:05.678Z INFO [main] got <${value}> (200 OK)` },
}

/** Every spelling in which a value could be read from a file. */
export function spellings(value, spell = (text) => text) {
  const bytes = Buffer.from(value)
  const offsets = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    return whole.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  const all = [
    value,
    escaped(value),
    escaped(escaped(value)),
    encodeURIComponent(value),
    spell(value),
    escaped(spell(value)),
    ...offsets,
  ]
  return [...new Set([...all, ...offsets.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))])]
}
