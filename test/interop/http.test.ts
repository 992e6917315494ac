import { dirname } from 'node:path'
import { expect, test, vi } from 'vitest'
import { listTapes } from '../../src/store/file/list.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { startRecorder } from '../support/http.ts'
import { listening } from '../support/http-servers.ts'
import { fixtureServer, REELAY, start } from '../support/recorder.ts'
import { startServing } from '../support/serving.ts'
import { SDKS } from '../support/sdk.ts'
import { everythingSession } from './everything-session.ts'
import { modernSession, steadyPart } from './modern-http-session.ts'
import { referenceServer } from './reference-server.ts'
import { httpRun, run, served } from './run.ts'

vi.setConfig({ testTimeout: 60_000 })

const ANSWERS = { root: 'file:///home/tester', elicited: { name: 'Zoë' } }
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

async function stop({ child, exited }: Awaited<ReturnType<typeof startRecorder>>): Promise<void> {
  child.kill('SIGTERM')
  expect(await exited).toEqual({ code: 0, signal: null })
}

async function output(...args: string[]): Promise<string> {
  const { exited, stdout } = start([process.execPath, REELAY, ...args])
  await exited
  return stdout().toString()
}
