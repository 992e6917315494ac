import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Redactor } from '../redact/redactor.ts'
import { openTape } from '../store/file/read.ts'
import type { Frame } from '../tape/frame.ts'
import { encodeMembers, encodeMessage } from './frame-writer.ts'
import { StdioRecorder } from './stdio/stdio-recorder.ts'
import { TapeLog } from './tape-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'reelay-frames-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const key = {
  name: 'k-test',
  hmac: (text: string) => createHmac('sha256', 'test').update(text).digest(),
}
const WHY = 'searching it for secrets takes too long'

const response = (id: number, text: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })

test('a message beyond the limit is forwarded, and withheld with its id, length and the reason', async () => {
  const path = join(folder, 'withheld.tape.jsonl')
  const redactor = new Redactor({ key, maxWork: 20_000 })
  const servers = { one: { transport: 'stdio', env: [] } }
  const log = new TapeLog({ path, servers: () => servers, labels: { tags: {} }, redactor })
  const recorder = new StdioRecorder({ log, server: 'one', maxLineBytes: 1_000_000 })
  const long = response(7, 'password=Hunter2xyz '.repeat(2000))
  const handedOn: Buffer[] = []
  for (const line of [long, response(8, 'password=Hunter2xyz'), 'password=Hunter2xyz '.repeat(2000)]) {
    const chunk = Buffer.from(`${line}\n`)
    recorder.recordDirection('s2c').pass(chunk, () => void handedOn.push(chunk))
  }
  recorder.stderr(Buffer.from(`${'password=Hunter2xyz '.repeat(2000)}\n`))
  recorder.endOfStderr()
  expect(await log.finish()).toMatchObject({ frames: 5, loss: undefined, withheld: 3 })
  expect(handedOn.map((chunk) => chunk.length)).toEqual([long.length + 1, expect.any(Number), 40_001])

  expect(readFileSync(path, 'utf8')).not.toContain('Hunter2xyz')
  const tape = await openTape(path)
  const frames: Frame[] = []
  for await (const frame of tape.frames()) frames.push(frame)
  expect(frames).toMatchObject([
    { kind: 'raw', raw: '', cut: { bytes: long.length, id: 7 }, why: `withheld: ${WHY}` },
    { kind: 'message', message: { kind: 'response', id: 8 } },
    { kind: 'raw', raw: `[withheld: ${WHY}]` },
    { kind: 'stderr', stderr: `[withheld: ${WHY}]` },
    { kind: 'event', event: 'end' },
  ])
})

test('a message of a program and the details of an event are withheld in the same way', () => {
  const redactor = new Redactor({ key, maxWork: 20_000 })
  const request = `{"jsonrpc":"2.0","id":"a","method":"x","params":{"t":"${'password=Hunter2xyz '.repeat(2000)}"}}`
  expect(encodeMessage(request, redactor)).toBe(
    `"cut":{"bytes":${request.length},"id":"a","method":"x"},"raw":"","why":"withheld: ${WHY}"`,
  )
  expect(encodeMembers({ why: 'password=Hunter2xyz '.repeat(2000) }, redactor)).toBe(
    `,"why":"[withheld: ${WHY}]"`,
  )
})
