// usage: node http-servers.mjs bare|sdk|reelay [tape]: a server on a free port; prints its URL.
import { createServer } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { Player } from '../../dist/serve/player.js'
import { Script } from '../../dist/serve/script.js'
import { openIndexedTape } from '../../dist/store/indexed-tape.js'
import { RESULT } from './calls.mjs'
import { echoServer } from './echo-server.mjs'

const [, , kind, tape] = process.argv
const KINDS = { bare, sdk, reelay }
const server = createServer(await KINDS[kind]())
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`))

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

/** The thinnest way from HTTP to the player, until `reelay serve --http` takes its place here. */
async function reelay() {
  const { turns } = await openIndexedTape(tape)
  let answer = ''
  const script = new Script({ turns, server: 'bench', tape, commandFor: () => '' })
  const player = new Player({ script, send: (text) => (answer = text) })
  return (req, res) =>
    whenRead(req, (text) => {
      answer = ''
      player.receive(text)
      send(res, answer)
    })
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
