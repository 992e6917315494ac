import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import type { ReplayOptions } from '../../src/replay/options.ts'
import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import { commandTarget } from '../../src/replay/targets.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { fixtureServer } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { foundIn } from '../support/against-tape.ts'
import { costlyCases } from '../support/cases.ts'
import { recordOrders } from './orders-tape.ts'
import { recordStrictHandles } from './strict-handles-tape.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

/** Fresh servers per tape: 6 in the gate, 50 with `REELAY_CASES=5000`. */
const { numRuns: RUNS } = costlyCases(6)
const TAPES = {
  'strict-handles': join(sharedFolder(), 'handles.tape.jsonl'),
  orders: join(sharedFolder(), 'orders.tape.jsonl'),
}

beforeAll(async () => {
  await recordStrictHandles(TAPES['strict-handles'])
  await recordOrders(TAPES.orders)
})

test.each(['strict-handles', 'orders'] as const)(
  'several fresh servers of %s are as recorded, each in its only run',
  async (name) => {
    for (let run = 1; run <= RUNS; run++) {
      const report = await verified(name)
      expect([run, ...foundIn(report)]).toEqual([run])
      expect(report.summary).toMatchObject({ verdict: 'pass', successRate: 1, unbound: 0 })
    }
  },
)

test('without correlation every value that the server made up is unknown to a fresh one', async () => {
  // A fresh server chooses the recorded issue number once in a while, so two are asked.
  const runs = [await refusedWithoutCorrelation(), await refusedWithoutCorrelation()]
  const [refused] = runs.toSorted((one, other) => other.length - one.length)
  expect(refused).toEqual([
    'get_issue',
    'add_comment',
    'edit_comment',
    'invite',
    'task_result',
    'poll_job',
    'run_in_session',
    'inspect_session',
    'move_card',
    'resources/read',
    'resources/list',
    'resources/read',
    'resources/list',
    'resources/read',
  ])
})

async function refusedWithoutCorrelation(): Promise<readonly string[]> {
  const { steps } = await verified('strict-handles', { correlate: false })
  return steps
    .filter(({ findings }) => findings.some(({ layer }) => layer === 'json-rpc'))
    .map(({ method, tool }) => tool ?? method)
}

async function verified(
  name: keyof typeof TAPES,
  options: Partial<ReplayOptions> = {},
): Promise<RepeatedReport> {
  const target = commandTarget(fixtureServer(name) as [string, ...string[]])
  return replayRepeatedly(
    await loadTape(TAPES[name]),
    { target, allowWrites: true, ...options },
    { repeat: 1 },
  )
}
