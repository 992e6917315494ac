// What a tape adds to a test: the same calls of an SDK client, to a server in the same process and to a tape of it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { goal, interleave, median, scratch } from './measure.mjs'
import { ARGUMENTS } from './serve/calls.mjs'
import { echoServer } from './serve/echo-server.mjs'

const TESTS = 100

export async function useTapeBench({ rounds }) {
  const { useTape } = await import('../dist/lib/node-test.js')
  const met = []
  for (const calls of [3, 30]) {
    const name = `calls-${calls}`
    const withTape = (mode) => () => testWithTape(useTape, { name, mode, calls })
    rmSync(join(scratch, '__tapes__', `${name}.tape.jsonl`), { force: true })
    await withTape('once')()
    const variants = { 'a server in the test': () => testWithServer(calls), 'a tape': withTape('none') }
    const results = await interleave(rounds, variants, millisecondsEach)
    console.log(`\nmilliseconds of a test with ${calls} calls, ${TESTS} tests in each round`)
    for (const [variant, values] of Object.entries(results))
      console.log(`  ${variant.padEnd(24)} ${median(values).toFixed(2)}`)
    const added = median(results['a tape'].map((value, at) => value - results['a server in the test'][at]))
    met.push(goal(`milliseconds that a tape adds to a test with ${calls} calls`, added, 5, 'at most'))
  }
  return met
}

async function millisecondsEach(runTest) {
  const began = performance.now()
  for (let nth = 0; nth < TESTS; nth++) await runTest()
  return (performance.now() - began) / TESTS
}

async function testWithServer(calls) {
  await session(await connectedTransport(), calls)
}

async function connectedTransport() {
  const [here, there] = InMemoryTransport.createLinkedPair()
  await echoServer().connect(there)
  return here
}

async function testWithTape(useTape, { name, mode, calls }) {
  const ends = []
  const test = {
    name,
    filePath: join(scratch, 'bench.test.mjs'),
    passed: true,
    after: (end) => ends.push(end),
  }
  const server = mode === 'none' ? undefined : await connectedTransport()
  const tape = await useTape(name, { test, mode, ...(server && { live: () => server }) })
  await session(await tape.transport(), calls)
  for (const end of ends) await end()
}

async function session(transport, calls) {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transport)
  for (let nth = 0; nth < calls; nth++) await client.callTool({ name: 'echo', arguments: ARGUMENTS(nth) })
  await client.close()
}
