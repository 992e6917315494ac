import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { missAsError } from '../../match/miss/report.ts'
import { MissExplainer, type Miss } from '../../match/miss/miss.ts'
import { RecordingIndex } from '../../match/recording-index.ts'
import { turnStoreOf, type ClientCall, type Turns } from '../../tape/turns.ts'
import { openIndexedTape } from './indexed-tape.ts'
import { loadTape } from '../file/read.ts'
import { cases } from '../../../test/support/cases.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'reelay-long-miss-'))
const PATH = join(FOLDER, 'any.tape.jsonl')
afterAll(() => rmSync(FOLDER, { recursive: true }))

const HEADER =
  '{"reelay":1,"id":"x","started":"2026-11-15T00:00:00.000Z","by":"t","servers":{"a":{"transport":"stdio"}},"tags":{}}'

const args = fc.record({
  q: fc.constantFrom('cats', 'dogs', 'owls'),
  limit: fc.nat(5),
  id: fc.nat(30).map((n) => `h-${n}`),
})
const callParams = fc.record({ name: fc.constantFrom('search', 'count'), arguments: args })

test('a miss is explained in the same words for a tape in memory and on disk', () =>
  fc.assert(
    fc.asyncProperty(fc.array(callParams, { maxLength: 30 }), callParams, async (calls, live) => {
      writeTape(calls)
      const params = { ...live, arguments: { ...live.arguments, limit: 99 } }
      const held = turnStoreOf((await loadTape(PATH)).turns)
      const tape = await openIndexedTape(PATH, { smallBytes: 0 })
      const [inMemory, onDisk] = [held, tape.turns].map((turns) => missAsError(missOf(turns, params)))
      tape.close()
      expect(onDisk).toEqual(inMemory)
    }),
    cases(40),
  ))

test('on a long tape the request that differs in one argument is found among thousands of the same tool', async () => {
  const calls = Array.from({ length: 5_000 }, (_, i) => ({
    name: i % 2 === 0 ? 'search' : 'count',
    arguments: { q: `words ${i % 7}`, limit: i % 11, id: `h-${i}` },
  }))
  writeTape(calls)
  const tape = await openIndexedTape(PATH, { smallBytes: 0 })
  const { arguments: near } = calls[4_242] ?? { arguments: {} }
  const miss = missOf(tape.turns, { name: 'search', arguments: { ...near, limit: 99 } })
  tape.close()
  expect(miss.nearest[0]).toMatchObject({
    frame: 4_242 * 2 + 1,
    differences: [{ path: ['params', 'arguments', 'limit'] }],
  })
})

function writeTape(calls: readonly unknown[]): void {
  const lines = calls.flatMap((params, i) => {
    const place = '"t":1,"server":"a","conn":1'
    const call = JSON.stringify({ jsonrpc: '2.0', id: i, method: 'tools/call', params })
    const answer = JSON.stringify({ jsonrpc: '2.0', id: i, result: { id: `h-${i}` } })
    return [
      `{"n":${i * 2 + 1},${place},"dir":"c2s","msg":${call}}`,
      `{"n":${i * 2 + 2},${place},"dir":"s2c","msg":${answer}}`,
    ]
  })
  rmSync(`${PATH}.idx`, { force: true })
  writeFileSync(PATH, [HEADER, ...lines, ''].join('\n'))
}

function missOf(given: Turns, params: unknown): Miss {
  const turns = turnStoreOf(given)
  const index = new RecordingIndex(turns)
  const explainer = new MissExplainer({
    matcher: index,
    turns,
    tape: 'any',
    started: '2026-11-15T00:00:00.000Z',
    now: () => 0,
    commandFor: (loosening) => JSON.stringify(loosening),
  })
  const live: ClientCall = { server: 'a', method: 'tools/call', params }
  const outcome = index.lookup(live)
  if (outcome.kind === 'hit') throw new Error('it is on the tape')
  return explainer.explain(live, outcome)
}
