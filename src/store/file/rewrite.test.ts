import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { appendEpisode, type EpisodeMessage } from './rewrite.ts'
import { loadTape } from './read.ts'
import { costlyCases } from '../../../test/support/cases.ts'

const HEADER =
  '{"reelay":1,"id":"x","started":"2026-11-15T00:00:00.000Z","by":"a test","servers":{"s":{"transport":"stdio"}},"tags":{}}'
const CALL = '{"n":1,"t":5,"server":"s","conn":3,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"m"}}'
const STARTED = Date.parse('2026-11-15T00:00:00.000Z')
const LEARNED: readonly EpisodeMessage[] = [
  { dir: 'c2s', text: '{"jsonrpc":"2.0","id":1,"method":"n"}', at: STARTED + 2 },
  { dir: 's2c', text: '{ "jsonrpc":"2.0", "id":1, "result":{"n":1.50} }', at: STARTED + 9 },
]

test('an episode is appended as a further connection, and the bytes before it stay', async () => {
  const path = tapeOf(HEADER, CALL, '{"n":2,"t":6,"event":"end","frames":2,"servers":["s"]}')
  await appendEpisode(path, { server: 's', links: [LEARNED] })
  expect(readFileSync(path, 'utf8').split('\n').slice(1)).toEqual([
    CALL,
    '{"n":2,"t":6,"server":"s","conn":4,"event":"episode"}',
    '{"n":3,"t":6,"server":"s","conn":4,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"n"}}',
    '{"n":4,"t":9,"server":"s","conn":4,"dir":"s2c","msg":{ "jsonrpc":"2.0", "id":1, "result":{"n":1.50} }}',
    '{"n":5,"t":9,"event":"end","frames":5,"servers":["s"]}',
    '',
  ])
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [] })
  expect(readdirSync(dirname(path))).toHaveLength(1)
})

test('each link of an episode becomes a connection, and their messages are in order of time', async () => {
  const path = tapeOf(HEADER, CALL, '{"n":2,"t":6,"event":"end","frames":2}')
  const other = LEARNED.map(({ text, ...message }) => ({
    ...message,
    at: message.at + 4,
    text: text.replace('1', '7'),
  }))
  await appendEpisode(path, { server: 's', links: [other, LEARNED] })
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(2)
  expect(
    lines
      .map((line) => JSON.parse(line))
      .map(({ n, t, conn, event, dir }) => [n, t, conn ?? '', event ?? dir]),
  ).toEqual([
    [2, 6, 5, 'episode'],
    [3, 6, 5, 'c2s'],
    [4, 6, 4, 'episode'],
    [5, 6, 4, 'c2s'],
    [6, 9, 5, 's2c'],
    [7, 13, 4, 's2c'],
    [8, 13, '', 'end'],
  ])
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [], frames: 8 })
})

test('appending to a truncated tape removes its incomplete line', async () => {
  const path = tapeOf(HEADER, CALL)
  appendFileSync(path, '{"n":2,"t":6,"ser')
  await appendEpisode(path, { server: 's', links: [LEARNED] })
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [], frames: 5 })
})

test('a message that contains an end event is not the end frame', async () => {
  const path = tapeOf(HEADER, CALL.replace('"method":"m"', '"method":"m","params":{"event":"end"}'))
  await appendEpisode(path, { server: 's', links: [LEARNED] })
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [], frames: 5 })
})

test('the number of frames that a recorder could not write is kept', async () => {
  const path = tapeOf(HEADER, CALL, '{"n":4,"t":6,"event":"end","frames":4,"lost":2}')
  const [before] = (await loadTape(path)).problems
  await appendEpisode(path, { server: 's', links: [LEARNED] })
  const { problems } = await loadTape(path)
  expect([before?.why, problems.map(({ why }) => why)]).toEqual([
    'the recorder could not write 2 of 4 frames',
    ['the recorder could not write 2 of 7 frames'],
  ])
})

test('after one or two episodes the tape is complete and keeps every message', async () => {
  const text = fc
    .record({ jsonrpc: fc.constant('2.0'), method: fc.string(), params: fc.object() })
    .map((message) => JSON.stringify(message))
  const message = fc.record({
    dir: fc.constantFrom('c2s' as const, 's2c' as const),
    text,
    at: fc.integer({ min: STARTED - 1000, max: STARTED + 1000 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 8 }), async (messages) => {
      const path = tapeOf(HEADER, CALL, '{"n":2,"t":6,"event":"end","frames":2}')
      for (let run = 0; run < 2; run++) await appendEpisode(path, { server: 's', links: [messages] })
      expect(await loadTape(path)).toMatchObject({
        ended: true,
        problems: [],
        frames: 4 + 2 * messages.length,
      })
    }),
    costlyCases(25),
  )
})

function tapeOf(...lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-episode-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.tape.jsonl')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}
