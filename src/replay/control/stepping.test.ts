import { expect, test } from 'vitest'
import { liveServer } from '../../../test/support/live-server.ts'
import { answerOf, call, HANDSHAKE, tapeOf } from '../../../test/support/tape-of.ts'
import { replay } from '../replay.ts'
import { replayRepeatedly } from '../repeat/repeat.ts'
import type { Stop } from './stops.ts'

const TAPE = tapeOf(
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'a' }, 'one'),
  ...call(2, 'search', { q: 'b' }, 'two'),
  ...call(3, 'count', {}, 'three'),
)
const ANSWERS: Readonly<Record<string, string>> = { a: 'one', b: 'two' }

function server(): ReturnType<typeof liveServer> {
  return liveServer((message) => {
    const { arguments: args } = (message.kind === 'request' ? message.params : {}) as {
      arguments: { q?: string }
    }
    const { result } = answerOf(0, ANSWERS[args.q ?? ''] ?? 'three')
    return { result }
  })
}

/** Steps through the tape, and gives what was shown at each stop, what went out by then, and what became of each call. */
async function stepped(...ways: readonly ((stop: Stop) => void)[]): Promise<{
  shown: readonly string[]
  sent: readonly number[]
  states: readonly string[]
  verdict: string
}> {
  const live = server()
  const run = replay(TAPE, { ...live, timing: { kind: 'stepped' } })
  const [shown, sent]: [string[], number[]] = [[], []]
  for await (const stop of run.stops) {
    shown.push(
      `#${stop.frame} ${stop.method} ${stop.tool} ${JSON.stringify(JSON.parse(stop.text ?? '').params.arguments)}`,
    )
    sent.push(live.heard.length)
    ways[shown.length - 1]?.(stop)
  }
  const { steps, summary } = await run.report
  const states = steps
    .filter(({ tool }) => tool !== undefined)
    .map(({ state, why }) => [state, why].join(' ').trim())
  return { shown, sent, states, verdict: summary.verdict }
}

const next = (stop: Stop): void => stop.next()

test('a stepped run stops before each message, shows what would go out, and sends nothing until it is told to', async () => {
  expect(await stepped(next, next, next)).toEqual({
    shown: ['#4 tools/call search {"q":"a"}', '#6 tools/call search {"q":"b"}', '#8 tools/call count {}'],
    sent: [0, 1, 2],
    states: ['done', 'done', 'done'],
    verdict: 'pass',
  })
})

test('a message is left out by hand, and the run goes on to the next', async () => {
  const { sent, states, verdict } = await stepped(
    (stop) => stop.skip(),
    (stop) => stop.next(),
    (stop) => stop.skip(),
  )
  expect([sent, states, verdict]).toEqual([
    [0, 0, 1],
    ['skipped skipped by the user', 'done', 'skipped skipped by the user'],
    'pass',
  ])
})

test('a stepped run continues without stops after goOn', async () => {
  const { shown, states } = await stepped(
    (stop) => stop.next(),
    (stop) => stop.goOn(),
  )
  expect([shown.length, states]).toEqual([2, ['done', 'done', 'done']])
})

test('a stepped run that is left sends nothing more, and is not complete', async () => {
  const { shown, states, verdict } = await stepped(
    (stop) => stop.next(),
    (stop) => stop.quit(),
  )
  expect([shown.length, states, verdict]).toEqual([
    2,
    ['done', 'skipped the run was stopped', 'skipped the run was stopped'],
    'incomplete',
  ])
})

test('a signal ends a stepped run that waits for a decision', async () => {
  const stop = new AbortController()
  const run = replay(TAPE, { ...server(), timing: { kind: 'stepped' }, signal: stop.signal })
  for await (const _ of run.stops) stop.abort()
  expect((await run.report).summary).toMatchObject({ sent: 0, verdict: 'incomplete' })
})

test('a run of another timing has no stops, and repeated runs that nobody steps through go on by themselves', async () => {
  const run = replay(TAPE, server())
  for await (const _ of run.stops) throw new Error('nobody asked for it')
  expect((await run.report).summary.sent).toBe(3)
  const report = await replayRepeatedly(TAPE, { ...server(), timing: { kind: 'stepped' } }, { repeat: 1 })
  expect(report.summary.sent).toBe(3)
})
