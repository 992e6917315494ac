import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { fixtureServer, REELAY, start } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { writeLargeTape } from './large-tape.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

// Far more than fits into the heap that the runs below are given.
const folder = sharedFolder()
const tape = join(folder, 'large.tape.jsonl')
const CALLS = 3000
const HEAP_MB = 64

beforeAll(() => writeLargeTape(tape, { calls: CALLS, characters: 20_000 }))

test('a tape that does not fit into memory is replayed from its file, every answer compared', async () => {
  const { code, out } = await reelay('replay', tape, '--', ...fixtureServer('pages'))
  expect(out.slice(-2000)).toMatch(/^3000 of 3000 responses as recorded$/m)
  expect(code).toBe(0)
})

test('the report and the results of such a run are written step by step', async () => {
  const [report, results] = [join(folder, 'report.json'), join(folder, 'results.json')]
  const written = ['--output', report, '--results', results]
  const { code } = await reelay('replay', tape, ...written, '--', ...fixtureServer('pages'))
  expect(code).toBe(0)
  const { steps, timeline } = readJson(report) as { steps: Step[]; timeline: unknown[] }
  expect([steps.length, timeline.length]).toEqual([CALLS, CALLS])
  expect(steps.map(({ answer }) => answer.result)).toEqual(steps.map((step) => step.recordedAnswer.result))
  const { messages, ...rest } = readJson(results) as { results: unknown[]; messages: Said[] }
  expect(rest.results).toHaveLength(CALLS)
  expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, place) => place))
  expect(messages.filter(({ direction }) => direction === 'server_to_client')).toHaveLength(CALLS)
})

interface Step {
  readonly answer: { readonly result: unknown }
  readonly recordedAnswer: { readonly result: unknown }
}

interface Said {
  readonly sequence: number
  readonly direction: string
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

test('what a run would send of such a tape is shown without holding it in memory', async () => {
  const { code, out } = await reelay('replay', tape, '--dry-run', '--allow', 'page')
  expect(out.match(/^send +#\d+ +tools\/call page/gm)?.length).toBe(CALLS)
  expect(code).toBe(0)
})

async function reelay(...words: readonly string[]): Promise<{ code: number | null; out: string }> {
  const run = start([process.execPath, `--max-old-space-size=${HEAP_MB}`, REELAY, ...words])
  run.child.stdin.end()
  const { code } = await run.exited
  return { code, out: run.stdout().toString() }
}
