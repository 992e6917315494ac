import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { linesOf, REELAY } from '../support/recorder.ts'
import { call, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'
import { openTmux } from '../support/tmux.ts'

vi.setConfig({ testTimeout: 60_000 })

const FAILED: readonly Said[] = [
  client({ id: 9, method: 'tools/call', params: { name: 'search', arguments: { q: 'milk' } } }),
  server({ id: 9, error: { code: -32000, message: 'rate limit' } }),
]

/** A home folder with copies of tapes. */
function homeWith(...tapes: readonly (readonly [name: string, path: string])[]): string {
  const home = mkdtempSync(join(tmpdir(), 'reelay-library-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  mkdirSync(join(home, 'tapes'))
  for (const [name, path] of tapes) copyFileSync(path, join(home, 'tapes', `${name}.tape.jsonl`))
  vi.stubEnv('REELAY_HOME', home)
  onTestFinished(() => void vi.unstubAllEnvs())
  return join(home, 'tapes')
}

test('search finds exchanges in all tapes of the folder by the filter grammar, and exits with 1 if there are none', async () => {
  const folder = homeWith(
    ['one', tapeFile(...HANDSHAKE, ...call(1, 'search', { q: 'bread' }, 'rye'))],
    ['two', tapeFile(...HANDSHAKE, ...call(1, 'read', {}, 'x'), ...FAILED)],
  )
  const both = await reelay('search', 'tool:search', '--json')
  expect(
    JSON.parse(both.out).exchanges.map(({ tape, exchange }: Found) => [basename(tape), exchange]),
  ).toEqual(
    expect.arrayContaining([
      ['one.tape.jsonl', 2],
      ['two.tape.jsonl', 3],
    ]),
  )
  const failed = await reelay('search', 'status:error "rate limit"')
  expect([failed.code, failed.out]).toEqual([0, expect.stringContaining(join(folder, 'two.tape.jsonl'))])
  expect(failed.out).not.toContain('one.tape.jsonl')
  expect(await reelay('search', 'tool:nothing')).toMatchObject({ code: 1, out: 'nothing found in 2 tapes\n' })
  expect((await reelay('search', 'tool:search', '--tag', 'suite=none')).out).toBe(
    'nothing found in 0 tapes\n',
  )
})

interface Found {
  readonly tape: string
  readonly exchange: number
}

test('validate reports what is wrong with its line, and --fix leaves every other byte alone', async () => {
  const whole = tapeFile(...HANDSHAKE, ...call(1, 'search', {}, 'rye'))
  const torn = `${whole.slice(0, -'.tape.jsonl'.length)}-torn.tape.jsonl`
  const lines = readFileSync(whole, 'utf8').trimEnd().split('\n')
  const kept = lines.filter((line) => !line.includes('"event":"end"'))
  appendFileSync(torn, [...kept, 'garbage', '{"n":99,"t":1,"se'].join('\n'))
  const before = await reelay('validate', torn)
  expect(before.code).toBe(1)
  expect(before.out).toMatch(new RegExp(`^invalid  .*torn.*\\n  line ${kept.length + 1}: `))
  expect(before.out).toContain('no end')
  expect((await reelay('validate', '--fix', torn)).code).toBe(0)
  const fixed = readFileSync(torn, 'utf8').trimEnd().split('\n')
  expect(fixed.slice(0, -1)).toEqual(kept)
  expect(await reelay('validate', torn)).toMatchObject({ code: 0, out: expect.stringMatching(/^valid /) })
})

test('validate --max-age names tapes that were recorded longer ago', async () => {
  const tape = tapeFile(...HANDSHAKE, ...call(1, 'search', {}, 'rye'))
  const started = String(linesOf(tape)[0]?.['started'])
  const days = Math.floor((Date.now() - Date.parse(started)) / 86_400_000)
  expect((await reelay('validate', '--max-age', `${days + 1}d`, tape)).code).toBe(0)
  const old = await reelay('validate', '--max-age', '2100-01-01', tape)
  expect(old.code).toBe(1)
  expect(old.out).toContain(`recorded ${started.slice(0, 10)}, ${days} days ago; record it again\n`)
  const { out } = await reelay('validate', '--max-age', '2100-01-01', '--json', tape)
  expect(JSON.parse(out).tapes[0]).toMatchObject({ isValid: true, isExpired: true, started })
  expect((await reelay('validate', '--max-age', 'soon', tape)).err).toContain('expected an age such as 90d')
})

test('rm deletes tapes and nothing else, and prune lists first', async () => {
  const tape = tapeFile(...HANDSHAKE, ...call(1, 'search', {}, 'rye'))
  const folder = homeWith(['one', tape], ['two', tape], ['three', tape])
  const other = join(folder, 'notes.txt')
  appendFileSync(other, 'mine')
  expect((await reelay('rm', other)).code).toBe(3)
  expect(existsSync(other)).toBe(true)
  expect((await reelay('rm', 'one')).code).toBe(0)
  expect(existsSync(join(folder, 'one.tape.jsonl'))).toBe(false)
  expect((await reelay('prune')).code).toBe(2)
  const listed = await reelay('prune', '--keep', '1')
  expect([listed.out, listed.err]).toEqual([
    expect.stringMatching(/^would delete .*\n$/),
    expect.stringContaining('--yes'),
  ])
  await reelay('prune', '--keep', '1', '--yes')
  expect(['two', 'three'].filter((name) => existsSync(join(folder, `${name}.tape.jsonl`)))).toHaveLength(1)
})

test('inspect is narrowed by --errors and --tool, alone and with a filter', async () => {
  const tape = tapeFile(...HANDSHAKE, ...call(1, 'search', {}, 'rye'), ...call(2, 'read', {}, 'x'), ...FAILED)
  const numbers = async (...words: readonly string[]): Promise<readonly number[]> =>
    JSON.parse((await reelay('inspect', tape, '--json', ...words)).out).exchanges.map(
      ({ sequence }: { sequence: number }) => sequence,
    )
  expect(await numbers('--errors')).toEqual([4])
  expect(await numbers('--tool', 'search')).toEqual([2, 4])
  expect(await numbers('--tool', 'search', '--filter', 'status:ok')).toEqual([2])
})

test('on a terminal, a long tape is shown in a pager, and no line is longer than the terminal is wide', async () => {
  const calls = Array.from({ length: 60 }, (_, at) =>
    call(at + 1, `search-${at + 1}`, { q: `a question that is longer than the terminal ${at}` }, 'rye'),
  )
  const tape = tapeFile(...HANDSHAKE, ...calls.flat())
  const env = { LESS: '', REELAY_PAGER: 'less -S', PAGER: '' }
  const terminal = openTmux([process.execPath, REELAY, 'inspect', tape], { env, width: 60, height: 20 })
  await terminal.shows(/search-3\b/)
  expect(terminal.screen()).not.toMatch(/search-40\b|exit code/)
  expect(terminal.screen()).toContain('…')
  // less marks lines that it had to cut with this character in the last column.
  expect(terminal.screen()).not.toMatch(/^.{59}>$/m)
  terminal.press('G')
  await terminal.shows(/search-60\b/)
  terminal.press('q')
  await terminal.shows(/exit code 0/)
  const short = openTmux([process.execPath, REELAY, 'inspect', tape, '60'], { env, height: 60 })
  await short.shows(/search-59[\s\S]*exit code 0/)
})

test('merge puts the sessions of tapes one after another, and --deduplicate leaves out equal exchanges', async () => {
  const folder = homeWith(
    ['one', tapeFile(...HANDSHAKE, ...call(1, 'search', { q: 'bread' }, 'rye'), ...call(2, 'read', {}, 'x'))],
    ['two', tapeFile(...HANDSHAKE, ...call(7, 'search', { q: 'bread' }, 'rye'), ...call(8, 'read', {}, 'y'))],
    ['three', tapeFile(...HANDSHAKE, ...call(9, 'read', {}, 'x'))],
  )
  const all = await reelay('merge', 'one', 'two', 'three', '-o', 'all')
  expect([all.code, all.out]).toEqual([
    0,
    `merged 3 tapes: 8 exchanges, 20 frames: ${join(folder, 'all.tape.jsonl')}\n`,
  ])
  const each = await reelay('merge', 'one', 'two', 'three', '-o', 'each', '--deduplicate')
  expect(each.out).toMatch(/^merged 3 tapes: 5 exchanges, 13 frames, 3 duplicates left out/)
  for (const tape of ['all', 'each']) expect((await reelay('validate', tape)).code).toBe(0)
  const found = JSON.parse((await reelay('search', '', '--json', join(folder, 'each.tape.jsonl'))).out)
  expect(found.exchanges.map(({ request }: { request: string }) => request)).toEqual([
    'initialize',
    'tools/call search',
    'tools/call read',
    'initialize',
    'tools/call read',
  ])
  expect((await reelay('merge', 'one', 'two', '-o', 'each')).code).toBe(2)
  expect((await reelay('merge', 'one', 'two', '-o', 'one', '--overwrite')).code).toBe(2)
})

const listedNames = async (...words: readonly string[]): Promise<readonly string[]> =>
  JSON.parse((await reelay('list', '--json', ...words)).out).tapes.map(({ name }: { name: string }) => name)

const countedCalls = async (...words: readonly string[]): Promise<number> =>
  JSON.parse((await reelay('stats', '--json', ...words)).out).calls[0].count

test('list, search and stats choose tapes by time, agent and tags, and stats counts them together', async () => {
  const tape = tapeFile(...HANDSHAKE, ...call(1, 'search', { q: 'bread' }, 'rye'))
  const folder = homeWith(['plain', tape])
  const text = readFileSync(tape, 'utf8')
  const labelled = text
    .replace('"servers":', '"agent":"bot","servers":')
    .replace('"tags":{}', '"tags":{"suite":"a"}')
  writeFileSync(join(folder, 'labelled.tape.jsonl'), labelled)
  expect(await listedNames('--agent', 'bot')).toEqual(['labelled'])
  expect(await listedNames('--tag', 'suite=a')).toEqual(['labelled'])
  expect(await listedNames('--since', '2026-11-14')).toHaveLength(2)
  expect(await reelay('list', '--since', '2027-01-01')).toMatchObject({
    out: '',
    err: expect.stringContaining('has these labels and was recorded at that time'),
  })
  expect(await Promise.all([countedCalls('plain'), countedCalls(), countedCalls('--agent', 'bot')])).toEqual([
    2, 4, 2,
  ])
})

const listedAgents = async (): Promise<ReadonlyMap<string, string>> =>
  new Map(
    JSON.parse((await reelay('list', '--json')).out).tapes.map(
      ({ name, agent }: { name: string; agent: string }) => [name, agent],
    ),
  )

test('the list of a folder with many tapes is kept in a file, and is right after tapes were changed, added and removed', async () => {
  const tape = tapeFile(...HANDSHAKE, ...call(1, 'search', { q: 'bread' }, 'rye'))
  const folder = homeWith()
  const text = readFileSync(tape, 'utf8').replace('"servers":', '"agent":"a","servers":')
  const path = (name: string): string => join(folder, `${name}.tape.jsonl`)
  const old = new Date(Date.now() - 60_000)
  const write = (name: string, content = text): void => {
    writeFileSync(path(name), content)
    utimesSync(path(name), old, old)
  }
  for (let at = 0; at < 120; at++) write(`tape-${at}`)
  expect((await listedAgents()).size).toBe(120)
  expect(existsSync(join(folder, '.tapes.index.json'))).toBe(true)
  // The same length and the same time: only the content is another.
  write('tape-6', text.replace('"agent":"a"', '"agent":"c"'))
  write('new')
  rmSync(path('tape-7'))
  const now = await listedAgents()
  expect([now.size, now.get('tape-6'), now.has('new'), now.has('tape-7')]).toEqual([120, 'c', true, false])
  writeFileSync(
    join(folder, '.tapes.index.json'),
    '{"by":"reelay summaries 1","tapes":{"tape-1.tape.jsonl":{"stamp":1}}',
  )
  expect(await listedAgents()).toEqual(now)
})

const callSpelled = (text: string): readonly Said[] => [
  client({ id: 1, method: 'tools/call', params: { name: 'search' } }),
  server(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${text}"}]}}`),
]

const markedRedacted = (path: string): string => {
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('"tags":', '"redaction":{"rules":"default-5","key":"k"},"tags":'),
  )
  return path
}

const foundTapes = async (filter: string): Promise<readonly string[]> =>
  JSON.parse((await reelay('search', '--json', filter)).out)
    .exchanges.map(({ tape }: { tape: string }) => basename(tape, '.tape.jsonl'))
    .toSorted()

test('search reads only tapes whose bytes can match, in any case and spelled with escapes', async () => {
  homeWith(
    ['upper', markedRedacted(tapeFile(...HANDSHAKE, ...callSpelled('RATE Limit')))],
    ['escaped', markedRedacted(tapeFile(...HANDSHAKE, ...callSpelled(String.raw`r\u0061te limit`)))],
    ['other', markedRedacted(tapeFile(...HANDSHAKE, ...callSpelled('late limit')))],
  )
  expect(await foundTapes('tool:search "rate limit"')).toEqual(['escaped', 'upper'])
  expect(await foundTapes('tool:search -"rate limit"')).toEqual(['other'])
  expect(await foundTapes('tool:search ("rate limit" or late)')).toEqual(['escaped', 'other', 'upper'])
})
