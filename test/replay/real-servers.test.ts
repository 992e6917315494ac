import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import { commandTarget } from '../../src/replay/targets.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { everythingSession } from '../interop/everything-session.ts'
import { filesystemSession } from '../interop/filesystem-session.ts'
import { memorySession } from '../interop/memory-session.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { recorded, run, type Session } from '../interop/run.ts'
import { costlyCases } from '../support/cases.ts'
import type { Answers, Sdk } from '../support/sdk.ts'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

interface Subject {
  readonly name: string
  readonly sdk: Sdk
  readonly command: readonly string[]
  readonly env: Record<string, string>
  readonly answers: Answers
  readonly session: Session
  readonly prepare: () => void
  /** How many may run at a time: those that keep files would meet each other's. */
  readonly atOnce: number
}

/** Fresh servers of each kind: 4 in the gate, 50 with `REELAY_CASES=5000`. */
const { numRuns: RUNS } = costlyCases(4)
const files = join(sharedFolder(), 'files')
const MEMORY_FILE_PATH = join(sharedFolder(), 'graph.jsonl')
// The SDKs give their servers a few variables of the environment, which server-everything tells to whoever asks.
const ENV = getDefaultEnvironment()

const SUBJECTS: readonly Subject[] = [
  {
    name: 'server-everything',
    sdk: 'v1',
    command: referenceServer('server-everything', 'stdio'),
    env: ENV,
    answers: { root: 'file:///home/tester', elicited: { name: 'Zoë' } },
    session: everythingSession,
    prepare: () => {},
    atOnce: 4,
  },
  {
    name: 'server-filesystem',
    sdk: 'v2',
    command: referenceServer('server-filesystem', files),
    env: ENV,
    answers: { root: pathToFileURL(files).href, elicited: {} },
    session: (session) => filesystemSession(session, files),
    prepare: () => {
      rmSync(files, { recursive: true, force: true })
      mkdirSync(join(files, 'empty'), { recursive: true })
      writeFileSync(join(files, 'notes.txt'), 'first\nsecond\n')
    },
    atOnce: 1,
  },
  {
    name: 'server-memory',
    sdk: 'v1',
    command: referenceServer('server-memory'),
    env: { ...ENV, MEMORY_FILE_PATH },
    answers: { root: 'file:///nowhere', elicited: {} },
    session: memorySession,
    prepare: () => rmSync(MEMORY_FILE_PATH, { force: true }),
    atOnce: 1,
  },
]

describe.each(SUBJECTS)(
  '$name, recorded with SDK $sdk',
  ({ sdk, command, env, answers, session, prepare, atOnce }) => {
    const path = join(sharedFolder(), 'session.tape.jsonl')

    beforeAll(async () => {
      prepare()
      await run({ sdk, answers, command: recorded(path, command), env }, session)
    })

    test('a fresh one is found to be as recorded, with nothing left to explain', async () => {
      const report = await verified()
      expect(findingsIn(report)).toEqual([])
      expect(report.summary).toMatchObject({ verdict: 'pass', held: 0, unbound: 0, successRate: 1 })
    })

    test('calls that may write are held back until they are allowed', async () => {
      const report = await verified({ allowWrites: false })
      expect(report.summary.held).toBeGreaterThan(0)
      expect(report.steps.filter(({ state, sent }) => state === 'held' && sent !== undefined)).toEqual([])
    })

    test('several fresh ones are as recorded, and none gives a false alarm', async () => {
      for (let done = 0; done < RUNS; done += atOnce) {
        const reports = await Promise.all(Array.from({ length: atOnce }, () => verified()))
        expect([done, ...reports.flatMap(findingsIn)]).toEqual([done])
      }
    })

    async function verified({ allowWrites = true, repeat = 2 } = {}): Promise<RepeatedReport> {
      const target = commandTarget(command as [string, ...string[]], { env })
      const options = { target, allowWrites }
      return replayRepeatedly(await loadTape(path), options, { repeat, beforeRun: async () => prepare() })
    }
  },
)

function findingsIn({ steps }: RepeatedReport): readonly string[] {
  return steps.flatMap(({ frame, method, tool, findings }) =>
    findings.map(({ layer, path, message, expected, actual }) =>
      JSON.stringify([frame, method, tool, layer, path, message, expected, actual]).slice(0, 500),
    ),
  )
}
