// The official client in a closed loop: node official-client.mjs <url> <users> <ms>. Prints calls per second.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [url, users, ms] = process.argv.slice(2)
const clients = await Promise.all(
  Array.from({ length: Number(users) }, async () => {
    const client = new Client({ name: 'bench', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    return client
  }),
)
let calls = 0
const until = performance.now() + Number(ms)
await Promise.all(
  clients.map(async (client) => {
    for (; performance.now() < until; calls++)
      await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
  }),
)
console.log((calls / Number(ms)) * 1000)
process.exit()
