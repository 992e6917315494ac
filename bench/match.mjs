// From the text of a request to its place on the tape: heard before, and not; beside parsing, writing in canonical form and SHA-256.
import { hash } from 'node:crypto'
import { RecordingIndex } from '../dist/match/recording-index.js'
import { heldTurns } from '../dist/tape/turn-store.js'
import { turnsOf } from '../dist/tape/turns.js'
import { HeardTexts } from '../dist/serve/heard-texts.js'
import { canonicalJson } from '../dist/wire/canonical.js'
import { classify } from '../dist/wire/message.js'
import { goal, interleave, median } from './measure.mjs'

export async function match({ rounds }) {
  const met = []
  for (const [size, pad, least] of [
    ['200 B', 60, 5],
    ['4 KB', 3900, 8],
  ]) {
    const results = await interleave(rounds, variantsFor(pad), rateOf)
    console.log(`\nrequests of ${size} looked up in a second`)
    for (const [name, values] of Object.entries(results))
      console.log(`  ${name.padEnd(36)} ${Math.round(median(values)).toLocaleString('en')}`)
    const beside = median(
      results['heard before'].map((value, round) => value / results['parse, canonical, SHA-256'][round]),
    )
    met.push(goal(`heard before, beside parse, canonical and SHA-256, at ${size}`, beside, least, 'at least'))
  }
  return met
}

function variantsFor(pad) {
  const request = (id) =>
    `{"method":"tools/call","params":{"name":"echo","arguments":{"n":1,"text":"${'word '.repeat(pad / 5)}","b":[1,2,3]}},"jsonrpc":"2.0","id":${id}}`
  const texts = Array.from({ length: 64 }, (_, id) => request(id))
  const index = indexOf(request(0))
  const heard = new HeardTexts()
  return {
    'heard before': (n) => index.lookup(asked(heard.read(texts[n & 63]))),
    'read for the first time': (n) => index.lookup(asked(classify(JSON.parse(texts[n & 63])))),
    'parse, canonical, SHA-256': (n) =>
      hash('sha256', canonicalJson(JSON.parse(texts[n & 63]).params), 'hex'),
  }
}

function asked({ method, params }) {
  return { server: 'bench', method, params }
}

/** One call and its answer, which is given again and again. */
function indexOf(text) {
  const frame = (n, dir, said) => ({
    kind: 'message',
    n,
    t: n,
    server: 'bench',
    conn: 1,
    dir,
    text: said,
    message: classify(JSON.parse(said)),
  })
  const frames = [frame(1, 'c2s', text), frame(2, 's2c', '{"jsonrpc":"2.0","id":0,"result":{}}')]
  return new RecordingIndex(heldTurns(turnsOf(frames)), { permissive: true })
}

function rateOf(once) {
  const until = performance.now() + 300
  let done = 0
  while (performance.now() < until) for (let i = 0; i < 200; i++) once(done++)
  return done / 0.3
}
