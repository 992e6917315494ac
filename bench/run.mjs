// npm run bench [-- --rounds N] [case…]: every figure is a ratio taken in one interleaved run.
import { rmSync } from 'node:fs'
import { build, installWhenNeeded } from '../scripts/run.mjs'
import { bindings } from './bindings.mjs'
import { diff } from './diff.mjs'
import { killRecorder } from './kill.mjs'
import { match } from './match.mjs'
import { scratch } from './measure.mjs'
import { open } from './open.mjs'
import { recordHttp } from './record-http.mjs'
import { recordStdio } from './record-stdio.mjs'
import { redact } from './redact.mjs'
import { replayMemory } from './replay-memory.mjs'
import { replayBench } from './replay.mjs'
import { serve } from './serve.mjs'
import { startUp } from './start-up.mjs'

const CASES = {
  'record-stdio': recordStdio,
  'record-http': recordHttp,
  replay: replayBench,
  'replay-memory': replayMemory,
  redact,
  'start-up': startUp,
  kill: killRecorder,
  serve,
  open,
  match,
  diff,
  bindings,
}

const words = process.argv.slice(2)
const at = words.indexOf('--rounds')
const rounds = at < 0 ? 5 : Number(words.splice(at, 2)[1])
const unknown = words.filter((word) => !(word in CASES))
if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  console.error(`usage: npm run bench -- [--rounds N] [${Object.keys(CASES).join(' | ')}]`)
  process.exit(2)
}
installWhenNeeded()
if ((await build()) !== 0) process.exit(1)
const met = []
try {
  for (const name of words.length > 0 ? words : Object.keys(CASES))
    met.push(...(await CASES[name]({ rounds })))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
console.log(`\n${met.filter(Boolean).length} of ${met.length} goals met`)
