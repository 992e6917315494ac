// The servers that the suite is run against, each on a free port.
import { createServer } from 'node:net'
import { join } from 'node:path'
import { root } from '../run.mjs'
import { end, firstMatch, start } from './processes.mjs'

/** Our own, of both eras, with everything the suite looks for; at its end it tells how many requests reached it. */
export async function startFixture() {
  const file = join(root, 'test', 'fixtures', 'servers', 'conformance.mjs')
  const child = start(file, [], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [, url] = await firstMatch(child, child.stdout, /listening on (\S+)\n/)
  let requests = 0
  child.stdout.on('data', (text) => (requests += text.split('\n').length - 1))
  const stop = async () => {
    await end(child)
    return requests
  }
  return { url, stop }
}

/** One that we did not write. */
export async function startEverything() {
  const file = join(root, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js')
  const port = await freePort()
  const child = start(file, ['streamableHttp'], {
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

/** It takes no port 0 and does not tell its port, so we look for one that is free now. */
async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
