import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtureServer, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

interface Controlled {
  readonly port: string
  readonly host: string
  readonly token: string
  readonly socket: string
}

/** Starts a recorder that can be controlled, attacks it, and checks that the session is alive and ends as usual. */
async function attackRecorder(attack: (target: Controlled, folder: string) => Promise<void>): Promise<void> {
  const home = temporaryFolder()
  const tape = join(home, 'session.tape.jsonl')
  const options = ['--intercept', 'method = "none"', '--control-http', '127.0.0.1:0', '-o', tape]
  const run = start([process.execPath, REELAY, 'record', ...options, '--', ...fixtureServer('repeat')], {
    env: { REELAY_HOME: home },
  })
  await until(() => run.stderr().includes('control over HTTP'))
  const folder = join(home, 'control')
  const file = readdirSync(folder).find((name) => name.endsWith('.json')) ?? ''
  const { http, token, socket } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<
    'http' | 'token' | 'socket',
    string
  >
  const { port, host } = new URL(http)
  await attack({ port, host, token, socket }, folder)
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}\n')
  await run.line('"id":1')
  run.child.stdin.end()
  expect((await run.exited).code).toBe(0)
  expect(readdirSync(folder)).toEqual([])
}

/** Sends a request as it is, and returns the status of the response; nothing if the connection was closed without one. */
function statusOf(port: string, head: readonly string[], body = '', leaveAfterMs = 5000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    setTimeout(() => socket.destroy(), leaveAfterMs).unref()
    socket.on('data', (chunk) => {
      resolve(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1] ?? '')
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(''))
  })
}

test('the control endpoint is closed to web pages, other hosts, and programs without the token', async () => {
  await attackRecorder(async ({ port, host, token }, folder) => {
    const ask = (...headers: readonly string[]): Promise<string> =>
      statusOf(port, ['GET /events?watch=1 HTTP/1.1', ...headers])
    const [isHere, knows] = [`Host: ${host}`, `Authorization: Bearer ${token}`]
    const many = Array.from({ length: 1200 }, (_, index) => `X-${index}: 1`)
    expect({
      right: await ask(isHere, knows),
      'no token': await ask(isHere),
      'wrong token': await ask(isHere, `${knows.slice(0, -1)}_`),
      'web page': await ask(isHere, knows, 'Origin: http://evil.example'),
      'page of a file': await ask(isHere, knows, 'Origin: null'),
      rebinding: await ask(`Host: evil.example:${port}`, knows),
      'two hosts': await ask(isHere, 'Host: evil.example', knows),
      'origin behind many headers': await ask(isHere, knows, ...many, 'Origin: http://evil.example'),
      'two lengths': await ask(isHere, knows, 'Content-Length: 2', 'Content-Length: 3'),
    }).toEqual({
      right: '200',
      'no token': '401',
      'wrong token': '401',
      'web page': '403',
      'page of a file': '403',
      rebinding: '403',
      'two hosts': '400',
      'origin behind many headers': '431',
      'two lengths': '400',
    })
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)
    expect([statSync(folder).mode & 0o777, ...modes]).toEqual([0o700, 0o600, 0o600])
  })
})

test('a client that leaves in the middle of a command does not end the session', async () => {
  await attackRecorder(async ({ port, host, token, socket }) => {
    const head = ['POST /commands HTTP/1.1', `Host: ${host}`, `Authorization: Bearer ${token}`]
    expect(await statusOf(port, [...head, 'Content-Length: 4000000'], '{"comm', 100)).toBe('')
    expect(await statusOf(port, [...head, 'Content-Length: 3'], 'x{}')).toBe('400')
    for (const bytes of ['{"command":"attach"', '{"id":1,"command":"list"}\n', 'x'.repeat(3_000_000)])
      await new Promise<void>((closed) => {
        const client = connect(socket)
        client.on('error', () => {})
        client.on('close', () => closed())
        client.write(bytes)
        setTimeout(() => client.destroy(), 200)
      })
  })
})
