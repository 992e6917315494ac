import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { referenceServer } from '../interop/reference-server.ts'
import { start, until } from '../support/recorder.ts'

/** server-everything over HTTP, on a free port; gone when the test is over. */
export async function everythingOverHttp(kind: 'streamableHttp' | 'sse'): Promise<URL> {
  const port = await freePort()
  const env = { ...process.env, PORT: String(port) }
  const server = start(referenceServer('server-everything', kind), { env })
  await until(() => /(listening|running) on port/.test(server.stderr()) || server.child.exitCode !== null)
  return new URL(`http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}
