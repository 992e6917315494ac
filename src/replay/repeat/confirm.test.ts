import { expect, test } from 'vitest'
import { liveServer } from '../../../test/support/live-server.ts'
import { saying } from '../../../test/support/chatty-server.ts'
import { call, callOf, client, HANDSHAKE, server as said, tapeOf } from '../../../test/support/tape-of.ts'
import type { ReplayOptions, ReplayTarget } from '../options.ts'
import { replayRepeatedly, type RepeatOptions } from './repeat.ts'
import type { RepeatedReport } from './repeated-report.ts'

const tape = tapeOf(...HANDSHAKE, ...call(1, 'search', {}, 'one'))

/** What a server knows about its connections. */
interface Connections {
  /** How many there were before this one. */
  readonly earlier: number
  /** How many there are at this moment. */
  readonly open: () => number
}

/** A server that answers a call by what it knows about its connections. */
function answering(
  text: (connections: Connections) => string,
): ReplayTarget & { readonly opened: () => number } {
  let [count, open] = [0, 0]
  return {
    name: 'a server of the test',
    opened: () => count,
    open: async (handlers) => {
      const connections = { earlier: count++, open: () => open }
      open++
      const { target } = liveServer(async () => {
        await new Promise((resolve) => setTimeout(resolve, 100)) // so that both runs are under way
        return { result: { content: [{ type: 'text', text: text(connections) }] } }
      })
      const link = await target.open(handlers)
      return { ...link, close: async () => void open-- }
    },
  }
}

function verified(
  target: ReplayTarget,
  options: Partial<ReplayOptions & RepeatOptions> = {},
): Promise<RepeatedReport> {
  const { repeat = 3, confirm = {}, beforeRun, ...rest } = options
  return replayRepeatedly(tape, { target, ...rest }, { repeat, confirm, ...(beforeRun && { beforeRun }) })
}

test.each([
  ['second', (run: number) => run % 2 === 1],
  ['first', (run: number) => run % 2 === 0],
  ['second and third', (run: number) => run === 1 || run === 2],
  ['second alone', (run: number) => run === 1],
])('a change that is first seen in the %s run is flaky', async (_, isChanged) => {
  const { summary } = await verified(answering(({ earlier }) => (isChanged(earlier) ? 'two' : 'one')))
  expect(summary.verdict).toBe('flaky')
})

test('a server that answers as recorded is played twice at the same time', async () => {
  let most = 0
  const server = answering(({ open }) => {
    most = Math.max(most, open())
    return 'one'
  })
  expect(await verified(server)).toMatchObject({ summary: { verdict: 'pass' }, runs: 2, notes: [] })
  expect(most).toBe(2)
})

test('one run is one run, and without `confirm` a run without differences is enough', async () => {
  expect(
    (
      await verified(
        answering(() => 'one'),
        { repeat: 1 },
      )
    ).runs,
  ).toBe(1)
  const { runs } = await replayRepeatedly(tape, { target: answering(() => 'one') }, { repeat: 3 })
  expect(runs).toBe(1)
})

test('servers that disturb each other are judged one after the other, and that is noted', async () => {
  const alone = answering(({ open }) => (open() > 1 ? 'busy' : 'one'))
  const { summary, notes } = await verified(alone)
  expect(summary.verdict).toBe('pass')
  expect(notes).toEqual([expect.stringMatching(/^two servers that run at the same time disturb each other/)])
})

