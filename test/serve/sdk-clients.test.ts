import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test } from 'vitest'
import { MAIN } from './serve-process.ts'
import { tapeFile } from './tape-file.ts'
import { answerOf, call, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  server({ method: 'notifications/tools/list_changed' }),
  client({ id: 1, method: 'tools/list' }),
  server({ id: 1, result: { tools: [{ name: 'count', inputSchema: { type: 'object' } }] } }),
  ...call(2, 'count', { to: 1 }, 'counted to 1'),
  client({
    id: 3,
    method: 'tools/call',
    params: { name: 'count', arguments: { to: 3 }, _meta: { progressToken: 3 } },
  }),
  ...[1, 2, 3].map((progress) =>
    server({ method: 'notifications/progress', params: { progressToken: 3, progress } }),
  ),
  server(answerOf(3, 'counted to 3')),
]

test.each(['1', '2'])('a client of SDK version %s works with reelay serve as its server', async (version) => {
  const start = {
    command: process.execPath,
    args: [MAIN, 'serve', tapeFile(...SESSION)],
    stderr: 'pipe' as const,
  }
  const seen: number[] = []
  const onprogress = ({ progress }: { progress: number }): number => seen.push(progress)
  const sdk = version === '1' ? await connectV1(start) : await connectV2(start)
  expect((await sdk.listTools()).tools).toHaveLength(1)
  const count = { name: 'count', arguments: { to: 3 } }
  const [slow, quick] = await Promise.all([
    sdk instanceof ClientV1
      ? sdk.callTool(count, undefined, { onprogress })
      : sdk.callTool(count, { onprogress }),
    sdk.callTool({ name: 'count', arguments: { to: 1 } }),
  ])
  expect([slow.content, quick.content]).toMatchObject([
    [{ text: 'counted to 3' }],
    [{ text: 'counted to 1' }],
  ])
  expect(seen).toEqual([1, 2, 3])
  await sdk.close()
})

interface Start {
  readonly command: string
  readonly args: string[]
  readonly stderr: 'pipe'
}

async function connectV1(start: Start): Promise<ClientV1> {
  const sdk = new ClientV1({ name: 'tester', version: '1' })
  await sdk.connect(new StdioV1(start))
  return sdk
}

async function connectV2(start: Start): Promise<ClientV2> {
  const sdk = new ClientV2({ name: 'tester', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await sdk.connect(new StdioV2(start))
  return sdk
}
