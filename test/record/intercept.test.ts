import { readFileSync } from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { ended } from '../auto/program.ts'
import { attach } from '../support/control.ts'
import {
  fixtureServer,
  isAlive,
  linesOf,
  record,
  REELAY,
  temporaryFolder,
  until,
  type RecordedRun,
} from '../support/recorder.ts'

// The tests find the control socket of a recorder by its home.
beforeEach(() => {
  process.env['REELAY_HOME'] = temporaryFolder()
})

const call = (id: number, name: string, args: object = {}, more: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...more } })

const start = (filter: string, ...options: string[]): RecordedRun =>
  record(fixtureServer('echo-arguments'), { options: ['--intercept', filter, ...options] })

const send = (session: RecordedRun, ...lines: string[]): void =>
  void session.child.stdin.write(lines.map((line) => `${line}\n`).join(''))

const frames = (tape: string, ...names: string[]): unknown[] =>
  linesOf(tape)
    .slice(1)
    .filter((frame) => frame['msg'] !== undefined || frame['event'] === 'intercept')
    .map((frame) => Object.fromEntries(names.flatMap((name) => (name in frame ? [[name, frame[name]]] : []))))

async function end(session: RecordedRun): Promise<void> {
  session.child.stdin.end()
  await session.exited
}

test('a held request waits, others pass it, and it goes on as it was', async () => {
  const session = start('tool:search dir:c2s')
  const user = await attach(session.tape)
  send(session, call(1, 'search', { q: 1 }), call(2, 'other'))
  expect(await user.held()).toMatchObject({ dir: 'c2s', method: 'tools/call', target: 'search' })
  await session.line('"id":2')
  expect(session.stdout().toString()).not.toContain('"id":1')
  await user.command('forward', { key: 'm1' })
  await session.line('"id":1')
  await end(session)
  expect(frames(session.tape, 'dir', 'side', 'of', 'event', 'action', 'by', 'modified')).toEqual([
    { dir: 'c2s', side: 'client' },
    { dir: 'c2s' },
    { dir: 's2c' },
    { event: 'intercept', action: 'forward', dir: 'c2s', of: 2, by: 'test' },
    { dir: 'c2s', side: 'server', of: 2 },
    { dir: 's2c' },
  ])
})

test('an edited request and an edited response are both on the tape, before and after, and each side is replayed as it was', async () => {
  const session = start('tool:search')
  const user = await attach(session.tape)
  send(session, call(1, 'search', { city: 'Oslo', big: 1 }))
  const request = await user.held()
  await user.command('edit', { key: request.key, text: request.text.replace('Oslo', 'Bergen') })
  const response = await user.held()
  expect(response).toMatchObject({ dir: 's2c', method: 'tools/call', target: 'search' })
  expect(response.text).toContain('Bergen')
  await user.command('edit', { key: response.key, text: response.text.replace('Bergen', 'Rome') })
  expect(await session.line('"id":1')).toContain('Rome')
  await end(session)
  const changed = linesOf(session.tape).filter((frame) => frame['modified'] === true)
  expect(changed.map((frame) => [frame['dir'], frame['side']])).toEqual([
    ['c2s', 'server'],
    ['s2c', 'client'],
  ])
  expect(JSON.stringify(changed[0]?.['original_payload'])).toContain('Oslo')
  expect(JSON.stringify(changed[0]?.['msg'])).toContain('Bergen')
  expect(JSON.stringify(changed[1]?.['original_payload'])).toContain('Bergen')
  const [asClient, asServer] = [await loadTape(session.tape), await loadTape(session.tape, 'server')]
  const texts = (tape: typeof asClient): unknown[] =>
    tape.turns.map(({ trigger, response: answer, exchange }) => [exchange, trigger?.text, answer?.text])
  expect(JSON.stringify(texts(asClient))).toMatch(/Oslo.*Rome/)
  expect(JSON.stringify(texts(asServer))).toMatch(/Bergen.*Bergen/)
  expect(texts(asServer)).toHaveLength(1)
  const verified = await ended(
    [
      process.execPath,
      REELAY,
      'verify',
      session.tape,
      '--allow-writes',
      '--',
      ...fixtureServer('echo-arguments'),
    ],
    {},
  )
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('1 of 1 responses as recorded') })
})