test('calls that may write are not repeated, unless the state is restored or the user wants it', async () => {
  const once = await verified(
    answering(() => 'one'),
    { allowWrites: true, repeat: 3 },
  )
  expect(once).toMatchObject({ runs: 2, notes: [] }) // this server marks its tools as read-only
  const writing = tapeOf(...HANDSHAKE, ...call(1, 'write', {}, 'one'))
  const run = (options: RepeatOptions): Promise<RepeatedReport> =>
    replayRepeatedly(writing, { target: answering(() => 'one'), allowWrites: true }, options)
  expect(await run({ repeat: 3, confirm: {} })).toMatchObject({
    runs: 1,
    notes: [expect.stringMatching(/^the run was not repeated, because it sent calls that may write/)],
  })
  expect(await run({ repeat: 3, confirm: { repeatsWrites: true } })).toMatchObject({ runs: 2, notes: [] })
  expect(await run({ repeat: 3, confirm: {}, beforeRun: async () => {} })).toMatchObject({
    runs: 2,
    notes: [],
  })
})

test('a run that is interrupted ends the other one', async () => {
  const stop = new AbortController()
  const server = answering(() => {
    stop.abort()
    return 'one'
  })
  const { runs } = await verified(server, { signal: stop.signal })
  expect(runs).toBe(1)
})

test('a second server that does not start at the same time is started after the first', async () => {
  const server = answering(() => 'one')
  const confirm = { target: { name: 'a busy port', open: () => Promise.reject(new Error('in use')) } }
  expect(await verified(server, { confirm })).toMatchObject({ summary: { verdict: 'pass' }, runs: 2 })
  expect(server.opened()).toBe(2)
})

test('a server that accepts one session only is judged by it, and that is noted', async () => {
  const server = answering(() => 'one')
  const target: ReplayTarget = {
    name: server.name,
    open: (handlers) =>
      server.opened() === 0 ? server.open(handlers) : Promise.reject(new Error('already initialized')),
  }
  expect(await verified(target)).toMatchObject({
    summary: { verdict: 'pass' },
    runs: 1,
    notes: ['a second run could not be made: already initialized'],
  })
})

test('noise in a question of the server is learned, and a change beside it is found', async () => {
  const asks = (before: string): ReplayTarget => {
    let runs = 0
    const { target } = saying([], ANSWER)
    return {
      ...target,
      open: (handlers) => {
        const text = `${before} job ${['4f1c9a', '0b77de', 'c3d215', '9e80b4'][runs++ % 4]}?`
        return saying([question(text)], ANSWER).target.open(handlers)
      },
    }
  }
  const asked = tapeOf(
    ...HANDSHAKE,
    client(callOf(1, 'search', {})),
    said(question('Delete job 55aa01?')),
    client({ id: 'q1', result: { action: 'accept', content: {} } }),
    said({ id: 1, ...ANSWER }),
  )
  const run = (target: ReplayTarget): Promise<RepeatedReport> =>
    replayRepeatedly(asked, { target }, { repeat: 3 })
  const { summary, noise } = await run(asks('Delete'))
  expect(summary.verdict).toBe('pass')
  expect(noise).toMatchObject([{ path: 'requests.elicitation/create[0].params.message' }])
  expect((await run(asks('Keep'))).summary.verdict).toBe('fail')
})

const ANSWER = { result: { content: [{ type: 'text', text: 'milk' }] } }

function question(message: string): object {
  return {
    id: 'q1',
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties: {} } },
  }
}

test.each([
  ['all runs', () => true],
  ['the first run', (run: number) => run === 0],
  ['the second run', (run: number) => run === 1],
])(
  'a server that does not list its tools in %s is said to, and no call that was held back is as recorded',
  async (_, isSilent) => {
    const server = answering(() => 'one')
    let runs = 0
    const open: ReplayTarget['open'] = async (handlers) => {
      const isDeaf = isSilent(runs++)
      const link = await server.open(handlers)
      return {
        ...link,
        send: (text) => (isDeaf && text.includes('tools/list') ? undefined : link.send(text)),
      }
    }
    const { summary, notes } = await verified({ ...server, open }, { timeout: 500 })
    expect(summary.verdict).toBe('incomplete')
    expect(notes).toContainEqual(
      expect.stringContaining(
        'the server did not answer tools/list within 0.5 s; which tools only read is taken from the tape',
      ),
    )
  },
)
