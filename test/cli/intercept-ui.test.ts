import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  fixtureServer,
  linesOf,
  record,
  REELAY,
  start as run,
  temporaryFolder,
  type RecordedRun,
} from '../support/recorder.ts'

const WAIT = { timeout: 30_000, interval: 50 }

let home: string
beforeEach(() => {
  home = temporaryFolder()
  process.env['REELAY_HOME'] = home
})

const call = (id: number, name: string, args: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })

interface Terminal {
  readonly keys: (...keys: string[]) => void
  readonly screen: () => string
  readonly resize: (columns: number, rows: number) => void
}

/** Runs a command in a terminal of tmux, after a prompt that must be back when it has ended. */
function inTerminal(command: string, env: NodeJS.ProcessEnv = {}): Terminal {
  const socket = `reelay-${randomUUID()}`
  const options = {
    env: { ...process.env, ...env, TERM: 'xterm', TMUX: undefined },
    encoding: 'utf8' as const,
  }
  const tmux = (...args: string[]): string => execFileSync('tmux', ['-L', socket, ...args], options)
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', '80', '-y', '24', 'sh')
  onTestFinished(() => void tmux('kill-server'))
  tmux('send-keys', '-l', `PS1=; echo bef''ore; ${command}; echo le''ft $?`)
  tmux('send-keys', 'Enter')
  return {
    keys: (...keys) => void tmux('send-keys', ...keys),
    screen: () => tmux('capture-pane', '-p'),
    resize: (columns, rows) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
  }
}

const reelay = (...words: string[]): string =>
  [process.execPath, REELAY, ...words].map((word) => `'${word}'`).join(' ')

/** An editor that replaces a text in the file, and says where that was. */
function editor(from: string, to: string): { command: string; seen: string } {
  const folder = temporaryFolder()
  const [command, seen] = [join(folder, 'editor.sh'), join(folder, 'seen')]
  writeFileSync(
    command,
    `#!/bin/sh\nls -l "$1" > '${seen}'\necho "$1" >> '${seen}'\nsed -i 's/${from}/${to}/' "$1"\n`,
  )
  chmodSync(command, 0o700)
  return { command, seen }
}

function start(filter: string): { session: RecordedRun; send: (...lines: string[]) => void } {
  const session = record(fixtureServer('echo-arguments'), { options: ['--intercept', filter] })
  return {
    session,
    send: (...lines) => void session.child.stdin.write(lines.map((line) => `${line}\n`).join('')),
  }
}

async function isRecording(session: RecordedRun): Promise<void> {
  await expect.poll(() => session.stderr(), WAIT).toContain('to see them: reelay intercept')
}

