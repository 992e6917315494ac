// The servers that the suite is run against, each on a free port.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { end, firstMatch, freePort, start } from '../processes.mjs'
import { root } from '../run.mjs'

/** Our own, of both eras, with everything the suite looks for; at its end it tells how many requests reached it. */
export async function startFixture(env = {}) {
  const file = join(root, 'test', 'fixtures', 'servers', 'conformance.mjs')
  const child = start([process.execPath, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const [, url] = await firstMatch(child, child.stdout, /listening on (\S+)\n/)
  let requests = 0
  child.stdout.on('data', (text) => (requests += text.split('\n').length - 1))
  const stop = async () => {
    await end(child)
    return requests
  }
  return { url, stop }
}

/** The same over HTTPS, with a certificate that whoever starts after us trusts. */
export async function startSecureFixture() {
  const folder = mkdtempSync(join(process.env.REELAY_HOME, 'tls-'))
  const { makeAuthority, makeLeaf } = await import('../../dist/http/proxy/certificates.js')
  const authority = await makeAuthority('Conformance CA', new Date())
  const [tls, trusted] = ['tls.json', 'ca.pem'].map((name) => join(folder, name))
  writeFileSync(tls, JSON.stringify(await makeLeaf(authority, '127.0.0.1', new Date())), { mode: 0o600 })
  writeFileSync(trusted, authority.cert)
  process.env.NODE_EXTRA_CA_CERTS = trusted
  return startFixture({ CONFORMANCE_TLS: tls })
}

/** One that we did not write. */
export async function startEverything() {
  const file = join(root, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js')
  const port = await freePort()
  const child = start([process.execPath, file, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await firstMatch(child, child.stderr, /listening on port/i)
  child.stderr.resume()
  const stop = async () => {
    await end(child)
    return undefined // it does not count
  }
  return { url: `http://127.0.0.1:${port}/mcp`, stop }
}
