// A server for the attacks. Every message that it sends contains a mark of its own, so that a client and a tape can be compared.
// Without arguments it speaks over stdio; with `http` it listens and prints its port. The params of a request say how long its
// response is (`size`), whether it contains a secret (`secret`), and whether it comes as a stream of events (`stream`).
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

let marks = 0

function response({ id, params = {} }) {
  const { size = 0, secret = false } = params
  const result = {
    mark: `m${++marks}`,
    ...(secret && { token: `ghp_${String(marks).padStart(36, 'x7Qp2')}` }),
    filler: 'lorem ipsum '.repeat(Math.ceil(size / 12)),
  }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

function progress() {
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { mark: `m${++marks}` } })
}

if (process.argv[2] === 'http') {
  const server = createServer(async (req, res) => {
    const body = await text(req)
    const request = body === '' ? {} : JSON.parse(body)
    if (request.id === undefined) return res.writeHead(req.method === 'POST' ? 202 : 405).end()
    if (request.params?.stream !== true)
      return res.writeHead(200, { 'Content-Type': 'application/json' }).end(response(request))
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write(`data: ${progress()}\n\n`)
    setImmediate(() => res.end(`event: message\ndata: ${response(request)}\n\n`))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
} else {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const request = JSON.parse(line)
    if (request.id !== undefined) process.stdout.write(`${response(request)}\n`)
  })
}
