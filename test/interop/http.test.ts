import { dirname } from 'node:path'
import { expect, test, vi } from 'vitest'
import { listTapes } from '../../src/store/file/list.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { startRecorder } from '../support/http.ts'
import { listening } from '../support/http-servers.ts'
import { fixtureServer, REELAY, start } from '../support/recorder.ts'
import { startServing } from '../support/serving.ts'
import { callTool, SDKS } from '../support/sdk.ts'
import type { SdkSession } from '../support/sdk-session.ts'
import type { Results } from './account.ts'
import { everythingSession } from './everything-session.ts'
import { modernSession, steadyPart } from './modern-http-session.ts'
import { v2 } from './modern-session.ts'
import { referenceServer } from './reference-server.ts'
import { httpRun, run, served } from './run.ts'

vi.setConfig({ testTimeout: 60_000 })

const ANSWERS = { root: 'file:///home/tester', elicited: { name: 'Zoë' } }
const ASKED = {
  sdk: 'v2',
  kind: 'streamableHttp',
  answers: { root: 'file:///nowhere', elicited: {} },
  versionNegotiation: { mode: { pin: '2026-07-28' } },
} as const
const PATHS = { streamableHttp: '/mcp', sse: '/sse' }
const CASES = SDKS.flatMap((sdk) => (['streamableHttp', 'sse'] as const).map((kind) => ({ sdk, kind })))

