import { expect, test } from 'vitest'
import { call, client, server, tapeOf, type Said } from '../../test/support/tape-of.ts'
import { Matcher, type MatcherOptions } from './matcher.ts'

const NOW = Date.parse('2026-11-22T09:00:00Z') // the tape was made a week before
const DATES: readonly Said[] = [
  ...call(1, 'book', { on: '2026-11-16', seats: 2 }, 'tomorrow'),
  ...call(2, 'book', { on: '2026-11-22', seats: 2 }, 'in a week'),
]

test('a date counts from now as the recorded one counted from its recording', () => {
  const book = runOf(DATES, ['tools/call book params.arguments.on relative-date'])
  expect(book({ on: '2026-11-29', seats: 2 })).toBe('in a week')
  expect(book({ on: '2026-11-23', seats: 2 })).toBe('tomorrow')
  expect(book({ on: '2026-11-23', seats: 2 })).toBe('exhausted')
})

test('a date that is the same but no longer as far away is not the same', () => {
  const book = runOf(DATES, ['params.arguments.on relative-date within 0d'])
  expect(book({ on: '2026-11-16', seats: 2 })).toBe('unknown')
  expect(book({ on: '2026-11-22', seats: 2 })).toBe('unknown')
})

test('what no rule is for is compared as ever', () => {
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

test('what was recorded as it is asked is not answered by what a rule would accept as well', () => {
  const said = [...call(1, 'book', { n: 10 }, 'ten'), ...call(2, 'book', { n: 14 }, 'fourteen')]
  const book = runOf(said, ['params.arguments.n number within 5'])
  expect([book({ n: 14 }), book({ n: 14 }), book({ n: 11 })]).toEqual(['fourteen', 'exhausted', 'ten'])
})

test('what a rule ignores may be missing; requests that are the same but for it are answered in recorded order', () => {
  const said = [...call(1, 'book', { id: 'a' }, 'first'), ...call(2, 'book', {}, 'second')]
  const book = runOf(said, ['tools/call book params.arguments.id ignore'])
  expect([book({ id: 'z' }), book({}), book({})]).toEqual(['first', 'second', 'exhausted'])
})

test('rules reach into arrays, and the first of two for one place holds', () => {
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

test('a rule for one tool does not loosen another', () => {
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

test('a member named __proto__ is a place like any other', () => {
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
