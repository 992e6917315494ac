import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { everythingOverHttp } from '../in-process/everything-http.ts'
import { listening } from '../support/http-servers.ts'
import { fixtureServer, temporaryFolder } from '../support/recorder.ts'
import { AUTO, ended, type Ended } from './program.ts'

vi.setConfig({ testTimeout: 60_000 })

const SEALED = ['--require', resolve('test/fixtures/preload/no-outside.cjs')]

interface HttpRun {
  readonly program: string
  readonly kind: 'sse' | 'streamableHttp'
  readonly url: URL
  readonly flags?: readonly string[]
}

function run({ program, kind, url, flags = [] }: HttpRun, env: Record<string, string>): Promise<Ended> {
  const node = [process.execPath, ...('REELAY_REPLAY' in env ? SEALED : []), '--import', AUTO]
  return ended([...node, resolve('test/fixtures/programs', program), kind, url.href, ...flags], env)
}

test.each([
  ['http-v1.mjs', 'streamableHttp'],
  ['http-v2.cjs', 'streamableHttp'],
  ['http-v2-auto.mjs', 'streamableHttp'],
  ['http-v1.mjs', 'sse'],
  ['http-v2.cjs', 'sse'],
  ['ai-sdk-like.mjs', 'streamableHttp'],
  ['ai-sdk-like.mjs', 'sse'],
] as const)(
  'the program %s over %s is recorded and replayed, its replay without a socket',
  async (program, kind) => {
    const home = temporaryFolder()
    const url = await everythingOverHttp(kind)
    const live = await run({ program, kind, url }, { REELAY_HOME: home, REELAY_RECORD: 'demo' })
    expect(live).toMatchObject({ code: 0 })
    expect(live.stdout).toContain('Echo: two')
    const tape = await loadTape(join(home, 'tapes', 'demo.tape.jsonl'))
    expect(tape).toMatchObject({ ended: true, problems: [] })
    expect(tape.turns.filter(({ trigger }) => trigger === undefined)).toEqual([])
    const played = await run({ program, kind, url }, { REELAY_HOME: home, REELAY_REPLAY: 'demo' })
    expect(played.stderr).toMatch(/^reelay: \d+ requests answered from demo\n$/)
    expect(withoutProgress(played.stdout)).toEqual(withoutProgress(live.stdout))
  },
)

/** Both SDKs lose progress that they read together with the answer, live as well as played. */
function withoutProgress(stdout: string): unknown {
  return (JSON.parse(stdout) as unknown[]).filter(
    (said) => !Array.isArray(said) || (said.length > 0 && typeof said[0] !== 'number'),
  )
}

test('a modern program over HTTP is recorded and replayed: calls at once, progress, input in the middle', async () => {
  const home = temporaryFolder()
  const url = new URL('/mcp', await listening(fixtureServer('modern-http')))
  const order: HttpRun = { program: 'http-modern.mjs', kind: 'streamableHttp', url }
  const live = await run(order, { REELAY_HOME: home, REELAY_RECORD: 'demo' })
  expect(live.stdout).toContain('deployed to prod: true')
  const { turns, strays } = await loadTape(join(home, 'tapes', 'demo.tape.jsonl'))
  expect(strays).toEqual([])
  const requests = turns.flatMap(({ trigger }) => (trigger?.message.kind === 'request' ? [trigger] : []))
  expect(new Set(requests.map(({ conn }) => conn)).size).toBe(requests.length)
  const played = await run(order, { REELAY_HOME: home, REELAY_REPLAY: 'demo' })
  expect(played).toMatchObject({ code: 0, stdout: live.stdout })
  expect(played.stderr).toMatch(/^reelay: \d+ requests answered from \S+\n$/)
})

test('other fetches of the program are left alone, also those to the same server', async () => {
  const home = temporaryFolder()
  const url = await everythingOverHttp('streamableHttp')
  const order: HttpRun = { program: 'http-v2.cjs', kind: 'streamableHttp', url, flags: ['--fetches'] }
  const { stdout } = await run(order, { REELAY_HOME: home, REELAY_RECORD: 'demo' })
  expect(stdout).toMatch(/,404,404\]\n$/)
  const text = readFileSync(join(home, 'tapes', 'demo.tape.jsonl'), 'utf8')
  expect(text).toContain('"path":"/mcp"')
  expect(text).not.toMatch(/"path":"\/(page|form)"/)
})

test('what was not recorded is a miss, and a server that is not on the tape is never reached', async () => {
  const home = temporaryFolder()
  const url = await everythingOverHttp('streamableHttp')
  const order: HttpRun = { program: 'http-v1.mjs', kind: 'streamableHttp', url }
  await run(order, { REELAY_HOME: home, REELAY_RECORD: 'demo' })
  const replay = { REELAY_HOME: home, REELAY_REPLAY: 'demo' }
  const missed = await run({ ...order, flags: ['--unheard'] }, replay)
  expect(missed).toMatchObject({ code: 0 })
  expect(missed.stdout).toContain('-39404')
  expect(missed.stderr).toContain('REPLAY MISS')
  const elsewhere = await run({ ...order, url: new URL('http://elsewhere.test/mcp') }, replay)
  expect(elsewhere.code).toBe(1)
  expect(elsewhere.stderr).toContain('the tape demo has no server for http://elsewhere.test/mcp')
})
