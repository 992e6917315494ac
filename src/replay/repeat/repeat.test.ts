import { expect, test } from 'vitest'
import { againstRuns, called, foundIn, session } from '../../../test/support/against-tape.ts'
import { call, client, server, type Said } from '../../../test/support/tape-of.ts'
import type { Tape } from '../../store/file/read.ts'
import { replaySummaryText } from '../../report/replay.ts'

/** A session whose first response has another ticket each time, so that the tape is played again. */
function ticketsAnd(ticket: string, ...said: readonly Said[]): Tape {
  return session(...called(1, 'ticket', {}, { ticket }), ...said)
}

function priced(price: number): readonly Said[] {
  return called(2, 'price', {}, { price })
}

function refused(id: number, name: string): readonly Said[] {
  return [
    client({ id, method: 'tools/call', params: { name, arguments: {} } }),
    server({ id, error: { code: -32603, message: 'out of order' } }),
  ]
}

const TAPE = ticketsAnd('k3x8-q1', ...priced(10))
const TICKETS = ['p7w2-z4', 'm5r9-a8', 'c2d6-f3', 'w9e1-b2', 'h4u8-s6', 'd3y5-n7', 'j6o2-v1']
const SAME = TICKETS.slice(0, 3).map((ticket) => ticketsAnd(ticket, ...priced(10)))

test('a server whose responses differ only in noise passes, and the noise names its exchange', async () => {
  const report = await againstRuns(SAME, TAPE)
  expect(report.summary.verdict).toBe('pass')
  expect(report.noise).toMatchObject([
    { tool: 'ticket', path: 'result.structuredContent.ticket', frames: [4], inEveryCall: false },
  ])
  expect(report.unstable).toEqual([])
})

function reportOf(ticket: string, items: number): Tape {
  const text = `Report ${ticket} of the warehouse in the north: ${items} items left`
  return session(...called(1, 'report', {}, { text }))
}

test('a change in a text with noise is named and shown without the noise around it', async () => {
  const lives = TICKETS.map((ticket) => reportOf(ticket, 6))
  const report = await againstRuns(lives, reportOf('k3x8-q1', 5))
  expect(report.summary.verdict).toBe('fail')
  expect(replaySummaryText(report)).toMatch(
    /changed in line 1: "5" is now "6".*\n.*recorded "…e warehouse in the north: 5 items left"\n.*now +"…e warehouse in the north: 6 items left"/,
  )
})

test('the end of a log, with another number of lines and other values in each run, is noise', async () => {
  const lives = [5, 7, 6, 5, 6, 7, 5, 6].map((lines, run) => logOf(lines, run + 1))
  for (const recorded of [5, 6, 7]) {
    const report = await againstRuns(lives, logOf(recorded, 0))
    expect(foundIn(report)).toEqual([])
    expect(report.summary.verdict).toBe('pass')
  }
})

/** Workers and jobs that look random. */
function logOf(lines: number, run: number): Tape {
  const line = (_: unknown, at: number): string => {
    const job = ((run * 7919 + at * 104_729 + 1) * 2_654_435_761) % 0xffffffff
    return `INFO worker-${job % 4} job=${job.toString(16).padStart(8, '0')} done in ${(job % 90) + 5}ms`
  }
  return session(...called(1, 'log', {}, { text: Array.from({ length: lines }, line).join('\n') }))
}

test.each([
  ['second', [SAME[0], ticketsAnd('b8n4-u6', ...refused(2, 'price')), SAME[2]]],
  ['third', [SAME[0], SAME[1], ticketsAnd('b8n4-u6', ...refused(2, 'price'))]],
])('a call that fails only in the %s run is reported once, and the verdict is flaky', async (_, lives) => {
  const report = await againstRuns(lives.filter(isTape), TAPE)
  expect(report.summary).toMatchObject({ verdict: 'flaky', successRate: 0.5 })
  expect(foundIn(report)).toEqual([
    expect.stringMatching(/^price done json-rpc error answered with the error -32603/),
  ])
  expect(report.unstable).toMatchObject([{ frame: 6, inRuns: 1, finding: { layer: 'json-rpc' } }])
  expect(replaySummaryText(report)).toMatch(
    /^differs +#3 +tools\/call price .*\n {4}json-rpc .*\(in 1 of 3 runs\)\n[^]*verdict: flaky/,
  )
})

test('a change in every run fails after a few more runs, and is named once with the number of runs', async () => {
  const lives = ['p7w2-z4', 'm5r9-a8', 'c2d6-f3'].map((ticket) => ticketsAnd(ticket, ...priced(11)))
  const report = await againstRuns(lives, TAPE)
  expect(report.summary.verdict).toBe('fail')
  expect(report.steps.flatMap(({ findings }) => findings)).toMatchObject([
    { path: 'result.structuredContent.price', expected: 10, actual: 11, inRuns: 7 },
  ])
  expect(replaySummaryText(report).match(/changed.*\n.*\n.*/g)).toEqual([
    'changed   (in all 7 runs)\n              recorded 10\n              now      11',
  ])
})

