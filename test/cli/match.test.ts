import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { MAIN } from '../serve/serve-process.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { call, callOf, HANDSHAKE } from '../support/tape-of.ts'

const DAY = 86_400_000
const MONTH_AGO = new Date(Date.now() - 30 * DAY)

test('the first command that a miss advises is pasted, and the same run passes; the rule is one line beside the tape', () => {
  const tape = tapeFile(...HANDSHAKE, ...call(1, 'book', { on: dayIn(7, MONTH_AGO), seats: 2 }, 'booked'))
  const recorded = readFileSync(tape, 'utf8').replace(
    /"started":"[^"]*"/,
    `"started":"${MONTH_AGO.toISOString()}"`,
  )
  writeFileSync(tape, recorded)
  const asked = callOf(1, 'book', { on: dayIn(7, new Date()), seats: 2 })
  const missed = serve([tape], asked)
  expect(missed.status).toBe(1)
  const [fix] = JSON.parse(missed.stdout).error.data.fixes
  expect(fix.command).toBe(`reelay match add ${tape} params.arguments.on --as relative-date --tool book`)

  const added = reelay(fix.command.split(' ').slice(1))
  expect([added.status, added.stdout]).toEqual([0, 'tools/call book params.arguments.on relative-date\n'])
  expect(readFileSync(rulesOf(tape), 'utf8')).toMatchInlineSnapshot(`
    "# Matching rules for the tape of this name; edit them with: reelay match add, list, remove

    rules:
      - tools/call book params.arguments.on relative-date
    "
  `)

  const passed = serve([tape], asked)
  expect(passed.stdout).toContain('booked')
  expect(passed.stderr).toContain(`reelay serve: matching: 1 rule from ${rulesOf(tape)}\n`)
  expect(passed.stderr).toContain('note: answered loosely, by a rule: tools/call book')
  expect(passed.status).toBe(0)
})

test('rules are added, listed and removed; what people wrote in the file stays', () => {
  const tape = tapeFile(...call(1, 'search', { q: 'a', limit: 1 }, ''))
  writeFileSync(
    rulesOf(tape),
    '# ours\nstrategy: subset\nrules:\n  - params.arguments.q trim # people type\n',
  )
  expect(
    reelay(['match', 'add', tape, 'params.arguments.limit', '--as', 'ignore', '--tool', 'search']).status,
  ).toBe(0)
  expect(
    reelay(['match', 'add', tape, 'params.arguments.limit', '--as', 'number within 5', '--tool', 'search'])
      .stdout,
  ).toBe('tools/call search params.arguments.limit number within 5\n')
  expect(readFileSync(rulesOf(tape), 'utf8')).toBe(
    '# ours\nstrategy: subset\nrules:\n  - params.arguments.q trim # people type\n  - tools/call search params.arguments.limit number within 5\n',
  )
  expect(JSON.parse(reelay(['match', 'list', tape, '--json']).stdout)).toEqual({
    file: rulesOf(tape),
    rules: ['params.arguments.q trim', 'tools/call search params.arguments.limit number within 5'],
  })
  const removed = reelay(['match', 'remove', tape, 'params.arguments.limit'])
  expect(removed.stdout).toBe('removed: tools/call search params.arguments.limit number within 5\n')
  expect(reelay(['match', 'list', tape]).stdout).toBe('params.arguments.q trim\n')
  expect(reelay(['match', 'remove', tape, 'params.arguments.limit']).status).toBe(2)
})

test('a list that was emptied takes the next rule on a line of its own', () => {
  const tape = tapeFile(...call(1, 'search', { q: 'a' }, ''))
  for (const command of ['add', 'remove', 'add'])
    reelay(['match', command, tape, 'params.arguments.q', ...(command === 'add' ? ['--as', 'ignore'] : [])])
  expect(readFileSync(rulesOf(tape), 'utf8')).toMatch(/\nrules:\n {2}- params\.arguments\.q ignore\n$/)
})

