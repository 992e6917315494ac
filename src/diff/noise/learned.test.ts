import { expect, test } from 'vitest'
import fc from 'fast-check'
import { createDiffer, diffJson } from '../diff.ts'
import { cases } from '../../../test/support/cases.ts'
import { separateNoise } from './index.ts'
import { LearnedNoise } from './learned.ts'

const UUIDS = [
  '0b0e7a52-1c1f-4b6e-9f55-0a3c1c2d3e4f',
  '5f0c1a52-7d1f-4e6e-8f55-9a3c1c2d3e40',
  'c1be7a52-2c1f-4a6e-af55-3a3c1c2d3e41',
  'd2be7a52-2c1f-4a6e-af55-3a3c1c2d3e42',
] as const

const SUBSETS = [['a', 'b'], ['b', 'c'], ['a', 'c'], ['a', 'b', 'c'], ['a'], ['b'], ['c'], []].map((one) =>
  JSON.stringify(one),
) as [string, ...string[]]

const text = (value: unknown): string => JSON.stringify(value)

function learnNoise(pairs: readonly (readonly [one: string, other: string])[]): LearnedNoise {
  const noise = new LearnedNoise()
  for (const [one, other] of pairs) noise.learn(one, other)
  return noise
}

function judged(noise: LearnedNoise, expected: unknown, actual: unknown): readonly string[] {
  return separateNoise(diffJson(text(expected), text(actual)), { learned: noise }).kept.map(({ path }) =>
    path.join('.'),
  )
}

test('a path at which responses differed explains differences there and nowhere else', () => {
  const noise = learnNoise([[text({ at: 1, id: 7 }), text({ at: 2, id: 7 })]])
  expect(judged(noise, { at: 1, id: 7 }, { at: 99, id: 7 })).toEqual([])
  expect(judged(noise, { at: 1, id: 7 }, { at: 99, id: 8 })).toEqual(['id'])
  expect(noise.paths()).toEqual([
    { path: 'at', kinds: ['changed'], types: ['number'], seen: 1, class: 'integer from 1 to 2' },
  ])
})

test('noise that was learned for all items applies to further items, and noise of one item to this item', () => {
  const all = learnNoise([[text([{ at: 1 }, { at: 1 }]), text([{ at: 3 }, { at: 2 }])]])
  const three = [1, 2, 3].map((at) => ({ at, n: at }))
  expect(
    judged(
      all,
      three,
      three.map(({ at, n }) => ({ at: at + 5, n })),
    ),
  ).toEqual([])
  const one = learnNoise([[text([{ at: 1 }, { at: 1 }]), text([{ at: 1 }, { at: 2 }])]])
  expect(judged(one, [{ at: 1 }, { at: 1 }], [{ at: 5 }, { at: 6 }])).toEqual(['0.at'])
})

test.each([
  ['a uuid', [UUIDS[0], UUIDS[1]], UUIDS[2], 'none'],
  ['a uuid of another version', [UUIDS[0], UUIDS[1]], UUIDS[2], '0b0e7a52-1c1f-1b6e-9f55-0a3c1c2d3e4f'],
  ['an id', ['run-8f3ac0911b', 'run-77be01c9d3'], 'run-0123456789', 'job-0123456789'],
  ['an id in base64', ['req_ZXhxGfybBSsk', 'req_PSLmQxQjgm3v'], 'req_ZX-_GfybBSsk', 'rq_ZXhxGfybBSsk'],
  ['words', ['eu-north', 'eu-west'], 'us-east', 'us east 1'],
  ['the length of an id', ['8f3ac0911b', '77be01c9d3'], '0123456789', '01234567'],
  [
    'a time',
    ['2026-11-16T10:00:00Z', '2026-11-16T10:00:05Z'],
    '2026-11-16T11:00:00Z',
    '1970-01-01T00:00:00Z',
  ],
  ['a date', ['2026-11-16T10:00:00Z', '2026-11-16T10:00:05Z'], '2026-11-16T11:00:00Z', '2026-11-16'],
  ['a duration', [12.5, 14.1], 90.25, -1],
  ['a magnitude', [1200, 1300], 9000, 900_000],
  ['a number that stays an integer', [12, 14], 90, 12.5],
  ['a counter', [1, 2, 3, 4, 5, 6], 9, 0],
  ['a choice', Array.from({ length: 12 }, (_, run) => (run % 2 === 0 ? 'ready' : 'busy')), 'busy', 'failed'],
  ['a sentence', ['done in 12ms (ok)', 'done in 15ms (ok)'], 'done in 99ms (ok)', 'done in 99ms (failed)'],
  [
    'a number in a sentence',
    ['done in 12ms (ok)', 'done in 15ms (ok)'],
    'done in 99ms (ok)',
    'done in -ms (ok)',
  ],
  ['lines in random order', ['a 1\nb 2\nc 3', 'c 3\na 1\nb 2'], 'b 2\nc 3\na 1', 'b 3\nc 2\na 1'],
  [
    'lines with noise in random order',
    ['apple at 10:00 ok\nfig at 10:01 late', 'fig at 10:05 late\napple at 10:06 ok'],
    'fig at 10:08 late\napple at 10:09 ok',
    'fig at 10:08 ok\napple at 10:09 ok',
  ],
  [
    'words in random order',
    ['found: red, green, blue', 'found: blue, red, green'],
    'found: green, blue, red',
    'found: green, blue, pink',
  ],
  [
    'two uuids',
    [`${UUIDS[0]},${UUIDS[1]}`, `${UUIDS[2]},${UUIDS[3]}`],
    `${UUIDS[2]},${UUIDS[0]}`,
    `${UUIDS[2]},x`,
  ],
])('%s keeps its class', (_, samples, fits, doesNotFit) => {
  const noise = new LearnedNoise()
  // Equal samples are told apart by the number of the run.
  const [first = '', ...others] = samples.map((value, run) => text({ v: value, n: 1, run }))
  noise.learn(first, ...others)
  const differing = (value: unknown): number =>
    separateNoise(diffJson(wrap(samples[0]), wrap(value)), { learned: noise }).kept.length
  expect(differing(fits)).toBe(0)
  expect(differing(doesNotFit)).toBe(1)
})

