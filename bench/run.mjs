// npm run bench [-- --rounds N] [case…]: every figure is a ratio taken in one interleaved run.
import { rmSync } from 'node:fs'
import { build, installWhenNeeded } from '../scripts/run.mjs'
import { scratch } from './measure.mjs'

// Each case is loaded after the build, because it imports the built library.
const CASES = {
  'record-stdio': async () => (await import('./record-stdio.mjs')).recordStdio,
  'record-http': async () => (await import('./record-http.mjs')).recordHttp,
  'intercept-stdio': async () => (await import('./intercept.mjs')).interceptStdio,
  'intercept-http': async () => (await import('./intercept.mjs')).interceptHttp,
  replay: async () => (await import('./replay.mjs')).replayBench,
  'replay-memory': async () => (await import('./replay-memory.mjs')).replayMemory,
  verify: async () => (await import('./verify.mjs')).verifyBench,
  load: async () => (await import('./load.mjs')).load,
  'load-stall': async () => (await import('./load.mjs')).loadStall,
  'load-workers': async () => (await import('./load.mjs')).loadWorkers,
  chaos: async () => (await import('./chaos.mjs')).chaosBench,
  debug: async () => (await import('./debug.mjs')).debugBench,
  redact: async () => (await import('./redact.mjs')).redact,
  'start-up': async () => (await import('./start-up.mjs')).startUp,
  kill: async () => (await import('./kill.mjs')).killRecorder,
  serve: async () => (await import('./serve.mjs')).serve,
  open: async () => (await import('./open.mjs')).open,
  match: async () => (await import('./match.mjs')).match,
  diff: async () => (await import('./diff.mjs')).diff,
  bindings: async () => (await import('./bindings.mjs')).bindings,
  'use-tape': async () => (await import('./use-tape.mjs')).useTapeBench,
  page: async () => (await import('./page.mjs')).page,
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
if (process.env.REELAY_BUILT === undefined && (await build()) !== 0) process.exit(1)
const met = []
try {
  for (const name of words.length > 0 ? words : Object.keys(CASES))
    met.push(...(await (await CASES[name]())({ rounds })))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
console.log(`\n${met.filter(Boolean).length} of ${met.length} goals met`)
