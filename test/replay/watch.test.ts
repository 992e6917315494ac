import { once } from 'node:events'
import { copyFileSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test, vi } from 'vitest'
import { REELAY, start, temporaryFolder, type Running } from '../support/recorder.ts'
import { recordOrders } from './orders-tape.ts'

vi.setConfig({ testTimeout: 60_000 })

test('verify --watch checks again after each change of the server, however often, and ends when it is told to', async () => {
  const folder = temporaryFolder()
  const tape = join(temporaryFolder(), 'orders.tape.jsonl')
  const server = join(folder, 'orders.mjs')
  await recordOrders(tape)
  copyFileSync(resolve('test/fixtures/servers/orders.mjs'), server)
  const command = [process.execPath, REELAY, 'verify', tape, '--watch', '--allow-writes']
  const run = start([...command, '--', process.execPath, server])
  for (let round = 1; round <= ROUNDS; round++) {
    await untilWaiting(run, round)
    utimesSync(server, new Date(), new Date())
  }
  await untilWaiting(run, ROUNDS + 1)
  run.child.kill('SIGINT')
  expect(await run.exited).toMatchObject({ signal: null })
  expect(
    run
      .stdout()
      .toString()
      .match(/verdict: as recorded/g),
  ).toHaveLength(ROUNDS + 1)
  expect(run.stderr()).not.toContain('Warning')
})

/** More than as many listeners as Node takes for a leak. */
const ROUNDS = 11

async function untilWaiting({ child, stderr }: Running, times: number): Promise<void> {
  while ((stderr().match(/waiting for a change/g) ?? []).length < times) await once(child.stderr, 'data')
}
