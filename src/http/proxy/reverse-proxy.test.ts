import fc from 'fast-check'
import { cases } from '../../../test/support/cases.ts'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { endpointRewriter, ReverseProxy } from './reverse-proxy.ts'

const [FROM, TO] = ['https://far.example', 'http://127.0.0.1:4000']
const REST = ': ping\n\nevent: message\ndata: {"a":"https://far.example/x"}\n\n'

test.each([
  [
    `event: endpoint\ndata: ${FROM}/message?sessionId=1\n\n`,
    `event: endpoint\ndata: ${TO}/message?sessionId=1\n\n`,
  ],
  [`event:endpoint\r\ndata:${FROM}?a\r\n\r\n`, `event:endpoint\r\ndata:${TO}?a\r\n\r\n`],
  [`event: endpoint\ndata: ${FROM}\n\n`, `event: endpoint\ndata: ${TO}\n\n`],
  ['event: endpoint\ndata: /message?sessionId=1\n\n', 'event: endpoint\ndata: /message?sessionId=1\n\n'],
  [`event: endpoint\ndata: ${FROM}.evil/x\n\n`, `event: endpoint\ndata: ${FROM}.evil/x\n\n`],
  [`event: endpoint\ndata: https://other/x\n\n`, `event: endpoint\ndata: https://other/x\n\n`],
  [`event: message\ndata: ${FROM}/x\n\n`, `event: message\ndata: ${FROM}/x\n\n`],
  [`: hello\n\nevent: endpoint\ndata: ${FROM}/x\n\n`, `: hello\n\nevent: endpoint\ndata: ${FROM}/x\n\n`],
  [`event: endpoint\nid: 1\ndata: ${FROM}/x\n\n`, `event: endpoint\nid: 1\ndata: ${FROM}/x\n\n`],
  ['event: endp', 'event: endp'],
  ['', ''],
])('only a first event that names an endpoint of the server itself is changed: %j', (stream, handedOn) => {
  const bytes = Buffer.from(stream + (stream.endsWith('\n\n') ? REST : ''))
  const wanted = handedOn + (stream.endsWith('\n\n') ? REST : '')
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (size) => {
      const rewriter = endpointRewriter(FROM, TO)
      const out: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) out.push(rewriter.next(bytes.subarray(at, at + size)))
      out.push(rewriter.end())
      expect(Buffer.concat(out).toString()).toBe(wanted)
    }),
    cases(40),
  )
})

test('bytes that are not an endpoint event are not held back', () => {
  const rewriter = endpointRewriter(FROM, TO)
  expect(Buffer.from(rewriter.next(Buffer.from('event: m'))).toString()).toBe('event: m')
  expect(Buffer.from(rewriter.next(Buffer.from('e'))).toString()).toBe('e')
})

const RESPONSES = {
  'a length': 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello',
  'chunks of events':
    'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nb\r\ndata: {}\n\n\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n',
  'an end by closing': 'HTTP/1.1 200 OK\r\nX-A: b\r\nConnection: close\r\n\r\nuntil the end',
  'no body': 'HTTP/1.1 204 No Content\r\nX-A: b\r\nx-a: c\r\n\r\n',
  'not modified': 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n',
  'an empty body': 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n',
  'no reason': 'HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok',
  'bytes that are not ASCII':
    'HTTP/1.1 200 D\u00E9j\u00E0\r\nX-Name: caf\u00E9\r\nContent-Length: 3\r\n\r\n\u00E9\u00FF\u0000',
  'a date': 'HTTP/1.1 404 Not Found\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 1\r\n\r\nx',
  'a status that cannot be written': 'HTTP/1.1 099 Odd\r\nContent-Length: 1\r\n\r\nx',
}

test.each(Object.entries(RESPONSES))(
  'a request in one packet and in two get the same bytes: %s',
  async (_, response) => {
    const origin = await proxyBefore(response)
    const head = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n'
    // A head that arrives in two parts is read by Node.
    const [inOne, inTwo] = [
      await askRaw(origin, [`${head}{}`]),
      await askRaw(origin, [head.slice(0, 30), `${head.slice(30)}{}`]),
    ]
    expect(inOne).toMatch(/^HTTP\/1\.1 \d{3} /)
    expect(withoutOwnDate(inOne)).toBe(withoutOwnDate(inTwo))
  },
)

/** Only an error of the proxy itself may have this line. */
function withoutOwnDate(response: string): string {
  return response.replace(/^Date: .*\r\n/m, '')
}

async function proxyBefore(response: string): Promise<URL> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(response, 'latin1', () => socket.end()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxy = new ReverseProxy({
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    listen: { host: '127.0.0.1', port: 0 },
    added: [],
  })
  onTestFinished(async () => {
    await proxy.close()
    server.close()
  })
  const body = { chunk() {}, end() {} }
  const watch = () => ({ request: body, answered: () => body, aborted() {}, unreachable() {} })
  const { origin } = await proxy.listen(() => ({ watch, refused() {} }))
  return new URL(origin)
}

async function askRaw({ hostname, port }: URL, parts: readonly string[]): Promise<string> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => (received += text))
  await once(socket, 'connect')
  for (const part of parts) {
    socket.write(part)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  if (!socket.closed) await once(socket, 'close')
  return received
}
