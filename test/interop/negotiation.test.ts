import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadTape, type Tape } from '../../src/store/file/read.ts'
import { linesOf, temporaryFolder } from '../support/recorder.ts'
import { connectStdio, type SdkSession, type Target } from '../support/sdk-session.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import type { Results } from './account.ts'
import { memorySession } from './memory-session.ts'
import { referenceServer } from './reference-server.ts'
import { recorded, run, served, type Run } from './run.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const folder = sharedFolder()
const tape = join(folder, 'memory.tape.jsonl')
const MEMORY_FILE_PATH = join(folder, 'graph.jsonl')
const AUTO: Omit<Target, 'command'> = {
  sdk: 'v2',
  env: { MEMORY_FILE_PATH },
  answers: { root: 'file:///nowhere', elicited: {} },
  versionNegotiation: { mode: 'auto' },
}
let recording: Run

beforeAll(async () => {
  const command = recorded(tape, referenceServer('server-memory'))
  recording = await run({ ...AUTO, command }, legacySession)
  rmSync(MEMORY_FILE_PATH)
})

test('a client that negotiates falls back to the legacy era through the recorder, as it does without it', async () => {
  const direct = await run({ ...AUTO, command: referenceServer('server-memory') }, legacySession)
  rmSync(MEMORY_FILE_PATH)
  expect(recording.account).toEqual(direct.account)
  expect(recording).toMatchObject({ code: 0, signal: null, errors: [] })
})

test('its probe and its session are two connections of one tape, and only the probe asks what the server can do', async () => {
  const loaded = await loadTape(tape)
  expect(loaded).toMatchObject({ ended: true, problems: [], strays: [] })
  expect(readdirSync(folder).filter((name) => name.includes('tape'))).toEqual(['memory.tape.jsonl'])
  expect(requests(loaded).slice(0, 3)).toEqual(['1 server/discover', '2 initialize', '2 tools/list'])
  const lines = linesOf(tape)
  expect(lines.find(({ event }) => event === 'signal')).toMatchObject({ conn: 1, signal: 'SIGTERM' })
  expect(lines.filter(({ event }) => event === 'end')).toEqual([
    expect.objectContaining({ frames: lines.length - 1 }),
  ])
  expect(lines.slice(1).map(({ n }) => n)).toEqual(lines.slice(1).map((_, at) => at + 1))
  const times = lines.slice(1).map(({ t }) => Number(t))
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

// A client gives the process of its probe one second to exit, and npx, a shell or a server may take longer. So may a busy machine.
test.skipIf(process.platform === 'win32')(
  'the probe and the session share a tape also if the server does not exit when its input ends, nor its shell at SIGTERM',
  { retry: 3 },
  async () => {
    const stubborn = `setInterval(() => {}, 1e6)
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const result = { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo: { name: 's', version: '1' } }
  const error = { code: -32601, message: 'Method not found' }
  const answer = method === 'initialize' ? { result } : { error }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})`
    const own = temporaryFolder()
    const shell = ['sh', '-c', 'trap "" TERM; "$@"; true', 'sh', process.execPath, '-e', stubborn]
    const client = await connectStdio({ ...AUTO, command: recorded(join(own, 's.tape.jsonl'), shell) })
    await client.close()
    expect(readdirSync(own)).toEqual(['s.tape.jsonl'])
    const loaded = await loadTape(join(own, 's.tape.jsonl'))
    expect(requests(loaded)).toEqual(['1 server/discover', '2 initialize'])
    expect(loaded).toMatchObject({ ended: true, problems: [] })
  },
)

test('a legacy tape is played to a client that negotiates: it falls back again, and nothing drifts', async () => {
  const replay = await run({ ...AUTO, command: served(tape) }, legacySession)
  expect(replay.account).toEqual(recording.account)
  expect(replay).toMatchObject({ code: 0, signal: null, errors: [] })
  expect(replay.stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
})

test('a client that insists on the modern era is refused by a legacy tape, as by the server', async () => {
  const versionNegotiation = { mode: { pin: '2026-07-28' } }
  const refusals = [referenceServer('server-memory'), served(tape)].map(async (command) =>
    connectStdio({ ...AUTO, versionNegotiation, command }).catch((error: unknown) => String(error)),
  )
  const [live, replayed] = await Promise.all(refusals)
  expect(replayed).toEqual(live)
  expect(replayed).toMatch(/2026-07-28/)
})

async function legacySession(session: SdkSession): Promise<Results> {
  const { client } = session
  expect(client instanceof Client && client.getProtocolEra()).toBe('legacy')
  return memorySession(session)
}

function requests({ turns }: Tape): readonly string[] {
  return turns.flatMap(({ trigger }) =>
    trigger?.message.kind === 'request' ? [`${trigger.conn} ${trigger.message.method}`] : [],
  )
}
