import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { replayTransport } from '../../src/serve/replay-transport.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { isAlive, linesOf } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { clientOf, SDKS, type AnyClient, type Answers } from '../support/sdk.ts'
import { connect } from '../support/sdk-session.ts'
import { startServing } from '../support/serving.ts'
import { httpRun, judge, recorded, run, served, type Judged, type Run, type Session } from './run.ts'

export interface Subject {
  readonly name: string
  readonly command: readonly string[]
  readonly env?: Record<string, string>
  readonly answers: Answers
  readonly session: Session
  /** What this session makes the server say of its own accord. */
  readonly speaks: {
    readonly asks: readonly string[]
    readonly tells: readonly string[]
    readonly progress: number
  }
  /** Puts what the server works on into its first state. */
  readonly prepare?: () => void
  /** Takes it away. */
  readonly remove?: () => void
}

/** The command that the package of a reference server installs; nothing is fetched. */
export function referenceServer(name: string, ...args: string[]): readonly string[] {
  const file = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`)
  const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { bin: Record<string, string> }
  return [process.execPath, join(dirname(file), bin[`mcp-${name}`] ?? ''), ...args]
}

/** Records a server with each SDK, once, and plays every recording to both. */
export function describeServer(subject: Subject): void {
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })
  describe.each(SDKS)(`${subject.name}, recorded with SDK %s`, (sdk) => {
    const { answers, session, command, env = {} } = subject
    const tape = join(sharedFolder(), 'session.tape.jsonl')
    let recording: Run

    beforeAll(async () => {
      subject.prepare?.()
      recording = await run({ sdk, answers, command: recorded(tape, command), env }, session)
      subject.remove?.()
    })

    test('answers through the recorder as it does without it', async () => {
      subject.prepare?.()
      const direct = await run({ sdk, answers, command, env }, session)
      subject.remove?.()
      expect(recording).toMatchObject({ code: direct.code, signal: direct.signal, errors: direct.errors })
      expect(steadyPart(recording)).toEqual(steadyPart(direct))
    })

    test('says of its own accord what the session is about', () => {
      const { asked, told, progress } = recording.account
      expect({
        asks: asked.map(({ method }) => method),
        tells: [...new Set(told.map(({ method }) => method))],
        progress: progress.length,
      }).toEqual(subject.speaks)
    })

    test('has left no process and a whole tape when its client closed', async () => {
      const [, start] = linesOf(tape)
      expect(start).toMatchObject({ event: 'start', pid: expect.any(Number) })
      expect(isAlive(Number(start?.['pid']))).toBe(false)
      expect(await loadTape(tape)).toMatchObject({ ended: true, problems: [], strays: [] })
    })

    test('holds nothing that the redaction takes for a secret', async () => {
      expect((await loadTape(tape)).header.redaction).toMatchObject({ rules: 'default-9' })
      expect(recording.stderr).toMatch(/recorded \d+ frames to \S+\n/)
    })

    test.each(SDKS)('is played to a client of SDK %s: the same session, under live ids', async (other) => {
      const replay = await run({ sdk: other, answers, command: served(tape) }, async (replayed) => {
        await moveIdsOn(replayed.client)
        return session(replayed)
      })
      expectSameSession(replay, recording)
      expect(replay.progressTokens.filter((token) => recording.progressTokens.includes(token))).toEqual([])
      expect(replay.stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
      expect(replay).toMatchObject({ code: 0, signal: null })
    })

    test.each(SDKS)('is played over HTTP and SSE to clients of SDK %s, at once', async (other) => {
      const serving = await startServing(tape, '--http', '--sse')
      const kinds = ['streamableHttp', 'sse'] as const
      const replays = await Promise.all(
        kinds.map((kind, at) =>
          httpRun({ sdk: other, kind, url: serving.urls()[at] ?? '', answers }, async (replayed) => {
            await moveIdsOn(replayed.client)
            return session(replayed)
          }),
        ),
      )
      for (const replay of replays) expectSameSession(replay, recording)
      const { code, stderr } = await serving.stop()
      expect(stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
      expect(code).toBe(0)
    })

    test.each(SDKS)('is played in the same process to a client of SDK %s', async (other) => {
      const replayed = await connect(clientOf(other, { answers }), replayTransport(await loadTape(tape)))
      const results = await session(replayed)
      expectSameSession(judge(replayed, results), recording)
      await replayed.client.close() // which fails when the run has drifted
      expect(results.progress).toEqual(recording.account.progress)
    })
  })
}

/** What does not change from run to run; `told` holds log messages of random levels. */
function steadyPart({ account: { server, steady, asked, progress } }: Run): unknown {
  return { server, steady, asked, progress }
}

function expectSameSession(replay: Judged, { account }: Judged): void {
  expect(replay.account).toEqual(account)
  expect(replay.progressKnown).toBe(account.progress.length)
  expect(replay.errors).toEqual([])
}

/** Pings that the tape need not hold: from then on, ids and progress tokens are others than the recorded ones. */
async function moveIdsOn(client: AnyClient): Promise<void> {
  for (let ping = 0; ping < 10; ping++) await client.ping()
}
