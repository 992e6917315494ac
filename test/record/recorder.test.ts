import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { Recorder, type RecorderOptions } from '../../src/record/stdio/recorder.ts'

function options(
  more: Partial<RecorderOptions> = {},
): RecorderOptions & { input: PassThrough; output: PassThrough } {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const input = new PassThrough()
  const output = new PassThrough()
  const command = [process.execPath, resolve('test/fixtures/servers/answer-calls.mjs')] as const
  const tape = join(folder, 'x.tape.jsonl')
  return { command: [...command], tape, client: { input, output }, input, output, ...more }
}

const CALL = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}'
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"params":{"a":1}}}'

test('a recorder is idle, recording while a session runs, and idle again; a second session gets another tape', async () => {
  const recorder = new Recorder()
  expect(recorder.state).toBe('idle')
  const given = options()
  const first = recorder.start(given)
  expect(recorder.state).toBe('recording')
  given.input.end(`${CALL}\n`)
  expect(await first).toMatchObject({ path: given.tape, exit: { code: 0 } })
  expect(recorder.state).toBe('idle')
  const again = { ...given, client: { input: new PassThrough(), output: new PassThrough() } }
  const second = recorder.start(again)
  again.client.input.end(`${CALL}\n`)
  expect((await second).path).toBe(given.tape.replace('.tape', '-2.tape'))
})

test('stop ends the session and its server as if the client had left', async () => {
  const recorder = new Recorder()
  const given = options()
  const session = recorder.start(given)
  given.input.write(`${CALL}\n`)
  await new Promise((heard) => given.output.once('data', heard))
  await recorder.stop()
  expect(await session).toMatchObject({ exit: { code: 0 }, loss: undefined })
  expect(recorder.state).toBe('idle')
  expect(readFileSync(given.tape, 'utf8')).toContain('"event":"end"')
  await recorder.stop() // may be called twice
})

test('the callbacks get each message, by the side that sent it', async () => {
  const heard: string[] = []
  const given = options({
    onClientMessage: (text) => heard.push(`client ${text}`),
    onServerMessage: (text) => heard.push(`server ${text}`),
  })
  const session = new Recorder().start(given)
  given.input.end(`${CALL}\n`)
  await session
  expect(heard).toEqual([`client ${CALL}`, `server ${ANSWER}`])
})

test('a second start on a recorder that is recording is rejected, and the session continues', async () => {
  const recorder = new Recorder()
  const given = options()
  const session = recorder.start(given)
  await expect(recorder.start(options())).rejects.toMatchObject({ code: 'USAGE' })
  given.input.end()
  expect((await session).exit.code).toBe(0)
})

test('a command that does not exist rejects with COMMAND_NOT_FOUND', async () => {
  const session = new Recorder().start(options({ command: ['no-such-server-anywhere'] }))
  await expect(session).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' })
})

test('a callback that throws ends the tape, never the session', async () => {
  const given = options({
    onClientMessage: () => {
      throw new Error('listener failed')
    },
  })
  const session = new Recorder().start(given)
  given.input.end(`${CALL}\n${CALL}\n`)
  expect(await session).toMatchObject({ exit: { code: 0 }, loss: { why: 'listener failed' } })
  expect(String(given.output.read())).toBe(`${ANSWER}\n${ANSWER}\n`)
})
