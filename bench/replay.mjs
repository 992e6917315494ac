// A tape replayed at full speed with validation on, beside the official clients and a bare JSON-RPC loop doing the same calls.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compile, goal, here, interleave, median, scratch } from './measure.mjs'
import { AT_ONCE } from './replay/clients.mjs'
import { writeTape } from './replay/tape.mjs'

const CALLS = { stdio: 64_000, http: 6400 }
const SERVER = join(here, 'replay', 'server.mjs')

export async function replayBench({ rounds }) {
  const http = spawn(process.execPath, [SERVER, 'http'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const url = `http://127.0.0.1:${/port (\d+)/.exec(String(await once(http.stderr, 'data')))[1]}/mcp`
  const [overStdio, overHttp] = [alone('stdio'), alone('http')]
  const besides = (name, server) => ({
    [`${name}, raw loop`]: () => overStdio('raw', server),
    [`${name}, SDK 1 client`]: () => overStdio('sdk1', server),
    [`${name}, SDK 2 client`]: () => overStdio('sdk2', server),
    [`${name}, reelay`]: () => overStdio('reelay', server),
  })
  const variants = {
    ...besides(C_SERVER, [compile('trivial')]),
    ...besides(NODE_SERVER, [process.execPath, SERVER]),
    [`HTTP, SDK 1 client`]: () => overHttp('sdk1-http', [url]),
    [`HTTP, reelay`]: () => overHttp('reelay-http', [url]),
  }
  console.log(
    `\nreplay with validation, ${AT_ONCE} calls at once, from the start of the server to the report`,
  )
  const results = await interleave(rounds, variants, (run) => run())
  http.kill()
  return report(results)
}

/** Each client runs in a process of its own, and the median of its warm runs counts. */
function alone(kind) {
  const tape = writeTape(join(scratch, `replay-${kind}.tape.jsonl`), CALLS[kind])
  return async (client, server) => {
    const args = [join(here, 'replay', 'alone.mjs'), client, tape, String(CALLS[kind]), ...server]
    const { rates, loading } = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout)
    return { rate: median(rates), loading: median(loading) }
  }
}

function report(results) {
  const medians = (key) =>
    Object.fromEntries(
      Object.entries(results).map(([name, runs]) => [name, median(runs.map((run) => run[key]))]),
    )
  const [rate, loading] = [medians('rate'), medians('loading')]
  for (const [name, value] of Object.entries(rate))
    console.log(`  ${name.padEnd(36)} ${Math.round(value)} calls/s`)
  console.log(`  to load the tape before it takes ${loading[`${C_SERVER}, reelay`].toFixed(1)} us a call`)
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
