import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../test/support/recorder.ts'
import { CANARY, createCanary, textWithCanary } from './canary.ts'

afterEach(() => void vi.unstubAllEnvs())

const NEW = '/var/new folder/reelay-canary-abcdef/canary.txt'

test.each([
  ['/tmp/reelay-canary-123456/canary.txt', NEW],
  ['../../tmp/reelay-canary-123456/canary.txt', `../..${NEW}`],
  ['notes/../../tmp/reelay-canary-123456/canary.txt\u0000.txt', `notes/../..${NEW}\u0000.txt`],
  ['....//....//a/b/reelay-canary-123456/canary.txt', `....//..../${NEW}`],
  [
    '..%2f..%2ftmp%2freelay-canary-123456%2fcanary.txt',
    '..%2f..%2fvar%2fnew folder%2freelay-canary-abcdef%2fcanary.txt',
  ],
  [
    'file:///tmp/my%20folder/reelay-canary-123456/canary.txt',
    'file:///var/new%20folder/reelay-canary-abcdef/canary.txt',
  ],
  ['C:\\Users\\me\\reelay-canary-123456\\canary.txt', NEW],
  [
    'file:///C:/Users/reelay-canary-123456/canary.txt',
    'file:///var/new%20folder/reelay-canary-abcdef/canary.txt',
  ],
  ['/tmp/reelay-canary-123456/other.txt', '/tmp/reelay-canary-123456/other.txt'],
  ['notes.txt', 'notes.txt'],
])('%s asks for the new file', (old, expected) => {
  expect(textWithCanary(old, NEW)).toBe(expected)
})

test('a canary is a file that only the user may read, in a folder that goes with it', () => {
  const canary = createCanary({ command: ['node', 'server.js'], messages: [] })!
  expect(readFileSync(canary.path, 'utf8')).toBe(`${CANARY}\n`)
  expect(statSync(canary.path).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600)
  canary.close()
  expect(() => statSync(dirname(canary.path))).toThrow('ENOENT')
})

test.each([
  ['a word of the command', (folder: string) => ({ command: ['server', folder], messages: [] })],
  ['a part of a word', (folder: string) => ({ command: [`--root=${folder}/`], messages: [] })],
  [
    'a message',
    (folder: string) => ({ command: [], messages: [JSON.stringify({ result: `Allowed:\n${folder}` })] }),
  ],
])('a canary is not in a folder that %s names', (_, known) => {
  const [temporary, home] = [temporaryFolder(), temporaryFolder()]
  vi.stubEnv('TMPDIR', temporary)
  vi.stubEnv('TEMP', temporary)
  vi.stubEnv('HOME', home)
  vi.stubEnv('USERPROFILE', home)
  const canary = createCanary(known(realpathSync(temporary)))!
  expect(dirname(dirname(canary.path))).toBe(realpathSync(home))
})

test('there is no canary if the server offers everything', () => {
  expect(createCanary({ command: ['server', '/'], messages: [] })).toBeUndefined()
})
