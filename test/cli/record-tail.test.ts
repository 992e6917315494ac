import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ask, httpServer, post, startRecorder } from '../support/http.ts'
import { fixtureServer, isAlive, record, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

const LINE = (method: string): RegExp =>
  new RegExp(`^ +\\d+ +\\+\\S+ m?s {2}.*${method} +\\S+ ms {2}ok$`, 'm')

test('--tail shows exchanges on stderr while the session goes on; stdout is the protocol’s alone', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['--tail'] })
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"first"}\n')
  await until(() => LINE('first').test(run.stderr()))
  run.child.stdin.write('{"jsonrpc":"2.0","id":2,"method":"second"}\n')
  await run.line('"id":2')
  run.child.stdin.end()
  expect((await run.exited).code).toBe(0)
  expect(run.stderr()).toMatch(LINE('second'))
  expect(run.stderr()).toMatch(/ok\nreelay: recorded \d+ frames to .*\nreelay: next, serve it .*\n$/)
  expect(run.stdout().toString().trim().split('\n')).toHaveLength(2)
})

test('--tail goes on with the next tape when a limit has begun one', async () => {
  const run = record(fixtureServer('answer-calls'), {
    options: ['--tail', '--max-messages', '2', '--rotate'],
  })
  for (const id of [1, 2, 3]) {
    run.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"call-${id}"}\n`)
    await until(() => LINE(`call-${id}`).test(run.stderr()))
  }
  run.child.stdin.end()
  await run.exited
  expect(run.stderr()).toMatch(/recorded \d+ frames to \d tapes/)
})

test('--tail shows what goes through a proxy, and Ctrl+C still shows the last exchange', async () => {
  const server = await httpServer((req, res) => {
    req.resume()
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const run = await startRecorder(`${server.origin}/mcp`, '--tail')
  await ask(run.url, post('{"jsonrpc":"2.0","id":1,"method":"over-http"}'))
  await until(() => LINE('over-http').test(run.stderr()))
  await ask(run.url, post('{"jsonrpc":"2.0","id":1,"method":"at-the-end"}'))
  run.child.kill('SIGINT')
  await run.exited
  expect(run.stderr()).toMatch(LINE('at-the-end'))
})

test.skipIf(process.platform === 'win32')('a recorder that is killed leaves no view behind', async () => {
  const pidFile = join(temporaryFolder(), 'pids')
  const preload = join(temporaryFolder(), 'note-pid.cjs')
  writeFileSync(
    preload,
    `if (process.argv[2] === 'tail') require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`,
  )
  const run = record(fixtureServer('answer-calls'), {
    options: ['--tail'],
    env: { ...process.env, NODE_OPTIONS: `--require ${preload}` },
  })
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"first"}\n')
  await until(() => LINE('first').test(run.stderr()))
  const view = Number(readFileSync(pidFile, 'utf8'))
  expect(isAlive(view)).toBe(true)
  run.child.kill('SIGKILL')
  await until(() => !isAlive(view))
})

test('tail --server shows the exchanges of some servers only', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['--server', 'files'] })
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"first"}\n')
  await run.exited
  const shown = start([process.execPath, REELAY, 'tail', run.tape, '--server', 'f*'])
  await shown.exited
  expect(shown.stdout().toString()).toMatch(LINE('first'))
  const other = start([process.execPath, REELAY, 'tail', run.tape, '--server', 'github'])
  await other.exited
  expect(other.stdout().toString().split('\n')).toHaveLength(2)
})

test('--otlp sends a span for each exchange while the session goes on', async () => {
  const { url, spans } = await startCollector()
  const run = record(fixtureServer('answer-calls'), { options: ['--otlp', url] })
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"first"}}\n')
  await until(() => spans.includes('tools/call first'))
  run.child.stdin.write('{"jsonrpc":"2.0","id":2,"method":"second"}\n')
  await run.line('"id":2')
  run.child.stdin.end()
  expect((await run.exited).code).toBe(0)
  expect(run.stderr()).not.toMatch(LINE('second'))
  expect(spans).toEqual(['tools/call first', 'second'])
  const tail = start([process.execPath, REELAY, 'tail', run.tape, '--otlp', url])
  expect(await tail.exited).toMatchObject({ code: 0 })
  expect([tail.stdout().toString(), spans.slice(2)]).toEqual(['', ['tools/call first', 'second']])
})

test('a collector that is not there is reported once, and the session goes on', async () => {
  const run = record(fixtureServer('answer-calls'), { options: ['--otlp', 'http://127.0.0.1:1'] })
  for (const id of [1, 2]) {
    run.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"call-${id}"}\n`)
    await run.line(`"id":${id}`)
  }
  await until(() => run.stderr().includes('the spans could not be sent to http://127.0.0.1:1/v1/traces: '))
  run.child.stdin.end()
  expect((await run.exited).code).toBe(0)
  expect(run.stderr().split('the spans could not be sent')).toHaveLength(2)
  const wrong = start([process.execPath, REELAY, 'tail', run.tape, '--otlp', 'collector'])
  expect(await wrong.exited).toMatchObject({ code: 2 })
  expect(wrong.stderr()).toContain(
    'expected the URL of an OpenTelemetry collector, such as http://127.0.0.1:4318',
  )
})

/** A collector of OTLP over HTTP, and the names of the spans that it got. */
async function startCollector(): Promise<{ readonly url: string; readonly spans: string[] }> {
  const spans: string[] = []
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      spans.push(...[...body.matchAll(/"name":"([^"]+)","kind":3/g)].map(([, name = '']) => name))
      response.end('{}')
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans }
}
