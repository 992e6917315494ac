// The server over Streamable HTTP, inside the harness: the settings are in the path, so one server plays every scene and change.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createConnection, isModern } from './server.mjs'

export async function startHttpServer() {
  const connections = new Map()
  const server = createServer((request, response) => {
    respond(request, response).catch((failure) => {
      process.stderr.write(`${failure.stack}\n`)
      response.destroy()
    })
  })

  async function respond(request, response) {
    if (request.method !== 'POST') {
      request.resume()
      return response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    }
    const message = await json(request)
    const isFirst = message.method === 'initialize'
    const isStateless = isModern(message)
    const session = isFirst ? randomUUID() : request.headers['mcp-session-id']
    const key = isStateless ? request.url : session
    if (isFirst || (isStateless && !connections.has(key)))
      connections.set(key, createConnection(settingsIn(request.url)))
    const connection = connections.get(key)
    if (connection === undefined) return response.writeHead(404).end()
    if (session !== undefined && !isStateless) response.setHeader('mcp-session-id', session)
    await connection.receive(message, stream(message, response))
    if (message.id === undefined || message.method === undefined) response.writeHead(202).end()
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  return {
    urlOf: (settings) =>
      `http://127.0.0.1:${port}/${Buffer.from(JSON.stringify(settings)).toString('base64url')}/mcp`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function settingsIn(url) {
  return JSON.parse(Buffer.from(url.split('/')[1], 'base64url').toString())
}

/** A response is plain JSON unless something is sent before it. */
function stream(request, response) {
  return async (message) => {
    const isLast = message.id === request.id && message.method === undefined
    if (isLast && !response.headersSent)
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    if (!response.headersSent)
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
    if (isLast) response.end()
  }
}
