import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { isIP, type AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  makeAuthority,
  makeLeaf,
  permittedHosts,
  type CertificateKeyPair,
} from '../../src/http/proxy/certificates.ts'
import { linesOf, REELAY, start, temporaryFolder } from '../support/recorder.ts'

const CLIENT = resolve('test/fixtures/clients/ask-through-proxy.mjs')
const PONG = '{ "jsonrpc":"2.0","id":1,"result":{} }'

test.each(['localhost', '127.0.0.1'])(
  'with a CA, what is said to https://%s is on the tape',
  async (host) => {
    const { url, upstreamCa } = await secureServer(host)
    const home = temporaryFolder()
    reelay(home, 'ca', 'create')
    const { code, stdout, stderr, tape } = await record(url, { home, upstreamCa })
    expect(stderr).not.toMatch(/not recording|may not trust/)
    expect(stdout).toMatch(/^Reelay local CA \d/)
    expect(stdout.split('\n')[1]).toBe(PONG)
    expect(code).toBe(7)
    const server = new URL(url).host.replace(':', '-')
    expect(tape.slice(1).filter(({ http }) => http === undefined)).toMatchObject([
      { server, event: 'server', url: new URL(url).origin },
      { server, x: 1, dir: 'c2s', msg: { id: 1, method: 'ping' } },
      { server, x: 1, dir: 's2c', msg: { id: 1, result: {} } },
      { event: 'end' },
    ])
  },
)

test('without a CA, TLS is tunnelled to the server, and the user is told how to record it', async () => {
  const { url, upstreamCa } = await secureServer('localhost')
  const { code, stdout, stderr, tape } = await record(url, { home: temporaryFolder(), upstreamCa })
  expect([code, stdout]).toEqual([7, `Upstream CA\n${PONG}`])
  const host = new URL(url).host
  expect(stderr).toContain(
    `reelay: not recording ${host}: HTTPS is forwarded unread without a local CA for this host; see reelay ca create`,
  )
  expect(tape.slice(1)).toMatchObject([{ event: 'tunnelled', host }, { event: 'end' }])
})

test('a server with an untrusted certificate gets no request, and the client gets a 502', async () => {
  const { url, requests } = await secureServer('localhost')
  const home = temporaryFolder()
  reelay(home, 'ca', 'create')
  const { stdout } = await record(url, { home, upstreamCa: undefined })
  expect(stdout).toContain('"code":-39502')
  expect(requests()).toBe(0)
})

test.skipIf(process.platform === 'win32')('a client that does not trust the CA is named', async () => {
  const { url, upstreamCa } = await secureServer('localhost')
  const home = temporaryFolder()
  reelay(home, 'ca', 'create')
  const distrustful = ['env', '-u', 'NODE_EXTRA_CA_CERTS']
  const { code, stderr } = await record(url, { home, upstreamCa }, distrustful)
  expect(code).toBe(8)
  expect(stderr).toContain(
    `nothing came from a client of ${new URL(url).host}: it may not trust the local CA`,
  )
})

test.each([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', 'localhost'],
])('a CA for %s records that host only, and TLS to %s is tunnelled', async (host, other) => {
  const home = temporaryFolder()
  reelay(home, 'ca', 'create', '--host', host)
  for (const [name, issuer] of [
    [host, /^Reelay local CA/],
    [other, /^Upstream CA/],
  ] as const) {
    const { url, upstreamCa } = await secureServer(name)
    const { stdout, tape } = await record(url, { home, upstreamCa })
    expect(stdout).toMatch(issuer)
    expect(tape.some(({ event }) => event === 'tunnelled')).toBe(name === other)
  }
})

test('a CA is valid for one year, and with a list of hosts clients accept it for no other host', async () => {
  const authority = await makeAuthority('Limited', new Date(), ['a.test', '127.0.0.1', '::1'])
  expect(await permittedHosts(authority)).toEqual(['a.test', '127.0.0.1', '::1'])
  const { validFrom, validTo } = new X509Certificate(authority.cert)
  expect(Date.parse(validTo) - Date.parse(validFrom)).toBeLessThanOrEqual(365 * 24 * 60 * 60 * 1000)
  const accepted: string[] = []
  for (const host of ['a.test', 'b.a.test', '127.0.0.1', '::1', 'evil.test', 'xa.test', '127.0.0.2', '::2'])
    if (await isAccepted(authority, host)) accepted.push(host)
  expect(accepted).toEqual(['a.test', 'b.a.test', '127.0.0.1', '::1'])
  const names = await makeAuthority('Names only', new Date(), ['a.test'])
  const addresses = await makeAuthority('Addresses only', new Date(), ['127.0.0.1'])
  expect(await isAccepted(names, '127.0.0.1')).toBe(false)
  expect([await isAccepted(addresses, 'a.test'), await isAccepted(addresses, '127.0.0.1')]).toEqual([
    false,
    true,
  ])
})

/** Whether a client that trusts the authority accepts its certificate for a host. */
async function isAccepted(authority: CertificateKeyPair, host: string): Promise<boolean> {
  const server = createServer(await makeLeaf(authority, host, new Date()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const servername = isIP(host) === 0 ? host : ''
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername,
    ca: authority.cert,
    checkServerIdentity: () => undefined,
  })
  const result = await once(socket, 'secureConnect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  server.close()
  return result
}

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly tape: Record<string, unknown>[]
}

async function record(
  url: string,
  { home, upstreamCa }: { home: string; upstreamCa: string | undefined },
  before: readonly string[] = [],
): Promise<Run> {
  const tape = join(temporaryFolder(), 'https.tape.jsonl')
  const command = [...before, process.execPath, CLIENT, url]
  const run = start([process.execPath, REELAY, 'record', '--forward', '-o', tape, '--', ...command], {
    env: { ...process.env, REELAY_HOME: home, NODE_EXTRA_CA_CERTS: upstreamCa },
  })
  const { code } = await run.exited
  return { code, stdout: run.stdout().toString(), stderr: run.stderr(), tape: linesOf(tape) }
}

function reelay(home: string, ...args: string[]): void {
  execFileSync(process.execPath, [REELAY, ...args], { env: { ...process.env, REELAY_HOME: home } })
}

/** A server of another authority than ours. */
async function secureServer(
  host: string,
): Promise<{ url: string; upstreamCa: string; requests: () => number }> {
  const authority = await makeAuthority('Upstream CA', new Date())
  const upstreamCa = join(temporaryFolder(), 'upstream.pem')
  writeFileSync(upstreamCa, authority.cert)
  let requests = 0
  const server = createServer(await makeLeaf(authority, host, new Date()), (_req, res) => {
    requests++
    res.setHeader('Content-Type', 'application/json')
    res.end(PONG)
  })
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  await once(server.listen(0, host), 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `https://${host}:${port}/mcp`, upstreamCa, requests: () => requests }
}
