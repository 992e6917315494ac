import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeFrame } from '../../src/tape/codec.ts'
import { encodeHeader } from '../../src/tape/header.ts'

let home: string
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'reelay-list-'))))
afterEach(() => rmSync(home, { recursive: true }))

test('list shows every tape of the home folder, also those that cannot be read', async () => {
  fillHome()
  const { stdout, stderr, code } = await list()
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  expect(stdout).toMatchInlineSnapshot(`
    "name        recorded                   size  servers
    cut-short   2026-11-16T08:00:00.000Z  187 B  files (no end: cut off, or still being recorded)
    github      2026-11-15T07:20:59.123Z  227 B  github
    not-a-tape                              6 B  not a Reelay tape: its first line is not a Reelay header
    "
  `)
})

test('list --server shows the tapes that hold one of these servers', async () => {
  fillHome()
  const { stdout } = await list('--server', 'git*,other')
  expect(stdout).toMatch(/^name.*\ngithub .*\nnot-a-tape/)
  rmSync(join(home, 'tapes', 'not-a-tape.tape.jsonl'))
  expect((await list('--server', 'other')).stderr).toMatch(/^no tape in .* has a server other\n$/)
})

test('list --json says the same for programs', async () => {
  fillHome()
  const { stdout, code } = await list('--json')
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "{
      "folder": "<home>/tapes",
      "tapes": [
        {
          "name": "cut-short",
          "path": "<home>/tapes/cut-short.tape.jsonl",
          "bytes": 187,
          "recordedAt": "2026-11-16T08:00:00.000Z",
          "servers": [
            "files"
          ],
          "session": null,
          "endpoint": null,
          "agent": null,
          "note": null,
          "tags": {},
          "ended": false
        },
        {
          "name": "github",
          "path": "<home>/tapes/github.tape.jsonl",
          "bytes": 227,
          "recordedAt": "2026-11-15T07:20:59.123Z",
          "servers": [
            "github"
          ],
          "session": null,
          "endpoint": null,
          "agent": null,
          "note": null,
          "tags": {},
          "ended": true
        },
        {
          "name": "not-a-tape",
          "path": "<home>/tapes/not-a-tape.tape.jsonl",
          "bytes": 6,
          "problem": "<home>/tapes/not-a-tape.tape.jsonl: not a Reelay tape: its first line is not a Reelay header"
        }
      ]
    }
    "
  `)
})

test('an empty home folder is no error, and the way to a first tape is shown', async () => {
  expect(await list()).toEqual({
    stdout: '',
    stderr: 'no tapes in <home>/tapes yet: record one with reelay record <name> -- <server command>\n',
    code: 0,
  })
  expect(JSON.parse((await list('--json')).stdout)).toEqual({ folder: '<home>/tapes', tapes: [] })
})

function fillHome(): void {
  mkdirSync(join(home, 'tapes'))
  writeFileSync(join(home, 'tapes', 'github.tape.jsonl'), tape('github', '2026-11-15T07:20:59.123Z', true))
  writeFileSync(join(home, 'tapes', 'cut-short.tape.jsonl'), tape('files', '2026-11-16T08:00:00.000Z', false))
  writeFileSync(join(home, 'tapes', 'not-a-tape.tape.jsonl'), 'hello\n')
  writeFileSync(join(home, 'tapes', 'notes.txt'), 'not listed')
}

function tape(server: string, started: string, ended: boolean): string {
  const header = {
    reelay: 1,
    id: '01KA2B3C4D5E6F7G8H9JKMNPQR',
    started,
    by: 'reelay 0.1.0',
    servers: { [server]: { transport: 'stdio', command: ['node', 'server.js'] } },
    tags: {},
  }
  const end = encodeFrame({ kind: 'event', n: 1, t: 5, event: 'end', details: { frames: 1 } })
  return `${encodeHeader(header)}\n${ended ? `${end}\n` : ''}`
}

function list(...options: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  const env = { ...process.env, FORCE_COLOR: undefined, REELAY_HOME: home }
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/cli/main.js', 'list', ...options], { env }, (error, out, err) => {
      const code = typeof error?.code === 'number' ? error.code : 0
      resolve({ stdout: out.replaceAll(home, '<home>'), stderr: err.replaceAll(home, '<home>'), code })
    })
  })
}
