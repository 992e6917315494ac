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
export async function listening(command: readonly string[]): Promise<string> {
  const port = await freePort()
  const run = start(command, { env: { ...process.env, PORT: String(port) } })
  await until(() => / on port \d+/.test(run.stderr()) || run.child.exitCode !== null)
  return `http://127.0.0.1:${/ on port (\d+)/.exec(run.stderr())?.[1]}`
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
