import { existsSync, readdirSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { httpServer, ask, post, startRecorder } from '../support/http.ts'
import {
  fixtureServer,
  REELAY,
  record,
  type RecordedRun,
  start,
  temporaryFolder,
  until,
} from '../support/recorder.ts'

// A tape that is lost or incomplete never ends the session, and the user is always told.

const isWindows = process.platform === 'win32'
const SERVER = fixtureServer('answer-calls')
const request = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"m"}\n`

/** Records a session in which something happens to the tape after the first response. */
async function recordWhile(happens: (tape: string) => void): Promise<RecordedRun> {
  const run = record(SERVER, { options: ['-q'] })
  run.child.stdin.write(request(1))
  await run.line('"id":1')
  happens(run.tape)
  await until(() => run.stderr().includes('; the session goes on'))
  run.child.stdin.write(request(2))
  await run.line('"id":2')
  run.child.stdin.end(request(3))
  expect((await run.exited).code).toBe(0)
  expect(run.stdout().toString()).toContain('"id":3')
  return run
}

/** Starts a recorder below a limit that the shell sets. */
function recordWithin(limit: string, tape: string): ReturnType<typeof start> {
  const script = `ulimit ${limit}; exec "$@"`
  const recorder = [process.execPath, REELAY, 'record', '-q', '-o', tape, '--', ...SERVER]
  return start(['/bin/sh', '-c', script, 'sh', ...recorder])
}

test.skipIf(isWindows)(
  'a tape that is deleted while it is recorded is reported at once and at the end',
  async () => {
    const run = await recordWhile((tape) => rmSync(tape))
    expect(existsSync(run.tape)).toBe(false)
    expect(run.stderr().replaceAll(run.tape, 'TAPE').split('\n')).toEqual([
      'reelay: TAPE_UNWRITABLE TAPE: the file was deleted while it was recorded; the session goes on',
      'reelay: TAPE_UNWRITABLE incomplete: 10 frames are not on TAPE: the file was deleted while it was recorded',
      '',
    ])
  },
)

test.skipIf(isWindows)('a tape that is moved while it is recorded is complete at its new place', async () => {
  const moved = join(temporaryFolder(), 'moved.tape.jsonl')
  const run = await recordWhile((tape) => renameSync(tape, moved))
  expect(run.stderr().split('\n').at(-2)).toBe(
    `reelay: TAPE_UNWRITABLE ${run.tape}: the file was moved while it was recorded${process.platform === 'linux' ? `, and is now ${moved}` : ''}`,
  )
  const { ended, problems, turns } = await loadTape(moved)
  expect({ ended, problems, turns: turns.length }).toEqual({ ended: true, problems: [], turns: 3 })
})

test.each([0, 100, -9])(
  'a tape that is truncated to %i bytes while it is recorded can still be opened',
  async (bytes) => {
    const run = await recordWhile((tape) =>
      truncateSync(tape, bytes < 0 ? statSync(tape).size + bytes : bytes),
    )
    const [, lost] =
      /incomplete: (\d+) frames? (?:is|are) not on .*: the file was truncated/.exec(run.stderr()) ?? []
    const { ended, turns, frames } = await loadTape(run.tape)
    expect({ ended, frames }).toEqual({ ended: true, frames: 10 - Number(lost) })
    expect(turns.at(-1)?.response?.text).toContain('"id":3')
    expect(readdirSync(dirname(run.tape))).toEqual(['session.tape.jsonl'])
  },
)

test.skipIf(isWindows)(
  'without room for the header there is no tape, and without room for more it ends early',
  async () => {
    const tape = join(temporaryFolder(), 'session.tape.jsonl')
    const empty = recordWithin('-f 0', tape)
    empty.child.stdin.end(request(1))
    expect((await empty.exited).code).toBe(0)
    expect(empty.stdout().toString()).toContain('"id":1')
    expect(empty.stderr()).toMatch(
      /^reelay: TAPE_UNWRITABLE not recording: file too large.*\nreelay: TAPE_UNWRITABLE recorded nothing: file too large\n$/,
    )
    expect(existsSync(tape)).toBe(false)

    const short = recordWithin('-f 2', tape)
    for (let id = 1; id <= 20; id++) {
      short.child.stdin.write(request(id))
      await short.line(`"id":${id},`)
    }
    short.child.stdin.end()
    expect((await short.exited).code).toBe(0)
    expect(short.stderr()).toMatch(
      /the tape stops here: file too large.*; the session goes on\n.*incomplete: \d+ frames are not on/,
    )
    const { turns, problems } = await loadTape(tape)
    expect(turns.length).toBeGreaterThan(0)
    expect(problems.map(({ why }) => why)).toEqual([expect.stringContaining('the recorder could not write')])
  },
)

// With 22, not even the guard of the server can be started.
test.runIf(process.platform === 'linux').each([22, 24])(
  'with %i file descriptors the session goes on without a tape',
  async (files) => {
    const tape = join(temporaryFolder(), 'session.tape.jsonl')
    const run = recordWithin(`-n ${files}`, tape)
    run.child.stdin.end(request(1))
    expect((await run.exited).code).toBe(0)
    expect(run.stdout().toString()).toContain('"id":1')
    expect(run.stderr()).toMatch(
      /^reelay: TAPE_UNWRITABLE not recording: .*EMFILE; the session goes on without a tape\n$/,
    )
  },
)

test.skipIf(isWindows)('a device is never taken for a tape', async () => {
  const run = start([process.execPath, REELAY, 'record', '-q', '-o', '/dev/full', '--', ...SERVER])
  run.child.stdin.end(request(1))
  expect((await run.exited).code).toBe(0)
  expect(run.stderr()).toContain('not recording: /dev/full is not a regular file; the session goes on')
  expect(existsSync('/dev/full-2')).toBe(false)
})

test.skipIf(isWindows)('a proxy tells at once that its tape is gone', async () => {
  const server = await httpServer((req, res) => void req.resume().on('end', () => res.end('{"id":1}')))
  const recorder = await startRecorder(`${server.origin}/mcp`, '-q')
  rmSync(recorder.tape)
  await until(() =>
    recorder.stderr().includes('the file was deleted while it was recorded; the session goes on'),
  )
  expect((await ask(recorder.url, post({ jsonrpc: '2.0', id: 1, method: 'm' }))).status).toBe(200)
  recorder.child.kill('SIGTERM')
  await recorder.exited
  expect(recorder.stderr()).toContain('TAPE_UNWRITABLE incomplete: ')
})
