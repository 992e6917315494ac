import { expect, test } from 'vitest'
import { call, tapeOf } from '../../../test/support/tape-of.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import { dueTimes, type Timing } from './timing.ts'
import { type PlannedMessage, planMessages } from './plan.ts'

// Sent at 1, 3, 5 and 7 ms of the tape.
const tape = tapeOf(...[1, 2, 3, 4].flatMap((id) => call(id, 'search', {}, 'x')))
const plan = [...planMessages(turnStoreOf(tape.turns), { allowWrites: true }, new Map())]

test.each<[string, Timing, readonly number[]]>([
  ['fast sends at once', { kind: 'fast' }, [0, 0, 0, 0]],
  ['original keeps the recorded distances', { kind: 'original' }, [0, 2, 4, 6]],
  ['scaled by 2 is twice as fast', { kind: 'scaled', factor: 2 }, [0, 1, 2, 3]],
  ['scaled by a half takes twice as long', { kind: 'scaled', factor: 0.5 }, [0, 4, 8, 12]],
  ['fixed waits after each message', { kind: 'fixed', delay: 100 }, [0, 100, 200, 300]],
  ['adaptive holds a rate', { kind: 'adaptive', rps: 20 }, [0, 50, 100, 150]],
  [
    'custom asks a function with the two messages',
    { kind: 'custom', delay: (previous, next) => (next.index - previous.index) * 10 + previous.index },
    [0, 10, 21, 33],
  ],
])('when messages go out: %s', (_, timing, expected) => {
  expect(times(timing, plan)).toEqual(expected)
})

test.each<[Timing, readonly number[]]>([
  [{ kind: 'original' }, [400, 402, 404]],
  [{ kind: 'scaled', factor: 2 }, [400, 401, 402]],
  [{ kind: 'adaptive', rps: 20 }, [400, 450, 500]],
])('a server that takes long to start shortens no distance: %o', (timing, expected) => {
  const due = dueTimes(timing)
  expect(plan.slice(0, 3).map((planned) => due(planned, 400))).toEqual(expected)
})

test('fixed counts from when a message went out, adaptive from when it was due', () => {
  const [fixed, adaptive] = [dueTimes({ kind: 'fixed', delay: 10 }), dueTimes({ kind: 'adaptive', rps: 100 })]
  expect(late(fixed)).toEqual([0, 510, 1010])
  expect(late(adaptive)).toEqual([0, 10, 20])
})

test('after a long stall the rate is caught up with, but not by a burst of everything', () => {
  const due = dueTimes({ kind: 'adaptive', rps: 100 })
  const [first, second] = plan
  expect([first && due(first, 0), second && due(second, 60_000)]).toEqual([0, 59_000])
})

/** When each is due, if messages go out half a second after one another. */
function late(due: (planned: PlannedMessage, now: number) => number): readonly number[] {
  return plan.slice(0, 3).map((planned, place) => due(planned, place * 500))
}

/** When each is due, if every message goes out in time. */
function times(timing: Timing, messages: readonly PlannedMessage[]): readonly number[] {
  const dueAt = dueTimes(timing)
  let now = 0
  return messages.map((planned) => (now = dueAt(planned, now)))
}
