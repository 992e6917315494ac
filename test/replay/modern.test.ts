import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import type { ReplayTarget } from '../../src/replay/options.ts'
import { commandTarget } from '../../src/replay/targets.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { modernSession } from '../interop/modern-session.ts'
import { recorded, run } from '../interop/run.ts'
import { fixtureServer } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const folder = sharedFolder()
const tape = join(folder, 'session.tape.jsonl')

beforeAll(async () => {
  await run(
    {
      sdk: 'v2',
      answers: { root: 'file:///nowhere', elicited: { sure: true } },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      command: recorded(tape, fixtureServer('modern')),
    },
    (session) => modernSession(session, [{ promptsListChanged: true }, { toolsListChanged: true }]),
  )
})

test('a modern server is as recorded over pipes: input in the middle of a call goes with the live state', async () => {
  const report = await verified(commandTarget(fixtureServer('modern') as [string, ...string[]]))
  expect(foundIn(report)).toEqual([])
  expect(report.summary.verdict).toBe('pass')
})

async function verified(target: ReplayTarget): Promise<RepeatedReport> {
  return replayRepeatedly(await loadTape(tape), { target, allowWrites: true }, { repeat: 1 })
}

function foundIn({ steps, notes }: RepeatedReport): readonly string[] {
  return [
    ...notes,
    ...steps.flatMap(({ method, tool, findings, why, state }) => [
      ...(state === 'done' || state === 'skipped' ? [] : [`${method} ${tool} ${state} ${why}`]),
      ...findings.map((finding) => JSON.stringify([method, tool, finding]).slice(0, 400)),
    ]),
  ]
}
