// usage: node http-servers.mjs bare|sdk: a server on a free port; prints its URL.
import { createServer } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { RESULT } from './calls.mjs'
import { echoServer } from './echo-server.mjs'

const [, , kind] = process.argv
const KINDS = { bare, sdk }
const server = createServer(await KINDS[kind]())
server.listen(0, '127.0.0.1', () =>
  console.error(`listening on http://127.0.0.1:${server.address().port}/mcp`),
)

function bare() {
  const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: RESULT })
  return (req, res) => whenRead(req, () => send(res, answer))
}

async function sdk() {
  const sessions = new Map()
  return (req, res) => {
    const known = sessions.get(req.headers['mcp-session-id'])
    if (known) return known.handleRequest(req, res)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id) => sessions.set(id, transport),
    })
    return echoServer()
      .connect(transport)
      .then(() => transport.handleRequest(req, res))
  }
}

function whenRead(req, then) {
  const chunks = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', () => then(chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString()))
}

function send(res, text) {
  res.writeHead(text === '' ? 202 : 200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  })
  res.end(text)
}
