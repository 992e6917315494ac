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

/** 80 MB, so that reading takes longer than the time in which nothing is shown. */
function longTape(): string {
  const started = '2026-11-17T00:00:00.000Z'
  const servers = { s: { transport: 'stdio', command: ['s'], env: [] } }
  const header = { reelay: 1, id: '01KABCDEFGHJKMNPQRSTVWXYZ0', started, by: 'reelay 0.1.0', servers }
  const text = 'x'.repeat(20_000)
  const messages = Array.from({ length: 4000 }, (_, id) => [
    ['c2s', { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'look', arguments: { id } } }],
    ['s2c', { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }],
  ]).flat()
  const frames = messages.map(([dir, msg], at) => ({ n: at + 1, t: at, server: 's', conn: 1, dir, msg }))
  return [header, ...frames].map((line) => `${JSON.stringify(line)}\n`).join('')
}
