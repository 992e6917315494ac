import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test, vi } from 'vitest'
import { Redactor } from '../../src/redact/redactor.ts'
import { selfReplay, copyTapeRedacted } from '../../src/share/share-tape.ts'
import { everythingSession } from '../interop/everything-session.ts'
import { filesystemSession } from '../interop/filesystem-session.ts'
import { memorySession } from '../interop/memory-session.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { run, type Session } from '../interop/run.ts'
import { ephemeralKey } from '../../src/store/redaction-key.ts'
import { linesOf, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { callTool, type ClientSettings } from '../support/sdk.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Texts that speak of secrets and hold none. */
const HARMLESS = {
  'login.ts':
    'export interface Login { user: string; password: string; token?: string }\nconst password = process.env.PASSWORD\nif (!password) throw new Error("password is required")\nawait login({ password, apiKey: config.apiKey })\n',
  'README.md':
    '# tool\n\n```sh\ntool --password <value> --token TOKEN\ncurl -u user:pass https://example.com\nmysql -u root -p app\nexport DB_PASSWORD=changeme\n```\n\nThe password is 8 characters or more. Set `api_key` in the settings; the token is optional.\n',
  'config.yaml': 'db:\n  user: app\n  password: ${DB_PASSWORD}\n  maxTokens: 4096\n  keyboard: qwerty1234\n',
  'page.html': '<form><label for="password">Password</label><input type="password"></form>\n',
} as const

interface Subject {
  readonly name: string
  readonly command: (folder: string) => readonly string[]
  readonly session: (folder: string) => Session
}

const SUBJECTS: readonly Subject[] = [
  {
    name: 'server-everything',
    command: () => referenceServer('server-everything'),
    session: () => everythingSession,
  },
  {
    name: 'server-filesystem',
    command: (folder) => referenceServer('server-filesystem', folder),
    session: (folder) => async (session) => {
      for (const [name, content] of Object.entries(HARMLESS)) {
        await callTool(session.client, 'write_file', { path: join(folder, name), content })
        await callTool(session.client, 'read_text_file', { path: join(folder, name) })
      }
      return filesystemSession(session, folder)
    },
  },
  {
    name: 'server-memory',
    command: () => referenceServer('server-memory'),
    session: () => memorySession,
  },
]

test.each(SUBJECTS)('a redacted tape of $name says what the plain one says', async ({ command, session }) => {
  const [folder, tapes] = [join(temporaryFolder(), 'files'), temporaryFolder()]
  mkdirSync(join(folder, 'empty'), { recursive: true })
  writeFileSync(join(folder, 'notes.txt'), 'first\nsecond\n')
  const plain = join(tapes, 'plain.tape.jsonl')
  const recorder = [process.execPath, REELAY, 'record', '-q', '--no-redact', '-o', plain, '--']
  const answers: ClientSettings['answers'] = { root: pathToFileURL(folder).href, elicited: {} }
  const target = { sdk: 'v1', command: [...recorder, ...command(folder)], answers } as const
  await run({ ...target, env: { MEMORY_FILE_PATH: join(folder, 'memory') } }, session(folder))
  const copy = join(tapes, 'copy.tape.jsonl')
  expect(await copyTapeRedacted({ from: plain, to: copy })).toMatchObject({ changed: [], secrets: 0 })
  const [before, after] = [await selfReplay(plain), await selfReplay(copy)]
  expect(after).toEqual(before)
  expect(after).toMatchObject({ misses: 0 })
  expect(linesOf(copy).slice(1)).toEqual(linesOf(plain).slice(1))
})

test('the recorded sessions that come with the tests keep every byte', () => {
  const folder = resolve('test/fixtures/bindings')
  const redactor = new Redactor({ key: ephemeralKey() })
  const frames = readdirSync(folder)
    .filter((name) => /^(everything|filesystem|memory)-.*\.tape\.jsonl$/.test(name))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n').slice(1))
  expect(frames.length).toBeGreaterThan(100)
  expect(frames.filter((line) => redactor.text(line) !== line)).toEqual([])
})

test('the help of every command keeps every byte', async () => {
  const helps = ['', 'record', 'serve', 'replay', 'verify', 'redact', 'share', 'run', 'wrap', 'import'].map(
    async (name) => {
      const shown = start([process.execPath, REELAY, ...(name === '' ? ['--help'] : [name, '--help-all'])])
      await shown.exited
      return shown.stdout().toString()
    },
  )
  const text = (await Promise.all(helps)).join('\n')
  expect(text).toContain('--secrets <file>')
  expect(new Redactor({ key: ephemeralKey() }).text(text)).toBe(text)
})
