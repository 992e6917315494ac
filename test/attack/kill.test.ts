import { expect, test } from 'vitest'
import { killRounds } from '../../scripts/attack/kill.mjs'

// `npm run attack -- kill` does the same 500 times for each door.
test.skipIf(process.platform === 'win32').each([
  ['stdio', 'bursts of 200'],
  ['stdio', 'with secrets'],
  ['stdio', 'up to 300 kB'],
  ['url', '64 in flight'],
  ['bridge', '8 in flight'],
  ['forward', '64 in flight'],
])('what a client has received is on the tape after a SIGKILL: %s, %s', async (door, load) => {
  const { received, ...rest } = await killRounds(door, load, 2)
  expect(rest).toEqual({ rounds: 2, lost: 0, lossy: 0, unopened: 0 })
  expect(received).toBeGreaterThan(1)
})
