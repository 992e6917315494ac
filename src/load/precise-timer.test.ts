import { onTestFinished, expect, test } from 'vitest'
import { seededRandom } from '../seeded-random.ts'
import { PreciseTimer } from './precise-timer.ts'

test('every call comes, and none before its time', async () => {
  const timer = new PreciseTimer()
  onTestFinished(() => timer.close())
  const random = seededRandom(1)
  const early: number[] = []
  let called = 0
  let left = 600
  await new Promise<void>((resolve) => {
    const add = (): void => {
      const due = timer.now() + random() * 20
      timer.callAt(due, () => {
        if (timer.now() < due - 0.001) early.push(due)
        called++
        if (left-- > 0) add()
        else if (called === 620) resolve()
      })
    }
    for (let waiting = 0; waiting < 20; waiting++) add()
  })
  expect(early).toEqual([])
})

test('calls that are waiting when the timer is closed are made at once', async () => {
  const timer = new PreciseTimer()
  const waiting = timer.until(timer.now() + 60_000).then(() => 'called')
  await timer.close()
  expect(await waiting).toBe('called')
})