test('a list in random order keeps its members', () => {
  const noise = learnNoise([[text(['a', 'b', 'c']), text(['c', 'a', 'b'])]])
  expect(kinds(noise, ['a', 'b', 'c'], ['b', 'c', 'a'])).toEqual([])
  expect(kinds(noise, ['a', 'b', 'c'], ['b', 'x', 'a'])).toEqual(['changed'])
  expect(kinds(noise, ['a', 'b', 'c'], ['b', 'a'])).toEqual(['removed'])
  expect(noise.paths()).toMatchObject([{ kinds: ['order'], class: 'order' }])
})

test('another order is noise only where samples disagree about it', () => {
  const noise = learnNoise([[text({ id: 1, a: [1, 2], b: [1, 2] }), text({ id: 2, a: [2, 1], b: [1, 2] })]])
  const found = createDiffer({ order: 'reported' }).values(
    { id: 1, a: [1, 2], b: [1, 2], c: [1, 2] },
    { id: 3, a: [2, 1], b: [2, 1], c: [2, 1] },
  )
  const { kept } = separateNoise(found, { learned: noise })
  expect(kept.map(({ kind, path }) => `${kind} ${path.join('.')}`)).toEqual(['order b', 'order c'])
})

test('random values that occur again in another place of their list are not another order', () => {
  const noise = learnNoise([[text([4, 8, 9]), text([1, 2, 3])]])
  expect(kinds(noise, [3, 5, 1], [5, 2, 3])).toEqual([])
  const items = learnNoise([
    [
      text([
        { v: 1, n: 'x', m: 'p' },
        { v: 2, n: 'y', m: 'p' },
      ]),
      text([
        { v: 5, n: 'x', m: 'p' },
        { v: 6, n: 'y', m: 'p' },
      ]),
    ],
  ])
  expect(
    kinds(
      items,
      [
        { v: 1, n: 'x' },
        { v: 2, n: 'y' },
      ],
      [
        { v: 2, n: 'y' },
        { v: 1, n: 'x' },
      ],
    ),
  ).toEqual(['order'])
})

function blocks(id: string | undefined): readonly object[] {
  return [{ text: `Started ${id}` }, { text: 'Answer: 42' }]
}

test('an item is identified by a value that does not fit the noise of another item', () => {
  const noise = learnNoise([[text(blocks(UUIDS[0])), text(blocks(UUIDS[1]))]])
  expect(kinds(noise, blocks(UUIDS[2]), blocks(UUIDS[3]))).toEqual([])
  expect(kinds(noise, blocks(UUIDS[2]), blocks(UUIDS[3]).toReversed())).toEqual(['order'])
})

