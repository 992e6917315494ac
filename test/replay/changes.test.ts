import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import type { ReplayOptions } from '../../src/replay/options.ts'
import { commandTarget } from '../../src/replay/targets.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { fixtureServer } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { recordOrders } from './orders-tape.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const tape = join(sharedFolder(), 'orders.tape.jsonl')

beforeAll(() => recordOrders(tape))

test('a fresh server is as recorded, though it makes up other ids', async () => {
  const report = await verified()
  expect(foundIn(report)).toEqual([])
  expect(report.summary).toMatchObject({ verdict: 'pass', sent: 4, skipped: 2 })
  expect(report.runs).toBe(1)
})

test('without correlation the recorded id is sent, and the run fails where it must', async () => {
  const report = await verified({ options: { correlate: false } })
  expect(foundIn(report)).toEqual(['get_order is-error result.isError the tool failed'])
  expect(report.noise.map(({ tool, path }) => `${tool} ${path}`)).toContain(
    'create_order result.structuredContent.order.id',
  )
})

test.each([
  [
    'value',
    [
      'get_order values result.content[0].text.order.total changed',
      'get_order values result.structuredContent.order.total changed',
    ],
  ],
  [
    'type',
    [
      'get_order schema result.structuredContent.order.total must be number (outputSchema)',
      'get_order values result.content[0].text.order.total has another type',
      'get_order values result.structuredContent.order.total has another type',
    ],
  ],
  ['is-error', ['describe is-error result.isError the tool failed']],
  [
    'order',
    [
      'get_order order result.content[0].text.order.tags the same items come in another order',
      'get_order order result.structuredContent.order.tags the same items come in another order',
    ],
  ],
  ['progress', ['get_order notifications notifications[0] is missing']],
  [
    'rename',
    [
      'get_order values result.content[0].text.order.item is missing',
      'get_order values result.content[0].text.order.product is new',
      'get_order values result.structuredContent.order.item is missing',
      'get_order values result.structuredContent.order.product is new',
    ],
  ],
  ['slow', ['describe timing  took']],
])('a server with another %s is found out, and nothing else is reported', async (change, findings) => {
  const report = await verified({ change })
  expect(foundIn(report)).toEqual(findings)
  expect(report.summary.verdict).toBe(change === 'slow' ? 'pass' : 'fail') // being slow is a warning, unless a bound was set
})

interface Verifying {
  readonly change?: string
  readonly options?: Partial<ReplayOptions>
}

async function verified({ change, options }: Verifying = {}): Promise<RepeatedReport> {
  const command = fixtureServer('orders', ...(change === undefined ? [] : [change]))
  const target = commandTarget(command as [string, ...string[]])
  return replayRepeatedly(await loadTape(tape), { target, allowWrites: true, ...options }, { repeat: 2 })
}

/** What was found, without the values. */
function foundIn({ steps }: RepeatedReport): readonly string[] {
  return steps
    .flatMap(({ tool, findings }) =>
      findings.map(({ layer, path = '', message }) => `${tool} ${layer} ${path} ${message}`),
    )
    .map((line) => line.replace(/took .*/, 'took').replace(/(the tool failed).*/, '$1'))
    .toSorted()
}
