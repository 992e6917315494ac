import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadTape } from '../store/file/read.ts'
import { createRecording, type Recording } from './recording.ts'

function newRecording(): Recording {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return createRecording({ tape: join(folder, 'a.tape.jsonl') })
}

test('a line that is not a message does not affect the frames of another connection', async () => {
  const recording = newRecording()
  const http = recording.http('remote', new URL('http://a.test/mcp'))
  const pipes = recording.pipes({ server: 'local', info: { transport: 'stdio' } })
  http.watch({ method: 'GET', path: '/mcp', headers: [] })
  pipes.recordDirection('s2c').pass(Buffer.from('oops\n'), () => {})
  await recording.close()
  const { rest, problems } = await loadTape(recording.path ?? '')
  expect(problems).toEqual([])
  expect(rest.map(({ n, kind }) => `${n} ${kind}`)).toEqual(['1 event', '2 http', '3 raw', '4 event'])
})

test('without a connection there is no tape, and the summary says why', async () => {
  const recording = newRecording()
  expect(await recording.close()).toMatchObject({
    path: undefined,
    frames: 0,
    loss: { why: 'there was no connection to record', frames: 0 },
  })
})

test('a tape can be closed twice, and later messages are ignored', async () => {
  const recording = newRecording()
  const link = recording.link({ server: 'a', info: { transport: 'pigeon' } })
  link.message('c2s', { jsonrpc: '2.0', id: 1, method: 'coo' })
  const summary = await recording.close()
  link.message('s2c', { jsonrpc: '2.0', id: 1, result: {} })
  expect(await recording.close()).toEqual(summary)
  expect(await loadTape(recording.path ?? '')).toMatchObject({
    ended: true,
    frames: 2,
    header: { servers: { a: { transport: 'pigeon' } } },
  })
})