test('messages are held, edited, forwarded, dropped and answered with the keyboard, at 80 by 24', async () => {
  const { session, send } = start('tool:search dir:c2s')
  await isRecording(session)
  const { command, seen } = editor('Oslo', 'Bergen')
  const terminal = inTerminal(reelay('intercept', session.tape), { VISUAL: command })
  await expect
    .poll(terminal.screen, WAIT)
    .toMatch(/session\.tape\.jsonl {2}recording {2}held: 0 {2}exchanges: 0 {2}intercept: tool:search/)

  send(call(1, 'search', { city: 'Oslo' }))
  await expect.poll(terminal.screen, WAIT).toMatch(/HELD m1 +→ #1 request tools\/call search +\d+ s left/)
  expect(terminal.screen()).toContain('"city": "Oslo"')
  expect(terminal.screen()).toMatch(/^f forward {2}e edit {2}d drop {2}a answer/m)
  terminal.keys('e')
  expect(await session.line('"id":1')).toContain('Bergen')
  await expect.poll(terminal.screen, WAIT).toMatch(/held: 0/)
  await expect.poll(terminal.screen, WAIT).toMatch(/^ +1 .*tools\/call search .* ok$/m)
  const [mode = '', file = ''] = readFileSync(seen, 'utf8').split('\n')
  expect(mode).toMatch(/^-rw-------/)
  expect(existsSync(file)).toBe(false)

  send(call(2, 'search', { city: 'Rome' }))
  await expect.poll(terminal.screen, WAIT).toContain('HELD m2')
  terminal.keys('f')
  expect(await session.line('"id":2')).toContain('Rome')

  send(call(3, 'search', { city: 'Paris' }))
  await expect.poll(terminal.screen, WAIT).toContain('HELD m3')
  terminal.keys('d')
  await expect.poll(terminal.screen, WAIT).toMatch(/held: 0/)

  writeFileSync(command, `#!/bin/sh\necho '{"result":{"made":"up"}}' > "$1"\n`)
  send(call(4, 'search', { city: 'Kyiv' }))
  await expect.poll(terminal.screen, WAIT).toContain('HELD m4')
  terminal.keys('a')
  expect(await session.line('"id":4')).toContain('"made":"up"')

  await expect.poll(terminal.screen, WAIT).toMatch(/^ +4 /m)
  terminal.keys('g', 'r')
  await expect.poll(terminal.screen, WAIT).toMatch(/response to the repeated request:[^]*Oslo/)
  terminal.keys('q')
  await expect.poll(terminal.screen, WAIT).toMatch(/before\nleft 0/)
  session.child.stdin.end()
  await session.exited
  const actions = linesOf(session.tape).flatMap((frame) =>
    frame['event'] === 'intercept' ? [frame['action']] : [],
  )
  expect(actions).toEqual(['edit', 'forward', 'drop', 'answer'])
  expect(linesOf(session.tape).some(({ by }) => by === 'terminal')).toBe(true)
}, 120_000)

test('a tape is searched with filters, a filter can be mistyped, and the window can change its size', async () => {
  const { session, send } = start('tool:nothing')
  send(
    call(1, 'search', { city: 'Oslo' }),
    call(2, 'book', { city: 'Rome' }),
    call(3, 'search', { city: 'Bergen' }),
  )
  await session.line('"id":3')
  session.child.stdin.end()
  await session.exited
  const terminal = inTerminal(reelay('tail', '--ui', session.tape))
  await expect.poll(terminal.screen, WAIT).toMatch(/ended {2}exchanges: 3/)
  terminal.keys('/')
  terminal.keys('-l', 'tool:search bergen')
  terminal.keys('Enter')
  await expect.poll(terminal.screen, WAIT).toMatch(/exchanges: 1 of 3 \(tool:search bergen\)/)
  expect(terminal.screen()).toMatch(/^ +3 .*tools\/call search/m)
  expect(terminal.screen()).not.toContain('book')
  terminal.keys('/')
  terminal.keys('C-u')
  terminal.keys('-l', 'toool:x')
  terminal.keys('Enter')
  await expect.poll(terminal.screen, WAIT).toContain('there is no field "toool"')
  terminal.resize(120, 40)
  await expect.poll(() => terminal.screen().split('\n').length, WAIT).toBeGreaterThanOrEqual(40)
  terminal.keys('?')
  await expect.poll(terminal.screen, WAIT).toContain('show only exchanges that match a filter')
  terminal.resize(40, 8)
  await expect.poll(terminal.screen, WAIT).toContain('session.tape.jsonl')
  terminal.keys('C-c')
  await expect.poll(terminal.screen, WAIT).toMatch(/left 130/)
}, 120_000)

test('nothing on a tape can steer the terminal, secrets are not shown, and a narrow one shows the time left', async () => {
  const { session, send } = start('tool:search dir:c2s')
  await isRecording(session)
  const terminal = inTerminal(reelay('intercept', session.tape))
  await expect.poll(terminal.screen, WAIT).toContain('recording')
  const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40)
  send(call(1, 'search', { text: '\u001B[2J\u001B[31mred\u202E\u0007', wide: '日本', token }))
  await expect.poll(terminal.screen, WAIT).toContain('HELD m1')
  await expect.poll(terminal.screen, WAIT).toContain('日本')
  expect(terminal.screen()).toContain(String.raw`\u001b[2J`)
  expect(terminal.screen()).not.toContain(token)
  terminal.resize(40, 12)
  await expect.poll(terminal.screen, WAIT).toMatch(/HELD m1 +\d+ s → #1 request/)
  terminal.keys('f')
  await session.line('"id":1')
}, 60_000)

test('a terminal UI that is killed leaves no held message, and no socket remains', async () => {
  const { session, send } = start('tool:search dir:c2s')
  await isRecording(session)
  const pidFile = join(temporaryFolder(), 'pid')
  const terminal = inTerminal(
    `sh -c 'echo $$ > ${pidFile}; exec ${reelay('intercept', session.tape).replaceAll("'", '')}'`,
  )
  await expect.poll(terminal.screen, WAIT).toContain('recording')
  send(call(1, 'search', {}))
  await expect.poll(terminal.screen, WAIT).toContain('HELD m1')
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL')
  await session.line('"id":1')
  session.child.stdin.end()
  await session.exited
  expect(readFileSync(session.tape, 'utf8')).toContain('"why":"nobody is attached any more"')
  expect(readdirSync(join(home, 'control'))).toEqual([])
}, 60_000)

test('scripts decide with JSON lines on stdin and stdout', async () => {
  const { session, send } = start('tool:search dir:c2s')
  await isRecording(session)
  const script = run([process.execPath, REELAY, 'intercept', '--json', session.tape])
  await script.line('"event":"hello"')
  send(call(1, 'search', { city: 'Oslo' }))
  const { message } = JSON.parse(await script.line('"event":"held"')) as { message: { key: string } }
  script.child.stdin.write(`${JSON.stringify({ id: 7, command: 'block', key: message.key })}\n`)
  expect(JSON.parse(await script.line('"reply":7'))).toEqual({ reply: 7, ok: true })
  script.child.stdin.write('{"id":8,"command":"forwrd","key":"m1"}\n')
  expect(await script.line('"reply":8')).toContain('did you mean forward?')
  script.child.stdin.end()
  expect(await script.exited).toMatchObject({ code: 0 })
  const late = run([process.execPath, REELAY, 'intercept', join(home, 'other.tape.jsonl')])
  expect(await late.exited).toMatchObject({ code: 3 })
  expect(late.stderr()).toContain('CONTROL_NOT_FOUND')
})
