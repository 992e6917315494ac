import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { fixtureServer, isAlive, REELAY, temporaryFolder } from '../support/recorder.ts'
import { atTerminal, HAS_TERMINALS, type AtTerminal } from '../support/terminal.ts'
import { interrupted, LEFT_WELL } from './interrupting.ts'
import { tapeOf, tapeOfWaits } from './waits-tape.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOUR = '3600000'
const answered = (times: number): { said: string; times: number } => ({ said: 'answered tools/call', times })

test('Ctrl+C while a request waits to be sent again ends the run, and what its last attempt found is told', async () => {
  const retrying = ['replay', tapeOfWaits(2), '--on-error', 'retry', '--retry-delay', HOUR]
  const run = await interrupted(retrying, fixtureServer('slow-calls', '0', 'nonsense'), answered(1))
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(/lost +#1 .* the answer is not a valid response: /)
  expect(run.out).toMatch(/skipped +#2 .* the run was stopped {2}frame \d+\n/)
  expect(run.out).toMatch(/\n0 of 1 responses as recorded, 1 differs \(transport 1\), 1 skipped\n/)
})

test('Ctrl+C while many requests wait to be sent again ends the run, and there is no warning of a leak', async () => {
  const retrying = ['replay', tapeOfWaits(12), '--order', 'random', '--on-error', 'retry']
  const server = fixtureServer('slow-calls', '0', 'nonsense')
  const run = await interrupted([...retrying, '--retry-delay', HOUR], server, answered(12))
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(/\n0 of 12 responses as recorded, 12 differ \(transport 12\)\n/)
})

test('Ctrl+C while an answer that a rule does not accept waits for another ends the run, and the answer is told', async () => {
  const config = join(temporaryFolder(), 'reelay.config.json')
  const rule = { name: 'patient', kind: 'exact', onFailure: 'retry' }
  writeFileSync(
    config,
    JSON.stringify({
      replay: { errorHandling: { retryDelay: Number(HOUR) }, validation: { rules: [rule] } },
    }),
  )
  const retrying = ['replay', tapeOfWaits(1), '--config', config]
  const run = await interrupted(retrying, fixtureServer('slow-calls', '0', 'other'), answered(1))
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(
    /result\.content\[0\]\.text +changed +recorded "done" +now "other"\n0 of 1 responses as recorded, 1 differs \(values 1\)\n/,
  )
})

test('Ctrl+C while the answer to a request is awaited that would be sent again if it got none ends the run', async () => {
  const retrying = ['replay', tapeOfWaits(1), '--on-error', 'retry', '--retry-delay', HOUR]
  const heard = { said: 'heard tools/call', times: 1 }
  const run = await interrupted(retrying, fixtureServer('slow-calls', 'never'), heard)
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(/lost +#1 /)
})

test('Ctrl+C while a rule delays a message ends the run, and the message counts as left out', async () => {
  const config = join(temporaryFolder(), 'reelay.config.json')
  const rule = { name: 'later', action: { delay: Number(HOUR) } }
  writeFileSync(config, JSON.stringify({ replay: { transformations: [rule] } }))
  const listed = { said: 'answered tools/list', times: 1 }
  const run = await interrupted(
    ['replay', tapeOfWaits(1), '--config', config],
    fixtureServer('slow-calls'),
    listed,
  )
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(
    /skipped +#1 .* the run was stopped {2}frame \d+\n0 of 0 responses as recorded, 1 skipped\n/,
  )
})

test('a message that waits for the handshake when Ctrl+C comes counts as left out, not as lost', async () => {
  const tape = tapeOf([{ method: 'ping', params: {}, result: {} }])
  const greeted = { said: 'heard initialize', times: 1 }
  const run = await interrupted(
    ['replay', tape, '--timeout', HOUR],
    fixtureServer('slow-calls', '0', '', 'initialize'),
    greeted,
  )
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(
    /^skipped +#1  ping +the run was stopped {2}frame \d+\n0 of 0 responses as recorded, 1 skipped\n/,
  )
})

test('Ctrl+C in the middle of many slow calls: what was answered is judged, one is lost, the others are left out, nothing differs', async () => {
  const slow = ['replay', tapeOfWaits(200), '--json']
  const run = await interrupted(slow, fixtureServer('slow-calls', '30'), answered(10))
  expect(run).toMatchObject(LEFT_WELL)
  const { summary, validation, errors, notes } = JSON.parse(run.out)
  const { sent, skipped } = summary
  expect([sent + skipped, sent >= 10]).toEqual([200, true])
  expect([summary.verdict, summary.successRate]).toEqual(['incomplete', 1 - errors.length / sent])
  expect(validation).toMatchObject({ checked: sent - errors.length, passed: sent - errors.length, failed: 0 })
  expect(errors.map(({ why }: { why: string }) => why)).toEqual(
    errors.length === 0 ? [] : ['the run was stopped before its answer came'],
  )
  expect(notes).toEqual([])
})

test('Ctrl+C while one of many messages may be sent at a time: those that had no turn are left out', async () => {
  const slow = ['replay', tapeOfWaits(5), '--order', 'random', '--max-concurrent', '1']
  const heard = { said: 'heard tools/call', times: 1 }
  const run = await interrupted(slow, fixtureServer('slow-calls', 'never'), heard)
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(/\n0 of 0 responses as recorded, 4 skipped\n/)
})

test('Ctrl+C in the handshake of a further run leaves the report of the runs before it as it is', async () => {
  const file = join(temporaryFolder(), 'mute')
  const mute = `process.env.REELAY_RUN === '2' && fs.writeFileSync(process.argv[1], '')`
  const before = ['--before-run', `"${process.execPath}" -e "${mute}" "${file}"`]
  const often = ['replay', tapeOfWaits(2), '--repeat', '5', '--timeout', HOUR, ...before]
  const server = fixtureServer('slow-calls', '0', 'done', 'initialize', file)
  const run = await interrupted(often, server, { said: 'heard initialize', times: 2 })
  expect(run).toMatchObject(LEFT_WELL)
  expect(run.out).toMatch(/^ok +#1 .*\nok +#2 .*\n2 of 2 responses as recorded\n/)
})

test('Ctrl+C in a further run: what it had no time for is not taken for a finding that comes and goes', async () => {
  const often = ['replay', tapeOfWaits(2), '--repeat', '5', '--json']
  const run = await interrupted(often, fixtureServer('slow-calls', '20', 'other'), answered(5))
  expect(run).toMatchObject(LEFT_WELL)
  expect(JSON.parse(run.out)).toMatchObject({ runs: 2, unstable: [], validation: { failed: 2 } })
})

test.runIf(HAS_TERMINALS).each([
  ['typed', (run: AtTerminal) => void run.child.stdin.write('\x03')],
  ['sent as a signal', (run: AtTerminal) => void process.kill(pidIn(run, 'reelay'), 'SIGINT')],
])('Ctrl+C at the question whether to go on, %s, ends the run and the server', async (_, interrupt) => {
  const paused = ['replay', tapeOfWaits(2), '--on-error', 'pause']
  const server = fixtureServer('slow-calls', '0', 'other')
  const run = atTerminal([process.execPath, '--import', TELL_PID, REELAY, ...paused, '--', ...server])
  await run.said('go on? [Y/n]')
  interrupt(run)
  expect(await run.exited).toEqual({ code: 130, signal: null })
  const out = run.stdout().toString()
  expect(out).toMatch(/0 of 1 responses as recorded, 1 differs \(values 1\), 1 skipped\r\n/)
  expect([isAlive(pidIn(run, 'pid')), out.includes('AbortError')]).toEqual([false, false])
})

test('verify --watch ends with 130 when it is told to, while it waits for a change and while it checks', async () => {
  const watching = ['verify', tapeOfWaits(2), '--watch']
  const waiting = await interrupted(watching, fixtureServer('slow-calls'), {
    said: 'waiting for a change',
    times: 1,
  })
  const checking = await interrupted(watching, fixtureServer('slow-calls', 'never'), {
    said: 'heard tools/call',
    times: 1,
  })
  expect([waiting, checking]).toMatchObject([LEFT_WELL, LEFT_WELL])
  expect(checking.err).not.toContain('waiting for a change')
})

test('Ctrl+C while the command before the run is at work ends it too, and no server is started', async () => {
  const long = `echo heard; "${process.execPath}" -e "setTimeout(() => {}, ${HOUR})"`
  const slow = ['replay', tapeOfWaits(1), '--before-run', long]
  const run = await interrupted(slow, fixtureServer('slow-calls'), { said: 'heard', times: 1 })
  expect(run).toMatchObject(LEFT_WELL)
  expect([run.err, run.out]).toEqual([
    'heard\n',
    expect.stringMatching(/^skipped +#1 .* the run was stopped {2}frame \d+\n/),
  ])
})

/** Lets a program tell who it is before it begins. */
const TELL_PID = 'data:text/javascript,process.stderr.write(`reelay ${process.pid}\\n`)'

function pidIn(run: AtTerminal, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(run.stdout().toString())?.[1])
}
