import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { COMMANDS } from '../../src/cli/program.ts'
import { REELAY } from '../support/recorder.ts'

function reelay(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [REELAY, ...args], { encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

test('reelay --help shows every command, grouped by what it is for', () => {
  const { code, stdout } = reelay('--help')
  const groups = stdout.split('\n\n').slice(3)
  const shown = groups.map((group) => [
    group.split('\n')[0],
    [...group.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name).join(' '),
  ])
  const wanted = Object.entries(COMMANDS).map(([group, entries]) => [
    `${group}:`,
    entries.map(({ name }) => name).join(' '),
  ])
  const [group, names] = wanted.pop() ?? []
  expect({ code, shown }).toEqual({ code: 0, shown: [...wanted, [group, `${names} help`]] })
})

test('help for a command is what its --help says', () => {
  for (const name of ['record', 'serve', 'match'])
    expect([name, reelay('help', name)]).toEqual([name, reelay(name, '--help')])
})

test.each(Object.values(COMMANDS).flat())(
  '$name --help has examples, and no line is wider than a terminal',
  (entry) => {
    const { stdout } = reelay(entry.name, '--help')
    expect(stdout).toMatch(new RegExp(`^Usage: reelay ${entry.name}\\b`))
    expect(stdout).toContain(`\nExamples:\n${entry.examples.map((line) => `  ${line}\n`).join('')}`)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    for (const example of entry.examples) {
      const [command = ''] = example.split(' -- ')
      const options = command.match(/(?<= )--?[a-z][\w-]*/g) ?? []
      const [, verb = ''] = command.split(' ')
      const help = reelay(verb, '--help-all').stdout
      for (const option of verb === 'match' || verb === 'contract' ? [] : options)
        expect(help).toContain(option)
    }
  },
)

test('without a command, the help is printed, and the exit code is 2', () => {
  expect(reelay()).toEqual({ code: 2, stdout: '', stderr: reelay('--help').stdout })
})

test('--help-all without a command is --help', () => {
  expect(reelay('--help-all')).toEqual(reelay('--help'))
})

test('help for a command that does not exist says so', () => {
  expect(reelay('help', 'nonsense')).toEqual({
    code: 2,
    stdout: '',
    stderr: "reelay: USAGE unknown command 'nonsense'\n  hint: see reelay --help\n",
  })
})

test('a usage error names the help of its command', () => {
  expect(reelay('list', 'x').stderr).toMatch(/\n {2}hint: .*see reelay list --help\n$/)
  expect(reelay('verify', 'a', '--tiemout', '3').stderr).toBe(
    "reelay: USAGE unknown option '--tiemout'\n  hint: did you mean --timeout? Otherwise see reelay verify --help\n",
  )
})

test('--no-color prints the same text without colours, before and after the command', () => {
  vi.stubEnv('FORCE_COLOR', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  const failing = ['verify', 'no-such-tape', '--', 'x']
  const [coloured, ...plain] = [
    failing,
    ['--no-color', ...failing],
    ['verify', '--no-color', ...failing.slice(1)],
  ].map((words) => reelay(...words))
  expect(coloured?.stderr).toContain('\u001b[')
  for (const { code, stderr } of plain)
    expect([code, stderr]).toEqual([coloured?.code, stripVTControlCharacters(coloured?.stderr ?? '')])
})
