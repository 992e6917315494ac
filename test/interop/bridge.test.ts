import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { listening } from '../support/http-servers.ts'
import { fixtureServer, REELAY, temporaryFolder } from '../support/recorder.ts'
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
  'server-everything over $kind answers a stdio client of SDK $sdk through the bridge as it does over HTTP, and is then played',
  async ({ sdk, kind }) => {
    const url = (await listening(referenceServer('server-everything', kind))) + PATHS[kind]
    const direct = await httpRun({ sdk, kind, url, answers: ANSWERS }, everythingSession)
    const tape = join(temporaryFolder(), 'session.tape.jsonl')
    const bridged = await run({ sdk, answers: ANSWERS, command: bridge(url, tape) }, everythingSession)
    expect(steadyPart(bridged)).toEqual(steadyPart(direct))
    expect(bridged).toMatchObject({ code: 0, signal: null, errors: [] })
    expect(await loadTape(tape)).toMatchObject({ ended: true, problems: [], strays: [] })
    const replay = await run({ sdk, answers: ANSWERS, command: served(tape) }, everythingSession)
    expect(steadyPart(replay)).toEqual(steadyPart(bridged))
    expect(replay.stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
  },
)

test.each([
  { name: 'asks for the modern era', mode: { pin: '2026-07-28' } as const },
  { name: 'finds out which era there is', mode: 'auto' as const },
])(
  'a modern server answers a stdio client that $name through the bridge as it does over HTTP',
  async ({ mode }) => {
    const settings = {
      answers: { root: 'file:///nowhere', elicited: { sure: true } },
      versionNegotiation: { mode },
    } as const
    const url = `${await listening(fixtureServer('modern-http'))}/mcp`
    const direct = await httpRun({ sdk: 'v2', kind: 'streamableHttp', url, ...settings }, modernSession)
    const tape = join(temporaryFolder(), 'session.tape.jsonl')
    const bridged = await run({ sdk: 'v2', ...settings, command: bridge(url, tape) }, modernSession)
    expect(bridged.account.steady).toEqual(direct.account.steady)
    expect(bridged.account.progress).toEqual(direct.account.progress)
    expect(bridged).toMatchObject({ code: 0, signal: null, errors: [] })
  },
)

function bridge(url: string, tape: string): readonly string[] {
  return [process.execPath, REELAY, 'record', '--numbered', '--bridge', '--url', url, '-o', tape]
}
