import { expect, test } from 'vitest'
import {
  answerOf,
  call,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../../../test/support/tape-of.ts'
import { type MatchOutcome, Matcher, type MatcherOptions } from '../matcher.ts'
import { STRATEGIES, findStrategy } from './index.ts'

const SEARCHES: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'cats', limit: 10 }, 'cats'),
  ...call(2, 'search', { q: 'dogs', limit: 20 }, 'dogs'),
  ...call(3, 'count', {}, 'three'),
]

test('exact compares the whole request except its id, including _meta and the params of the handshake', () => {
  const meta = { progressToken: 7, 'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' } }
  const run = runOf(
    [
      ...HANDSHAKE,
      client({ id: 1, method: 'tools/list', params: { _meta: meta } }),
      server({ id: 1, result: 'l' }),
    ],
    { match: 'exact' },
  )
  expect(run.ask('tools/list', { _meta: { ...meta, progressToken: 8 } })).toBe('unknown')
  expect(run.ask('tools/list', {})).toBe('unknown')
  expect(run.ask('tools/list', { _meta: meta })).toBe('#4')
  expect(run.ask('initialize', { protocolVersion: '2025-11-25' })).toBe('unknown')
})

test('exact distinguishes missing params from empty ones, method-and-params does not', () => {
  const said = [client({ id: 1, method: 'tools/list' }), server({ id: 1, result: 'l' })]
  expect(runOf(said, { match: 'exact' }).ask('tools/list', {})).toBe('unknown')
  expect(runOf(said, { match: 'method-and-params' }).ask('tools/list', {})).toBe('#1')
})

test('method answers with the nearest unused recording of the method, and marks it as another request', () => {
  const run = runOf(SEARCHES, { match: 'method' })
  expect(run.call('search', { q: 'dogs', limit: 21 })).toBe('#6 by match method')
  expect(run.call('search', { q: 'dogs', limit: 22 })).toBe('#4 by match method')
  expect(run.call('delete', {})).toBe('#8 by match method')
  expect(run.call('search', {})).toBe('exhausted')
  expect(run.ask('resources/list')).toBe('unknown')
})

test('method prefers a call of the same tool, even if a call of another tool is more similar', () => {
  const run = runOf([...call(1, 'count', { q: 'x', n: 1 }, ''), ...call(2, 'search', { q: 'abc' }, '')], {
    match: 'method',
  })
  expect(run.call('search', { q: 'x', n: 1 })).toBe('#3 by match method')
})

test('a request that was recorded exactly never gets the answer of another request', () => {
  const run = runOf(SEARCHES, { match: 'method' })
  expect(run.call('count', {})).toBe('#8')
  expect(run.call('count', {})).toBe('exhausted')
  expect(run.call('search', { limit: 10, q: 'cats' })).toBe('#4')
})

test.each(['subset', 'fuzzy'])('%s accepts only requests that leave out recorded params', (match) => {
  const recorded = { q: 'cats', page: { size: 10, at: null }, tags: ['a', 'b'] }
  const accepts = (args: object): string =>
    runOf(call(1, 'search', recorded, ''), { match }).call('search', args)
  expect([{}, { q: 'cats' }, { page: { at: null } }, { tags: ['a', 'b'] }].map(accepts)).toEqual(
    Array.from({ length: 4 }, () => '#1 by match subset'),
  )
  expect(
    [{ q: 'dogs' }, { extra: null }, { page: { extra: null } }, { tags: ['a'] }, { tags: ['b', 'a'] }].map(
      accepts,
    ),
  ).toEqual(Array.from({ length: 5 }, () => 'unknown'))
})

test('subset always compares the tool, the resource and the cursor of a request', () => {
  const run = runOf(
    [
      ...call(1, 'search', {}, ''),
      client({ id: 2, method: 'tools/list', params: { cursor: 'p2' } }),
      server({ id: 2, result: {} }),
    ],
    { match: 'subset' },
  )
  expect(run.ask('tools/list')).toBe('unknown')
  expect(run.call('count', {})).toBe('unknown')
})

test('sequential answers only in recorded order', () => {
  const run = runOf(SEARCHES, { match: 'sequential' })
  expect(run.ask('initialize')).toBe('#1')
  expect(run.call('search', { q: 'dogs', limit: 20 })).toBe('out-of-order')
  expect(run.call('search', { q: 'birds' })).toBe('unknown')
  expect(run.call('search', { q: 'cats', limit: 10 })).toBe('#4')
  expect(run.ask('initialize')).toBe('#1')
  expect(run.call('search', { q: 'dogs', limit: 20 })).toBe('#6')
  expect(run.call('search', { q: 'cats', limit: 10 })).toBe('exhausted')
  expect(run.call('count', {})).toBe('#8')
})