test.each(CASES)(
  'server-everything over $kind answers SDK $sdk through the recorder as it does without it, and is then played over stdio, HTTP and SSE',
  async ({ sdk, kind }) => {
    const origin = await listening(referenceServer('server-everything', kind))
    const direct = await httpRun(
      { sdk, kind, url: origin + PATHS[kind], answers: ANSWERS },
      everythingSession,
    )
    const recorder = await startRecorder(origin + PATHS[kind])
    const recording = await httpRun({ sdk, kind, url: recorder.url, answers: ANSWERS }, everythingSession)
    await stop(recorder)
    expect(steadyPart(recording)).toEqual(steadyPart(direct))
    const tape = await loadTape(recorder.tape)
    expect(tape).toMatchObject({ ended: true, problems: [], strays: [] })
    expect(new Set(tape.turns.map(({ trigger }) => trigger?.conn))).toEqual(new Set([1]))
    const replay = await run({ sdk, answers: ANSWERS, command: served(recorder.tape) }, everythingSession)
    expect(steadyPart(replay)).toEqual(steadyPart(recording))
    expect(replay.stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
    const serving = await startServing(recorder.tape, '--http', '--sse')
    for (const [at, over] of (['streamableHttp', 'sse'] as const).entries()) {
      const replayed = await httpRun(
        { sdk, kind: over, url: serving.urls()[at] ?? '', answers: ANSWERS },
        everythingSession,
      )
      expect(steadyPart(replayed)).toEqual(steadyPart(recording))
    }
    expect(await serving.stop()).toEqual({
      code: 0,
      stderr: expect.stringMatching(/: \d+ requests answered, 0 misses, 0 left over\n$/),
    })
  },
)

test('a modern server over HTTP is recorded with its headers, inspected, listed, and played over stdio and HTTP', async () => {
  const settings = {
    answers: { root: 'file:///nowhere', elicited: { sure: true } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  } as const
  const url = `${await listening(fixtureServer('modern-http'))}/mcp`
  const direct = await httpRun({ sdk: 'v2', kind: 'streamableHttp', url, ...settings }, modernSession)
  const recorder = await startRecorder(url)
  const recording = await httpRun(
    { sdk: 'v2', kind: 'streamableHttp', url: recorder.url, ...settings },
    modernSession,
  )
  await stop(recorder)
  expect(recording).toEqual(direct)
  const tape = await loadTape(recorder.tape)
  expect(tape).toMatchObject({ ended: true, problems: [], strays: [] })
  const conns = tape.turns.map(({ trigger }) => trigger?.conn)
  expect(new Set(conns).size).toBe(conns.length)
  expect(JSON.stringify(tape.rest)).toContain('["mcp-method","tools/call"]')
  const replay = await run({ sdk: 'v2', ...settings, command: served(recorder.tape) }, modernSession)
  expect(replay.account.steady).toEqual(recording.account.steady)
  expect(replay.account.progress).toEqual(recording.account.progress)
  const serving = await startServing(recorder.tape, '--http')
  const target = { sdk: 'v2', kind: 'streamableHttp', url: serving.urls()[0] ?? '', ...settings } as const
  const replayed = await httpRun(target, modernSession)
  expect(replayed.account).toEqual(recording.account)
  expect(replayed.errors).toEqual([])
  expect((await serving.stop()).code).toBe(0)
  const inspected = await output('inspect', recorder.tape)
  expect(inspected).toContain(`(http) ${url}`)
  expect(inspected).toContain('2026-07-28 (modern)')
  expect(inspected).not.toContain('does not know')
  expect(await listTapes(dirname(recorder.tape))).toMatchObject([{ kind: 'tape', ended: true }])
})

test('answers to the questions of a stateless server survive replay: served without the server, and verified against it', async () => {
  const url = await modernServer()
  const recorder = await startRecorder(url)
  const recording = await httpRun({ ...ASKED, url: recorder.url }, travels)
  await stop(recorder)
  expect(recording.account.steady).toEqual([
    expect.objectContaining({ content: [{ type: 'text', text: 'Oslo to Bergen: the sea of Bergen' }] }),
    expect.objectContaining({ content: [{ type: 'text', text: 'stay in Oslo' }] }),
    expect.objectContaining({ content: [{ type: 'text', text: 'Oslo to Rome: the sea of Rome' }] }),
    ['Lima', 'Kyiv'].map((from) =>
      expect.objectContaining({ content: [{ type: 'text', text: `${from} to Cork: the sea of Cork` }] }),
    ),
  ])
  const serving = await startServing(recorder.tape, '--http')
  const replayed = await httpRun({ ...ASKED, url: serving.urls()[0] ?? '' }, travels)
  expect(replayed.account).toEqual(recording.account)
  expect(await serving.stop()).toEqual({
    code: 0,
    stderr: expect.stringMatching(/: \d+ requests answered, 0 misses, 0 left over\n$/),
  })
  const verify = async (env: NodeJS.ProcessEnv): Promise<unknown> => {
    const live = await modernServer(env)
    return output('verify', recorder.tape, '--allow', 'travel', '--url', live)
  }
  expect(await verify({})).toContain('verdict: as recorded')
  expect(await verify({ FORGETFUL: '1' })).toContain('verdict: not as recorded')
})

/** Calls one tool again and again, and answers its questions otherwise each time. */
async function travels(session: SdkSession): Promise<Results> {
  const choices = ['Bergen', undefined, 'Rome', 'Cork', 'Cork']
  const client = v2(session)
  client.setRequestHandler('elicitation/create', () => {
    const to = choices.shift()
    return to === undefined ? { action: 'decline' } : { action: 'accept', content: { to } }
  })
  client.setRequestHandler('sampling/createMessage', ({ params }) => {
    const [, place = ''] = /see in (\w+)/.exec(JSON.stringify(params.messages)) ?? []
    return { model: 'm', role: 'assistant', content: { type: 'text', text: `the sea of ${place}` } }
  })
  const steady: unknown[] = []
  for (let call = 0; call < 3; call++) steady.push(await callTool(client, 'travel', { from: 'Oslo' }))
  steady.push(await Promise.all(['Lima', 'Kyiv'].map((from) => callTool(client, 'travel', { from }))))
  return { steady, fresh: undefined, progress: [] }
}

async function modernServer(env: NodeJS.ProcessEnv = {}): Promise<string> {
  return `${await listening(fixtureServer('modern-http'), env)}/mcp`
}

async function stop({ child, exited }: Awaited<ReturnType<typeof startRecorder>>): Promise<void> {
  child.kill('SIGTERM')
  expect(await exited).toEqual({ code: 0, signal: null })
}

async function output(...args: string[]): Promise<string> {
  const { exited, stdout } = start([process.execPath, REELAY, ...args])
  await exited
  return stdout().toString()
}
