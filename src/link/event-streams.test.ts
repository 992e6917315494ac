import { expect, test } from 'vitest'
import { ReconnectDelay } from './event-streams.ts'

test.each([
  [undefined, 1000],
  [250, 250],
  [0, 10],
  [86_400_000, 30_000],
])('a server that says retry: %s is come back to after %i ms', (told, wait) => {
  const delay = new ReconnectDelay()
  if (told !== undefined) delay.setBase(told)
  expect(delay.next()).toBe(wait)
})

test('the delay doubles up to half a minute while nothing arrives, and is reset when something does', () => {
  const delay = new ReconnectDelay()
  delay.setBase(9000)
  expect([delay.next(), delay.next(), delay.next(), delay.next()]).toEqual([9000, 18_000, 30_000, 30_000])
  delay.reset()
  expect(delay.next()).toBe(9000)
})
