import { expect, test } from 'vitest'
import { interceptKills } from '../../scripts/attack/intercept-kill.mjs'
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

// `npm run attack -- intercept-kill` kills each side 5 times with each signal, on each of four ways to record.
test.skipIf(process.platform === 'win32').each([
  ['stdio', 'user', 'SIGKILL'],
  ['stdio', 'client', 'SIGKILL'],
  ['stdio', 'recorder', 'SIGTERM'],
  ['url', 'client', 'SIGKILL'],
  ['url', 'server', 'SIGKILL'],
  ['forward', 'recorder', 'SIGKILL'],
  ['bridge', 'user', 'SIGTERM'],
] as const)(
  'while messages are held, a kill leaves no process and no held message, and the tape says what happened: %s, %s, %s',
  async (door, victim, signal) => {
    const { problems, calls } = await interceptKills({ door, victim, signal, rounds: 1 })
    expect(problems).toEqual([])
    expect(calls).toBeGreaterThan(0)
  },
  120_000,
)
