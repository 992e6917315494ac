import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, test } from 'vitest'
import { findControlAddress, type ControlAddress } from '../../src/control/control-files.ts'
import { attach } from '../support/control.ts'
import { ask } from '../support/http.ts'
import { fixtureServer, record, temporaryFolder, until, type RecordedRun } from '../support/recorder.ts'

beforeEach(() => {
  process.env['REELAY_HOME'] = temporaryFolder()
})

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}\n'

async function started(...options: string[]): Promise<RecordedRun & { address: ControlAddress }> {
  const run = record(fixtureServer('echo-arguments'), {
    options: ['--intercept', 'tool:search dir:c2s', ...options],
  })
  await until(() => run.stderr().includes('holding messages'))
  return { ...run, address: findControlAddress(run.tape) }
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

test.skipIf(process.platform === 'win32')(
  'only the user can reach the socket, its folder and its token',
  async () => {
    const { address } = await started()
    expect(modeOf(address.socket)).toBe('600')
    expect(modeOf(`${process.env['REELAY_HOME']}/control`)).toBe('700')
    expect(modeOf(address.socket.replace('.sock', '.json'))).toBe('600')
  },
)

test.each([
  ['{"command":"list","id":1}', 'the first command must be attach'],
  ['{"command":"attach","version":1,"token":"guess"}', 'the token is wrong'],
  ['{"command":"attach","version":9}', 'this is version 1'],
  ['no JSON', 'the first command must be attach'],
])('a connection that begins with %s is refused', async (line, why) => {
  const { address } = await started()
  const socket = connect(address.socket)
  socket.write(`${line}\n{"command":"list","id":2}\n`)
  const said = await text(socket)
  expect(said).toContain(why)
  expect(said.trimEnd().split('\n')).toHaveLength(1)
})

test('a recording has two users: one command is enough, and a wrong one says what is right', async () => {
  const { child, tape, line } = await started()
  const [one, two] = [await attach(tape), await attach(tape)]
  child.stdin.write(CALL)
  const { key } = await one.held()
  await two.held()
  await expect(two.command('modfy', { key })).rejects.toThrow('did you mean modify?')
  await expect(two.command('modify', { key })).rejects.toThrow('"text" must be a text')
  await two.command('modify', { key, text: CALL.replace('"search"', '"changed"') })
  await until(() => one.events.some(({ event }) => event === 'settled'))
  await expect(one.command('block', { key })).rejects.toThrow('no message "m1" is held')
  await line('"id":1')
})

test('over HTTP, a page of another origin, another host and a wrong token are rejected', async () => {
  const { child, line, address } = await started('--control-http', '127.0.0.1:0')
  const { http = '', token } = address
  const Authorization = `Bearer ${token}`
  const list = { method: 'POST', path: '/commands', body: '{"id":1,"command":"list"}' }
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await ask(http, { ...list, headers })).status
  expect(await status({ Authorization })).toBe(200)
  expect(await status({ Authorization, Origin: http })).toBe(200)
  expect(await status({})).toBe(401)
  expect(await status({ Authorization: 'Bearer guess' })).toBe(401)
  expect(await status({ Authorization, Origin: 'http://localhost:1' })).toBe(403)
  expect(await status({ Authorization, Origin: 'https://evil.example' })).toBe(403)
  expect(await status({ Authorization, Host: 'evil.example' })).toBe(403)
  const { headers } = await ask(http, { ...list, headers: { Authorization, Origin: http } })
  expect(headers.join('\n').toLowerCase()).not.toContain('access-control')
  expect((await ask(http, { method: 'GET', path: '/commands', headers: { Authorization } })).status).toBe(404)

  const events = await fetch(`${http}/events`, { headers: { Authorization } })
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  child.stdin.write(CALL)
  while (!seen.includes('"held"')) seen += (await reader?.read())?.value ?? ''
  const forward = { ...list, body: '{"id":2,"command":"forward","key":"m1"}', headers: { Authorization } }
  expect((await ask(http, forward)).body.toString()).toBe('{"reply":2,"ok":true}')
  await line('"id":1')
  await reader?.cancel()
})

test('the HTTP endpoint never listens for other machines', async () => {
  const run = record(fixtureServer('echo-arguments'), {
    options: ['--intercept', 'tool:search', '--control-http', '0.0.0.0:0'],
  })
  await until(() => run.stderr().includes('nothing is held'))
  expect(run.stderr()).toContain('the control endpoint cannot listen on 0.0.0.0')
  run.child.stdin.write(CALL)
  await run.line('"id":1')
})
