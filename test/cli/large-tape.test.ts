import { execFile } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const CALLS = 4000
const TICKET = '5f2c9d1e-77aa-4b1c-9e0d-3a1b2c4d5e6f'
const LONG = 'abcdefghi '.repeat(1000)

let folder: string
let tape: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reelay-large-'))
  tape = join(folder, 'large.tape.jsonl')
  writeTape(tape)
})
afterAll(() => rmSync(folder, { recursive: true }))

test('inspect shows every exchange of a tape that is larger than the memory that it has', async () => {
  const lines = (await withLittleMemory('inspect', tape)).split('\n')
  expect(lines).toHaveLength(CALLS + 10)
  expect(lines.slice(0, 7)).toEqual([
    tape,
    `${CALLS * 2 + 1} frames in 8.00 s, recorded 2026-11-15T00:00:00.000Z by test`,
    '',
    'pages (stdio) ',
    '  connection 1: no handshake',
    '',
    '   #         at  request          latency  outcome',
  ])
  expect(lines.slice(-4)).toEqual([
    `${CALLS}    +8.00 s  tools/call page   1.0 ms  ok  id=${CALLS} ticket=5f2c9d1e-77aa-4b1c-9e0d-3a1b2c4d5e6f`,
    '',
    `latency   ${CALLS} answered: median 1.0 ms, p95 1.0 ms, longest 1.0 ms`,
    '',
  ])
})

test('stats counts the calls of a tape that is larger than the memory that it has', async () => {
  const { calls }: { calls: unknown } = JSON.parse(await withLittleMemory('stats', tape, '--json'))
  expect(calls).toMatchObject([
    { call: 'all', count: CALLS, errors: 0, unanswered: 0 },
    { call: 'tools/call page', count: CALLS },
  ])
})

test('the bindings of a tape that is larger than the memory that it has are found', async () => {
  const found: unknown = JSON.parse(await withLittleMemory('inspect', tape, '--bindings', '--json'))
  expect(found).toMatchObject({
    bindings: [{ value: TICKET, to: [`#${CALLS} params.arguments.ticket`] }],
  })
})

/** Of a tape of 40 MB. */
function withLittleMemory(...words: readonly string[]): Promise<string> {
  const node = ['--max-old-space-size=32', 'dist/cli/main.js', ...words]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, node, { maxBuffer: 1e8 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    )
  })
}

function writeTape(path: string): void {
  const file = openSync(path, 'wx', 0o600)
  const line = (value: object): void => void writeSync(file, `${JSON.stringify(value)}\n`)
  const redaction = { rules: 'default-1', key: 'k-1' }
  const servers = { pages: { transport: 'stdio' } }
  line({ reelay: 1, id: 'x', started: '2026-11-15T00:00:00.000Z', by: 'test', servers, redaction, tags: {} })
  let n = 0
  const say = (dir: string, msg: object): void => line({ n: ++n, t: n, server: 'pages', conn: 1, dir, msg })
  for (let id = 1; id <= CALLS; id++) {
    const [given, sentBack] = [id === 1 ? ` ticket=${TICKET}` : '', id === CALLS ? { ticket: TICKET } : {}]
    const params = { name: 'page', arguments: { id, ...sentBack } }
    const content = [{ type: 'text', text: `page ${id} ${LONG}${given}` }]
    say('c2s', { jsonrpc: '2.0', id, method: 'tools/call', params })
    say('s2c', { jsonrpc: '2.0', id, result: { content } })
  }
  line({ n: ++n, t: n, event: 'end', frames: n })
  closeSync(file)
}
