import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { REELAY, start } from '../support/recorder.ts'
import { ask, httpServer, post, recordUrl, startRecorder } from '../support/http.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

test('a web page that points its domain name at this machine is rejected, and its request is not forwarded', async () => {
  let requests = 0
  const { origin } = await httpServer((_req, res) => {
    requests++
    res.end()
  })
  const { url, lines } = await recordUrl(`${origin}/mcp`)
  const refusals = [
    { Host: 'evil.example.com' },
    { Host: 'evil.example.com:80', Origin: 'http://evil.example.com' },
    { Origin: 'http://evil.example.com' },
    { Origin: 'null' },
    { Host: '127.0.0.1.evil.example.com' },
    { Host: '192.0.2.7' },
  ]
  for (const headers of refusals) expect(await ask(url, post(PING, headers))).toMatchObject({ status: 403 })
  expect(requests).toBe(0)
  const { body } = await ask(url, post(PING, { Host: 'evil.example.com' }))
  expect(JSON.parse(body.toString())).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -39403, message: 'reelay: Invalid Host: evil.example.com', data: { by: 'reelay' } },
  })
  expect((await lines()).at(1)).toMatchObject({ event: 'refused', why: 'Invalid Host: evil.example.com' })
})

test('names of this machine are accepted, from local pages too', async () => {
  const { origin } = await httpServer((_req, res) => res.end())
  const { url } = await recordUrl(`${origin}/mcp`)
  const welcome = [
    { Host: 'localhost' },
    { Host: 'LOCALHOST:1', Origin: 'http://localhost:6274' },
    { Host: '[::1]:80', Origin: 'https://127.0.0.1' },
  ]
  for (const headers of welcome) expect(await ask(url, post(PING, headers))).toMatchObject({ status: 200 })
})

test('a server on this machine sees the Host that the client sent', async () => {
  const hosts: unknown[] = []
  const { origin } = await httpServer((req, res) => {
    hosts.push(req.headers.host)
    res.end()
  })
  const { url } = await recordUrl(`${origin}/mcp`)
  await ask(url, post(PING, { Host: 'localhost:1234' }))
  expect(hosts).toEqual(['localhost:1234'])
})

const outside = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

test.skipIf(outside === undefined)('a server elsewhere sees its own Host', async () => {
  const hosts: unknown[] = []
  const server = createServer((req, res) => {
    hosts.push(req.headers.host)
    res.end()
  })
  await once(server.listen(0, outside), 'listening')
  const host = `${outside}:${(server.address() as AddressInfo).port}`
  const { url } = await recordUrl(`http://${host}/mcp`)
  await ask(url, post(PING))
  server.close()
  server.closeAllConnections()
  expect(hosts).toEqual([host])
})

test('listening to other machines prints a warning', async () => {
  const { origin } = await httpServer((_req, res) => res.end())
  const run = await startRecorder(`${origin}/mcp`, '--listen', '0.0.0.0:0')
  expect(run.stderr().split('\n')[0]).toBe(
    `reelay: WARNING: other machines can reach this recorder, and through it ${origin}/mcp`,
  )
})

test('an invalid URL or address is rejected with a code and a hint', async () => {
  const { origin } = await httpServer((_req, res) => res.end())
  const taken = new URL(origin).host
  expect(await complaint('--url', 'not a url')).toMatch(/^2 reelay: URL_INVALID .*\n {2}hint: /)
  expect(await complaint('--url', 'ftp://host/mcp')).toMatch(/^2 reelay: URL_INVALID .*ftp:/)
  expect(await complaint('--url', 'http://me:pw@host/mcp')).toMatch(
    /^2 reelay: URL_INVALID .*\n.*Authorization/,
  )
  expect(await complaint('--listen', taken, '--url', origin)).toMatch(
    /^3 reelay: LISTEN_FAILED .*EADDRINUSE.*\n {2}hint: choose another port/,
  )
  expect(await complaint('--listen', 'x:y', '--url', origin)).toMatch(/^2 reelay: USAGE .*host:port/)
  expect(await complaint('--listen', '1', '--', 'node')).toMatch(
    /^2 reelay: USAGE --listen has no effect without --url/,
  )
  expect(await complaint('--url', origin, '--', 'node')).toMatch(
    /^2 reelay: USAGE a URL and a server command/,
  )
})

async function complaint(...args: string[]): Promise<string> {
  const run = start([process.execPath, REELAY, 'record', ...args])
  const { code } = await run.exited
  return `${code} ${run.stderr()}`
}
