import { expect, test } from 'vitest'
import { call, client, server, tapeOf } from '../../../test/support/tape-of.ts'
import { RecordingIndex } from '../../match/recording-index.ts'
import { FilteredTurns, turnStoreOf, type TurnStore } from '../../tape/turns.ts'
import { preferTurns } from './turn-filters.ts'

const COUNTS = ['one', 'two', 'three'].flatMap((text, at) => call(at, 'count', {}, text))
const STORE = turnStoreOf(tapeOf(...COUNTS, ...call(9, 'add', {}, 'sum')).turns)

test('of turns with the same key, the preferred ones are used first, and then the others in their order', () => {
  const index = new RecordingIndex(preferTurns(STORE, ({ trigger }) => trigger?.n === 5))
  expect([ask(index), ask(index)]).toEqual(['three', 'one'])
  expect(index.unconsumedKeys().map(({ frame }) => frame)).toEqual([3, 7])
  expect(index.entries().map(({ answers, used }) => [answers, used])).toEqual([
    [3, 2],
    [1, 0],
  ])
  expect(ask(index.forNewConnection())).toBe('three')
})

test('a turn that is left out answers nothing and is not missed', () => {
  const index = new RecordingIndex(new FilteredTurns(STORE, (place) => place !== 0 && place !== 3))
  expect([ask(index), ask(index), ask(index)]).toEqual(['two', 'three', 'exhausted'])
  expect(
    index.lookup({ server: 'demo', method: 'tools/call', params: { name: 'add', arguments: {} } }).kind,
  ).toBe('unknown')
  expect(index.unconsumedKeys()).toEqual([])
})

test('what other sessions opened with is left out', () => {
  const hello = server({ method: 'notifications/message', params: { data: 'hello' } })
  const { turns } = tapeOf(
    { ...hello, conn: 1 },
    { ...hello, conn: 2 },
    { ...client({ method: 'x' }), conn: 2 },
  )
  const view: TurnStore = preferTurns(turnStoreOf(turns), ({ steps }) =>
    steps.some(({ kind }) => kind === 'ask'),
  )
  expect([...view].map(({ trigger }) => trigger?.n)).toEqual([3])
})

function ask(index: RecordingIndex): string {
  const outcome = index.lookup({
    server: 'demo',
    method: 'tools/call',
    params: { name: 'count', arguments: {} },
  })
  if (outcome.kind !== 'hit') return outcome.kind
  return /"text":"(.*?)"/.exec(outcome.turn.response?.text ?? '')?.[1] ?? ''
}
