import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { fixtureServer, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const WORD = 'kR8vQ2mZ5tW1xN7p'
const home = join(sharedFolder(), 'home')
const tape = join(sharedFolder(), 'vault.tape.jsonl')
const live: string[] = []

beforeAll(async () => {
  const client = new Client({ name: 'user', version: '1' })
  const args = [REELAY, 'record', '-q', '-o', tape, '--', ...fixtureServer('vault')]
  const env = { ...getDefaultEnvironment(), REELAY_HOME: home, VAULT_WORD: WORD }
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
  const { structuredContent } = await client.callTool({ name: 'log_in', arguments: { password: WORD } })
  const { access_token } = structuredContent as { access_token: string }
  live.push(access_token)
  await client.callTool({ name: 'read', arguments: { access_token } })
  await client.close()
})

const passwordIn = (text = ''): unknown => /"password":"([^"]*)"/.exec(text)?.[1]

test('the tape holds neither the password nor the token', () => {
  const text = readFileSync(tape, 'utf8')
  expect([WORD, ...live].filter((secret) => text.includes(secret))).toEqual([])
})

test('a variable that is named as a secret is put back, and so is the token that the live server makes up', async () => {
  const { code, out, err } = await verify(['--secret', 'VAULT_WORD', '--json'])
  expect(code).toBe(0)
  expect(out + err).not.toContain(WORD)
  expect(JSON.parse(out)).toMatchObject({ summary: { verdict: 'pass' }, notes: [] })
})

test('without it the server gets the stand-in, and refuses it', async () => {
  const { code, out } = await verify([])
  expect(code).toBe(1)
  expect(out).toMatch(/log_in.*\n.*is-error.*the tool failed: wrong password/)
  expect(out).toMatch(/note: the values of the placeholders at params\.arguments\.password/)
})

test('a file that only its owner can read gives the values, and one that others can read is refused', async () => {
  const file = join(temporaryFolder(), 'secrets.env')
  writeFileSync(file, `# the vault\nWORD="${WORD}"\n`, { mode: 0o600 })
  expect((await verify(['--secrets', file])).code).toBe(0)
  if (process.platform === 'win32') return
  chmodSync(file, 0o644)
  const open = await verify(['--secrets', file])
  expect([open.code, open.err]).toEqual([2, expect.stringMatching(/other users can read it/)])
})

test('a tape of the run, the report and the results hold no secret', async () => {
  const folder = temporaryFolder()
  const [again, report, results] = ['run.tape.jsonl', 'report.json', 'results.json'].map((name) =>
    join(folder, name),
  )
  const options = [
    '--secret',
    'VAULT_WORD',
    '--record',
    again ?? '',
    '-o',
    report ?? '',
    '--results',
    results ?? '',
  ]
  expect((await verify(options)).code).toBe(0)
  const texts = [again, report, results].map((path) => readFileSync(path ?? '', 'utf8')).join('')
  expect(texts).not.toContain(WORD)
  const [before, after] = [await loadTape(tape), await loadTape(again ?? '')]
  expect(after.header.redaction).toEqual(before.header.redaction)
  const textOf = ({ turns }: typeof before): string => turns.map(({ trigger }) => trigger?.text).join('\n')
  expect(passwordIn(textOf(after))).toBe(passwordIn(textOf(before)))
})

async function verify(
  options: readonly string[],
): Promise<{ code: number | null; out: string; err: string }> {
  const command = [
    process.execPath,
    REELAY,
    'verify',
    tape,
    '--repeat',
    '1',
    ...options,
    '--',
    ...fixtureServer('vault'),
  ]
  const run = start(command, { env: { ...process.env, REELAY_HOME: home, VAULT_WORD: WORD } })
  run.child.stdin.end()
  const { code } = await run.exited
  return { code, out: run.stdout().toString(), err: run.stderr() }
}
