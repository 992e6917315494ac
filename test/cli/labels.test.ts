import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRecording } from '../../src/record/recording.ts'
import { recordTransport } from '../../src/record/in-process/record-transport.ts'
import { resolve } from 'node:path'
import { ended, weatherIn } from '../auto/program.ts'
import { httpServer, startRecorder } from '../support/http.ts'
import { fixtureServer, linesOf, record, REELAY, start, temporaryFolder } from '../support/recorder.ts'

const LABELS = [
  '--session',
  's-1',
  '--endpoint',
  'eu',
  '--agent',
  'planner',
  '--note',
  'before the fix',
  '--tag',
  'a=b',
]
const ON_TAPE = { session: 's-1', endpoint: 'eu', agent: 'planner', note: 'before the fix', tags: { a: 'b' } }

test('session, endpoint, agent, note and tags are in the header, and inspect and list show them', async () => {
  const home = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: home }
  const command = [
    process.execPath,
    REELAY,
    'record',
    ...LABELS,
    'mine',
    '--',
    ...fixtureServer('answer-calls'),
  ]
  const run = start(command, { env })
  run.child.stdin.end()
  await run.exited
  expect(linesOf(join(home, 'tapes', 'mine.tape.jsonl'))[0]).toMatchObject(ON_TAPE)
  const shown = async (...args: string[]): Promise<string> => {
    const { exited, stdout } = start([process.execPath, REELAY, ...args], { env })
    await exited
    return stdout().toString()
  }
  const words = 'session=s-1, endpoint=eu, agent=planner, note=before the fix, a=b'
  expect(await shown('inspect', 'mine')).toContain(words)
  expect(JSON.parse(await shown('inspect', 'mine', '--json'))).toMatchObject({ tape: ON_TAPE })
  expect(await shown('list')).toContain('answer-calls session=s-1 endpoint=eu agent=planner')
  expect(JSON.parse(await shown('list', '--json'))).toMatchObject({ tapes: [ON_TAPE] })
})

test('a tape without labels says nothing of them', async () => {
  const run = record(fixtureServer('answer-calls'), { env: { PATH: process.env['PATH'] } })
  run.child.stdin.end()
  await run.exited
  expect(Object.keys(linesOf(run.tape)[0] ?? {})).toEqual([
    'reelay',
    'id',
    'started',
    'by',
    'servers',
    'redaction',
    'tags',
  ])
})

test('the environment labels what is recorded, and the command line counts for more', async () => {
  const env = {
    ...process.env,
    REELAY_SESSION: 'from-env',
    REELAY_AGENT: 'a',
    REELAY_NOTE: '',
    REELAY_TAGS: 'a=1,b=2',
  }
  const run = record(fixtureServer('answer-calls'), { env, options: ['--session', 'said', '--tag', 'b=3'] })
  run.child.stdin.end()
  await run.exited
  const header = linesOf(run.tape)[0]
  expect(header).toMatchObject({ session: 'said', agent: 'a', tags: { a: '1', b: '3' } })
  expect(header).not.toHaveProperty('note')
})

test('a proxy labels its tape in the same way', async () => {
  const { origin } = await httpServer((_req, res) => res.end())
  const run = await startRecorder(`${origin}/mcp`, ...LABELS)
  expect(linesOf(run.tape)[0]).toMatchObject(ON_TAPE)
})

test('reelay run hands its labels to the tapes of the program; a replay has none to label', async () => {
  const home = temporaryFolder()
  const program = [
    process.execPath,
    resolve('test/fixtures/programs/v1.cjs'),
    JSON.stringify([weatherIn('Oslo')]),
  ]
  const run = (...args: string[]): ReturnType<typeof ended> =>
    ended([process.execPath, REELAY, 'run', ...args, '--', ...program], { REELAY_HOME: home })
  expect(await run('--record', 'demo', ...LABELS)).toMatchObject({ code: 0 })
  expect(linesOf(join(home, 'tapes', 'demo.tape.jsonl'))[0]).toMatchObject(ON_TAPE)
  const refused = await run('--replay', 'demo', '--session', 's-1')
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no tape that could be labelled') as string,
  })
})

test('a recording in a program is labelled by its options', async () => {
  const tape = join(temporaryFolder(), 'x.tape.jsonl')
  const recording = createRecording({ tape, session: 's-1', agent: 'planner', tags: { a: 'b' } })
  const inner = { start: async () => {}, send: async () => {}, close: async () => {} }
  await recordTransport(inner, { recording, server: 's' }).start()
  await recording.close()
  expect(linesOf(tape)[0]).toMatchObject({ session: 's-1', agent: 'planner', tags: { a: 'b' } })
})
