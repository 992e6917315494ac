// A tape replayed at full speed with validation on, beside the official clients and a bare JSON-RPC loop doing the same calls.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { compile, goal, here, interleave, median, scratch } from './measure.mjs'
import { AT_ONCE, rawLoop, sdk1OverHttp, sdk1OverStdio, sdk2OverStdio } from './replay/clients.mjs'
import { writeTape } from './replay/tape.mjs'

const CALLS = { stdio: 64_000, http: 19_200 }
const SERVER = join(here, 'replay', 'server.mjs')

export async function replayBench({ rounds }) {
  const { commandTarget, loadTape, replay, urlTarget } = await import('../dist/index.js')
  const http = spawn(process.execPath, [SERVER, 'http'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const url = `http://127.0.0.1:${/port (\d+)/.exec(String(await once(http.stderr, 'data')))[1]}/mcp`
  const loading = []
  const replayed = (kind) => {
    const path = writeTape(join(scratch, `replay-${kind}.tape.jsonl`), CALLS[kind])
    return async (target) => {
      const began = performance.now()
      const tape = await loadTape(path)
      const loaded = performance.now()
      if (kind === 'stdio') loading.push(((loaded - began) / CALLS[kind]) * 1000)
      const { summary } = await replay(tape, { target }).report
      if (summary.verdict !== 'pass') throw new Error(`the replay found ${summary.verdict}`)
      return (CALLS[kind] / (performance.now() - loaded)) * 1000
    }
  }
  const [overStdio, overHttp] = [replayed('stdio'), replayed('http')]
  const besides = (name, server) => ({
    [`${name}, raw loop`]: () => rawLoop(server, CALLS.stdio),
    [`${name}, SDK 1 client`]: () => sdk1OverStdio(server, CALLS.stdio),
    [`${name}, SDK 2 client`]: () => sdk2OverStdio(server, CALLS.stdio),
    [`${name}, reelay`]: () => overStdio(commandTarget(server)),
  })
  const variants = {
    ...besides(C_SERVER, [compile('trivial')]),
    ...besides(NODE_SERVER, [process.execPath, SERVER]),
    [`HTTP, SDK 1 client`]: () => sdk1OverHttp(url, CALLS.http),
    [`HTTP, reelay`]: () => overHttp(urlTarget(url)),
  }
  console.log(
    `\nreplay with validation, ${AT_ONCE} calls at once, from the start of the server to the report`,
  )
  const results = await interleave(rounds, variants, (run) => run())
  http.kill()
  const rate = Object.fromEntries(Object.entries(results).map(([name, values]) => [name, median(values)]))
  for (const [name, value] of Object.entries(rate))
    console.log(`  ${name.padEnd(36)} ${Math.round(value)} calls/s`)
  console.log(`  to load the tape before it takes ${median(loading).toFixed(1)} us a call`)
  const overNode = rate[`${NODE_SERVER}, reelay`] / officialRate(rate, NODE_SERVER)
  console.log(`  with the server in Node ${overNode.toFixed(2)} times the official client`)
  return [
    goal(
      'over stdio, beside the faster official client',
      rate[`${C_SERVER}, reelay`] / officialRate(rate, C_SERVER),
      2,
      'at least',
    ),
    goal(
      'over HTTP, beside the official client',
      rate['HTTP, reelay'] / rate['HTTP, SDK 1 client'],
      10,
      'at least',
    ),
  ]
}

// A server in Node takes as long for a call as a fast client does, and is then what is measured: the goal counts with the other.
const [C_SERVER, NODE_SERVER] = ['stdio, server in C', 'stdio, server in Node']

function officialRate(rate, server) {
  return Math.max(rate[`${server}, SDK 1 client`], rate[`${server}, SDK 2 client`])
}