test('rules may stand in JSON too, and the project config says what holds for all tapes', () => {
  const tape = tapeFile(...call(1, 'search', { q: 'a', limit: 1, page: 1 }, 'found'))
  const folder = dirname(tape)
  writeFileSync(join(folder, 'made-up.match.json'), '{"rules":["params.arguments.limit ignore"]}')
  writeFileSync(
    join(folder, 'reelay.config.yaml'),
    'match:\n  strategy: fuzzy\n  rules:\n    - tools/call search params.arguments.q any\n',
  )
  const { stdout, stderr, status } = serve([tape], callOf(1, 'search', { q: 'z', limit: 2 }), folder)
  expect(stdout).toContain('found')
  const lines = stderr.split('\n')
  expect([lines[0], ...lines.slice(2, 4)]).toEqual([
    `reelay: using the config ${join(folder, 'reelay.config.yaml')}`,
    `reelay serve: matching: 1 rule from ${join(folder, 'made-up.match.json')}`,
    `reelay serve: matching: strategy subset and 1 rule from ${join(folder, 'reelay.config.yaml')}`,
  ])
  expect(status).toBe(0)
  reelay(['match', 'add', tape, 'params.arguments.page', '--as', 'type'])
  expect(JSON.parse(readFileSync(join(folder, 'made-up.match.json'), 'utf8'))).toEqual({
    rules: ['params.arguments.limit ignore', 'params.arguments.page type'],
  })
})

test('a rule that no recorded request has a place for is kept, with a warning', () => {
  const tape = tapeFile(...call(1, 'search', { items: [{ id: 1 }] }, ''))
  const add = (path: string): string => reelay(['match', 'add', tape, path, '--as', 'any']).stderr
  expect(add('params.arguments.item[*].id')).toContain(
    'no recorded request has a value there; did you mean params.arguments.items',
  )
  expect(add('params.arguments.items[*].id')).not.toContain('warning')
})

test.each([
  [['add', 'TAPE', 'params.arguments.q'], 2, 'USAGE'],
  [['add', 'TAPE', 'params.arguments.q', '--as', 'any', '--ignore'], 2, 'USAGE'],
  [['add', 'TAPE', 'params.arguments.q', '--as', 'soon'], 2, 'RULE_INVALID'],
  [['add', 'TAPE', 'arguments.q', '--as', 'ignore'], 2, 'PATH_INVALID'],
  [['add', 'TAPE', 'params.requestState', '--as', 'ignore'], 2, 'PATH_INVALID'],
  [['add', 'TAPE', 'params.q', '--as', 'ignore', '--tool', 'a', '--method', 'prompts/get'], 2, 'USAGE'],
  [['add', 'no-such-tape', 'params.arguments.q', '--as', 'ignore'], 3, 'TAPE_NOT_FOUND'],
  [['list', 'no-such-tape'], 3, 'TAPE_NOT_FOUND'],
] as const)('reelay match %j is refused with exit code %i: %s', (args, code, error) => {
  const tape = tapeFile(...call(1, 'search', { q: 'a' }, ''))
  const { status, stdout, stderr } = reelay(['match', ...args.map((arg) => (arg === 'TAPE' ? tape : arg))])
  expect(stderr).toMatch(new RegExp(`^reelay: ${error} .+\n  hint: .+\n$`))
  expect([status, stdout, existsSync(rulesOf(tape))]).toEqual([code, '', false])
})

test('a rules file that cannot be read is named, with the place, and nothing is served', () => {
  const tape = tapeFile(...call(1, 'search', { q: 'a' }, ''))
  const refusal = (text: string): string => {
    writeFileSync(rulesOf(tape), text)
    const { status, stdout, stderr } = serve([tape], callOf(1, 'search', { q: 'a' }))
    expect([status === 0, stdout]).toEqual([false, ''])
    return stderr.replaceAll(rulesOf(tape), 'FILE')
  }
  expect([
    refusal('rules: [a, b'),
    refusal('rules:\n  - params.q sometimes\n'),
    refusal('ignore: params.q\n'),
  ]).toMatchInlineSnapshot(`
    [
      "reelay: SETTINGS_INVALID FILE cannot be read: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 13
      hint: correct that place in the file, or remove the file
    ",
      "reelay: RULE_INVALID FILE, rule 1: invalid matching rule: unknown comparison "sometimes"
      hint: the kinds are: ignore, any, type, regex <pattern>, relative-date [within <n>d|h|m|s], number within <amount or percent>, unordered, case-insensitive, trim
    ",
      "reelay: SETTINGS_INVALID invalid matching rules in FILE: unknown key "ignore"
      hint: use the keys "strategy", a name, and "rules", a list of lines such as tools/call search params.arguments.date relative-date
    ",
    ]
  `)
})

function dayIn(days: number, from: Date): string {
  return new Date(from.getTime() + days * DAY).toISOString().slice(0, 10)
}

function rulesOf(tape: string): string {
  return tape.replace('.tape.jsonl', '.match.yaml')
}

function serve(args: readonly string[], message: object, cwd?: string): SpawnSyncReturns<string> {
  return reelay(['serve', ...args], `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`, cwd)
}

function reelay(args: readonly string[], input = '', cwd?: string): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', input, ...(cwd && { cwd }) })
}
