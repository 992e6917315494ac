import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { redactionKeyFile, keyForRecording, readRedactionKey } from './redaction-key.ts'

function homeOf(): NodeJS.ProcessEnv & { REELAY_HOME: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reelay-key-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { REELAY_HOME: join(folder, 'home') }
}

function isPrivate(path: string): boolean {
  return process.platform === 'win32' || (statSync(path).mode & 0o777) === 0o600
}

test('the key is created on first use, readable only by its owner, and stays the same', () => {
  const env = homeOf()
  expect(readRedactionKey(env)).toBeUndefined()
  const { key, trouble } = keyForRecording(env)
  expect(trouble).toBeUndefined()
  expect(key.name).toMatch(/^k-[0-9a-f]{8}$/)
  expect(isPrivate(redactionKeyFile(env))).toBe(true)
  const read = readRedactionKey(env)
  expect(read?.name).toBe(key.name)
  expect(read?.hmac('x')).toEqual(key.hmac('x'))
  expect(readFileSync(redactionKeyFile(env), 'utf8')).toMatch(/^k-[0-9a-f]{8} [0-9a-f]{64}\n$/)
})

test('a key from the environment takes precedence and needs no file', () => {
  const env = { ...homeOf(), REELAY_REDACTION_KEY: 'a long and random text' }
  expect(keyForRecording(env).key.name).toBe(readRedactionKey(env)?.name)
  expect(() => statSync(redactionKeyFile(env))).toThrow('ENOENT')
})

test.each([
  ['a variable that is too short', (env: NodeJS.ProcessEnv) => void (env['REELAY_REDACTION_KEY'] = 'short')],
  [
    'a file that holds something else',
    (env: NodeJS.ProcessEnv) => (keyForRecording(env), writeFileSync(redactionKeyFile(env), 'x')),
  ],
  ['a home that is a file', (env: NodeJS.ProcessEnv) => writeFileSync(env['REELAY_HOME'] ?? '', 'x')],
])('with %s a tape gets a temporary key', (_, spoil) => {
  const env = homeOf()
  spoil(env)
  const { key, trouble } = keyForRecording(env)
  expect(key.name).toMatch(/^k-[0-9a-f]{8}-forgotten$/)
  expect(trouble).toEqual(expect.any(String))
  expect(keyForRecording(env).key.name).not.toBe(key.name)
})