test('a list of random items that always has the same length keeps it', () => {
  const noise = new LearnedNoise()
  noise.learn(text(['a', 'b', 'c']), text(['b', 'd', 'e']), text(['e', 'a', 'd']))
  expect(kinds(noise, ['c', 'a', 'e'], ['b', 'd', 'a'])).toEqual([])
  expect(kinds(noise, ['c', 'a', 'e', 'd'], ['b', 'd', 'a'])).toContain('removed')
  expect(kinds(noise, ['c', 'a'], ['b', 'd', 'a'])).toContain('added')
  const any = new LearnedNoise()
  any.learn(text(['a', 'b', 'c']), text(['b', 'd']), text(['e', 'a', 'd', 'c']))
  expect(kinds(any, ['c', 'a', 'e', 'd'], ['b', 'd', 'a'])).toEqual([])
})

test('a random subset has no members that were never seen, if each was seen often', () => {
  const noise = new LearnedNoise()
  noise.learn(...SUBSETS)
  expect(kinds(noise, ['a', 'b', 'c'], ['a', 'c'])).toEqual([])
  expect(kinds(noise, ['a', 'b'], ['a', 'b', 'c'])).toEqual([])
  expect(kinds(noise, ['a', 'b'], ['a', 'b', 'x'])).toEqual(['added'])
})

test('notifications of one method that come and go do not hide a missing one of another method', () => {
  const log = { method: 'message', params: { level: 'info', data: 'x' } }
  const noise = learnNoise([
    [text([progress(1), progress(4), progress(9), log]), text([progress(1), progress(9), log])],
  ])
  expect(kinds(noise, [progress(1), progress(9), log], [progress(1), progress(5), progress(9), log])).toEqual(
    [],
  )
  expect(kinds(noise, [progress(1), progress(9), log], [progress(1), progress(9)])).toEqual(['removed'])
})

test('members with random names are noise, and their values and their number are compared', () => {
  const [one, two, three, four] = UUIDS
  const noise = learnNoise([
    [
      text({ by: { [one]: { n: 1, at: 5 }, [two]: { n: 2, at: 6 } } }),
      text({ by: { [three]: { n: 1, at: 7 }, [four]: { n: 2, at: 8 } } }),
    ],
  ])
  const found = (actual: object): readonly string[] =>
    separateNoise(
      diffJson(text({ by: { [one]: { n: 1, at: 3 }, [three]: { n: 2, at: 4 } } }), text({ by: actual })),
      {
        learned: noise,
      },
    ).kept.map(({ kind, path }) => `${kind} ${path.slice(2).join('.')}`)
  expect(found({ [two]: { n: 1, at: 9 }, [four]: { n: 2, at: 9 } })).toEqual([])
  expect(found({ [two]: { n: 1, at: 9 }, [four]: { n: 3, at: 9 } })).toEqual(['changed n'])
  expect(found({ [two]: { n: 1, at: 9 } })).toEqual(['removed '])
  expect(found({ alpha: { n: 1, at: 9 }, [four]: { n: 2, at: 9 } })).toContain('added ')
})

test('a text that lost its format is never noise', () => {
  const noise = learnNoise([[text({ t: '{"id":1}' }), text({ t: '{"id":2}' })]])
  expect(judged(noise, { t: '{"id":1}' }, { t: '{"id":7}' })).toEqual([])
  expect(judged(noise, { t: '{"id":1}' }, { t: '{"id":7' })).toEqual(['t'])
})

test('noise at one leaf never hides a change at another, in any format', () => {
  const value = fc.stringMatching(/^[a-z]{1,8}$/)
  const noisy = fc.uniqueArray(fc.uuid(), { minLength: 4, maxLength: 4 })
  for (const write of Object.values(WRITERS))
    fc.assert(
      fc.property(value, value, noisy, (one, other, [first = '', second = '', third = '', fourth = '']) => {
        const noise = learnNoise([
          [text({ t: write(first, one) }), text({ t: write(second, one) })],
          [text({ t: write(first, one) }), text({ t: write(third, one) })],
        ])
        expect(judged(noise, { t: write(first, one) }, { t: write(third, one) })).toEqual([])
        expect(judged(noise, { t: write(first, one) }, { t: write(fourth, `${other}Z`) })).not.toEqual([])
      }),
      cases(12),
    )
})

