import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { listTapes } from './list.ts'

const folder = mkdtempSync(join(tmpdir(), 'reelay-list-'))
afterAll(() => rmSync(folder, { recursive: true }))

const END = '{"n":1,"t":1,"event":"end","frames":1}\n'

test('tapes are listed newest first, then the files that are not tapes with their problem', async () => {
  const here = newFolder('mixed')
  write(here, 'older.tape.jsonl', header('2026-11-14T09:00:00Z') + END)
  write(here, 'newer.tape.jsonl', header('2026-11-15T09:00:00+05:00') + END)
  write(here, 'newest.tape.jsonl', header('2026-11-15T07:00:00Z'))
  write(here, 'bad.tape.jsonl', 'PK')
  write(here, 'notes.txt', 'not listed')
  mkdirSync(join(here, 'sub.tape.jsonl'))
  const listed = await listTapes(here)
  expect(listed.map(({ name, kind }) => [name, kind])).toEqual([
    ['newest', 'tape'],
    ['newer', 'tape'],
    ['older', 'tape'],
    ['bad', 'problem'],
    ['sub', 'problem'],
  ])
  expect(listed[1]).toEqual({
    kind: 'tape',
    name: 'newer',
    path: join(here, 'newer.tape.jsonl'),
    bytes: header('2026-11-15T09:00:00+05:00').length + END.length,
    started: '2026-11-15T09:00:00+05:00',
    servers: ['demo', 'other'],
    labels: { tags: {} },
    isRedacted: false,
    ended: true,
  })
  expect(listed.map((one) => (one.kind === 'problem' ? one.problem.replace(here, '…') : one.ended))).toEqual([
    false,
    true,
    true,
    '…/bad.tape.jsonl: not a Reelay tape: its first line is not a Reelay header',
    '…/sub.tape.jsonl is a folder, not a tape',
  ])
})

test('a tape has ended only if its last line is a complete end frame', async () => {
  const here = newFolder('ends')
  const start = header('2026-11-15T07:00:00Z')
  write(here, 'cut.tape.jsonl', start + END.trimEnd())
  write(here, 'torn.tape.jsonl', `${start}${END}{"n":2,`)
  write(here, 'followed.tape.jsonl', `${start}${END}{"n":2,"t":2,"event":"exit","code":0}\n`)
  write(here, 'quoted.tape.jsonl', `${start}{"n":1,"t":1,"event":"note","text":${JSON.stringify(END)}}\n`)
  write(here, 'long.tape.jsonl', `${start}{"n":1,"t":1,"event":"note","text":"${'é'.repeat(9000)}"}\n${END}`)
  const listed = await listTapes(here)
  expect(Object.fromEntries(listed.map((one) => [one.name, one.kind === 'tape' && one.ended]))).toEqual({
    cut: false,
    torn: false,
    followed: false,
    quoted: false,
    long: true,
  })
})

test('a missing tape folder has no tapes, and a file in its place is an error', async () => {
  expect(await listTapes(join(folder, 'nowhere'))).toEqual([])
  write(folder, 'file', '')
  await expect(listTapes(join(folder, 'file'))).rejects.toMatchObject({ code: 'TAPE_UNREADABLE' })
})

function newFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

function write(where: string, name: string, text: string): void {
  writeFileSync(join(where, name), text)
}

function header(started: string): string {
  const servers = { demo: { transport: 'stdio' }, other: { transport: 'stdio' } }
  return `${JSON.stringify({ reelay: 1, id: 'a', started, by: 'reelay 0.1.0', servers, tags: {} })}\n`
}
