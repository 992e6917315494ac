// A hostile server sends odd responses through the proxies and the bridge. A client must get what it would get from node:http
// directly, or an error of Reelay, and never a part of them as the response to its next request.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { inParallel, startReelay } from './targets.mjs'

const EVIL = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nevil'
const TIMEOUT_MS = 1500

export async function attackResponses(folder) {
  const responses = oddResponses()
  const server = await hostileServer(responses)
  console.log(`\nodd responses of a server${' '.repeat(9)}    tried   refused    failed`)
  let failures = 0
  const url = `http://127.0.0.1:${server.port}/mcp`
  const args = ['record', '--url', url, '-o', join(folder, 'responses.tape.jsonl')]
  const reverse = await startReelay(args, folder)
  failures += await attackProxy('record --url', server.port, responses, (path) => ({
    url: new URL(path, reverse.url).href,
  }))
  await reverse.stop()
  const forward = await startReelay(
    ['record', '--forward', '-o', join(folder, 'f.tape.jsonl')],
    folder,
    'NODE_USE_ENV',
  )
  const { origin, username, password } = new URL(forward.url)
  failures += await attackProxy('record --forward', server.port, responses, (path) => ({
    url: origin,
    path: `http://127.0.0.1:${server.port}${path}`,
    headers: {
      'Proxy-Authorization': `Basic ${btoa(`${username}:${password}`)}`,
      Host: `127.0.0.1:${server.port}`,
    },
  }))
  await forward.stop()
  failures += await attackBridge(folder, server, responses)
  server.close()
  return failures
}

async function attackProxy(name, port, responses, through) {
  const faults = []
  let refused = 0
  await inParallel([...responses.entries()], async ([at, { name: what }]) => {
    const direct = await twoRequests({ path: `/r/${at}` }, (path) => ({
      url: `http://127.0.0.1:${port}${path}`,
    }))
    const got = await twoRequests({ path: `/r/${at}` }, through)
    if (got.first.startsWith('502') || got.first === 'error') refused++
    else if (got.first !== direct.first && direct.first !== 'error')
      faults.push(`${what}: ${got.first.slice(0, 80)}, directly ${direct.first.slice(0, 80)}`)
    if (got.second !== '200 ok') faults.push(`${what}: the next request got ${got.second.slice(0, 80)}`)
  })
  return report(name, responses.length, refused, faults)
}

/** Sends a request that gets an odd response, and then one that gets an ordinary one, on the same connection if it lasts. */
async function twoRequests({ path }, through) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const first = await ask(through(path), agent)
  const second = await ask(through('/ok'), agent)
  agent.destroy()
  return { first, second }
}

function ask({ url, path, headers }, agent) {
  return new Promise((done) => {
    // A timeout of the socket does not notice a server that keeps sending.
    const timer = setTimeout(() => req.destroy() && resolve('error'), TIMEOUT_MS)
    const resolve = (outcome) => {
      clearTimeout(timer)
      done(outcome)
    }
    const req = request(url, { agent, headers, ...(path && { path }) }, (res) => {
      let body = ''
      res.setEncoding('latin1')
      res.on('data', (chunk) => (body += chunk))
      res.on('end', () => resolve(`${res.statusCode} ${body}`))
      res.on('error', () => resolve('error'))
    })
    req.on('error', () => resolve('error'))
    req.end()
  })
}