test('a dropped request never reaches the server, and an answered one gets the answer of the user', async () => {
  const session = start('tool:search')
  const user = await attach(session.tape)
  send(session, call(1, 'search'), call(2, 'search'), call(3, 'other'))
  const [first, second] = [await user.held(), await user.held()]
  await user.command('drop', { key: first.key })
  await user.command('answer', { key: second.key, result: { content: [], made: 'up' } })
  expect(await session.line('"id":2')).toContain('"made":"up"')
  await session.line('"id":3')
  await end(session)
  expect(session.stdout().toString()).not.toContain('"id":1')
  const asServer = await loadTape(session.tape, 'server')
  expect(asServer.turns.map(({ exchange }) => exchange)).toEqual([3])
  const served = await ended([process.execPath, REELAY, 'inspect', session.tape, '--json'], {})
  expect(served.stdout).toContain('"made": "up"')
  const shown = await ended([process.execPath, REELAY, 'inspect', session.tape], {})
  expect(shown.stdout).toMatch(/^held +\+\S+ m?s → frame 2: drop by test after /m)
  expect(shown.stdout).toMatch(/^ +\+\S+ m?s → frame 3: answer by test after /m)
})

test.each([
  ['text', 'it is not JSON'],
  ['{"jsonrpc":"2.0","id":2,"method":"tools/call"}', 'its id is another one'],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 'it is a response'],
  ['{"id":1}', 'it is not a JSON-RPC message'],
])('an edit to %s is rejected, and the message stays held', async (text, why) => {
  const session = start('tool:search')
  const user = await attach(session.tape)
  send(session, call(1, 'search'))
  const { key } = await user.held()
  await expect(user.command('edit', { key, text })).rejects.toThrow(why)
  const { held } = await user.command('list')
  expect(held).toHaveLength(1)
})

test.each([
  ['forward', '"result"'],
  ['error', '"code":-39408,"message":"reelay: the message was held'],
])('at the limit a held message goes the way of --on-limit %s', async (onLimit, expected) => {
  const session = start('tool:search', '--hold-limit', '300ms', '--on-limit', onLimit)
  await attach(session.tape)
  send(session, call(1, 'search'))
  const answer = await session.line('"id":1')
  expect(answer).toContain(expected)
  await end(session)
  const [decision] = linesOf(session.tape).filter((frame) => frame['event'] === 'intercept')
  expect(decision).toMatchObject({
    action: onLimit,
    by: 'recorder',
    why: expect.stringContaining('nobody decided'),
  })
})

test('a client that gave a progress token is sent growing progress while its call is held', async () => {
  const session = start('tool:search', '--hold-limit', '2s')
  const user = await attach(session.tape)
  send(session, call(1, 'search', {}, { _meta: { progressToken: 'p' } }))
  const { key, hasProgress } = await user.held()
  expect(hasProgress).toBe(true)
  const progress = (): number[] =>
    [
      ...session
        .stdout()
        .toString()
        .matchAll(/"progress":([\d.e-]+)/g),
    ].map(([, value]) => Number(value))
  await until(() => progress().length >= 2)
  await user.command('forward', { key })
  await session.line('"id":1')
  await end(session)
  expect(progress()).toEqual(progress().toSorted((a, b) => a - b))
  expect(frames(session.tape, 'action')).toContainEqual({ action: 'progress' })
})

test('a held notification keeps what follows it waiting, in order', async () => {
  const session = start('method:notifications/a')
  const user = await attach(session.tape)
  send(session, '{"jsonrpc":"2.0","method":"notifications/a"}', call(1, 'one'), call(2, 'two'))
  const { key } = await user.held()
  expect((await user.command('list'))['held']).toHaveLength(1)
  expect(session.stdout()).toHaveLength(0)
  await user.command('forward', { key })
  await session.line('"id":2')
  const ids = [
    ...session
      .stdout()
      .toString()
      .matchAll(/"id":(\d)/g),
  ].map(([, id]) => id)
  expect(ids).toEqual(['1', '2'])
})

