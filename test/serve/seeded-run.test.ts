import { expect, test } from 'vitest'
import { ask, open, post } from '../support/http.ts'
import { startServing, type Serving } from '../support/serving.ts'
import { begin, headerOf, jsonOf, read } from './serving.ts'
import { ServeProcess } from './serve-process.ts'
import { tapeFile } from './tape-file.ts'
import { call, callOf, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

const PROGRESS = { method: 'notifications/progress', params: { progressToken: 't', progress: 1 } }
const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  client({
    ...callOf(1, 'count', {}),
    params: { name: 'count', arguments: {}, _meta: { progressToken: 't' } },
  }),
  server(PROGRESS),
  server({ id: 1, result: { content: [] } }),
  ...call(2, 'due', { on: '2026-11-22' }, 'soon'),
]

/** Everything that a client sees of a run: heads and bodies, byte for byte. */
async function seenOf({ urls }: Serving): Promise<readonly string[]> {
  const [url = '', sse = ''] = urls()
  const seen: string[] = []
  for (let session = 0; session < 3; session++) {
    const { headers, say, id } = await begin(url)
    const counted = { name: 'count', arguments: {}, _meta: { progressToken: session } }
    const answer = await say({ id: 9, method: 'tools/call', params: counted })
    seen.push(id, ...answer.headers, answer.body.toString())
    const gone = await ask(url, { method: 'DELETE', headers })
    seen.push(...gone.headers)
  }
  const stream = await open(sse, { headers: { Accept: 'text/event-stream' } })
  seen.push(await read(stream, 'endpoint'))
  stream.destroy()
  return seen
}

test('two runs with the same seed and clock are the same to the byte: session ids, event ids, dates', async () => {
  const path = tapeFile(...SESSION)
  const runs: (readonly string[])[] = []
  for (const seed of ['7', '7', '8']) {
    const serving = await startServing(path, '--http', '--sse', '--seed', seed, '--clock', 'recorded')
    runs.push(await seenOf(serving))
    await serving.stop()
  }
  const [first = [], again, other = []] = runs
  expect(again).toEqual(first)
  expect(first.filter((line) => line.startsWith('Date: '))).toContain('Date: Sun, 15 Nov 2026 00:00:00 GMT')
  expect(first.filter((line) => line.startsWith('id: ') || line.includes('\nid: e'))).not.toEqual([])
  expect(other[0]).not.toBe(first[0])
})

test('without a seed nobody can guess the id of a session', async () => {
  const path = tapeFile(...SESSION)
  const ids: (string | undefined)[] = []
  for (let run = 0; run < 2; run++) {
    const serving = await startServing(path, '--http')
    const answer = await ask(serving.urls()[0] ?? '', post(INITIALIZE))
    ids.push(headerOf(answer, 'mcp-session-id'))
    await serving.stop()
  }
  expect(ids[0]).not.toBe(ids[1])
})

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
}

const DUE = '--rule=tools/call due params.arguments.on relative-date'

test.each([
  ['recorded', '2026-11-22', true],
  ['2027-01-01', '2027-01-08', true],
  ['2027-01-01', '2026-11-22', false], // the date that is on the tape is no longer a week ahead
  ['2027-01-01', '2026-11-29', false],
])('with --clock %s, a date that was a week ahead is %s: %s', async (clock, on, isAnswered) => {
  const serve = new ServeProcess([tapeFile(...SESSION), DUE, '--clock', clock])
  serve.say(INITIALIZE, callOf(2, 'due', { on }))
  const { lines } = await serve.end()
  expect(JSON.parse(lines.at(-1) ?? '').result !== undefined).toBe(isAnswered)
})

test('the command that a miss advises keeps the clock and the seed of the run', async () => {
  const path = tapeFile(...SESSION)
  const serving = await startServing(path, '--http', '--clock', '2027-01-01', '--seed', '7')
  const { say } = await begin(serving.urls()[0] ?? '')
  const missed = jsonOf(await say(callOf(2, 'due', { on: '2027-01-08' })))
  expect(missed).toMatchObject({
    error: {
      data: {
        accept: expect.stringMatching(/ --seed 7 --clock 2027-01-01 --http$/),
      },
    },
  })
})

test.each([
  [
    ['--clock', 'later'],
    'invalid time "later" for --clock (expected recorded, or a date such as 2026-11-15 or 2026-11-15T07:20:59Z)',
  ],
  [['--seed', 'x'], 'invalid seed "x" for --seed (expected a whole number, e.g. 7)'],
  [['--seed', '7'], '--seed has no effect without --faults or --http or --sse'],
])('an invalid clock or seed, or a seed without effect, is rejected: %j', async (args, problem) => {
  const { code, stderr } = await new ServeProcess([tapeFile(...SESSION), ...args]).end()
  expect([code, stderr.includes(`reelay: USAGE ${problem}\n  hint: `)]).toEqual([2, true])
})
