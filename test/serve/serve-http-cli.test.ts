import { expect, test } from 'vitest'
import { httpOf } from '../support/http-servers.ts'
import { REELAY, start, until } from '../support/recorder.ts'
import { callTool, clientOf } from '../support/sdk.ts'
import { startServing } from '../support/serving.ts'
import { begin, jsonOf } from './serving.ts'
import { tapeFile } from './tape-file.ts'
import { answerOf, call, callOf, HANDSHAKE } from '../support/tape-of.ts'

const SESSION = [...HANDSHAKE, ...call(1, 'count', {}, 'one'), ...call(2, 'count', {}, 'two')]
const ANSWERS = { root: 'file:///nowhere', elicited: {} }

test('reelay serve --http says where it listens, serves clients at once, and a signal ends it with the account of all', async () => {
  const path = tapeFile(...SESSION)
  const serving = await startServing(path, '--http')
  const [url = ''] = serving.urls()
  const [one, two] = [await begin(url), await begin(url)]
  await one.say(callOf(1, 'count', {}))
  await two.say(callOf(1, 'count', {}))
  expect(jsonOf(await two.say(callOf(2, 'count', {})))).toMatchObject(answerOf(2, 'two'))
  const { code, stderr } = await serving.stop('SIGTERM')
  expect(stderr.replace(path, 'TAPE').replaceAll(url, 'URL')).toMatchInlineSnapshot(`
    "reelay serve: TAPE, 3 exchanges, legacy 2025-11-25
    listening on URL
    reelay serve: config for a client: {"mcpServers":{"demo":{"type":"http","url":"URL"}}}
    reelay serve: 5 requests answered, 0 misses, 0 left over
    "
  `)
  expect(code).toBe(0)
  expect(serving.stdout().length).toBe(0)
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 1],
] as const)(
  '%s ends a run that left something over with exit code %i, though streams are open',
  async (signal, expected) => {
    const serving = await startServing(tapeFile(...SESSION), '--http', '--sse')
    const client = clientOf('v2', { answers: ANSWERS })
    await client.connect(httpOf('v2', 'sse', serving.urls()[1] ?? ''))
    await callTool(client, 'count')
    const { code, stderr } = await serving.stop(signal)
    expect(stderr).toMatch(
      /: 2 requests answered, 0 misses, 1 left over\nnot requested: #3 tools\/call count \{\}\n$/,
    )
    expect(code).toBe(expected)
    await client.close()
  },
)

test.each([['--http'], ['--sse']])(
  'serving with %s starts no process and reaches nobody, not even for a miss',
  async (option) => {
    const serving = await startServing(tapeFile(...SESSION), option)
    const client = clientOf('v1', { answers: ANSWERS })
    await client.connect(
      httpOf('v1', option === '--http' ? 'streamableHttp' : 'sse', serving.urls()[0] ?? ''),
    )
    expect(await callTool(client, 'count')).toMatchObject(answerOf(1, 'one')['result'] as object)
    await expect(callTool(client, 'unknown')).rejects.toThrow('REPLAY MISS UNKNOWN_TOOL')
    await client.close()
    const { code, stderr } = await serving.stop()
    expect(stderr).not.toContain('forbidden')
    expect(code).toBe(1) // 99 had it tried
  },
)

test('to be reached by other machines must be asked for, and is said', async () => {
  const serving = await startServing(tapeFile(...HANDSHAKE), '--http', '0.0.0.0:0')
  const { stderr } = await serving.stop()
  expect(stderr).toContain(
    'reelay serve: warning: other machines can reach this server and everything on the tape\n',
  )
  expect(serving.urls()).toEqual([expect.stringMatching(/^http:\/\/0\.0\.0\.0:\d+\/mcp$/)])
})

test('a tape of several servers is served as several', async () => {
  const other = call(1, 'count', {}, 'x').map((said) => ({ ...said, server: 'other' }))
  const serving = await startServing(tapeFile(...HANDSHAKE, ...other), '--http')
  const { stderr } = await serving.stop()
  expect(stderr.replaceAll(/:\d{4,5}/g, ':PORT')).toContain(
    'demo is listening on http://127.0.0.1:PORT/demo/mcp\nother is listening on http://127.0.0.1:PORT/other/mcp\n',
  )
})

test('several tapes are served at once, each on a port of its own, and their account is one', async () => {
  const [one, two] = [tapeFile(...SESSION), tapeFile(...HANDSHAKE, ...call(1, 'count', {}, 'other'))]
  const serving = await startServing(one, two, '--http')
  await until(() => serving.urls().length === 2)
  expect(new Set(serving.urls().map((url) => new URL(url).port)).size).toBe(2)
  const answers = []
  for (const url of serving.urls()) answers.push(jsonOf(await (await begin(url)).say(callOf(1, 'count', {}))))
  expect(answers).toMatchObject([answerOf(1, 'one'), answerOf(1, 'other')])
  const { code, stderr } = await serving.stop()
  expect(stderr).toContain(`${two} is listening on ${serving.urls()[1]}\n`)
  expect(stderr).toContain(': 4 requests answered, 0 misses, 1 left over\n')
  expect(code).toBe(1)
})

test('several tapes need HTTP', async () => {
  const path = tapeFile(...SESSION)
  const run = start([process.execPath, REELAY, 'serve', path, path])
  expect((await run.exited).code).toBe(2)
  expect(run.stderr()).toBe(
    'reelay: USAGE 2 tapes cannot be served on one stdin and stdout\n  hint: add --http, which gives each its own port; the command of a live server goes after --\n',
  )
})

test('an option that took the tape for its address says so', async () => {
  const run = start([process.execPath, REELAY, 'serve', '--http', 'my-tape'])
  expect((await run.exited).code).toBe(2)
  expect(run.stderr()).toContain('a tape goes before the option: reelay serve my-tape --http\n')
})

test.each([
  [
    ['--http', 'nowhere'],
    'invalid address "nowhere" for --http (expected host:port, e.g. 127.0.0.1:8080; a port is 0 to 65535, and 0 selects a free port)',
  ],
  [
    ['--sse', '127.0.0.1:99999'],
    'invalid address "127.0.0.1:99999" for --sse (expected host:port, e.g. 127.0.0.1:8080; a port is 0 to 65535, and 0 selects a free port)',
  ],
  [['--http', '--stdio'], '--stdio cannot be used together with --http'],
])('misuse is said in one line with a hint, and nothing is served: %j', async (args, problem) => {
  const run = start([process.execPath, REELAY, 'serve', tapeFile(...SESSION), ...args])
  expect((await run.exited).code).toBe(2)
  expect(run.stderr()).toContain(`reelay: USAGE ${problem}\n  hint: `)
})

test('a host of another machine is named as the reason', async () => {
  const run = start([process.execPath, REELAY, 'serve', tapeFile(...SESSION), '--http', '192.0.2.1:0'])
  expect((await run.exited).code).toBe(3)
  expect(run.stderr()).toMatch(/LISTEN_FAILED .*\n {2}hint: the host is not an address of this machine/)
})
