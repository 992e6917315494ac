import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { SubscriptionFilter } from '@modelcontextprotocol/client'
import { beforeAll, expect, test, vi } from 'vitest'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import { loadTape } from '../../src/store/file/read.ts'
import type { JsonObject } from '../../src/json/parse.ts'
import { fixtureServer, isAlive, linesOf } from '../support/recorder.ts'
import { clientOf } from '../support/sdk.ts'
import { connect, type Target } from '../support/sdk-session.ts'
import { startServing } from '../support/serving.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { modernSession, v2 } from './modern-session.ts'
import { httpRun, judge, recorded, run, served, type Run } from './run.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PROMPTS = { promptsListChanged: true }
const TOOLS = { toolsListChanged: true }
// Only the probe asks what the server is, so that its instructions are not on the tape of the session.
const PINNED: Omit<Target, 'command'> = {
  sdk: 'v2',
  answers: { root: 'file:///nowhere', elicited: { sure: true } },
  versionNegotiation: { mode: { pin: '2026-07-28' } },
}

const folder = sharedFolder()
const tape = join(folder, 'session.tape.jsonl')
let recording: Run

beforeAll(async () => {
  const command = recorded(tape, fixtureServer('modern'))
  recording = await run({ ...PINNED, command }, (session) => modernSession(session, [PROMPTS, TOOLS]))
})

test('a modern session goes through the recorder: input in the middle of a call, progress, subscriptions', async () => {
  const direct = await run({ ...PINNED, command: fixtureServer('modern') }, (session) =>
    modernSession(session, [PROMPTS, TOOLS]),
  )
  expect(recording.account).toEqual(direct.account)
  expect(recording).toMatchObject({ code: 0, signal: null, errors: [] })
  expect(recording.account.told).toEqual([
    acknowledged('listen:0', PROMPTS),
    acknowledged('listen:1', TOOLS),
    changed('listen:1'),
  ])
})

test('the client starts the recorder twice, and its probe and its session leave one whole tape and no process', async () => {
  expect(readdirSync(folder)).toEqual(['session.tape.jsonl'])
  expect(await loadTape(tape)).toMatchObject({ ended: true, problems: [], strays: [] })
  const pids = linesOf(tape).flatMap(({ pid }) => (typeof pid === 'number' ? [pid] : []))
  expect(pids).toHaveLength(2)
  expect(pids.filter(isAlive)).toEqual([])
})

test.each([{ pin: '2026-07-28' }, 'auto'] as const)(
  'the tape is played to a client that asks for %o: the same session, under live ids and subscriptions',
  async (mode) => {
    const target = { ...PINNED, versionNegotiation: { mode }, command: served(tape) }
    const replay = await run(target, async (session) => {
      for (let id = 0; id < 10; id++) await v2(session).discover() // which the tape need not hold
      return modernSession(session, [TOOLS, PROMPTS])
    })
    const told = [acknowledged('listen:0', TOOLS), acknowledged('listen:1', PROMPTS), changed('listen:0')]
    expect(replay.account).toEqual({ ...recording.account, told })
    expect(replay.progressTokens).not.toEqual(recording.progressTokens)
    expect(replay.progressKnown).toBe(3)
    expect(replay).toMatchObject({ code: 0, signal: null, errors: [] })
    expect(replay.stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
  },
)

test('the tape is played over HTTP: the same session, with subscriptions on streams of their own', async () => {
  const serving = await startServing(tape, '--http')
  const url = serving.urls()[0] ?? ''
  const replay = await httpRun({ ...PINNED, kind: 'streamableHttp', url }, (session) =>
    modernSession(session, [PROMPTS, TOOLS]),
  )
  expect(replay.account).toEqual(recording.account)
  expect(replay.progressKnown).toBe(3)
  expect(replay.errors).toEqual([])
  expect((await serving.stop()).stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
})

test('the tape is played in the same process to a client that asks for the modern era', async () => {
  const session = await connect(clientOf('v2', PINNED), replayTransport(await loadTape(tape)))
  const results = await modernSession(session, [PROMPTS, TOOLS])
  const replay = judge(session, results)
  await session.client.close() // which fails when the run has drifted
  expect(replay.account).toEqual(recording.account)
  expect(results.progress).toEqual(recording.account.progress)
})

function acknowledged(id: string, notifications: SubscriptionFilter): JsonObject {
  return {
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
  }
}

function changed(id: string): JsonObject {
  return {
    method: 'notifications/tools/list_changed',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
  }
}
