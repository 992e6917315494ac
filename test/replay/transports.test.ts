import { join } from 'node:path'
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test, vi } from 'vitest'
import { hasFailed } from '../../src/replay/steps/step.ts'
import type { ReplayTarget } from '../../src/replay/options.ts'
import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import { commandTarget, urlTarget } from '../../src/replay/targets.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { everythingSession } from '../interop/everything-session.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { httpRun, recorded, run } from '../interop/run.ts'
import { startRecorder } from '../support/http.ts'
import { listening } from '../support/http-servers.ts'
import { fixtureServer, temporaryFolder } from '../support/recorder.ts'
import { callTool } from '../support/sdk.ts'
import { foundIn } from '../support/against-tape.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const ANSWERS = { root: 'file:///home/tester', elicited: { name: 'Zoë' } }
const ENV = getDefaultEnvironment()
const PATHS = { streamableHttp: '/mcp', sse: '/sse' }

/** The server tells of its environment and of its HTTP session, which pipes have none of. */
const TELLING_OF_TRANSPORT = ['tools/call:get-env', 'tools/call:toggle-*']

/** It logs the id of its HTTP session. */
const LOG_TEXTS = ['notifications[*].params.data']

/** A server of the reference implementation, new for each run. */
const TARGETS = {
  stdio: async () => commandTarget(command(referenceServer('server-everything', 'stdio')), { env: ENV }),
  streamableHttp: async () => urlTarget((await everything('streamableHttp')) + PATHS.streamableHttp),
  // It refuses the POST, and is then spoken to over its stream.
  sse: async () => urlTarget((await everything('sse')) + PATHS.sse),
}

/** Each records a session of the same client, and says where the tape is. */
const RECORDINGS = {
  stdio: async () => {
    const tape = join(temporaryFolder(), 'stdio.tape.jsonl')
    const onPipes = recorded(tape, referenceServer('server-everything', 'stdio'))
    await run({ sdk: 'v1', answers: ANSWERS, command: onPipes, env: ENV }, everythingSession)
    return tape
  },
  streamableHttp: () => recordedOver('streamableHttp'),
  sse: () => recordedOver('sse'),
}

test.each([
  ['stdio', 'streamableHttp', 'sse'],
  ['streamableHttp', 'stdio', 'streamableHttp'],
  ['sse', 'stdio', 'streamableHttp'],
] as const)(
  'server-everything, recorded over %s, is as recorded over %s and over %s',
  async (from, ...others) => {
    const tape = await RECORDINGS[from]()
    for (const to of others) {
      const report = await verified(tape, await TARGETS[to]())
      // A change that is told before the client listens is lost over HTTP: a warning, and no failure.
      expect([to, ...foundIn({ steps: report.steps.filter(hasFailed) })]).toEqual([to])
      expect(report.summary).toMatchObject({ held: 0, unbound: 0, successRate: 1 })
    }
  },
)

test('a modern server, recorded over HTTP, is as recorded over HTTP, input in the middle of a call included', async () => {
  const url = `${await listening(fixtureServer('modern-http'))}/mcp`
  const recorder = await startRecorder(url)
  const settings = {
    answers: { root: 'file:///nowhere', elicited: { sure: true } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  } as const
  await httpRun({ sdk: 'v2', kind: 'streamableHttp', url: recorder.url, ...settings }, async ({ client }) => {
    const steady = [
      await client.listTools(),
      await callTool(client, 'add', { a: 1, b: 2 }),
      await callTool(client, 'count', { to: 3 }, { onprogress: () => {} }),
      await callTool(client, 'deploy', { env: 'prod' }),
    ]
    return { steady, fresh: undefined, progress: [] }
  })
  recorder.child.kill('SIGTERM')
  await recorder.exited
  const report = await verified(
    recorder.tape,
    urlTarget(`${await listening(fixtureServer('modern-http'))}/mcp`),
  )
  expect(foundIn(report)).toEqual([])
  expect(report.summary).toMatchObject({ verdict: 'pass', successRate: 1 })
})

test('a server of both eras, recorded over HTTP by a legacy client, is as recorded over HTTP', async () => {
  const recorder = await startRecorder(`${await listening(fixtureServer('modern-http'))}/mcp`)
  const target = { sdk: 'v1', kind: 'streamableHttp', url: recorder.url, answers: ANSWERS } as const
  await httpRun(target, async ({ client }) => {
    const steady = [
      await client.listTools(),
      await callTool(client, 'add', { a: 1, b: 2 }),
      await callTool(client, 'count', { to: 3 }, { onprogress: () => {} }),
    ]
    return { steady, fresh: undefined, progress: [] }
  })
  recorder.child.kill('SIGTERM')
  await recorder.exited
  const live = `${await listening(fixtureServer('modern-http'))}/mcp`
  const report = await verified(recorder.tape, urlTarget(live))
  expect(foundIn(report)).toEqual([])
  expect(report.summary).toMatchObject({ verdict: 'pass', successRate: 1 })
})

async function recordedOver(kind: 'streamableHttp' | 'sse'): Promise<string> {
  const recorder = await startRecorder((await everything(kind)) + PATHS[kind])
  await httpRun({ sdk: 'v1', kind, url: recorder.url, answers: ANSWERS }, everythingSession)
  recorder.child.kill('SIGTERM')
  await recorder.exited
  return recorder.tape
}

async function verified(tape: string, target: ReplayTarget): Promise<RepeatedReport> {
  return replayRepeatedly(
    await loadTape(tape),
    { target, allowWrites: true, exclude: TELLING_OF_TRANSPORT, ignore: LOG_TEXTS },
    { repeat: 2 },
  )
}

function everything(kind: 'streamableHttp' | 'sse'): Promise<string> {
  return listening(referenceServer('server-everything', kind))
}

function command(words: readonly string[]): [string, ...string[]] {
  return words as [string, ...string[]]
}
