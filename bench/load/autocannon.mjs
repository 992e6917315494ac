// autocannon in a closed loop: node autocannon.mjs <url> <connections> <ms> <threads>. It sends one body and does not read the responses.
import { peer } from '../peer.mjs'

const [url, connections, ms, threads] = process.argv.slice(2)
const { default: autocannon } = await peer('autocannon', '8.0.0')
const { requests } = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(ms) / 1000,
  ...(Number(threads) > 1 && { workers: Number(threads) }),
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}',
})
console.log(requests.average)
