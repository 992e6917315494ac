import { once } from 'node:events'
import { dirname } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { forward, proxyAccess, askThrough, connectThrough } from '../support/forward.ts'
import { httpServer, post, recordUrl } from '../support/http.ts'
import { rawClient, type RawAnswer, type RawClient } from '../support/raw-http.ts'
import { everythingIn } from '../support/everything-in.ts'
import { serving } from '../serve/serving.ts'
import { call, tapeOf } from '../support/tape-of.ts'

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

/** A listener of Reelay. */
interface Door {
  readonly connect: () => Promise<RawClient>
  /** The request target for a path. */
  readonly target: (path: string) => string
  readonly host: string
  /** Lines that every request needs. */
  readonly lines: readonly string[]
  /** What reached the server behind it. */
  readonly reached: () => readonly string[]
}

const DOORS: Readonly<Record<string, () => Promise<Door>>> = {
  'serve --http': async () => {
    const { url } = await serving({ tape: tapeOf(...call(1, 'add', { a: 1 }, 'one')) })
    return door(url, {})
  },
  'record --url': async () => {
    const server = await countingServer()
    const { url } = await recordUrl(`${server.origin}/mcp`)
    return door(url, server)
  },
  'record --forward': async () => {
    const server = await countingServer()
    const { proxy } = await forward()
    const { origin, headers } = proxyAccess(proxy)
    return {
      ...door(origin, server),
      target: (path) => `${server.origin}${path}`,
      lines: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    }
  },
  'a tunnel of record --forward': async () => {
    const server = await countingServer()
    const { proxy } = await forward()
    const { host } = new URL(server.origin)
    const connect = async (): Promise<RawClient> => rawClient((await connectThrough(proxy, host)).socket)
    return { ...door(proxy, server), connect }
  },
}