test('a client that cancels a held call is not answered, and the server hears nothing of it', async () => {
  const session = start('tool:search')
  const user = await attach(session.tape)
  send(session, call(1, 'search'))
  await user.held()
  send(
    session,
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    call(2, 'other'),
  )
  await session.line('"id":2')
  await end(session)
  const asServer = await loadTape(session.tape, 'server')
  expect(asServer.turns.map(({ trigger }) => trigger?.text)).toEqual([call(2, 'other')])
  expect(frames(session.tape, 'action', 'why', 'by')).toContainEqual({
    action: 'drop',
    by: 'client',
    why: 'cancelled',
  })
})

test('the filter can be changed, a call can be held longer, and a request can be repeated for the user alone', async () => {
  const session = start('tool:nothing', '--hold-limit', '5s')
  const user = await attach(session.tape)
  send(session, call(1, 'search'))
  await session.line('"id":1')
  await user.command('filter', { filter: 'tool:search dir:s2c' })
  const { id } = await user.command('repeat', { exchange: 1 })
  await until(() => user.events.some(({ event }) => event === 'repeated'))
  expect(user.events.find(({ event }) => event === 'repeated')).toMatchObject({ id, exchange: 1 })
  send(session, call(2, 'search'))
  const { key, leftMs } = await user.held()
  await user.command('extend', { key, by: '60s' })
  const { message } = await user.command('get', { key })
  expect(Reflect.get(message as object, 'leftMs')).toBeGreaterThan(leftMs + 50_000)
  await user.command('resume', { key })
  await session.line('"id":2')
  expect((await user.command('stats'))['stats']).toMatchObject({ held: 1, forward: 1, requests: 3, users: 1 })
  await end(session)
  expect(session.stdout().toString()).not.toContain('reelay-repeat')
})

test('with a filter that matches nothing the same bytes go through, and the tape is the same', async () => {
  const bytes = Buffer.concat([
    Buffer.from(
      '{"jsonrpc":"2.0","id":1,"method":"a"}\r\n\n  \nnot JSON\n[{"jsonrpc":"2.0","method":"b"}]\n',
    ),
    Buffer.from([0xff, 0xfe, 10]),
    Buffer.from(`{"jsonrpc":"2.0","id":2,"result":"${'x'.repeat(300_000)}"}\nthe end`),
  ])
  const runs = [
    record(fixtureServer('echo-bytes')),
    record(fixtureServer('echo-bytes'), { options: ['--intercept', 'tool:nothing'] }),
  ]
  for (const run of runs) {
    run.child.stdin.write(bytes.subarray(0, 20))
    run.child.stdin.write(bytes.subarray(20, 70_000))
    run.child.stdin.end(bytes.subarray(70_000))
    await run.exited
    expect(run.stdout().equals(bytes)).toBe(true)
  }
  const [plain, intercepted] = runs.map(({ tape }) =>
    linesOf(tape)
      .slice(1)
      .filter((frame) => frame['dir'] !== undefined)
      .map((frame) => JSON.stringify({ ...frame, n: 0, t: 0 }))
      .toSorted(),
  )
  expect(intercepted).toEqual(plain)
})

test('when the last user leaves, what was held goes on, and nothing more is held', async () => {
  const session = start('tool:search dir:c2s')
  const user = await attach(session.tape)
  send(session, call(1, 'search'))
  await user.held()
  user.client.close()
  await session.line('"id":1')
  send(session, call(2, 'search'))
  await session.line('"id":2')
  await end(session)
  expect(frames(session.tape, 'action', 'why')).toContainEqual({
    action: 'forward',
    why: 'nobody is attached any more',
  })
})

