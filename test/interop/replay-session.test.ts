import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { expect, test, vi } from 'vitest'
import { ReplaySession } from '../../src/serve/session/replay-session.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { temporaryFolder } from '../support/recorder.ts'
import { connectStdio } from '../support/sdk-session.ts'
import { referenceServer } from './reference-server.ts'
import { recorded } from './run.ts'

vi.setConfig({ testTimeout: 60_000 })

/** What code under test needs of a client. */
type AnyCaller = Pick<
  Client,
  | 'callTool'
  | 'complete'
  | 'getPrompt'
  | 'listPrompts'
  | 'listResources'
  | 'listResourceTemplates'
  | 'listTools'
  | 'ping'
  | 'readResource'
  | 'setLoggingLevel'
  | 'subscribeResource'
  | 'unsubscribeResource'
>

test('code that was written for a client of the SDK gets the same from a recorded session of a real server', async () => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const command = recorded(tape, referenceServer('server-everything', 'stdio'))
  const answers = { root: 'file:///nowhere', elicited: {} }
  const { client, close } = await connectStdio({ sdk: 'v1', answers, command })
  const live = await tour(client as Client)
  await close()
  const session = new ReplaySession(await loadTape(tape))
  await session.connect()
  expect(await tour(session)).toEqual(live)
  expect(session.unconsumedKeys()).toEqual([])
  await session.close()
})

test('the same session is asked without a promise in sight', async () => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const command = recorded(tape, referenceServer('server-memory'))
  const answers = { root: 'file:///nowhere', elicited: {} }
  const env = { MEMORY_FILE_PATH: join(temporaryFolder(), 'memory.json') }
  const { client, close } = await connectStdio({ sdk: 'v1', answers, command, env })
  const [tools, graph] = [
    await client.listTools(),
    await (client as Client).callTool({ name: 'read_graph', arguments: {} }),
  ]
  await close()
  const { sync } = new ReplaySession(await loadTape(tape))
  expect(sync.initialize()).toMatchObject({ serverInfo: { name: 'memory-server' } })
  expect([sync.listTools(), sync.callTool({ name: 'read_graph', arguments: {} })]).toEqual([tools, graph])
})

async function tour(client: AnyCaller): Promise<unknown> {
  const { resources } = await client.listResources()
  const uri = resources[0]?.uri ?? ''
  return [
    resources,
    await client.listTools(),
    await client.listPrompts(),
    await client.listResourceTemplates(),
    await client.setLoggingLevel('error'),
    await Promise.all([
      client.callTool({ name: 'echo', arguments: { message: 'žluťoučký 🐎' } }),
      client.callTool({ name: 'get-sum', arguments: { a: 2, b: 40.5 } }),
    ]),
    await client.callTool({ name: 'get-sum', arguments: { a: 'one' } }),
    await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Ostrava' } }),
    await client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'S' },
    }),
    await client.readResource({ uri }),
    await client.subscribeResource({ uri }),
    await client.unsubscribeResource({ uri }),
    await client.ping(),
    await client.readResource({ uri: 'demo://no-such-resource' }).catch(codeOf),
  ]
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined
}
