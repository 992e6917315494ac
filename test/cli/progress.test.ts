import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MAIN = resolve('dist/cli/main.js')
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reelay-progress-'))
  writeFileSync(join(folder, 'long.tape.jsonl'), longTape())
})
afterAll(() => rmSync(folder, { recursive: true }))

// `script` gives the program a terminal.
test.skipIf(process.platform !== 'linux')('long work shows one line of progress on a terminal', () => {
  const command = `${process.execPath} ${MAIN} inspect long.tape.jsonl --json > report.json`
  const shown = execFileSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' })
  expect(shown).toMatch(/\rreading long\.tape\.jsonl: \d+ %/)
  expect(shown.trimEnd().endsWith('\u001b[K')).toBe(true) // the line is gone at the end
  expect(shown).not.toContain('\n')
})

test('in a pipe there is no progress', () => {
  const args = [MAIN, 'inspect', 'long.tape.jsonl']
  const shown = execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect(shown).not.toContain('reading')
})

/** Answers every call after a while, so that all of them take longer than the time in which nothing is shown. */
const SLOW_SERVER = `
const tools = [{ name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }]
const serverInfo = { name: 's', version: '1' }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
    : method === 'tools/list' ? { tools } : { content: [{ type: 'text', text: 'found' }] }
  const answer = () => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
  if (id !== undefined) setTimeout(answer, method === 'tools/call' ? 60 : 0)
})`

function verifyCommand(): readonly string[] {
  writeFileSync(join(folder, 'slow.cjs'), SLOW_SERVER)
  writeFileSync(join(folder, 'calls.tape.jsonl'), tapeWith(20, 'found'))
  return [process.execPath, MAIN, 'verify', 'calls.tape.jsonl', '--', process.execPath, 'slow.cjs']
}

test.skipIf(process.platform !== 'linux')(
  'verify shows one line of progress on a terminal, and no rows',
  () => {
    const command = verifyCommand().join(' ')
    const shown = execFileSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' })
    expect(shown).toMatch(/\rsending message \d+ of 20/)
    expect(withoutProgress(shown)).toMatch(
      /^20 of 20 responses as recorded\r\nresponse times: .*\r\nverdict: as recorded\r\n$/,
    )
  },
)

test('verify prints neither rows nor progress in a pipe', () => {
  const [file = '', ...args] = verifyCommand()
  const shown = execFileSync(file, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  expect(shown).toMatch(/^20 of 20 responses as recorded\nresponse times: .*\nverdict: as recorded\n$/)
})

/** What is left on the terminal: each line of progress is overwritten. */
function withoutProgress(shown: string): string {
  return shown.replaceAll('\u001b[K', '«').replaceAll(/\r[^\r\n«]*«\r?/g, '')
}

/** 80 MB, so that reading takes longer than the time in which nothing is shown. */
function longTape(): string {
  return tapeWith(4000, 'x'.repeat(20_000))
}

function tapeWith(calls: number, text: string): string {
  const started = '2026-11-17T00:00:00.000Z'
  const servers = { s: { transport: 'stdio', command: ['s'], env: [] } }
  const header = { reelay: 1, id: '01KABCDEFGHJKMNPQRSTVWXYZ0', started, by: 'reelay 0.1.0', servers }
  const messages = Array.from({ length: calls }, (_, id) => [
    ['c2s', { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'look', arguments: { id } } }],
    ['s2c', { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }],
  ]).flat()
  const frames = messages.map(([dir, msg], at) => ({ n: at + 1, t: at, server: 's', conn: 1, dir, msg }))
  const end = { n: frames.length + 1, t: frames.length, event: 'end', frames: frames.length + 1 }
  return [header, ...frames, end].map((line) => `${JSON.stringify(line)}\n`).join('')
}
