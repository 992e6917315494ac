// A trivial tool over stdio, or over HTTP with `http` as its argument: as little work for each call as can be.
import { createServer } from 'node:http'

const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'trivial', version: '1' },
  },
  'tools/list': {
    tools: [{ name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  },
}

function answer(text) {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined) return undefined
  const result = RESULTS[method] ?? { content: [{ type: 'text', text: `echo ${params.arguments.n}` }] }
  return `{"result":${JSON.stringify(result)},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`
}

if (process.argv[2] === 'http') serveHttp()
else serveStdio()

function serveStdio() {
  let rest = ''
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    const answers = lines.map(answer).filter((line) => line !== undefined)
    if (answers.length > 0) process.stdout.write(`${answers.join('\n')}\n`)
  })
}

function serveHttp() {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const text = answer(Buffer.concat(parts).toString())
      if (text === undefined) response.writeHead(202).end()
      else
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
          .end(text)
    })
  })
  server.listen(0, '127.0.0.1', () => console.error(`listening on port ${server.address().port}`))
}