test('a client that only watches sees what is held, but nothing is held for it', async () => {
  const session = start('tool:search dir:c2s')
  const user = await attach(session.tape)
  const watcher = await attach(session.tape, { watch: true })
  send(session, call(1, 'search'))
  expect(await watcher.held()).toMatchObject({ target: 'search' })
  user.client.close()
  await session.line('"id":1')
})

test('a client that is killed leaves no process, no held message and a tape that says so', async () => {
  const session = start('tool:search dir:c2s')
  const user = await attach(session.tape)
  send(session, call(1, 'search'))
  await user.held()
  const [recorder, server] = [session.child.pid ?? 0, Number(linesOf(session.tape)[1]?.['pid'])]
  session.child.stdin.destroy()
  session.child.stdout.destroy()
  await until(() => !isAlive(recorder) && !isAlive(server))
  await user.client.closed
  expect(frames(session.tape, 'action', 'why')).toContainEqual({ action: 'drop', why: 'the client is gone' })
  expect(readFileSync(session.tape, 'utf8')).toContain('"event":"end"')
})

test('a recorder that is killed while it holds a message has it on the tape, and attaching says that it is gone', async () => {
  const session = start('tool:search dir:c2s')
  const user = await attach(session.tape)
  send(session, call(1, 'search'))
  await user.held()
  session.child.kill('SIGKILL')
  await user.client.closed
  expect(frames(session.tape, 'side', 'dir')).toEqual([{ side: 'client', dir: 'c2s' }])
  const { ControlClient } = await import('../../src/control/control-client.ts')
  const again = ControlClient.open({ tape: session.tape, name: 'late', onEvent: () => {} })
  await expect(again).rejects.toMatchObject({ code: 'CONTROL_NOT_FOUND' })
})

test('an invalid filter is rejected before the server is started', async () => {
  const session = start('methd:x')
  expect(await session.exited).toMatchObject({ code: 2 })
  expect(session.stderr()).toContain('did you mean method?')
})

test('a name is recognized however it is spelled, and requests keep their numbers when others are not looked at', async () => {
  const session = start('tool:search dir:c2s')
  const user = await attach(session.tape)
  send(session, call(1, 'one'), '{"jsonrpc":"2.0","method":"notifications/x","params":{"id":1}}')
  send(session, '{"method":"ping","jsonrpc":"2.0","id":2}', '{"jsonrpc":"2.0","method":"ping","id":"3"}')
  await session.line('"id":"3"')
  send(session, call(4, 'search').replace('search', String.raw`s\u0065arch`))
  expect(await user.held()).toMatchObject({ target: 'search', exchange: 4 })
  await user.command('forward', { key: 'm1' })
  await session.line('"id":4')
  await user.command('repeat', { exchange: 2 })
  await until(() => user.events.some(({ event }) => event === 'repeated'))
  await end(session)
})

test('a line of more than 16 MiB goes on with the same bytes, and the user is told that it was not held', async () => {
  const session = start('tool:search')
  const user = await attach(session.tape)
  const long = call(1, 'search', {}, { padding: 'x'.repeat(17 * 1024 * 1024) })
  send(session, long, call(2, 'other'))
  await session.line('"id":1')
  await session.line('"id":2')
  await until(() => user.events.some(({ event }) => event === 'passed'))
  expect(user.events.find(({ event }) => event === 'passed')).toMatchObject({
    dir: 'c2s',
    why: 'it is longer than 16 MiB',
  })
  await end(session)
  expect(frames(session.tape, 'action', 'dir', 'why')).toContainEqual({
    action: 'pass',
    dir: 'c2s',
    why: 'it is longer than 16 MiB',
  })
})

