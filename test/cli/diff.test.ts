import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { REELAY } from '../support/recorder.ts'
import { call, HANDSHAKE, type Said } from '../support/tape-of.ts'

vi.setConfig({ testTimeout: 60_000 })

const BEFORE: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'price', { item: 'pen' }, '{"price":2,"unit":"EUR"}'),
  ...call(2, 'price', { item: 'cup' }, '{"price":5,"unit":"EUR"}'),
]
const AFTER: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'price', { item: 'cup' }, '{"price":5}'),
  ...call(2, 'price', { item: 'pen' }, '{"price":3}'),
]
const SAME: readonly Said[] = [
  ...HANDSHAKE,
  ...call(5, 'price', { item: 'cup' }, '{"price":5,"unit":"EUR"}'),
  ...call(6, 'price', { item: 'pen' }, '{"price":2,"unit":"EUR"}'),
]

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'reelay-diff-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('diff prints what breaks first, and exits with 1; --fail-on any and never decide otherwise', async () => {
  const [before, after, same] = [tapeFile(...BEFORE), tapeFile(...AFTER), tapeFile(...SAME)]
  const broken = await reelay('diff', before, after)
  expect(broken).toEqual({
    code: 1,
    err: '',
    out: `before  ${before}  3 exchanges
after   ${after}  3 exchanges

tools/call price  modified  #2 → #3
  breaking  result-field-removed  result.content[0].text.unit  is gone  "EUR"
  change    result-value-changed  result.content[0].text.price  has another value  2 → 3

tools/call price  modified  #3 → #2
  breaking  result-field-removed  result.content[0].text.unit  is gone  "EUR"

2 breaking; 2 modified, 0 added, 0 removed, 1 unchanged
`,
  })
  expect((await reelay('diff', '--fail-on', 'never', before, after)).code).toBe(0)
  expect(await reelay('diff', '-q', before, after)).toEqual({ code: 1, out: '', err: '' })
  const equal = await reelay('diff', '--fail-on', 'any', before, same)
  expect([equal.code, equal.out.split('\n').at(-2)]).toEqual([
    0,
    '0 breaking; 0 modified, 0 added, 0 removed, 3 unchanged',
  ])
  const identical = await reelay('diff', before, before)
  expect([identical.code, identical.out]).toEqual([0, `${before} and ${before} are identical\n`])
})

test('--json follows its schema, for one pair and for many', async () => {
  const validate = new Ajv2020({ allErrors: true }).compile(
    Object(JSON.parse(readFileSync('schema/diff-report-1.json', 'utf8'))),
  )
  const [before, after] = [tapeFile(...BEFORE), tapeFile(...AFTER)]
  const one: unknown = JSON.parse((await reelay('diff', '--json', '--latency', before, after)).out)
  validate(one)
  expect(validate.errors).toBeNull()
  expect(one).toMatchObject({
    summary: { breaking: 2 },
    latency: [{ call: 'initialize' }, { call: 'tools/call price' }],
  })
  const many: unknown = JSON.parse((await reelay('diff-batch', '--json', before, after, before, before)).out)
  validate(many)
  expect(validate.errors).toBeNull()
  expect(many).toMatchObject({ diffs: [{ identical: false }, { identical: true }] })
})

const slow = (ms: number): string => {
  const tape = tapeFile(...BEFORE)
  const lines = readFileSync(tape, 'utf8').split('\n')
  const slowed = lines.map((line) => {
    const isAnswer = line.includes('"price\\":') || line.includes('"price":')
    return isAnswer ? line.replace(/"t":([\d.]+)/, (_, t) => `"t":${Number(t) + ms}`) : line
  })
  writeFileSync(tape, slowed.join('\n'))
  return tape
}

test('--latency reports the calls whose median grew by a ratio and a duration', async () => {
  const [before, after] = [slow(10), slow(200)]
  const run = await reelay('diff', '--latency', '--fail-on', 'any', before, after)
  expect([run.code, run.out]).toEqual([1, expect.stringMatching(/tools\/call price +2 .* slower\n/)])
  expect(
    (await reelay('diff', '--latency', '--latency-limits', '2x,5s', '--fail-on', 'any', before, after)).code,
  ).toBe(0)
  const wrong = await reelay('diff', '--latency', '--latency-limits', 'fast', before, after)
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('expected a ratio and a duration')])
})

test('diff-batch compares the tapes of two folders by name, and says which are missing or new', async () => {
  const at = folder()
  const [old, now] = [join(at, 'old'), join(at, 'new')]
  mkdirSync(join(old, 'sub'), { recursive: true })
  cpSync(tapeFile(...BEFORE), join(old, 'sub', 'prices.tape.jsonl'))
  cpSync(old, now, { recursive: true })
  copyFileSync(tapeFile(...BEFORE), join(old, 'gone.tape.jsonl'))
  copyFileSync(tapeFile(...AFTER), join(now, 'more.tape.jsonl'))
  const run = await reelay('diff-batch', old, now)
  expect([run.code, run.out]).toEqual([
    1,
    'only before: gone.tape.jsonl\nonly after: more.tape.jsonl\n1 pair: 0 with breaking changes, 0 with others, 1 unchanged; 1 missing, 1 new\n',
  ])
  const odd = await reelay('diff-batch', old)
  expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('an even number of tapes')])
  expect((await reelay('diff', old, now)).err).toContain('reelay diff-batch')
})

test('git shows the difference of two versions of a tape through --git-driver', () => {
  const at = folder()
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], {
      cwd: at,
      encoding: 'utf8',
      env: { ...process.env, GIT_PAGER: 'cat' },
    })
  git('init', '-q')
  writeFileSync(join(at, '.gitattributes'), '*.tape.jsonl diff=reelay\n')
  copyFileSync(tapeFile(...BEFORE), join(at, 'p.tape.jsonl'))
  git('add', '.')
  git('commit', '-qm', 'one')
  copyFileSync(tapeFile(...AFTER), join(at, 'p.tape.jsonl'))
  const driver = `"${process.execPath}" "${REELAY}" diff --git-driver`
  const shown = git('-c', `diff.reelay.command=${driver}`, 'diff')
  expect(shown).toContain('diff of tape p.tape.jsonl\nbefore  a/p.tape.jsonl  3 exchanges\n')
  expect(shown).toContain('result-field-removed')
  git('rm', '-qf', 'p.tape.jsonl')
  expect(git('-c', `diff.reelay.command=${driver}`, 'diff', '--cached')).toMatch(/deleted tape, 7 messages/)
})

test('explain prints what a rule means, lists all rules, and helps with a misspelled one', async () => {
  const rule = await reelay('explain', 'tool-removed')
  expect([rule.code, rule.out]).toEqual([
    0,
    expect.stringContaining('tool-removed (breaking): the tool is gone'),
  ])
  expect((await reelay('explain')).out.split('\n').length).toBeGreaterThan(60)
  const wrong = await reelay('explain', 'tool-remved')
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('did you mean tool-removed?')])
})