/** The client of a bridge gets no answer but to its own requests, whatever the server sends. */
async function attackBridge(folder, server, responses) {
  const args = [
    'record',
    '--bridge',
    '--url',
    `http://127.0.0.1:${server.port}/bridge`,
    '-o',
    join(folder, 'b.tape.jsonl'),
  ]
  const bridge = await startReelay(args, folder, 'recording to')
  const faults = []
  let [refused, unanswered] = [0, 0]
  let lines = []
  let rest = ''
  let wake
  bridge.child.stdout.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop()
    lines.push(...parts)
    wake?.()
  })
  for (const [at, { name }] of responses.entries()) {
    server.next = at
    bridge.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: at, method: 'ping' })}\n`)
    const timer = setTimeout(() => wake?.('late'), 2 * TIMEOUT_MS)
    const answer = () => lines.map((line) => JSON.parse(line)).find(({ id }) => id === at)
    while (answer() === undefined && (await new Promise((resolve) => (wake = resolve))) !== 'late');
    clearTimeout(timer)
    if (answer()?.error !== undefined) refused++
    else if (answer() === undefined) unanswered++
    for (const line of lines) if (!(JSON.parse(line).id <= at)) faults.push(`${name}: ${line.slice(0, 80)}`)
    lines = []
  }
  await bridge.stop()
  return report('record --bridge', responses.length, refused + unanswered, faults)
}

function report(name, tried, refused, faults) {
  console.log(
    name.padEnd(34) + [tried, refused, faults.length].map((cell) => String(cell).padStart(10)).join(''),
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  return faults.length
}

async function hostileServer(responses) {
  const state = { next: 0, port: 0, close: () => server.close() }
  const sockets = new Set()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      const [, path] = /^\w+ (\S+)/.exec(received) ?? []
      received = ''
      if (path === '/ok') return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      const at = path?.startsWith('/r/') ? Number(path.slice(3)) : state.next
      const { text, end } = responses[at] ?? { text: EVIL }
      // The bridge checks the id of a response.
      socket.write(path === '/bridge' ? text.replace('"evil"', String(at).padStart(6)) : text, 'latin1')
      if (end) socket.end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  state.port = server.address().port
  state.close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return state
}

function head(...lines) {
  const all = ['HTTP/1.1 200 OK', 'Content-Type: application/json', ...lines]
  return `${all.join('\r\n')}\r\n\r\n`
}

function many(count) {
  return Array.from({ length: count }, (_, at) => `A${at}: b`)
}

function oddResponses() {
  const body = '{"jsonrpc":"2.0","id":"evil","result":{}}'
  const length = `Content-Length: ${body.length}`
  const chunked = 'Transfer-Encoding: chunked'
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const codes = [0, 1, 8, 11, 12, 13, 27, 127]
  const texts = {
    'an ordinary response': head(length) + body,
    'two responses': head(length) + body + EVIL,
    'two lengths': head(length, 'Content-Length: 0') + body,
    'two lengths, the short one first': head('Content-Length: 0', length) + body,
    'two equal lengths': head(length, length) + body,
    'a length and chunks': head(length, chunked) + chunk,
    'chunks and a length': head(chunked, 'Content-Length: 0') + chunk,
    'chunks, then a response': head(chunked) + chunk + EVIL,
    'a length behind 600 headers': head(...many(600), length) + body,
    'a length behind 1200 headers': head(...many(1200), length) + body + EVIL,
    'a length behind 3000 headers': head(...many(3000), 'Content-Length: 0') + EVIL,
    'a head of 200 kB': head(`A: ${'b'.repeat(200_000)}`, length) + body,
    'a folded line': head('A: b', ' c', length) + body,
    'a folded length': head('Content-Length:', ' 0') + EVIL,
    'a space before the colon': head('Content-Length : 0') + EVIL,
    'a bare line feed': head(`A: b\n${length}`) + body,
    'a bare carriage return': head(`A: b\r${length}`) + body,
    'only line feeds': (head(length) + body).replaceAll('\r\n', '\n'),
    'no status': `HTTP/1.1\r\n${length}\r\n\r\n${body}`,
    'no reason': `HTTP/1.1 200\r\n${length}\r\n\r\n${body}`,
    'the status 99': `HTTP/1.1 099 x\r\n${length}\r\n\r\n${body}`,
    'the status 999': `HTTP/1.1 999 x\r\n${length}\r\n\r\n${body}`,
    'the status 2000': `HTTP/1.1 2000 x\r\n${length}\r\n\r\n${body}`,
    'the status 100 first': `HTTP/1.1 100 Continue\r\n\r\n${head(length)}${body}`,
    'many interim responses': `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)}${head(length)}${body}`,
    'the status 101': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nevil',
    'the status 103 with a length': `HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\n${head(length)}${body}`,
    'the status 204 with a body': `HTTP/1.1 204 No Content\r\n${length}\r\n\r\n${body}`,
    'the status 304 with a body': `HTTP/1.1 304 Not Modified\r\n${length}\r\n\r\n${body}`,
    'HTTP/1.0': `HTTP/1.0 200 OK\r\n${length}\r\n\r\n${body}`,
    'HTTP/1.0 with chunks': `HTTP/1.0 200 OK\r\n${chunked}\r\n\r\n${chunk}`,
    'HTTP/2': `HTTP/2 200 OK\r\n${length}\r\n\r\n${body}`,
    'HTTP/0.9': body,
    'a redirect with a line break': `HTTP/1.1 302 Found\r\nLocation: /x\r\nSet-Cookie: a\n\rContent-Length: 0\r\n\r\n`,
    'a length named by Connection': head('Connection: content-length', length) + body,
    'a coding named by Connection': head('Connection: transfer-encoding', chunked) + chunk,
    'a trailer with a length': head(chunked) + chunk.replace('0\r\n\r\n', '0\r\nContent-Length: 0\r\n\r\n'),
    'many trailers': head(chunked) + chunk.replace('0\r\n\r\n', `0\r\n${'A: b\r\n'.repeat(2000)}\r\n`),
    'a bad chunk size': head(chunked) + `x${chunk}`,
    'a negative chunk size': head(chunked) + `-${chunk}`,
    'a huge chunk size': head(chunked) + `ffffffffffffffff\r\n${body}\r\n0\r\n\r\n`,
    'a chunk without its line end': head(chunked) + chunk.replace('\r\n0', '0'),
    'chunks that end with line feeds': head(chunked) + chunk.replaceAll('\r\n', '\n'),
    'a response in a response': head(`Content-Length: ${EVIL.length}`) + EVIL,
    'a TLS alert': '\x15\x03\x01\x00\x02\x02\x28',
  }
  for (const value of ['', '-1', '+0', '0x0', '1e1', '0, 0', '99999999999999999999', 'x', ' 0 0'])
    texts[`Content-Length: ${value}`] = head(`Content-Length: ${value}`) + EVIL
  for (const value of [
    'gzip',
    'gzip, chunked',
    'chunked, chunked',
    'identity',
    'chunked, identity',
    'xchunked',
    '"chunked"',
    '',
  ])
    texts[`Transfer-Encoding: ${value}`] = head(`Transfer-Encoding: ${value}`) + chunk
  for (const code of codes)
    texts[`the character ${code} in a value`] = head(`A: b${String.fromCharCode(code)}c`, length) + body
  for (const code of codes)
    texts[`the character ${code} in a name`] = head(`A${String.fromCharCode(code)}: b`, length) + body
  const cut = {
    'nothing at all': '',
    'half a head': 'HTTP/1.1 200 OK\r\nConte',
    'half a body': (head(length) + body).slice(0, -5),
    'a body until the end': head() + body,
    'half a chunk': (head(chunked) + chunk).slice(0, -12),
  }
  return [
    ...Object.entries(texts).map(([name, text]) => ({ name, text })),
    ...Object.entries(cut).map(([name, text]) => ({ name, text, end: true })),
  ]
}
