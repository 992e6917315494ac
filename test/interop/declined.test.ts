import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { expect, test, vi } from 'vitest'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { fixtureServer, temporaryFolder } from '../support/recorder.ts'
import { callTool, clientOf } from '../support/sdk.ts'
import { connectStdio } from '../support/sdk-session.ts'
import { recorded } from './run.ts'

vi.setConfig({ testTimeout: 60_000 })

const SETTINGS = {
  answers: { root: 'file:///nowhere', elicited: { sure: true } },
  versionNegotiation: { mode: { pin: '2026-07-28' } },
} as const

test('a modern call that was confirmed on the tape is not played to a client that declines', async () => {
  const path = join(temporaryFolder(), 'session.tape.jsonl')
  const command = recorded(path, fixtureServer('modern'))
  const live = await connectStdio({ sdk: 'v2', command, ...SETTINGS })
  const deployed = await callTool(live.client, 'deploy', { env: 'production' })
  await live.close()
  const tape = await loadTape(path)
  const [accepting, declining] = [clientOf('v2', SETTINGS), clientOf('v2', SETTINGS)]
  if (declining instanceof Client)
    declining.setRequestHandler('elicitation/create', () => ({ action: 'decline' }))
  await accepting.connect(replayTransport(tape))
  expect(await callTool(accepting, 'deploy', { env: 'production' })).toEqual(deployed)
  await accepting.close()
  await declining.connect(replayTransport(tape, { drift: 'ignore' }))
  await expect(callTool(declining, 'deploy', { env: 'production' })).rejects.toMatchObject({
    code: -39404,
    data: { kind: 'replay_miss', reason: 'ARGUMENT_DRIFT' },
  })
})
