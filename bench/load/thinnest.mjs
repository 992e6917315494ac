// The least that a Node program can do in a closed loop: node thinnest.mjs <url> <users> <ms>. It writes a request to a socket when the
// response before it has arrived, and parses each. It has no sessions, schedule or statistics, so no load generator in Node can be faster.
import { connect } from 'node:net'

const [url, users, ms] = process.argv.slice(2)
const { hostname, port, pathname } = new URL(url)
const BEFORE =
  '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}},"id":'
const HEAD = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: `
const memory = Buffer.allocUnsafeSlow(65_536)
let calls = 0

for (let user = 0; user < Number(users); user++) {
  let id = 0
  const send = () => {
    const body = `${BEFORE}${++id}}`
    socket.write(`${HEAD}${body.length}\r\n\r\n${body}`, 'latin1')
  }
  const callback = (bytes) => {
    const response = memory.latin1Slice(0, bytes)
    const { id: answered } = JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4))
    if (answered !== id) throw new Error(`answered ${answered} instead of ${id}`)
    calls++
    send()
    return true
  }
  const socket = connect({ host: hostname, port, noDelay: true, onread: { buffer: memory, callback } }, send)
}
const after = (time) => new Promise((resolve) => setTimeout(resolve, time))
await after(500) // the users connect
const [before, from] = [calls, performance.now()]
await after(Number(ms))
console.log(((calls - before) / (performance.now() - from)) * 1000)
process.exit()
