import { expect, test } from 'vitest'
import { HeldClock } from '../../../test/support/held-clock.ts'
import { playingWith, type Run } from '../../../test/support/session-player.ts'
import { answerOf, callOf, client, server, type Said } from '../../../test/support/tape-of.ts'
import { ReelayError } from '../../errors.ts'
import { parsePace, type Pace } from './clock.ts'

test.each([
  ['none', undefined],
  ['recorded', { speed: 1 }],
  ['x2', { speed: 2 }],
  ['0.5', { speed: 0.5 }],
])('the pace %s is read', (text, pace) => {
  expect(parsePace(text)).toEqual(pace)
})

test.each(['fast', 'x', 'x0', '-1', '1e3', 'x2x'])('the pace %s is refused with what would do', (text) => {
  expect(() => parsePace(text)).toThrow(ReelayError)
})

// On a made-up tape one millisecond lies between two messages.
const WORK: readonly Said[] = [
  client(callOf(1, 'work', {})),
  server({ method: 'notifications/message', params: { data: 'one' } }),
  server({ method: 'notifications/message', params: { data: 'two' } }),
  server(answerOf(1, 'done')),
]

test.each([
  ['as recorded', { speed: 1 }, [1, 2, 3]],
  ['twice as fast', { speed: 2 }, [0.5, 1, 1.5]],
  ['at a tenth of the speed', { speed: 0.1 }, [10, 20, 30]],
  ['slower, but never longer than the cap', { speed: 0.1, cap: 4 }, [4, 8, 12]],
])('notifications and the answer come when they came, %s', (_how, pace: Pace, times) => {
  const { clock, run } = paced(pace, ...WORK)
  run.say(callOf(1, 'work', {}))
  expect(timesOf(run, clock, 40)).toEqual(times)
})

test('without a pace nothing is waited for', () => {
  const run = playingWith({ clock: new HeldClock() }, ...WORK)
  run.say(callOf(1, 'work', {}))
  expect(run.heard()).toHaveLength(3)
})

test("the time that the client takes for its own answer is its own: the server's time begins with that answer", () => {
  const { clock, run } = paced(
    { speed: 0.1 },
    client(callOf(1, 'ask', {})),
    server({ id: 0, method: 'elicitation/create' }),
    client({ id: 0, result: { action: 'accept' } }),
    server(answerOf(1, 'done')),
  )
  run.say(callOf(1, 'ask', {}))
  clock.pass(10)
  expect(run.heard()).toEqual(['request "reelay-1": elicitation/create'])
  clock.pass(5000)
  run.say({ id: 'reelay-1', result: { action: 'accept' } })
  clock.pass(9)
  expect(run.heard()).toHaveLength(1)
  clock.pass(1)
  expect(run.heard()[1]).toBe('answer 1: done')
})

test('a request that is cancelled while it waits for its time gets nothing more', () => {
  const { clock, run } = paced({ speed: 0.01 }, ...WORK)
  run.say(callOf(1, 'work', {}))
  clock.pass(100)
  run.say({ method: 'notifications/cancelled', params: { requestId: 1 } })
  clock.pass(1000)
  expect(run.heard()).toEqual(['notifications/message {"data":"one"}'])
})

const PARALLEL: readonly Said[] = [
  client(callOf(1, 'slow', {})),
  client(callOf(2, 'quick', {})),
  server(answerOf(2, 'quick')),
  server(answerOf(1, 'slow')),
  client(callOf(3, 'alone', {})),
  server(answerOf(3, 'alone')),
]

test('in the recorded order, calls that overlapped are answered in the order in which they were answered', () => {
  const run = playingWith({ clock: new HeldClock(), order: 'recorded' }, ...PARALLEL)
  run.say(callOf(1, 'slow', {}))
  expect(run.heard()).toEqual([])
  run.say(callOf(3, 'alone', {}), callOf(2, 'quick', {}))
  expect(run.heard()).toEqual(['answer 3: alone', 'answer 2: quick', 'answer 1: slow'])
  expect(run.player.drift().notes).toEqual([])
})

test('in any order, each call is answered when it is asked', () => {
  const run = playingWith({ clock: new HeldClock() }, ...PARALLEL)
  run.say(callOf(1, 'slow', {}), callOf(2, 'quick', {}))
  expect(run.heard()).toEqual(['answer 1: slow', 'answer 2: quick'])
})

test('a client that makes one call after the other is not kept waiting for ever', () => {
  const clock = new HeldClock()
  const run = playingWith({ clock, order: 'recorded' }, ...PARALLEL)
  run.say(callOf(1, 'slow', {}))
  clock.pass(2000)
  run.say(callOf(2, 'quick', {}))
  expect(run.heard()).toEqual(['answer 1: slow', 'answer 2: quick'])
  expect(run.player.drift().notes).toEqual([
    '#1 was answered before #2, not in recorded order: the client did not send both requests at once',
  ])
})

function paced(pace: Pace, ...said: readonly Said[]): { clock: HeldClock; run: Run } {
  const clock = new HeldClock()
  return { clock, run: playingWith({ clock, pace }, ...said) }
}

/** When each message came, looked at every half millisecond. */
function timesOf(run: Run, clock: HeldClock, until: number): readonly number[] {
  const times: number[] = []
  while (clock.now() < until) {
    clock.pass(0.5)
    while (times.length < run.out.length) times.push(clock.now())
  }
  return times
}
