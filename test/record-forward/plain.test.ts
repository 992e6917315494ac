import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { resolveServer } from '../../src/serve/playable-tape.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { askThrough, connectThrough, forward, proxyAccess } from '../support/forward.ts'
import { ask, httpServer, open, post } from '../support/http.ts'
import { until } from '../support/recorder.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const PONG = '{ "jsonrpc":"2.0", "id":1,\n "result":{} }'

test('a request with a whole URL gets the response of its server, and both are on the tape', async () => {
  const seen: unknown[] = []
  const { origin } = await httpServer(async (req, res) => {
    seen.push([req.method, req.url, req.rawHeaders.slice(0, 6), (await buffer(req)).toString()])
    res.writeHead(200, 'Fine', [
      ['X-Odd', 'a'],
      ['x-odd', 'b'],
      ['Date', 'never'],
      ['Content-Type', 'application/json'],
    ])
    res.end(PONG)
  })
  const { proxy, lines } = await forward()
  const url = `${origin}/a/../mcp?q=%7e&token=t`
  const options = post(PING, { Host: new URL(origin).host, Authorization: 'Bearer abc' })
  const direct = await ask(origin, { ...options, path: '/a/../mcp?q=%7e&token=t' })
  expect(await askThrough(proxy, url, options)).toEqual(direct)
  expect(seen[1]).toEqual(seen[0])
  const server = new URL(origin).host.replace(':', '-')
  const tape = await lines()
  expect(tape[0]).toMatchObject({ servers: {} })
  expect(tape[1]).toMatchObject({ server, event: 'server', url: origin })
  expect(tape[2]).toMatchObject({
    server,
    conn: 1,
    x: 1,
    http: { path: expect.stringMatching(/^\/a\/\.\.\/mcp\?q=%7e&token=[a-z]{9}$/) as string },
  })
  expect(tape.map(({ msg }) => msg).filter(Boolean)).toEqual([PING, JSON.parse(PONG)])
  expect(JSON.stringify(tape)).not.toContain('Bearer abc')
})

test('the server sees its own name, whatever Host a client sent to the proxy', async () => {
  const { origin } = await httpServer((req, res) => res.end(req.headers.host))
  const { proxy } = await forward()
  const { body } = await askThrough(proxy, origin, { headers: { Host: 'elsewhere.test' } })
  expect(body.toString()).toBe(new URL(origin).host)
})

test('a request that is not addressed to a proxy is rejected', async () => {
  const { proxy, lines } = await forward()
  for (const path of ['/mcp', '*', '//127.0.0.1/mcp', 'ftp://127.0.0.1/x'])
    expect(await askThrough(proxy, path, post(PING))).toMatchObject({ status: 400 })
  const { body } = await askThrough(proxy, '/', post(PING))
  expect(JSON.parse(body.toString())).toMatchObject({ error: { code: -39400, data: { by: 'reelay' } } })
  expect((await lines()).filter(({ event }) => event === 'refused')).toHaveLength(5)
})

test('CONNECT without a valid host and port is rejected', async () => {
  const { proxy } = await forward()
  for (const authority of ['nowhere', '127.0.0.1:0', 'a/b:80', 'u@127.0.0.1:80'])
    expect(await connectThrough(proxy, authority)).toMatchObject({ status: 400 })
})

test('plain HTTP after CONNECT, which some clients send, is recorded too', async () => {
  const { origin } = await httpServer((req, res) => res.end(req.url === '/mcp' ? PONG : 'what?'))
  const { proxy, lines } = await forward('mine')
  const { status, socket } = await connectThrough(proxy, new URL(origin).host)
  expect(status).toBe(200)
  const answer = await ask('http://x.test', {
    ...post(PING),
    path: '/mcp',
    agent: undefined,
    createConnection: () => socket,
  })
  expect(answer.body.toString()).toBe(PONG)
  const tape = await lines()
  expect(tape[0]).toMatchObject({ servers: { mine: { transport: 'http' } } })
  expect(tape.filter(({ msg }) => msg !== undefined)).toMatchObject([
    { server: 'mine', dir: 'c2s', msg: PING },
    { server: 'mine', dir: 's2c', msg: JSON.parse(PONG) as unknown },
  ])
})