test('sequential with ignored params answers any request with the next recording', () => {
  const run = runOf(SEARCHES, { match: 'sequential', ignore: ['params'] })
  expect(['x', 'y', 'z'].map((name) => run.call(name, {}))).toEqual([
    '#4 by a rule',
    '#6 by a rule',
    '#8 by a rule',
  ])
})

test('next answers any request with the next recording, whatever it asks, in any method', () => {
  const run = runOf(SEARCHES, { match: 'next' })
  expect(run.ask('ping')).toBe('unknown')
  expect(run.ask('initialize')).toBe('#1')
  expect(run.call('count', {})).toBe('#4 by match next')
  expect(run.ask('resources/list')).toBe('#6 by match next')
  expect(run.ask('initialize')).toBe('#1')
  expect(run.call('count', {})).toBe('#8')
  expect([run.call('count', {}), run.ask('prompts/list')]).toEqual(['exhausted', 'exhausted'])
})

test('next keeps the order of a tape on which many requests are repeated, and repeats the last answer if permissive', () => {
  const round = Array.from({ length: 300 }, (_, n) => call(n, 'count', { n }, '')).flat()
  const run = runOf([...round, ...round], { match: 'next', permissive: true })
  const answers = Array.from({ length: 602 }, () => run.call('other', {}))
  expect(answers.slice(0, 600)).toEqual(Array.from({ length: 600 }, (_, n) => `#${2 * n + 1} by match next`))
  expect(answers.slice(600)).toEqual(Array.from({ length: 2 }, () => '#1199 by match next again'))
})

test('permissive repeats used answers under every strategy', () => {
  for (const { name } of STRATEGIES.filter(({ ignoresRequest }) => ignoresRequest === undefined)) {
    const run = runOf([...call(1, 'count', {}, ''), ...call(2, 'other', {}, '')], {
      match: name,
      permissive: true,
    })
    expect([run.call('count', {}), run.call('count', {})]).toEqual(['#1', '#1 again'])
  }
})

test('a refusal never gets the response to a consent, under any strategy or rule', () => {
  const said = [
    client({ id: 1, method: 'tools/call', params: asking('accept') }),
    server(answerOf(1, 'deleted')),
  ]
  for (const { name } of STRATEGIES) {
    const run = runOf(said, {
      match: name,
      ignore: ['params'],
      permissive: true,
    })
    expect(run.ask('tools/call', asking('decline'))).toBe('unknown')
    expect(run.ask('tools/call', { ...asking('accept'), requestState: 's2' })).toBe('unknown')
    expect(run.ask('tools/call', asking('accept'))).toBe('#1')
  }
})

test('eras and servers are never mixed', () => {
  for (const { name } of STRATEGIES) {
    const run = runOf(SEARCHES, { match: name, ignore: ['params'] })
    expect(run.ask('tools/call', { name: 'count', _meta: ENVELOPE })).toBe('unknown')
    expect(run.matcher.lookup({ server: 'other', method: 'tools/call', params: {} }).kind).toBe('unknown')
  }
})

test('a strategy is also found by the names that other tools use', () => {
  expect(findStrategy('method_and_params').name).toBe('method-and-params')
  expect(() => findStrategy('closest')).toThrow('unknown matching strategy "closest"')
})

function asking(action: string): object {
  return { name: 'delete', arguments: {}, requestState: 's1', inputResponses: { sure: { action } } }
}

function runOf(said: readonly Said[], options: MatcherOptions) {
  const matcher = new Matcher(tapeOf(...said).turns, options)
  const ask = (method: string, params?: unknown): string =>
    shown(matcher.lookup({ server: 'demo', method, params }))
  return { matcher, ask, call: (name: string, args: object) => ask('tools/call', { name, arguments: args }) }
}

function shown(outcome: MatchOutcome): string {
  if (outcome.kind !== 'hit') return outcome.kind
  const loose = outcome.loose === undefined ? '' : ` by ${outcome.loose}`
  return `#${outcome.turn.trigger?.n}${loose}${outcome.repeated ? ' again' : ''}`
}
