import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'reelay-completion-'))
  mkdirSync(join(home, 'bin'))
  mkdirSync(join(home, 'tapes'))
  symlinkSync(resolve('dist/cli/main.js'), join(home, 'bin', 'reelay'))
  writeFileSync(join(home, 'tapes', 'triage.tape.jsonl'), TAPE)
})
afterAll(() => rmSync(home, { recursive: true }))

const TAPE = `${[
  { reelay: 1, id: '01K', started: '2026-11-17T00:00:00.000Z', by: 'reelay 0.1.0', servers: {} },
  {
    n: 1,
    t: 1,
    server: 's',
    conn: 1,
    dir: 's2c',
    msg: { id: 1, result: { tools: [{ name: 'lookup_issue' }] } },
  },
]
  .map((line) => JSON.stringify(line))
  .join('\n')}\n`

test.each([
  ['a command', ['ver'], ['verify']],
  ['a tape', ['inspect', 't'], ['triage', ':files']],
  ['an option', ['verify', 'triage', '--allow-w'], ['--allow-writes']],
  ['a value of an option', ['verify', 'triage', '--order', 'c'], ['correlated']],
  ['a value after an equals sign', ['verify', '--order', '=', 'r'], ['--order=random']],
  ['a tool of the tape', ['verify', 'triage', '--allow', 'l'], ['lookup_issue']],
  ['a second tool', ['verify', 'triage', '--allow', 'x,l'], ['x,lookup_issue']],
  ['a command of a command', ['match', 'a'], ['add']],
  ['files after --', ['record', 'triage', '--', 'n'], [':files']],
  ['nothing after an unknown command', ['nosuch', ''], []],
])('completes %s', (_, words, expected) => {
  const env = { ...process.env, REELAY_HOME: home }
  const args = ['dist/cli/main.js', 'completion', 'words', '--', ...words]
  const lines = execFileSync(process.execPath, args, { env, encoding: 'utf8' }).split('\n')
  expect(lines.slice(0, -1).map((line) => line.split('\t')[0])).toEqual(expected)
})

// A real terminal: each shell completes what is typed, key by key.
test.skipIf(process.platform === 'win32').each([
  ['bash', ['bash', '--norc', '--noprofile', '-i'], 'source <(reelay completion bash)'],
  ['zsh', ['zsh', '-f', '-i'], 'source <(reelay completion zsh)'],
  ['fish', ['fish', '--no-config', '-i'], 'reelay completion fish | source'],
])(
  '%s completes commands, tapes and tools in a terminal',
  async (_, shell, set) => {
    const tmux = openTerminal(shell)
    try {
      tmux('send-keys', `${set}; echo re''ady`, 'Enter')
      await expect.poll(screenOf(tmux), WAIT).toMatch(/^ready/m)
      tmux('send-keys', 'reelay veri', 'Tab')
      await expect.poll(screenOf(tmux), WAIT).toMatch(/reelay verify *$/m)
      tmux('send-keys', 'tri', 'Tab')
      await expect.poll(screenOf(tmux), WAIT).toMatch(/reelay verify triage/)
      tmux('send-keys', '--', '--allow look', 'Tab')
      await expect.poll(screenOf(tmux), WAIT).toMatch(/reelay verify triage --allow lookup_issue/)
    } finally {
      tmux('kill-server')
    }
  },
  120_000,
)

type Terminal = (...args: readonly string[]) => string

function openTerminal(shell: readonly string[]): Terminal {
  const socket = `reelay-${randomUUID()}`
  const PATH = `${join(home, 'bin')}${delimiter}${process.env['PATH']}`
  const env = { ...process.env, PATH, REELAY_HOME: home, HOME: home, TERM: 'xterm', TMUX: undefined }
  const tmux: Terminal = (...args) => execFileSync('tmux', ['-L', socket, ...args], { env, encoding: 'utf8' })
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', '160', '-y', '40', ...shell)
  return tmux
}

/** Typed keys appear when the shell is ready for them. */
const WAIT = { timeout: 30_000, interval: 50 }

function screenOf(tmux: Terminal): () => string {
  return () => tmux('capture-pane', '-p')
}
