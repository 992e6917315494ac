import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reelay-binary-test-'))
  const env = { ...process.env, REELAY_BUILT: '1' }
  execFileSync(process.execPath, ['scripts/binary.mjs', join(folder, 'reelay')], { env })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

test('the single-file binary records, serves and verifies, without Node on the PATH', () => {
  expect(run(['demo'])).toContain('4 requests, every response as recorded.')
})

test('the single-file binary works where its folder cannot be written', () => {
  writeFileSync(join(folder, 'file'), '')
  expect(run(['--version'], { REELAY_HOME: join(folder, 'file') })).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('wrap writes the single-file binary into the config of a client', () => {
  writeFileSync(join(folder, '.mcp.json'), '{ "mcpServers": { "files": { "command": "files-mcp" } } }')
  const shown = run(['wrap', 'files', '--dry-run', '--client', 'claude-code'])
  expect(shown).toContain(`"command": "${join(folder, 'reelay')}", "args": ["record"`)
})

function run(args: readonly string[], env: Record<string, string> = {}): string {
  return execFileSync(join(folder, 'reelay'), args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: folder, NO_COLOR: '1', REELAY_HOME: join(folder, 'home'), ...env },
  })
}
