// The least that a Node program can do in an open loop: node thinnest-schedule.mjs <url> <connections> <ms>. At 1,000 random times a
// second it writes a request to a socket, with the timer of `reelay load`. It prints how late, and what of a core that took.
import { once } from 'node:events'
import { connect } from 'node:net'
import { PreciseTimer } from '../../dist/load/precise-timer.js'

const [url, connections, ms] = process.argv.slice(2)
const { hostname, port, pathname } = new URL(url)
const BODY =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}'
const REQUEST = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`
const onread = { buffer: Buffer.allocUnsafe(65_536), callback: () => true }
const sockets = Array.from({ length: Number(connections) }, () =>
  connect({ host: hostname, port, noDelay: true, onread }),
)
await Promise.all(sockets.map((socket) => once(socket, 'connect')))

const timer = new PreciseTimer()
const lags = []
const [from, before] = [timer.now(), process.cpuUsage()]
for (let due = from; due < from + Number(ms); due -= Math.log(1 - Math.random())) {
  await timer.until(due)
  lags.push(Math.max(0, timer.now() - due))
  sockets[lags.length % sockets.length].write(REQUEST, 'latin1')
}
const { user, system } = process.cpuUsage(before)
lags.sort((a, b) => a - b)
const at = (share) => lags[Math.floor(lags.length * share)]
console.log(JSON.stringify({ p50: at(0.5), p99: at(0.99), busy: (user + system) / 1000 / Number(ms) }))
process.exit()