test('all runs of a replay count, also if the first one is as recorded', async () => {
  const broken = ticketsAnd('k3x8-q1', ...refused(2, 'price'))
  const report = await againstRuns([TAPE, broken, broken, TAPE, broken, broken], TAPE, { always: true })
  expect(report).toMatchObject({ runs: 6, judgedRuns: 6, summary: { verdict: 'flaky' } })
  expect(report.unstable).toMatchObject([{ inRuns: 4 }])
})

test('noise of one call is not noise of another call of the tool', async () => {
  const tape = files('k3x8-q1', 'price 10 EUR')
  const lives = ['p7w2-z4', 'm5r9-a8'].map((log) => files(log, 'all gone'))
  const report = await againstRuns(lives, tape)
  expect(report.summary.verdict).toBe('fail')
  expect(foundIn(report)).toEqual([
    'read done values result.structuredContent.text changed ["price 10 EUR","all gone"]',
  ])
  expect(report.noise).toMatchObject([{ frames: [4], inEveryCall: false }])
})

test('noise that all calls of a tool have is listed once for the tool', async () => {
  const report = await againstRuns(
    [tickets('p7w2-z4', 'm5r9-a8'), tickets('c2d6-f3', 'b8n4-u6')],
    tickets('k3x8-q1', 'h1j7-t5'),
  )
  expect(report.summary.verdict).toBe('pass')
  expect(report.noise).toMatchObject([{ tool: 'ticket', frames: [4, 6], inEveryCall: true }])
  expect(replaySummaryText(report)).toMatch(/noise: tools\/call ticket .*\(all 2 calls\)/)
})

/** Sessions with a ticket that always differs, and these prices, one for each run. */
function pricedInTurn(...prices: readonly number[]): readonly Tape[] {
  return prices.map((price, run) => ticketsAnd(ticketOf(run), ...priced(price)))
}

test('a value that is sometimes as recorded and sometimes another one is flaky, and more runs are made to decide that', async () => {
  const report = await againstRuns(pricedInTurn(10, 11, 10, 10, 11, 10, 10), TAPE, { repeat: 3 })
  expect(report).toMatchObject({ judgedRuns: 15, summary: { verdict: 'flaky' } })
  expect(report.unstable).toMatchObject([{ frame: 6, inRuns: 2, finding: { expected: 10, actual: 11 } }])
  expect(report.noise.map(({ tool }) => tool)).toEqual(['ticket'])
})

test('a value that is as recorded by chance is noise as soon as it has had a third value', async () => {
  const report = await againstRuns(pricedInTurn(10, 11, 10, 12), TAPE, { repeat: 3 })
  expect(report).toMatchObject({ judgedRuns: 4, summary: { verdict: 'pass' } })
})

test('a duration that is sometimes as recorded is noise', async () => {
  const lives = [12, 13, 12].map((ms, run) =>
    ticketsAnd(
      ticketOf(run),
      ...called(2, 'work', {}, { elapsed_ms: ms }),
      ...call(3, 'log', {}, `done in ${ms} ms`),
    ),
  )
  const tape = ticketsAnd(
    'k3x8-q1',
    ...called(2, 'work', {}, { elapsed_ms: 12 }),
    ...call(3, 'log', {}, 'done in 12 ms'),
  )
  expect(await againstRuns(lives, tape)).toMatchObject({ judgedRuns: 3, summary: { verdict: 'pass' } })
})

test('a word that sometimes changes in a text with noise is flaky', async () => {
  const lives = ['ready', 'failed', 'ready'].map((state, run) => logged(`job ${ticketOf(run)} is ${state}`))
  const report = await againstRuns(lives, logged('job k3x8-q1 is ready'))
  expect(report.summary.verdict).toBe('flaky')
  expect(report.unstable).toMatchObject([{ inRuns: 1, finding: { actual: 'job m5r9-a8 is failed' } }])
})

test('a value that is another one in each of many runs, but equal in the first runs by chance, is noise', async () => {
  const report = await againstRuns(pricedInTurn(11, 11, 11, 12), TAPE, { repeat: 3 })
  expect(report).toMatchObject({ judgedRuns: 4, summary: { verdict: 'pass' } })
})

/** A random selection of three of six colours in each run, beside others. */
function selections(...others: readonly string[]): readonly Tape[] {
  const colours = ['red', 'green', 'blue', 'black', 'white', 'grey']
  return Array.from({ length: 20 }, (_, run) => {
    const chosen = colours.filter((_colour, at) => ((run * 7 + at * 5) % 11) % 2 === 0)
    return listed(...chosen, ...others)
  })
}

test.each([
  ['a lost item', ['red', 'blue', 'gold'], []],
  ['a new item', ['red', 'blue'], ['gold']],
])('%s is reported, although other items come and go', async (_, recorded, others) => {
  const report = await againstRuns(selections(...others), listed(...recorded), { repeat: 3 })
  expect(report.summary.verdict).not.toBe('pass')
  expect(JSON.stringify(foundIn(report))).toContain('gold')
})