const WRITERS: Readonly<Record<string, (noise: string, value: string) => string>> = {
  json: (noise, value) => text({ noise, value }),
  jsonLines: (noise, value) => `${text({ noise })}\n${text({ value })}`,
  xml: (noise, value) => `<r><req>${noise}</req><price>${value}</price></r>`,
  fragment: (noise, value) => `see <b>${noise}</b><i>${value}</i>`,
  csv: (noise, value) => `id,v\n${noise},${value}\n`,
  table: (noise, value) => `|id|v|\n|-|-|\n|${noise}|${value}|`,
  url: (noise, value) => `https://host/${value}?nonce=${noise}`,
  urlInProse: (noise, value) => `see https://host/${value}?nonce=${noise} now`,
  cut: (noise, value) => `{"noise":"${noise}","value":"${value}"`,
  prose: (noise, value) => `Request ${noise}: the price is ${value}.`,
}

function wrap(value: unknown): string {
  return text({ v: value, n: 1 })
}

function progress(n: number): object {
  return { method: 'progress', params: { progress: n, total: 9 } }
}

function kinds(noise: LearnedNoise, expected: unknown, actual: unknown): readonly string[] {
  const found = createDiffer({ order: 'reported' }).values(expected, actual)
  return separateNoise(found, { learned: noise }).kept.map(({ kind }) => kind)
}

test('a name alone never makes a difference noise', () => {
  expect(judged(learnNoise([]), { timestamp: 1, id: 'a' }, { timestamp: 2, id: 'b' })).toEqual([
    'timestamp',
    'id',
  ])
})

test('a value of another type or a missing field is not noise', () => {
  const noise = learnNoise([[text({ at: 1 }), text({ at: 2 })]])
  expect(judged(noise, { at: 1 }, { at: 'today' })).toEqual(['at'])
  expect(judged(noise, { at: 1 }, {})).toEqual(['at'])
  const wavering = learnNoise([[text({ at: 1 }), text({ at: 'now' })]])
  expect(judged(wavering, { at: 2 }, { at: 'now' })).toEqual([])
  expect(judged(wavering, { at: 2 }, { at: null })).toEqual(['at'])
})

test('a field that was optional before may be missing', () => {
  const noise = learnNoise([[text({ hint: 'x' }), text({})]])
  expect(judged(noise, { hint: 'x' }, {})).toEqual([])
  expect(judged(noise, { hint: 'x' }, { hint: 'y' })).toEqual(['hint'])
})

test('a field that is optional or null, and has other values each time, may have another one', () => {
  const optional = learnNoise([
    [text({}), text({ x: 4 })],
    [text({}), text({ x: 90 })],
  ])
  expect(judged(optional, { x: 7 }, { x: 50 })).toEqual([])
  const owners = [null, { id: '8f3ac091' }, { id: '77be01c9' }].map((owner) => text({ owner })) as [
    string,
    ...string[],
  ]
  for (const runs of [owners, owners.toReversed() as typeof owners]) {
    const nullable = new LearnedNoise()
    nullable.learn(...runs)
    expect(judged(nullable, { owner: null }, { owner: { id: '01234567' } })).toEqual([])
    expect(judged(nullable, { owner: { id: '01234567' } }, { owner: { id: '76543210' } })).toEqual([])
    expect(judged(nullable, { owner: null }, { owner: { name: '01234567' } })).toEqual(['owner'])
  }
})

test('an item that was replaced by one of another type is noise in a list of both', () => {
  const items = [
    ['8f3ac091', null, '77be01c9'],
    [null, '5d10b7e2', null],
    ['c04f9a13', '18be44d0', null],
  ].map((slots) => text({ slots })) as [string, ...string[]]
  const noise = new LearnedNoise()
  noise.learn(...items)
  expect(
    judged(noise, { slots: [null, 'a91c03d7', 'e5b82f10'] }, { slots: ['4c7d9e02', null, null] }),
  ).toEqual([])
  expect(judged(noise, { slots: [null, null] }, { slots: [null, 'gone'] })).toEqual(['slots.1'])
})

test('a counter may have been further on the tape, as the id of a process may', () => {
  const noise = new LearnedNoise()
  noise.learn(text({ pid: 310 }), ...[322, 330, 347, 361].map((pid) => text({ pid })))
  expect(judged(noise, { pid: 31_877 }, { pid: 347 })).toEqual([])
  expect(judged(noise, { pid: 31_877 }, { pid: -4 })).toEqual(['pid'])
})

test('only the words of a text that varied are noise', () => {
  const noise = learnNoise([
    ['"done at 12:00:01 by ada"', '"done at 12:00:07 by ada"'],
    ['"done at 12:00:01 by ada"', '"done at 12:00:09 by ada"'],
  ])
  expect(judged(noise, 'done at 12:00:01 by ada', 'done at 23:59:59 by ada')).toEqual([])
  expect(judged(noise, 'done at 12:00:01 by ada', 'done at 23:59:59 by eve')).toEqual([''])
  expect(judged(noise, 'done at 12:00:01 by ada', 'failed at 23:59:59 by ada')).toEqual([''])
})