test('without a CA, TLS is forwarded unread, which is reported once per host', async () => {
  const hello = Buffer.from([0x16, 3, 1, 0, 1, 255])
  const echo = createServer((socket) => socket.pipe(socket))
  onTestFinished(() => void echo.close())
  await once(echo.listen(0, '127.0.0.1'), 'listening')
  const host = `127.0.0.1:${(echo.address() as AddressInfo).port}`
  const { proxy, notices, lines } = await forward()
  for (let time = 0; time < 2; time++) {
    const { socket } = await connectThrough(proxy, host)
    socket.end(hello)
    expect(await buffer(socket)).toEqual(hello)
  }
  expect(notices).toEqual([{ kind: 'tunnelled', host }])
  expect((await lines()).slice(1)).toMatchObject([{ event: 'tunnelled', host }, { event: 'end' }])
})

test('an unreachable server is a 502, and the proxy continues', async () => {
  const { origin, close } = await httpServer((_req, res) => res.end())
  close()
  const { proxy, lines } = await forward()
  expect(await askThrough(proxy, `${origin}/mcp`, post(PING))).toMatchObject({ status: 502 })
  expect((await lines()).at(-2)).toMatchObject({ event: 'unreachable' })
})

test('an event reaches the client while the stream is open, and the server notices when the client disconnects', async () => {
  let hasLeft = false
  const { origin } = await httpServer((req, res) => {
    res.on('close', () => void (hasLeft = true))
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    if (req.method === 'HEAD') return res.end()
    res.write(`event: endpoint\ndata: ${origin}/post?sessionId=1\n\n`)
  })
  const { proxy, lines } = await forward()
  const url = `${origin}/sse`
  const access = proxyAccess(proxy)
  const answer = await open(access.origin, {
    path: url,
    headers: { Host: new URL(url).host, ...access.headers },
  })
  const [chunk] = (await once(answer, 'data')) as [Buffer]
  expect(chunk.toString()).toBe(`event: endpoint\ndata: ${origin}/post?sessionId=1\n\n`)
  answer.destroy()
  await until(() => hasLeft)
  await askThrough(proxy, `${origin}/post?sessionId=1`, { ...post(PING), method: 'HEAD' })
  const tape = await lines()
  expect(tape.find(({ event }) => event === 'abort')).toMatchObject({ conn: 1, x: 1, by: 'client' })
  expect(tape.find(({ x }) => x === 2)).toMatchObject({ conn: 1 })
})

test('a client that fetches a token is recorded without it', async () => {
  const metadata = { issuer: 'i', authorization_endpoint: 'a', token_endpoint: 't' }
  const { origin } = await httpServer((req, res) => {
    res.setHeader('Content-Type', req.url === '/login' ? 'text/html' : 'application/json')
    if (req.url === '/token')
      res.end('{"access_token":"hush-1","token_type":"Bearer","refresh_token":"hush-2"}')
    else if (req.url === '/register') res.end('{"client_id":"c","client_secret":"hush-3"}')
    else res.end(req.url === '/login' ? 'hush-4' : JSON.stringify(metadata))
  })
  const { proxy, lines } = await forward()
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const body = 'grant_type=authorization_code&code=hush-5&code_verifier=hush-6&client_secret=hush-7'
  await askThrough(proxy, `${origin}/.well-known/oauth-authorization-server`)
  await askThrough(proxy, `${origin}/register`, post({ client_name: 'n' }))
  await askThrough(proxy, `${origin}/login`)
  const { body: token } = await askThrough(proxy, `${origin}/token`, { method: 'POST', headers: form, body })
  expect(token.toString()).toContain('hush-1')
  const tape = await lines()
  expect(JSON.stringify(tape)).not.toContain('hush')
  const raws = tape.map(({ raw }) => raw).filter((raw) => typeof raw === 'string')
  expect(raws.map((raw) => raw.replaceAll(/(?<=[=:]"?)[\w-]{7}(?=["&]|$)/g, '<stand-in>'))).toEqual([
    JSON.stringify(metadata),
    '{"client_name":"n"}',
    '{"client_id":"c","client_secret":"<stand-in>"}',
    'grant_type=authorization_code&code=<stand-in>&code_verifier=<stand-in>&client_secret=<stand-in>',
    '{"access_token":"<stand-in>","token_type":"Bearer","refresh_token":"<stand-in>"}',
  ])
})

test('the tape of a forward proxy can be served under the name of its server', async () => {
  const { origin } = await httpServer((_req, res) => res.end(PONG))
  const { proxy, tape, lines } = await forward()
  await askThrough(proxy, `${origin}/mcp`, post(PING))
  await lines()
  expect(resolveServer(await loadTape(tape), undefined)).toBe(new URL(origin).host.replace(':', '-'))
})
