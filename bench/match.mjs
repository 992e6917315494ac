// From the text of a request to its place on the tape: parsed before, and not; beside parsing, writing in canonical form and SHA-256.
import { hash } from 'node:crypto'
import { goal, interleave, median } from './measure.mjs'

export async function match({ rounds }) {
  const parts = await builtParts()
  const met = []
  for (const [size, rows, least] of [
    ['200 B', 1, 5],
    ['4 KB', 45, 8],
  ]) {
    const results = await interleave(rounds, variantsFor(rows, parts), rateOf)
    console.log(`\nrequests of ${size} looked up in a second`)
    for (const [name, values] of Object.entries(results))
      console.log(`  ${name.padEnd(36)} ${Math.round(median(values)).toLocaleString('en')}`)
    const beside = median(
      results['parsed before'].map((value, round) => value / results['parse, canonical, SHA-256'][round]),
    )
    met.push(
      goal(`parsed before, beside parse, canonical and SHA-256, at ${size}`, beside, least, 'at least'),
    )
  }
  return met
}

// Loaded when they are there: the bench builds before it runs.
async function builtParts() {
  const files = [
    'match/recording-index',
    'tape/turn-builder',
    'serve/player/message-parser',
    'protocol/message',
  ]
  return Object.assign({}, ...(await Promise.all(files.map((file) => import(`../dist/${file}.js`)))))
}

function variantsFor(rows, parts) {
  const { MessageParser, classifyMessage } = parts
  const args = JSON.stringify({ query: 'a question of some length', limit: 10, rows: rowsOf(rows) })
  const request = (id) =>
    `{"method":"tools/call","params":{"name":"echo","arguments":${args}},"jsonrpc":"2.0","id":${id}}`
  const texts = Array.from({ length: 64 }, (_, id) => request(id))
  const index = indexOf(request(0), parts)
  const parser = new MessageParser()
  return {
    'parsed before': (n) => index.lookup(asked(parser.parse(texts[n & 63]))),
    'read for the first time': (n) => index.lookup(asked(classifyMessage(JSON.parse(texts[n & 63])))),
    'parse, canonical, SHA-256': (n) => hash('sha256', canonicalize(JSON.parse(texts[n & 63]).params), 'hex'),
  }
}

function rowsOf(count) {
  return Array.from({ length: count }, (_, id) => ({
    name: `row number ${id}`,
    id,
    tags: ['one', 'two'],
    score: id / 8,
    ok: true,
  }))
}

/** RFC 8785 as its reference implementation writes it. */
function canonicalize(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalize(value[key])}`)
  return `{${members.join(',')}}`
}

function asked({ method, params }) {
  return { server: 'bench', method, params }
}

/** One call and its answer, which is given again and again. */
function indexOf(text, { RecordingIndex, buildTurns, classifyMessage }) {
  const frame = (n, dir, said) => ({
    kind: 'message',
    n,
    t: n,
    server: 'bench',
    conn: 1,
    dir,
    text: said,
    message: classifyMessage(JSON.parse(said)),
  })
  const frames = [frame(1, 'c2s', text), frame(2, 's2c', '{"jsonrpc":"2.0","id":0,"result":{}}')]
  return new RecordingIndex(buildTurns(frames), { permissive: true })
}

function rateOf(once) {
  const until = performance.now() + 300
  let done = 0
  while (performance.now() < until) for (let i = 0; i < 200; i++) once(done++)
  return done / 0.3
}
