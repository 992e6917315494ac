import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REELAY, temporaryFolder } from '../support/recorder.ts'

test('the CA is made by its own command only, and shown with how to trust it', () => {
  const home = temporaryFolder()
  const certificate = join(home, 'ca', 'reelay-ca.pem')
  expect(ca(home, 'show')).toMatchObject({ code: 3, stderr: expect.stringContaining('CA_NOT_FOUND') })
  expect(existsSync(join(home, 'ca'))).toBe(false)
  const made = ca(home, 'create')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toContain(`NODE_EXTRA_CA_CERTS=${certificate}`)
  expect(ca(home, 'show')).toEqual(made)
  const cert = new X509Certificate(readFileSync(certificate))
  expect(cert.ca).toBe(true)
  expect(cert.subject).toMatch(/^CN=Reelay local CA \d/)
  const days = (Date.parse(cert.validTo) - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(364)
})

test.skipIf(process.platform === 'win32')('only its owner can read the private key', () => {
  const home = temporaryFolder()
  ca(home, 'create')
  const paths = ['', 'reelay-ca.key', 'reelay-ca.pem'].map((name) => join(home, 'ca', name))
  expect(paths.map(modeOf)).toEqual([0o700, 0o600, 0o644])
})

test('a CA that is there is not written over', () => {
  const home = temporaryFolder()
  ca(home, 'create')
  const before = readFileSync(join(home, 'ca', 'reelay-ca.key'), 'utf8')
  expect(ca(home, 'create')).toMatchObject({ code: 3, stderr: expect.stringContaining('CA_EXISTS') })
  expect(readFileSync(join(home, 'ca', 'reelay-ca.key'), 'utf8')).toBe(before)
})

test('removing the CA takes away what is ours and nothing else', () => {
  const home = temporaryFolder()
  ca(home, 'create')
  writeFileSync(join(home, 'ca', 'note.txt'), 'mine')
  expect(ca(home, 'remove')).toMatchObject({ code: 0 })
  expect(readdirSync(join(home, 'ca'))).toEqual(['note.txt'])
  expect(ca(home, 'remove')).toMatchObject({ code: 3, stderr: expect.stringContaining('CA_NOT_FOUND') })
})

test('a broken CA is refused by name, also by the recorder', () => {
  const home = temporaryFolder()
  ca(home, 'create')
  writeFileSync(join(home, 'ca', 'reelay-ca.pem'), 'nonsense')
  expect(ca(home, 'show')).toMatchObject({ code: 3, stderr: expect.stringContaining('CA_UNUSABLE') })
  const { code, stderr } = reelay(home, 'record', '--forward', 'x', '--', process.execPath, '-e', '1')
  expect([code, stderr]).toEqual([3, expect.stringContaining('CA_UNUSABLE')])
})

test('a misspelled command is answered with exit code 2', () => {
  const { code, stderr } = ca(temporaryFolder(), 'crate')
  expect([code, stderr]).toEqual([2, expect.stringContaining('USAGE')])
})

const ca = (home: string, verb: string): Ran => reelay(home, 'ca', verb)

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function reelay(home: string, ...args: string[]): Ran {
  const env = { ...process.env, REELAY_HOME: home }
  const { status, stdout, stderr } = spawnSync(process.execPath, [REELAY, ...args], { env, encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}
