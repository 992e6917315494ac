import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { ClientCall } from '../../tape/turns.ts'
import { RecordingIndex } from '../../match/recording-index.ts'
import { openIndexedTape, type IndexedTape } from './indexed-tape.ts'
import { cases } from '../../../test/support/cases.ts'

const HEADER =
  '{"reelay":1,"id":"x","started":"2026-11-15T00:00:00.000Z","by":"t","servers":{"a":{"transport":"stdio"}},"tags":{}}'

test('a large tape gets an index file that only its owner can read, of at most 64 bytes per call', async () => {
  const path = tapeOf(20_000)
  await opened(path)
  const { mode, size } = statSync(`${path}.idx`)
  expect(size / 20_000).toBeLessThanOrEqual(64)
  expect(mode & 0o077).toBe(process.platform === 'win32' ? mode & 0o077 : 0)
})

test('a small tape gets no index file', async () => {
  const path = tapeOf(3)
  const tape = await openIndexedTape(path)
  tape.close()
  expect(readdirSync(join(path, '..'))).toEqual(['any.tape.jsonl'])
})

test('the index file is used, but a line that contradicts it is not returned', async () => {
  const path = tapeOf(200)
  utimesSync(path, 1_000_000, 1_000_000)
  await opened(path)
  const text = readFileSync(path, 'utf8')
  const edited = text
    .replace('{"i":100}', '{"i":999}')
    .replace('"id":101,"method":"tools/call"', OTHER_METHOD)
  writeFileSync(path, edited.replace('"id":102,"result"', '"id":902,"result"'))
  utimesSync(path, 1_000_000, 1_000_000)
  const { turns } = await opened(path)
  expect([99, 100, 101, 102].map((place) => turns.at(place)?.trigger?.n)).toEqual([
    199,
    201,
    undefined,
    undefined,
  ])
  const index = new RecordingIndex(turns)
  expect([99, 100, 101, 102, 999].map((i) => index.lookup(callNumber(i)).kind)).toEqual([
    'hit',
    'unknown',
    'unknown',
    'unanswered',
    'unknown',
  ])
})

const OTHER_METHOD = '"id":101,"method":"tools/cali"'

test('the index is rebuilt if the tape was changed in the middle or at the end', async () => {
  const path = tapeOf(200)
  utimesSync(path, 1_000_000, 1_000_000)
  await opened(path)
  writeFileSync(path, readFileSync(path, 'utf8').replace('{"i":100}', '{"i":999}'))
  const { turns } = await opened(path)
  expect(new RecordingIndex(turns).lookup(callNumber(999)).kind).toBe('hit')
  appendFileSync(path, `${callLines(200).join('\n')}\n`)
  expect(answers(await opened(path)).at(-1)).toBe('answer 200')
})

test('if no index can be written, the tape is served without one, and no file is left behind', async () => {
  const path = tapeOf(3)
  mkdirSync(`${path}.idx`)
  expect(answers(await opened(path))).toEqual(['answer 0', 'answer 1', 'answer 2'])
  expect(readdirSync(join(path, '..')).toSorted()).toEqual(['any.tape.jsonl', 'any.tape.jsonl.idx'])
})

test('whatever the index file contains, every call gets its own recorded response', async () => {
  const path = tapeOf(8)
  await opened(path)
  const good = readFileSync(`${path}.idx`)
  const harm = fc.record({ at: fc.nat(good.length - 1), byte: fc.nat(255) })
  await fc.assert(
    fc.asyncProperty(fc.array(harm, { minLength: 1, maxLength: 40 }), fc.boolean(), async (harms, cut) => {
      const bad = Buffer.from(good)
      for (const { at, byte } of harms) bad[at] = byte
      writeFileSync(`${path}.idx`, cut ? bad.subarray(0, harms[0]?.at) : bad)
      const tape = await opened(path)
      expect(answers(tape)).toEqual(Array.from({ length: 8 }, (_, i) => `answer ${i}`))
      expect([...wronglyAnswered(tape, 8), ...missed(tape, 8)]).toEqual([])
    }),
    cases(50),
  )
})

