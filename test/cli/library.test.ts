import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { call, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

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