const CLOCK = {
  recorded: { from: Date.parse('2026-11-13T10:00:00Z'), to: Date.parse('2026-11-13T10:00:01Z') },
  live: () => ({ from: Date.parse('2026-11-15T12:00:00Z'), to: Date.parse('2026-11-15T12:00:05Z') }),
}

function leftOf(recorded: string, live: readonly string[]): number {
  const learned = new LearnedNoise()
  const [first = '', ...others] = live.map((one) => JSON.stringify({ text: one }))
  learned.learn(first, ...others)
  const differences = createDiffer({ order: 'reported' }).values({ text: recorded }, { text: live[0] })
  return separateNoise(differences, { clock: CLOCK, learned }).kept.length
}

test('a date beside noise is compared with the clock, although all samples have the same date', () => {
  const live = ['9f3a1c77', '0b2d4e88', 'c71f9a02'].map((tag) => headOf('Sun, 15 Nov 2026', tag))
  expect(leftOf(headOf('Fri, 13 Nov 2026', '77aa12fe'), live)).toBe(0)
  expect(leftOf(headOf('Tue, 10 Nov 2026', '77aa12fe'), live)).toBe(1)
  expect(leftOf(headOf('Fri, 13 Nov 2026', '77aa12fe').replace('512', '9'), live)).toBe(1)
})

test('a log with another number of similar lines each time is noise, and one with another line is not', () => {
  const live = [logOf('9f3a', '0b2d'), logOf('c71f', '55e0', 'a91b'), logOf('1d3c', '7e8f', '90ab', '23cd')]
  expect(leftOf(logOf('ab12', 'cd34', 'ef56').replaceAll('11-15T12', '11-13T10'), live)).toBe(0)
  expect(leftOf(`${logOf('ab12', 'cd34')}\n2026-11-15T12:00:02Z ERROR disk full`, live)).toBe(1)
})

test('a number that is padded to a column is noise of its class', () => {
  expect(leftOf(tableOf('77'), [tableOf('123'), tableOf('45678'), tableOf('9012')])).toBe(0)
  expect(leftOf(tableOf('none'), [tableOf('123'), tableOf('45678'), tableOf('9012')])).toBe(1)
})

function headOf(date: string, tag: string): string {
  return `Date: ${date}\nETag: "${tag}"\nLength: 512`
}

function logOf(...tags: readonly string[]): string {
  return tags.map((tag, n) => `2026-11-15T12:00:0${n}Z DEBUG tick ${tag}`).join('\n')
}

function tableOf(pid: string): string {
  return `  PID COMMAND\n${pid.padStart(5)} node`
}

function table(...times: readonly number[]): string {
  const rows = ['api', 'cache', 'web'].map((name, at) => [name, `${times[at]} ms`] as const)
  const width = Math.max(...rows.map(([, time]) => time.length))
  const line = rows.map(([name, time]) => `│ ${name.padEnd(6)}│ ${time.padStart(width)} │`)
  return [`┌${'─'.repeat(8)}┬${'─'.repeat(width + 2)}┐`, ...line].join('\n')
}

test('the padding of a table depends on the values in it, and a word of it that changes is a change', () => {
  const noise = new LearnedNoise()
  noise.learn(
    JSON.stringify([table(3, 20, 1500)]),
    JSON.stringify([table(12, 4, 88)]),
    JSON.stringify([table(7, 650, 9)]),
  )
  const isNoise = (actual: string): boolean =>
    noise.explains({ kind: 'changed', path: [0], expected: table(5, 31, 240), actual })
  expect(isNoise(table(40, 5, 60))).toBe(true)
  expect(isNoise(table(40, 5, 60).replace('cache', 'queue'))).toBe(false)
  expect(isNoise(table(40, 5, 60).replace(' ms', ' s'))).toBe(false)
})

test('null among random items comes and goes, and another value does not', () => {
  const noise = new LearnedNoise()
  const lists = [
    ['a1', null, null],
    [null, 'b2', 'c3'],
    ['d4', 'e5', null, null],
  ].map((list) => JSON.stringify({ list }))
  noise.learn(lists[0] ?? '', ...lists.slice(1))
  const isNoise = (actual: unknown): boolean => noise.explains({ kind: 'added', path: ['list', 4], actual })
  expect(isNoise(null)).toBe(true)
  expect(isNoise(false)).toBe(false)
})
