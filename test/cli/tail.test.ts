import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { encodeHeader } from '../../src/tape/header.ts'
import {
  fixtureServer,
  REELAY,
  record,
  start,
  temporaryFolder,
  until,
  type Running,
} from '../support/recorder.ts'

const ENV = { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1' }

let tape: string
let written = 0
beforeEach(() => {
  tape = join(temporaryFolder(), 'live.tape.jsonl')
  written = 0
  const servers = { travel: { transport: 'stdio' } }
  const header = {
    reelay: 1,
    id: '01K',
    started: '2026-11-15T07:20:59.123Z',
    by: 'reelay',
    servers,
    tags: {},
  }
  writeFileSync(tape, `${encodeHeader(header)}\n`)
})

test('exchanges are shown while the session is still going on, and the view ends with the tape', async () => {
  const session = record(fixtureServer('answer-calls'))
  session.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"trip"}}\n')
  await session.line('"id":1')
  const view = tail(session.tape)
  expect(await view.line('tools/call trip')).toMatch(/^ +1 +\+\S+ ms {2}tools\/call trip +\S+ ms {2}ok$/)
  session.child.stdin.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
  expect(await view.line('ping')).toMatch(/^ +2 +\+\S+ m?s {2}ping +\S+ ms {2}ok$/)
  session.child.stdin.end()
  expect(await view.exited).toEqual({ code: 0, signal: null })
  expect(view.stdout().toString().split('\n')).toHaveLength(4)
})

test('an exchange is shown when it is complete, with the number that inspect gives it', async () => {
  const view = tail(tape)
  put('c2s', '{"jsonrpc":"2.0","id":1,"method":"slow"}')
  put('c2s', '{"jsonrpc":"2.0","id":2,"method":"quick"}')
  put('s2c', '{"jsonrpc":"2.0","id":2,"result":{}}')
  await view.line('quick')
  put('s2c', '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"too late"}}')
  await view.line('slow')
  put('c2s', '{"jsonrpc":"2.0","id":3,"method":"lost"}')
  end()
  expect((await view.exited).code).toBe(0)
  expect(view.stdout().toString()).toMatchInlineSnapshot(`
    "   #          at  request                             latency  outcome
       2     +2.0 ms  quick                                1.0 ms  ok
       1     +1.0 ms  slow                                 3.0 ms  error -32000: too late
       3     +5.0 ms  lost                                         unanswered
    "
  `)
})

test('a line that is torn waits for its other half', async () => {
  const view = tail(tape)
  put('c2s', '{"jsonrpc":"2.0","id":1,"method":"first"}')
  put('s2c', '{"jsonrpc":"2.0","id":1,"result":{}}')
  await view.line('first')
  const line = lineOf('c2s', '{"jsonrpc":"2.0","id":2,"method":"torn"}')
  appendFileSync(tape, line.slice(0, 40))
  const another = tail(tape) // has read to the torn line when it has shown what stands before it
  await another.line('first')
  appendFileSync(tape, line.slice(40))
  put('s2c', '{"jsonrpc":"2.0","id":2,"result":{}}')
  await Promise.all([view.line('torn'), another.line('torn')])
  end()
  await Promise.all([view.exited, another.exited])
  expect(another.stdout().equals(view.stdout())).toBe(true)
})

test('lines that the recorder takes back, to write them in another way, do not disturb the view', async () => {
  const session = record(fixtureServer('echo-bytes'))
  session.child.stdin.write('no JSON at first\n')
  await session.line('no JSON at first')
  const view = tail(session.tape, '--json')
  for (let id = 1; id <= 40; id++) {
    session.child.stdin.write(
      `{"jsonrpc":"2.0","id":${id},"method":"m"}\n{"not quite": JSON ${'.'.repeat(id)}\n`,
    )
    session.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`)
    await session.line(`"id":${id},"result"`)
  }
  session.child.stdin.end()
  await view.exited
  const shown = view
    .stdout()
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { sequence: number })
  expect(shown.toSorted((a, b) => a.sequence - b.sequence)).toEqual(await inspectedExchanges(session.tape))
})

test('--json prints each exchange as inspect --json has it, one a line', async () => {
  const view = tail(tape, '--json')
  put('c2s', '{"jsonrpc":"2.0","id":1.0,"method":"m"}')
  put('s2c', '{"jsonrpc":"2.0","id":1.0,"result":{"text":"\\u001b[31m"}}')
  end()
  await view.exited
  const lines = view.stdout().toString().trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(await inspectedExchanges(tape))
  expect(lines[0]).toContain('"id":1.0')
})

test('nothing on a tape can steer the terminal', async () => {
  const view = tail(tape)
  put('c2s', '{"jsonrpc":"2.0","id":1,"method":"m\\u001b[2J\\u202e"}')
  put('s2c', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\\u0007\\u009b"}}')
  end()
  await view.exited
  expect(view.stdout().toString()).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u)
})

test('Ctrl+C ends the view with 130, and a tape that is not there is refused', async () => {
  const view = tail(tape)
  await view.line('request')
  view.child.kill('SIGINT')
  expect((await view.exited).code).toBe(process.platform === 'win32' ? null : 130)
  const none = tail('no-such-tape-anywhere')
  expect(await none.exited).toEqual({ code: 3, signal: null })
  expect(none.stderr()).toContain('TAPE_NOT_FOUND')
})

test('a reader who leaves early ends the view', async () => {
  const view = tail(tape)
  await view.line('request')
  view.child.stdout.destroy()
  const ended = { now: false }
  void view.exited.then(() => (ended.now = true))
  await until(() => {
    if (!ended.now) exchange()
    return ended.now
  })
  expect((await view.exited).code).toBe(0)
})

function tail(path: string, ...options: string[]): Running {
  return start([process.execPath, REELAY, 'tail', path, ...options], { env: ENV })
}

async function inspectedExchanges(path: string): Promise<readonly unknown[]> {
  const inspected = start([process.execPath, REELAY, 'inspect', '--json', path], { env: ENV })
  await inspected.exited
  return (JSON.parse(inspected.stdout().toString()) as { exchanges: unknown[] }).exchanges
}

function exchange(): void {
  put('c2s', '{"jsonrpc":"2.0","id":1,"method":"m"}')
  put('s2c', '{"jsonrpc":"2.0","id":1,"result":{}}')
}

function put(dir: 'c2s' | 's2c', message: string): void {
  appendFileSync(tape, lineOf(dir, message))
}

function lineOf(dir: 'c2s' | 's2c', message: string): string {
  written++
  return `{"n":${written},"t":${written},"server":"travel","conn":1,"dir":"${dir}","msg":${message}}\n`
}

function end(): void {
  written++
  appendFileSync(tape, `{"n":${written},"t":${written},"event":"end","frames":${written}}\n`)
}
