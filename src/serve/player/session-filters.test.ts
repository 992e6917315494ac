import { expect, test } from 'vitest'
import { call, HANDSHAKE, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import { sessionFilters } from './turn-filters.ts'

const SESSION = [...HANDSHAKE, ...call(1, 'count', {}, 'one')]
const on = (conn: number, said: readonly Said[]): readonly Said[] => said.map((one) => ({ ...one, conn }))
const framesOf = (...said: readonly Said[]): readonly (readonly unknown[])[] =>
  sessionFilters(turnStoreOf(tapeOf(...said).turns)).map((isOf) =>
    tapeOf(...said)
      .turns.filter(isOf)
      .map(({ trigger }) => trigger?.n),
  )

test('a connection with a handshake is a session, however the connections interleave', () => {
  const [one, two] = [on(1, SESSION), on(2, SESSION)]
  expect(framesOf(...one.slice(0, 3), ...two, ...one.slice(3))).toEqual([
    [1, 3, 9],
    [4, 6, 7],
  ])
})

test('where each exchange is a connection, a session lasts from one handshake to the next', () => {
  const apart = [...SESSION, ...SESSION].map((one, at) => ({
    ...one,
    conn: [1, 1, 2, 3, 3][at % 5]! + (at > 4 ? 3 : 0),
  }))
  expect(framesOf(...apart)).toEqual([
    [1, 3, 4],
    [6, 8, 9],
  ])
})

test('what was said before any handshake is of no session', () => {
  expect(framesOf(...on(1, call(1, 'count', {}, 'one')), ...on(2, SESSION))).toEqual([[3, 5, 6]])
})