test('messages have the numbers of the tape if some are left out of it, and a held one is left out altogether', async () => {
  const session = start('tool:search or method:ping', '--skip', 'ping')
  const user = await attach(session.tape)
  send(session, '{"jsonrpc":"2.0","id":1,"method":"ping"}')
  const first = await user.held()
  expect(first).toMatchObject({ method: 'ping' })
  expect(first).not.toHaveProperty('exchange')
  await user.command('forward', { key: first.key })
  const answer = await user.held()
  await user.command('edit', { key: answer.key, text: '{"jsonrpc":"2.0","id":1,"result":{"changed":1}}' })
  expect(await session.line('"id":1')).toContain('changed')
  send(session, call(2, 'other'), call(3, 'search'))
  const second = await user.held()
  expect(second).toMatchObject({ target: 'search', exchange: 2 })
  await user.command('forward', { key: second.key })
  await user.command('forward', { key: (await user.held()).key })
  await session.line('"id":3')
  await user.command('repeat', { exchange: 1 })
  await until(() => user.events.some(({ event }) => event === 'repeated'))
  send(session, call(4, 'search'))
  const third = await user.held()
  expect(third).toMatchObject({ exchange: 4 }) // the repeated request is #3
  await user.command('answer', { key: third.key, result: {} })
  await end(session)
  const { turns } = await loadTape(session.tape)
  const names = turns.map(({ exchange, trigger }) => [
    exchange,
    /"name":"(\w+)"/.exec(trigger?.text ?? '')?.[1],
  ])
  expect(names).toEqual([
    [1, 'other'],
    [2, 'search'],
    [4, 'search'],
  ])
  expect(readFileSync(session.tape, 'utf8')).not.toMatch(/"method":"ping"|changed/)
})

test('tapes that are rotated while messages are held have their own numbers, and the user follows', async () => {
  const session = start('method:initialize or tool:search', '--max-messages', '8', '--rotate')
  const user = await attach(session.tape)
  const forward = async (change = (text: string): string => text): Promise<void> => {
    const { key, text } = await user.held()
    await user.command('edit', { key, text: change(text) })
  }
  send(session, '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"a"}}}')
  await forward((text) => text.replace('"a"', '"b"'))
  await forward()
  await session.line('"id":0')
  send(session, call(1, 'one'), call(2, 'search', { q: 'held over the limit' }), call(3, 'two'))
  const held = await user.held()
  expect(held).toMatchObject({ exchange: 3 })
  send(session, call(4, 'three'), call(5, 'four'))
  await session.line('"id":5')
  const further = (): string[] =>
    user.events.flatMap(({ event, tape }) => (event === 'tape' ? [String(tape)] : []))
  await until(() => further().length > 0)
  await user.command('edit', { key: held.key, text: held.text.replace('limit', 'border') })
  await forward()
  await session.line('"id":2')
  await end(session)
  const tapes = [session.tape, ...further()]
  for (const tape of tapes) {
    const lines = linesOf(tape)
    for (const frame of lines.filter(({ of }) => of !== undefined)) {
      const arrived = lines.find(({ n }) => n === frame['of'])
      expect(arrived).toMatchObject({ dir: frame['dir'], side: expect.any(String) })
    }
    const [asClient, asServer] = [await loadTape(tape), await loadTape(tape, 'server')]
    expect(asClient.turns[0]).toMatchObject({ exchange: 1, response: expect.anything() })
    expect(asClient.turns[0]?.trigger?.text).toContain('"name":"a"')
    expect(asServer.turns[0]?.trigger?.text).toContain('"name":"b"')
  }
  const changed = tapes.flatMap(linesOf).find((frame) => JSON.stringify(frame).includes('over the border'))
  expect(changed).toMatchObject({ side: 'server', modified: true, original_payload: expect.anything() })
  expect(changed).not.toHaveProperty('of') // it arrived on the tape before
})

test('a request and its response share the limit: what the request has used up, its response does not have', async () => {
  const session = start('tool:search', '--hold-limit', '400ms')
  const user = await attach(session.tape)
  send(session, call(1, 'search'))
  await session.line('"id":1')
  await end(session)
  const [first, second] = linesOf(session.tape).filter((frame) => frame['event'] === 'intercept')
  expect(first).toMatchObject({ action: 'forward', dir: 'c2s', why: 'nobody decided within 400 ms' })
  expect(second).toMatchObject({ action: 'forward', dir: 's2c' })
  expect(Number(second?.['ms'])).toBeLessThan(400)
  expect(user.events.filter(({ event }) => event === 'settled')).toHaveLength(2)
})
