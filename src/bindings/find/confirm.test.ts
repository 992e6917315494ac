import { expect, test } from 'vitest'
import { client, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import { confirmBindings, type ConfirmedBindings } from './confirm.ts'
import { findBindings } from './find-bindings.ts'
import { formatTapeLocation } from '../location-text.ts'

function session(answer: object, args: object): readonly Said[] {
  return [
    client({ id: 1, method: 'tools/call', params: { name: 'create_issue', arguments: {} } }),
    server({ id: 1, result: { structuredContent: answer } }),
    client({ id: 2, method: 'tools/call', params: { name: 'get', arguments: args } }),
  ]
}

function confirmed(one: readonly Said[], other: readonly Said[]): ConfirmedBindings {
  const tape = tapeOf(...one)
  const second = tapeOf(...other)
  const found = findBindings(tape.turns, tape.header)
  return confirmBindings(found, {
    turns: tape.turns,
    other: second.turns,
    otherStarted: '2027-01-01T00:00:00Z',
  })
}

const on = (due: string): readonly Said[] => session({}, { due })

const standings = ({ bindings }: ConfirmedBindings): readonly string[] =>
  bindings.map(({ value, standing }) => `${value} ${standing}`)

test('a value that differs in the second run and is still sent back is confirmed', () => {
  const result = confirmed(
    session({ id: 'a1b2c3d4' }, { id: 'a1b2c3d4' }),
    session({ id: 'zz99yy88' }, { id: 'zz99yy88' }),
  )
  expect(standings(result)).toEqual(['a1b2c3d4 confirmed'])
})

test('a value that is the same in both runs is a constant', () => {
  const same = session({ id: 'a1b2c3d4' }, { id: 'a1b2c3d4' })
  expect(standings(confirmed(same, same))).toEqual(['a1b2c3d4 constant'])
})

test('a value that the client sends independently of the server is refuted and no longer bound', () => {
  const result = confirmed(
    session({ id: 'a1b2c3d4' }, { id: 'a1b2c3d4' }),
    session({ id: 'zz99yy88' }, { id: 'a1b2c3d4' }),
  )
  expect(result.bindings).toEqual([])
  expect(result.refuted.map(({ value }) => value)).toEqual(['a1b2c3d4'])
})

test('a guess that the second run confirms becomes a binding', () => {
  const one = session({ id: 7 }, { parent_id: 7 })
  expect(findBindings(tapeOf(...one).turns).bindings).toEqual([])
  const result = confirmed(one, session({ id: 9 }, { parent_id: 9 }))
  expect(result.bindings.flatMap(({ consumers }) => consumers.map(formatTapeLocation))).toEqual([
    '#2 params.arguments.parent_id',
  ])
  expect(confirmed(one, session({ id: 9 }, { parent_id: 7 })).bindings).toEqual([])
})

test('a second run that took a different course changes nothing', () => {
  const result = confirmed(session({ id: 'a1b2c3d4' }, { id: 'a1b2c3d4' }), session({}, {}))
  expect(standings(result)).toEqual(['a1b2c3d4 found'])
})

test('a date that follows the clock is confirmed, and a fixed date is refuted', () => {
  expect(standings(confirmed(on('2026-11-22'), on('2027-01-08')))).toEqual(['2026-11-22 confirmed'])
  expect(standings(confirmed(on('2026-11-22'), on('2026-11-22')))).toEqual([])
})
