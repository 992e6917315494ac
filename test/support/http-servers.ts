import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import {
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { start, until } from './recorder.ts'
import type { AnyClient, Sdk } from './sdk.ts'

export type HttpKind = 'streamableHttp' | 'sse'

/** Starts a server that says on stderr when it listens, and returns its origin. */
export async function listening(command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const run = start(command, { env: { ...process.env, ...env, PORT: String(port) } })
    const listens = (): string | undefined => / on port (\d+)/.exec(run.stderr())?.[1]
    await until(() => listens() !== undefined || run.child.exitCode !== null)
    // Another test file may have taken the port in the meantime; then the server ends at once.
    if (run.child.exitCode === null || attempt === 5) return `http://127.0.0.1:${listens()}`
  }
}

/** What connects a client of either SDK to a URL. */
export function httpOf(sdk: Sdk, kind: HttpKind, url: string): Parameters<AnyClient['connect']>[0] {
  const target = new URL(url)
  if (kind === 'sse') return sdk === 'v1' ? new SseV1(target) : new SseV2(target)
  return sdk === 'v1' ? new HttpV1(target) : new HttpV2(target)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}
