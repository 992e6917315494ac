import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { validateStrict } from 'ctrf'
import { parse as parseJunit } from 'junit2json'
import { Parser } from 'tap-parser'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { RULES } from '../../src/report/rules.ts'
import { reelay } from '../replay/reelay.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { REELAY } from '../support/recorder.ts'
import { call, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Strings that end a tag, a comment, an attribute, a string, a line, a command or a table cell, or that a terminal obeys. */
const HOSTILE = [
  '</script><script>alert(1)</script>',
  ']]></failure><failure>',
  '"><img src=x onerror=alert(1)>',
  '\u001b[2J\u001b]0;owned\u0007',
  '\u202Egnp.exe\u202C',
  '\n::error file=a,line=1::forged\n',
  '\r\nok 99 - forged # SKIP',
  '| ` `` ``` ~~~ | @everyone ![x](http://127.0.0.1:9/x)',
  '%0A::set-output name=x::y',
  '\u0000\uFFFE\uFFFF\uD800',
  '${IFS}$(id)`id`',
  '\u2028\u2029',
]

const FORMATS = ['agent', 'ndjson', 'markdown', 'junit', 'sarif', 'ctrf', 'github', 'gitlab', 'tap'] as const
type Reports = Readonly<Record<(typeof FORMATS)[number], string>>

const session = (answer: (text: string) => string): readonly Said[] => [
  ...HANDSHAKE,
  ...HOSTILE.flatMap((text, at) => call(at + 1, `tool ${text}`, { text }, answer(text))),
  client({ id: 99, method: 'tools/call', params: { name: 'broken', arguments: {} } }),
  server({ id: 99, error: { code: -32000, message: HOSTILE.join(' ') } }),
]

const folder = mkdtempSync(join(tmpdir(), 'reelay-reports-'))
const found = new Map<string, Reports>()

async function reportsOf(
  name: string,
  words: readonly string[],
  command: readonly string[] = [],
): Promise<void> {
  const files = FORMATS.map((format) => [format, join(folder, `${name}.${format}`)] as const)
  const run = await reelay(
    ...words,
    ...files.flatMap(([format, file]) => ['--report', `${format}=${file}`]),
    ...command,
  )
  expect(run.err).not.toMatch(/reelay: [A-Z_]+ /)
  found.set(
    name,
    Object.fromEntries(files.map(([format, file]) => [format, readFileSync(file, 'utf8')])) as Reports,
  )
}

test('every command that judges writes every format, whatever is on the tape', async () => {
  const before = tapeFile(...session((text) => text))
  const after = tapeFile(...session((text) => `changed ${text}`))
  const contract = join(folder, 'contract.yaml')
  const listed = (schema: object): readonly Said[] => [
    ...HANDSHAKE,
    client({ id: 1, method: 'tools/list' }),
    server({
      id: 1,
      result: { tools: HOSTILE.map((text) => ({ name: text, description: text, inputSchema: schema })) },
    }),
  ]
  const [kept, broken] = [
    tapeFile(...listed({ type: 'object', properties: { [HOSTILE[0] ?? '']: { type: 'string' } } })),
    tapeFile(...listed({ type: 'object', required: HOSTILE.slice(0, 2) })),
  ]
  await reelay('contract', 'make', '-o', contract, kept)
  const live = ['--', process.execPath, REELAY, 'serve', after, '--on-miss', 'error']
  await reportsOf('verify', ['verify', '--allow-writes', before], live)
  await reportsOf('diff', ['diff', before, after])
  await reportsOf('contract', ['contract', 'check', contract, broken])
  await reportsOf('inspect', ['inspect', before])
  await reportsOf(
    'load',
    ['load', before, '--allow-writes', '--users', '1', '--for', '1s', '--slo', 'p99<0.0001ms'],
    live,
  )
  expect([...found.keys()]).toEqual(COMMANDS)
}, 240_000)

afterAll(() => rmSync(folder, { recursive: true }))

const COMMANDS = ['verify', 'diff', 'contract', 'inspect', 'load'] as const
const report = (name: string): Reports => found.get(name) ?? expect.fail(`no reports of ${name}`)

/** What no report may contain, because a terminal, an editor or a page could obey it. */
const LIVE_CHARACTERS = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

test.each(COMMANDS)('no report of %s contains a character that a terminal or editor obeys', (name) => {
  for (const format of FORMATS)
    expect([format, LIVE_CHARACTERS.exec(report(name)[format])]).toEqual([format, null])
})

test.each(COMMANDS)('the JUnit report of %s is read by a JUnit parser, with every item', async (name) => {
  const suites = await parseJunit(report(name).junit)
  const cases =
    suites && 'testsuite' in suites ? suites.testsuite?.flatMap((suite) => suite.testcase ?? []) : []
  const { counts } = lines(name).at(-1) as { counts: { total: number; failed: number } }
  expect(cases?.length).toBe(counts.total)
  expect(cases?.filter((one) => (one.failure ?? []).length > 0).length).toBe(counts.failed)
})

test.each(COMMANDS)('the CTRF report of %s is valid by the schema of CTRF', (name) => {
  expect(() => validateStrict(JSON.parse(report(name).ctrf))).not.toThrow()
})

test('the SARIF reports have the types of SARIF 2.1.0, and each result has a rule, a place and a fingerprint', () => {
  const logs = COMMANDS.map((name) => report(name).sarif)
  const file = resolve(import.meta.dirname, `sarif-check-${process.pid}.ts`)
  onTestFinished(() => rmSync(file, { force: true }))
  writeFileSync(
    file,
    `import type { Log } from 'sarif'\nexport const logs: readonly Log[] = [${logs.join(',\n')}]\n`,
  )
  const tsc = resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
  const args = [
    '--noEmit',
    '--strict',
    '--ignoreConfig',
    '--skipLibCheck',
    '--types',
    'node',
    '--module',
    'nodenext',
    file,
  ]
  expect(execFileSync(process.execPath, [tsc, ...args], { encoding: 'utf8' })).toBe('')
  for (const text of logs) {
    const [run] = JSON.parse(text).runs
    expect(run.results.length).toBeGreaterThan(0)
    for (const result of run.results) {
      expect(run.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId)
      expect(Object.keys(RULES)).toContain(result.ruleId)
      expect(result.partialFingerprints['reelayFinding/v1']).toMatch(/^[0-9a-f]{16}$/)
      expect(result.locations[0].physicalLocation.region.startLine).toBeGreaterThan(0)
    }
  }
})

test.each(COMMANDS)('the TAP report of %s is read by a TAP parser, and nothing in it is forged', (name) => {
  const results = Parser.parse(report(name).tap)
  const { counts } = lines(name).at(-1) as { counts: { total: number; failed: number; skipped: number } }
  const asserts = results.filter(([kind]: readonly unknown[]) => kind === 'assert')
  const [, complete] = results.find(([kind]: readonly unknown[]) => kind === 'complete') as [string, Complete]
  expect([asserts.length, complete.fail, complete.skip]).toEqual([
    counts.total,
    counts.failed,
    counts.skipped,
  ])
  expect(results.filter(([kind]: readonly unknown[]) => kind === 'extra')).toEqual([])
  for (const [block] of report(name).tap.matchAll(/^ {2}---\n(?: {2}.*\n)*? {2}\.\.\.\n/gm))
    for (const one of parseAllDocuments(block.replaceAll(/^ {2}/gm, ''))) expect(one.errors).toEqual([])
})

interface Complete {
  readonly fail: number
  readonly skip: number
}

test.each(COMMANDS)('each line of the NDJSON report of %s is valid by its schema', (name) => {
  const schema = JSON.parse(readFileSync('schema/report-line-1.json', 'utf8'))
  const isLine = new Ajv2020({ strict: false }).compile(schema)
  for (const line of lines(name)) expect([isLine(line), isLine.errors]).toEqual([true, null])
})

interface Item {
  readonly status: string
  readonly findings: readonly { readonly rule: string }[]
}

function itemsOf(name: string): readonly Item[] {
  return lines(name).flatMap((line) => (line['kind'] === 'item' ? [line as unknown as Item] : []))
}

function lines(name: string): readonly Record<string, unknown>[] {
  return report(name)
    .ndjson.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test.each(COMMANDS)(
  'the GitHub report of %s is one command per finding, and the GitLab report is a list',
  (name) => {
    const items = itemsOf(name)
    const notable = items.filter(({ status }) => status === 'failed' || status === 'warned')
    const commands = report(name).github.trimEnd().split('\n')
    expect(commands.length).toBe(notable.flatMap(({ findings }) => findings).length + 1)
    for (const command of commands)
      expect(command).toMatch(/^::(error|warning|notice) (?:[a-z]+=[^:,]*,?)+::\S/)
    const issues = JSON.parse(report(name).gitlab)
    expect([isCodeQuality(issues), isCodeQuality.errors]).toEqual([true, null])
    expect(issues.length).toBe(items.flatMap(({ findings }) => findings).length)
    expect(new Set(issues.map((issue: { fingerprint: string }) => issue.fingerprint)).size).toBe(
      issues.length,
    )
  },
)

/** What the documentation of GitLab says about a report of code quality. */
const isCodeQuality = new Ajv2020().compile({
  type: 'array',
  items: {
    type: 'object',
    required: ['description', 'check_name', 'fingerprint', 'severity', 'location'],
    properties: {
      description: { type: 'string', minLength: 1 },
      check_name: { type: 'string', minLength: 1 },
      fingerprint: { type: 'string', minLength: 1 },
      severity: { enum: ['info', 'minor', 'major', 'critical', 'blocker'] },
      location: {
        type: 'object',
        required: ['path', 'lines'],
        properties: {
          path: { type: 'string', pattern: '^(?!/|\\./)' },
          lines: {
            type: 'object',
            required: ['begin'],
            properties: { begin: { type: 'integer', minimum: 1 } },
          },
        },
      },
    },
  },
})

test.each(COMMANDS)('the Markdown report of %s shows hostile strings only as code', (name) => {
  const text = report(name).markdown
  const withoutCode = text
    .replaceAll(/(`{3,})sh\n[\s\S]*?\n\1/g, '')
    .replaceAll(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
  expect(withoutCode).not.toMatch(/<(?!\/?(details|summary)>)|!\[|(?<!\\)@|javascript:/)
  expect(text.length).toBeLessThan(65_536)
})

test('the report for agents has the verdict first, a command for each failure, and keeps its budget', async () => {
  const text = report('verify').agent
  expect(text).toMatch(/^verdict: fail\nreelay verify: /)
  expect(text).toMatch(/reproduce: reelay verify .* --explain \d+ -- /)
  const before = tapeFile(...session((answer) => answer))
  const after = tapeFile(...session((answer) => `changed ${answer}`))
  const short = await reelay('diff', '--report', 'agent', '--report-tokens', '300', before, after)
  expect(short.out.length).toBeLessThanOrEqual(300 * 4 + 800)
  expect(short.out).toMatch(/\d+ more not shown \(limit: 300 tokens\)/)
})

test('a fingerprint is the same in two runs, although numbers and messages change', async () => {
  const [alone, among] = [await fingerprintsOf([]), await fingerprintsOf(call(7, 'other', {}, 'x'))]
  expect(alone.length).toBeGreaterThan(0)
  expect(among).toEqual(alone)
})

async function fingerprintsOf(said: readonly Said[]): Promise<readonly string[]> {
  const first = tapeFile(...HANDSHAKE, ...call(1, 'price', {}, '{"price":2,"tags":["a","b"]}'), ...said)
  const second = tapeFile(...HANDSHAKE, ...said, ...call(1, 'price', {}, '{"price":3,"tags":["a","c"]}'))
  const { out } = await reelay('diff', '--report', 'sarif', first, second)
  return JSON.parse(out).runs[0].results.map(
    (result: { partialFingerprints: Record<string, string> }) =>
      result.partialFingerprints['reelayFinding/v1'],
  )
}

test('a report is not written through a symbolic link, and only its owner can read it', async () => {
  const [before, after] = [tapeFile(...session(String)), tapeFile(...session((text) => `${text}!`))]
  const [target, link, plain] = ['target', 'link', 'plain'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(target, 'mine')
  symlinkSync(target, link)
  const refused = await reelay('diff', '-q', '--report', `junit=${link}`, before, after)
  expect([refused.code, readFileSync(target, 'utf8')]).toEqual([3, 'mine'])
  expect(refused.err).toContain('symbolic link')
  await reelay('diff', '-q', '--report', `junit=${plain}`, before, after)
  expect(existsSync(plain) && statSync(plain).mode & 0o777).toBe(0o600)
})

test('verify -q prints nothing, and one report at most is printed', async () => {
  const tape = tapeFile(...HANDSHAKE, ...call(1, 'price', {}, '2'))
  const other = tapeFile(...HANDSHAKE, ...call(1, 'price', {}, '3'))
  const live = ['--', process.execPath, REELAY, 'serve', other]
  expect(await reelay('verify', '-q', '--allow-writes', tape, ...live)).toMatchObject({ code: 1, out: '' })
  const twice = await reelay('diff', '--report', 'tap', '--report', 'junit', tape, other)
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('only one report can be printed')])
})

test('every rule that a report names is explained', async () => {
  const names = COMMANDS.flatMap((name) =>
    lines(name).flatMap(({ findings }) => (findings ?? []) as { rule: string }[]),
  )
  expect(names.length).toBeGreaterThan(20)
  const [first] = names
  const { out } = await reelay('explain', first?.rule ?? '')
  expect(out).toContain(first?.rule)
  for (const { rule } of names) expect(Object.keys(RULES)).toContain(rule)
})
