// usage: node in-memory.mjs sdk|reelay CALLS [tape]: an official client in memory, 64 calls at once; prints calls a second.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { replayTransport } from '../../dist/serve/replay-transport.js'
import { openIndexedTape } from '../../dist/store/index/indexed-tape.js'
import { ARGUMENTS } from './calls.mjs'
import { echoServer } from './echo-server.mjs'

const [, , kind, calls, tape] = process.argv
const client = new Client({ name: 'bench', version: '1' })
if (kind === 'sdk') {
  const [here, there] = InMemoryTransport.createLinkedPair()
  await echoServer().connect(there)
  await client.connect(here)
} else await client.connect(replayTransport(await openIndexedTape(tape), { drift: 'ignore' }))
let next = 0
const began = performance.now()
const worker = async () => {
  while (next < Number(calls)) await client.callTool({ name: 'echo', arguments: ARGUMENTS(next++) })
}
await Promise.all(Array.from({ length: 64 }, worker))
console.log((Number(calls) / (performance.now() - began)) * 1000)
await client.close()