test.each([
  ['cut to nothing', (path: string) => truncateSync(path, 0)],
  ['cut in its middle', (path: string) => truncateSync(path, statSync(path).size >> 1)],
  ['overwritten', (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size, 0xa5))],
])('an index file that is %s while in use loses no response', async (_, harm) => {
  const path = tapeOf(9_000)
  await opened(path)
  const tape = await opened(path)
  expect(wronglyAnswered(tape, 2)).toEqual([])
  harm(`${path}.idx`)
  expect(wronglyAnswered(tape, 9_000)).toEqual([])
  expect(missed(tape, 9_000)).toEqual([])
})

test('only the pages of the index file that a response needs are read, and the tape is read again if one is damaged', async () => {
  const path = tapeOf(30_000)
  await opened(path)
  const tape = await opened(path)
  const index = new RecordingIndex(tape.turns)
  const hit = index.lookup(callNumber(0))
  truncateSync(`${path}.idx`, 0)
  expect([hit.kind, index.forNewConnection().lookup(callNumber(0)).kind]).toEqual(['hit', 'hit'])
  rmSync(path)
  expect(Array.from({ length: 30_000 }, (_, i) => index.lookup(callNumber(i)).kind)).toContain('unknown')
})

test('an index of another version or of another tape is ignored', async () => {
  const path = tapeOf(3)
  await opened(path)
  const other = tapeOf(2)
  writeFileSync(`${other}.idx`, readFileSync(`${path}.idx`))
  expect(answers(await opened(other))).toEqual(['answer 0', 'answer 1'])
  const newer = readFileSync(`${path}.idx`)
  newer[8] = 99
  writeFileSync(`${path}.idx`, newer)
  expect(answers(await opened(path))).toEqual(['answer 0', 'answer 1', 'answer 2'])
  expect(readFileSync(`${path}.idx`)[8]).toBe(5)
})

function tapeOf(calls: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-sidecar-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'any.tape.jsonl')
  const lines = Array.from({ length: calls }, (_, i) => callLines(i)).flat()
  writeFileSync(path, [HEADER, ...lines, ''].join('\n'))
  return path
}

function callLines(i: number): readonly string[] {
  const params = `{"name":"n","arguments":{"i":${i}}}`
  const result = `{"content":[{"type":"text","text":"answer ${i}"}]}`
  const place = '"t":1,"server":"a","conn":1'
  return [
    `{"n":${i * 2 + 1},${place},"dir":"c2s","msg":{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":${params}}}`,
    `{"n":${i * 2 + 2},${place},"dir":"s2c","msg":{"jsonrpc":"2.0","id":${i},"result":${result}}}`,
  ]
}

function callNumber(i: number): ClientCall {
  return { server: 'a', method: 'tools/call', params: { name: 'n', arguments: { i } } }
}

/** The calls that get the response of another call. */
function wronglyAnswered({ turns }: IndexedTape, calls: number): readonly number[] {
  const index = new RecordingIndex(turns)
  return Array.from({ length: calls }, (_, i) => i).filter((i) => {
    const outcome = index.lookup(callNumber(i))
    return outcome.kind === 'hit' && outcome.turn.response?.text.includes(`"answer ${i}"`) !== true
  })
}

/** The calls that get no response, although they are on the tape. */
function missed({ turns }: IndexedTape, calls: number): readonly number[] {
  const index = new RecordingIndex(turns)
  return Array.from({ length: calls }, (_, i) => i).filter((i) => index.lookup(callNumber(i)).kind !== 'hit')
}

/** Opens a tape with an index file, even if the tape is small. */
async function opened(path: string): Promise<IndexedTape> {
  const tape = await openIndexedTape(path, { smallBytes: 0 })
  onTestFinished(() => tape.close())
  expect(existsSync(`${path}.idx`)).toBe(true)
  return tape
}

function answers({ turns }: IndexedTape): readonly (string | undefined)[] {
  return Array.from(turns, ({ response }) => /answer \d+/.exec(response?.text ?? '')?.[0])
}