test('items that come and go, without others, are noise', async () => {
  const report = await againstRuns(selections(), listed('red', 'blue'), { repeat: 3 })
  expect(report.summary.verdict).toBe('pass')
})

test('a member that comes and goes is flaky, a random selection of items is noise', async () => {
  const lives = [listed('red', 'green'), listed('red', 'green', 'blue'), listed('green', 'blue')]
  expect((await againstRuns(lives, listed('red', 'green', 'blue'))).summary.verdict).toBe('pass')
  const report = await againstRuns(
    [user({}), user({ mail: 'a@b.example' }), user({})],
    user({ mail: 'a@b.example' }),
  )
  expect(report.summary.verdict).toBe('flaky')
})

test('flags of several items that change independently are random, and flags that change together come and go', async () => {
  const random = ['10110', '01101', '11011', '10001', '01110', '10101', '00111', '11100']
  const [tape = flags(''), ...lives] = random.map(flags)
  expect((await againstRuns(lives, tape, { repeat: 3 })).summary.verdict).toBe('pass')
  const together = ['01001', '10110', '01001'].map(flags)
  expect((await againstRuns(together, flags('10110'), { repeat: 3 })).summary.verdict).toBe('flaky')
})

test('random words of a list are noise, although each of them is at some index in every run for a while', async () => {
  const words = [
    'bee fox gnu',
    'ant cat fox',
    'bee dog eel',
    'ant bee dog',
    'bee eel fox',
    'ant bee cat',
    'ant eel fox',
  ]
  const [tape = listed(), ...lives] = words.map((line) => listed(...line.split(' ')))
  const report = await againstRuns(lives, tape, { repeat: 3 })
  expect(foundIn(report)).toEqual([])
  expect(report.summary.verdict).toBe('pass')
})

test('a word that changes for good in a list with a random word is found after more runs', async () => {
  const lives = Array.from({ length: 7 }, (_, run) => listed(ticketOf(run), 'broken'))
  const report = await againstRuns(lives, listed('k3x8-q1', 'fixed'), { repeat: 3 })
  expect(report.summary.verdict).toBe('fail')
  expect(foundIn(report)).toEqual([
    'list done values result.structuredContent.items[1] changed ["fixed","broken"]',
  ])
})

const IDS = ['9f1c', '27ab', 'd03e', '5b84', 'e6c7', '41d9', '8a2f', 'c05d'].map((id) => id.repeat(3))

/** The recording, and runs of which every other one has a change, beside a value that is another one in each run. */
function sometimes(
  made: (id: string, isChanged: boolean, run: number) => Tape,
): readonly [Tape, readonly Tape[]] {
  const [tape = listed(), ...lives] = IDS.map((id, run) => made(id, run % 2 === 1, run))
  return [tape, [...lives, ...lives]]
}

test.each<[string, (id: string, isChanged: boolean, run: number) => Tape]>([
  ['an id with another prefix', (id, is) => user({ ticket: `${is ? 'res' : 'req'}_${id}` })],
  ['a member with noise inside that is missing', (id, is) => user(is ? {} : { session: { id } })],
  [
    'an item that is missing in a list in another order each time',
    (_, is, run) =>
      listed(...rotated(['ada', 'cem', 'dan', 'eva', 'fay', 'gus', 'hal'], run), ...(is ? [] : ['bob'])),
  ],
  ['a word beside a UUID', (id, is) => logged(`job 3f2504e0-4f89-41d3-9a0c-${id} ${is ? 'died' : 'runs'}`)],
  ['a duration in another unit', (_, is) => user({ elapsed: is ? 0.25 : 250 })],
])('%s in every other run is flaky', async (_, made) => {
  const [tape, lives] = sometimes(made)
  expect((await againstRuns(lives, tape, { repeat: 3 })).summary.verdict).toBe('flaky')
})

function rotated(items: readonly string[], by: number): readonly string[] {
  return [...items.slice(by), ...items.slice(0, by)]
}

/** A session whose items have a flag each. */
function flags(bits: string): Tape {
  return session(...called(1, 'flags', {}, { flags: Array.from(bits, (bit) => ({ on: bit === '1' })) }))
}

function ticketOf(run: number): string {
  return TICKETS[run] ?? ''
}

function listed(...items: readonly string[]): Tape {
  return session(...called(1, 'list', {}, { items }))
}

function user(member: object): Tape {
  return session(...called(1, 'user', {}, { name: 'Ada', ...member }))
}

function logged(text: string): Tape {
  return session(...call(1, 'log', {}, text))
}

function isTape(tape: Tape | undefined): tape is Tape {
  return tape !== undefined
}

function files(log: string, document: string): Tape {
  return session(
    ...called(1, 'read', { file: 'log' }, { text: log }),
    ...called(2, 'read', { file: 'document' }, { text: document }),
  )
}

function tickets(one: string, two: string): Tape {
  return session(
    ...called(1, 'ticket', { n: 1 }, { ticket: one }),
    ...called(2, 'ticket', { n: 2 }, { ticket: two }),
  )
}