describe.each(Object.keys(DOORS))('%s', (name) => {
  let the: Door
  beforeEach(async () => void (the = await DOORS[name]!()))

  test('a request with an ordinary head is accepted', async () => {
    expect((await send(the, [...hostLine(the), `Content-Length: ${PING.length}`], PING)).status).not.toBe(431)
  })

  test('a head with very many headers is refused, so that none of them is overlooked', async () => {
    const many = Array.from({ length: 1200 }, (_, at) => `A${at}: b`)
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'
    const length = await send(the, [...hostLine(the), ...many, `Content-Length: ${hidden.length}`], hidden)
    const origin = await send(the, [...hostLine(the), ...many, 'Origin: http://evil.example'])
    expect([length.status, origin.status, ...the.reached()]).toEqual([431, 431])
  })

  test.each([
    ['a length that Connection would remove', ['Connection: content-length', 'Content-Length: 36']],
    [
      'the same in a second header',
      ['Connection: close', 'Connection: Content-Length', 'Content-Length: 36'],
    ],
  ])('%s stays the length', async (_, lines) => {
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.slice(0, 36)
    await send(the, [...hostLine(the), ...lines], hidden)
    for (let round = 0; round < 20; round++) await nextRound()
    expect(the.reached().filter((line) => line.includes('hidden'))).toEqual([])
  })

  test.each([
    ['two lengths', ['Content-Length: 0', 'Content-Length: 0']],
    ['a length and chunks', ['Content-Length: 0', 'Transfer-Encoding: chunked']],
    ['a list of lengths', ['Content-Length: 0, 0']],
    ['an empty length', ['Content-Length:']],
    ['two codings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['another coding', ['Transfer-Encoding: gzip, chunked']],
    ['a coding with a vertical tab', ['Transfer-Encoding: \x0bchunked']],
    ['a line that goes on in the next', ['A: b', ' Content-Length: 3']],
    ['a space before the colon', ['Content-Length : 3']],
    ['a second Host', ['Host: 127.0.0.1', 'Host: evil.example']],
    ['a second Origin', ['Origin: http://localhost', 'Origin: http://evil.example']],
  ])('%s is refused, and the connection is closed', async (_, lines) => {
    const client = await the.connect()
    const hosts = lines.some((line) => line.startsWith('Host')) ? [] : hostLine(the)
    await client.write(text(the, [...hosts, ...lines], '0\r\n\r\n'))
    expect((await client.answer()).status).toBeGreaterThanOrEqual(400)
    await client.closed
    expect(the.reached()).toEqual([])
  })

  test.each([
    'a@127.0.0.1',
    '127.0.0.1/x',
    '127.0.0.1\\x',
    '127.0.0.1?x',
    '127.0.0.1#x',
    '127.0.0.1:80:80',
    '127.0.0.1 evil.example',
    '127.0.0.1%2eevil.example',
    '[127.0.0.1]',
    '',
  ])('the Host %j is refused', async (host) => {
    expect((await send(the, [`Host: ${host}`, 'Content-Length: 0'])).status).toBeGreaterThanOrEqual(400)
    expect(the.reached()).toEqual([])
  })
})

test.each(['serve --http', 'record --url'])('%s: a target for another host is refused', async (name) => {
  const the = await DOORS[name]!()
  const client = await the.connect()
  await client.write(`GET http://evil.example/mcp HTTP/1.1\r\nHost: ${the.host}\r\n\r\n`)
  expect((await client.answer()).status).toBeGreaterThanOrEqual(400)
  expect(the.reached()).toEqual([])
})

test('the forward proxy serves only clients that have its credentials, which stay off the tape and the wire', async () => {
  const seen: string[] = []
  const { origin } = await httpServer((req, res) => {
    seen.push(...req.rawHeaders)
    res.end()
  })
  const { proxy, tape, notices, lines } = await forward()
  const { origin: address, headers } = proxyAccess(proxy)
  const [, valid = ''] = Object.entries(headers)[0] ?? []
  const wrong = [
    [],
    ['Basic'],
    ['Basic x'],
    [valid.slice(0, -1)],
    [valid, valid],
    [valid.replace('Basic', 'Bearer')],
  ]
  for (const values of wrong)
    for (const request of [`GET ${origin}/ HTTP/1.1`, `CONNECT ${new URL(origin).host} HTTP/1.1`]) {
      const client = rawClient(address)
      const given = values.map((value) => `Proxy-Authorization: ${value}\r\n`).join('')
      await client.write(`${request}\r\nHost: x\r\n${given}\r\n`)
      expect(await client.answer()).toMatchObject({
        status: 407,
        headers: expect.arrayContaining(['Proxy-Authenticate: Basic realm="reelay"']) as string[],
      })
    }
  expect(seen).toEqual([])
  expect(notices).toEqual([{ kind: 'unauthorized' }])
  const env = { id: 1, jsonrpc: '2.0', method: 'env', params: { HTTP_PROXY: proxy } }
  await askThrough(proxy, `${origin}/mcp?proxy=${encodeURIComponent(proxy)}`, post(env))
  const { socket } = await connectThrough(proxy, new URL(origin).host)
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${valid}\r\nConnection: close\r\n\r\n`)
  await once(socket.resume(), 'end')
  await lines()
  const written = everythingIn(dirname(tape)) + seen.join('\n')
  for (const secret of [valid, valid.slice('Basic '.length), new URL(proxy).password])
    expect(written).not.toContain(secret)
  expect(written).not.toMatch(/proxy-authorization/i)
})

function hostLine(the: Door): readonly string[] {
  return [`Host: ${the.host}`]
}

function text(the: Door, lines: readonly string[], body = ''): string {
  return `${[`POST ${the.target('/mcp')} HTTP/1.1`, ...the.lines, ...lines].join('\r\n')}\r\n\r\n${body}`
}

async function send(the: Door, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const client = await the.connect()
  await client.write(text(the, lines, body))
  return client.answer()
}

interface CountingServer {
  readonly origin: string
  readonly reached: () => readonly string[]
}

/** A server that notes the request lines that it gets. */
async function countingServer(): Promise<CountingServer> {
  const reached: string[] = []
  const { origin } = await httpServer((req, res) => {
    reached.push(`${req.method} ${req.url}`)
    req.resume()
    res.end('{}')
  })
  return { origin, reached: () => reached }
}

function door(url: string, { reached = () => [] }: Partial<CountingServer>): Door {
  return {
    connect: () => Promise.resolve(rawClient(url)),
    target: (path) => path,
    host: new URL(url).host,
    lines: [],
    reached,
  }
}
