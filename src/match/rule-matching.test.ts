import { expect, test } from 'vitest'
import { call, client, server, tapeOf, type Said } from '../../test/support/tape-of.ts'
import { Matcher, type MatcherOptions } from './matcher.ts'

const NOW = Date.parse('2026-11-22T09:00:00Z') // the tape was made a week before
const DATES: readonly Said[] = [
  ...call(1, 'book', { on: '2026-11-16', seats: 2 }, 'tomorrow'),
  ...call(2, 'book', { on: '2026-11-22', seats: 2 }, 'in a week'),
]

test('a date matches if it is as far from now as the recorded one was from its recording', () => {
  const book = runOf(DATES, ['tools/call book params.arguments.on relative-date'])
  expect(book({ on: '2026-11-29', seats: 2 })).toBe('in a week')
  expect(book({ on: '2026-11-23', seats: 2 })).toBe('tomorrow')
  expect(book({ on: '2026-11-23', seats: 2 })).toBe('exhausted')
})

test('an equal date does not match if its distance from now has changed', () => {
  const book = runOf(DATES, ['params.arguments.on relative-date within 0d'])
  expect(book({ on: '2026-11-16', seats: 2 })).toBe('unknown')
  expect(book({ on: '2026-11-22', seats: 2 })).toBe('unknown')
})

test('values without a rule must be equal', () => {
  const book = runOf(DATES, ['params.arguments.on any'])
  expect(book({ on: 'never', seats: 3 })).toBe('unknown')
  expect(book({ seats: 2 })).toBe('unknown')
  expect([book({ on: 'never', seats: 2 }), book({ on: null, seats: 2 })]).toEqual(['tomorrow', 'in a week'])
})

test('of several recordings that a rule accepts, the nearest answers first', () => {
  const said = [...call(1, 'book', { n: 10 }, 'ten'), ...call(2, 'book', { n: 14 }, 'fourteen')]
  const book = runOf(said, ['params.arguments.n number within 5'])
  expect([book({ n: 13 }), book({ n: 13 }), book({ n: 13 })]).toEqual(['fourteen', 'ten', 'exhausted'])
})

test('a request that was recorded exactly is not answered by another one that a rule accepts', () => {
  const said = [...call(1, 'book', { n: 10 }, 'ten'), ...call(2, 'book', { n: 14 }, 'fourteen')]
  const book = runOf(said, ['params.arguments.n number within 5'])
  expect([book({ n: 14 }), book({ n: 14 }), book({ n: 11 })]).toEqual(['fourteen', 'exhausted', 'ten'])
})

test('an ignored value may be missing, and requests that differ only in it are answered in recorded order', () => {
  const said = [...call(1, 'book', { id: 'a' }, 'first'), ...call(2, 'book', {}, 'second')]
  const book = runOf(said, ['tools/call book params.arguments.id ignore'])
  expect([book({ id: 'z' }), book({}), book({})]).toEqual(['first', 'second', 'exhausted'])
})

test('rules apply inside arrays, and of two rules for one path the first applies', () => {
  const said = call(
    1,
    'book',
    {
      rows: [
        { id: 1, tags: ['a', 'b'] },
        { id: 2, tags: [] },
      ],
    },
    'booked',
  )
  const book = runOf(said, [
    'params.arguments.rows[*].id type',
    'params.arguments.rows[1].id regex .',
    'params.arguments.rows[*].tags unordered',
  ])
  expect(
    book({
      rows: [
        { id: 8, tags: ['b', 'a'] },
        { id: 9, tags: ['x'] },
      ],
    }),
  ).toBe('unknown')
  expect(
    book({
      rows: [
        { id: 8, tags: ['b', 'a'] },
        { id: '9', tags: [] },
      ],
    }),
  ).toBe('unknown')
  expect(
    book({
      rows: [
        { id: 8, tags: ['b', 'a'] },
        { id: 9, tags: [] },
      ],
    }),
  ).toBe('booked')
})

test('a rule for one tool does not apply to another', () => {
  const said = [...call(1, 'book', { n: 1 }, 'booked'), ...call(2, 'cancel', { n: 1 }, 'cancelled')]
  const index = new Matcher(tapeOf(...said).turns, { rules: ['tools/call book params.arguments.n any'] })
  const ask = (name: string): string =>
    index.lookup({ server: 'demo', method: 'tools/call', params: { name, arguments: { n: 2 } } }).kind
  expect([ask('book'), ask('cancel')]).toEqual(['hit', 'unknown'])
})

test('rules and strategies work together', () => {
  const said = call(1, 'book', { on: '2026-11-16', seats: 2, note: 'x' }, 'booked')
  const rules = ['params.arguments.on relative-date', 'params.arguments.seats number within 1']
  expect(runOf(said, rules, { match: 'subset' })({ on: '2026-11-23', seats: 3 })).toBe('booked')
  expect(runOf(said, rules, { match: 'subset' })({ on: '2026-11-23', seats: 4 })).toBe('unknown')
  expect(runOf(said, rules, { match: 'exact' })({ on: '2026-11-23', seats: 1, note: 'x' })).toBe('booked')
})

test('a rule can apply to a member named __proto__', () => {
  const said = [client({ id: 1, method: 'tools/call', params: oddParams(1) }), server({ id: 1, result: {} })]
  const index = new Matcher(tapeOf(...said).turns, { rules: ['params.arguments.__proto__.n any'] })
  expect(index.lookup({ server: 'demo', method: 'tools/call', params: oddParams(2) }).kind).toBe('hit')
})

function oddParams(n: number): object {
  return JSON.parse(`{"name":"book","arguments":{"__proto__":{"n":${n}}}}`)
}

function runOf(said: readonly Said[], rules: readonly string[], options: MatcherOptions = {}) {
  const { turns, header } = tapeOf(...said)
  const index = new Matcher(turns, { ...options, rules, started: header.started, now: () => NOW })
  return (args: object): string => {
    const outcome = index.lookup({
      server: 'demo',
      method: 'tools/call',
      params: { name: 'book', arguments: args },
    })
    if (outcome.kind !== 'hit') return outcome.kind
    return /"text":"(.*?)"/.exec(outcome.turn.response?.text ?? '')?.[1] ?? ''
  }
}
