import { createServer } from 'node:http'
import { once } from 'node:events'
import { gunzipSync } from 'node:zlib'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { JsonObject } from '../../src/json/parse.ts'
import { REELAY, start, until, type Running } from '../support/recorder.ts'
import { startRedis, startWorker } from '../support/redis.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { call, HANDSHAKE } from '../support/tape-of.ts'
import { reelay } from '../replay/reelay.ts'

vi.setConfig({ testTimeout: 90_000 })

interface CountingServer {
  readonly url: string
  readonly calls: () => number
  /** The values of the `authorization` header that were sent. */
  readonly authorizations: Set<string | undefined>
}

/** A server that counts calls and takes 5 ms for each. */
async function countingServer(): Promise<CountingServer> {
  let calls = 0
  const authorizations = new Set<string | undefined>()
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    authorizations.add(request.headers.authorization)
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { id, method } = JSON.parse(body)
      if (id === undefined) return void response.writeHead(202).end()
      if (method === 'tools/call') calls++
      const serverInfo = { name: 'counting', version: '1' }
      const results: Record<string, object> = {
        initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
        'tools/list': {
          tools: [{ name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
        },
      }
      const result = results[method] ?? { content: [] }
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      }, 5)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}/mcp`, calls: () => calls, authorizations }
}

/** A tape of five calls of a tool. */
function lookTape(args: JsonObject = {}): string {
  return tapeFile(...HANDSHAKE, ...[1, 2, 3, 4, 5].flatMap((id) => call(id, 'look', args, 'seen')))
}

/** Starts a run on workers. */
function loadOn(redis: string, tape: string, url: string, ...options: string[]): Running {
  const words = ['load', tape, '--url', url, '--workers', redis, '--json', '--grace', '30s', ...options]
  return start([process.execPath, REELAY, ...words])
}

test('three workers play the same sessions as one process, and a worker that is killed is replaced without doubling or losing any', async () => {
  const [redis, server, tape] = [await startRedis(), await countingServer(), lookTape()]
  const shape = ['--rate', '20/s', '--for', '5s']
  const workers = await Promise.all([1, 2, 3].map(() => startWorker(redis.url)))
  const run = loadOn(redis.url, tape, server.url, ...shape, '--expect-workers', '3')
  await until(() => server.calls() > 100)
  workers[0]!.child.kill('SIGKILL')
  const { url } = await countingServer()
  const alone = await reelay('load', tape, '--url', url, ...shape, '--grace', '30s', '--json')
  const one = JSON.parse(alone.out)
  expect(await run.exited).toMatchObject({ code: 0 })
  const report = JSON.parse(run.stdout().toString())
  expect(report.sessions).toEqual({ started: 100, done: 100, cut: 0, failed: 0 })
  expect(report.sessions).toEqual(one.sessions)
  expect(report.calls.look.outcomes).toEqual(one.calls.look.outcomes)
  expect(report.calls.look.service.count).toBe(500)
  expect(report.workers).toMatchObject({ missing: [], takeovers: [{ gap: expect.any(Number) }] })
  expect(run.stderr()).toContain('was lost')
})

test('a restart of Redis that loses its data loses and doubles nothing', async () => {
  const [redis, server, tape] = [await startRedis(), await countingServer(), lookTape()]
  await Promise.all([1, 2].map(() => startWorker(redis.url)))
  const run = loadOn(redis.url, tape, server.url, '--rate', '10/s', '--for', '5s', '--expect-workers', '2')
  await until(() => server.calls() > 50)
  await redis.kill()
  await until(() => run.stderr().includes('Redis cannot be reached'))
  await redis.restart()
  expect(await run.exited).toMatchObject({ code: 0 })
  const report = JSON.parse(run.stdout().toString())
  expect(run.stderr()).toContain('Redis is back')
  expect(report.sessions).toEqual({ started: 50, done: 50, cut: 0, failed: 0 })
  expect(report.calls.look.service.count).toBe(250)
  expect(report.workers).toMatchObject({ missing: [], takeovers: [] })
})

test('a worker that joins late says so, and takes the part of one that ends with Ctrl+C', async () => {
  const [redis, server, tape] = [await startRedis(), await countingServer(), lookTape()]
  const first = await startWorker(redis.url)
  const run = loadOn(redis.url, tape, server.url, '--rate', '10/s', '--for', '5s')
  await until(() => server.calls() > 50)
  const late = await startWorker(redis.url)
  expect(late.stderr()).toContain('a run is under way: this worker takes part if another one is lost')
  first.child.kill('SIGINT')
  expect(await first.exited).toMatchObject({ code: 0 })
  expect(await run.exited).toMatchObject({ code: 0 })
  const report = JSON.parse(run.stdout().toString())
  expect(report.sessions).toEqual({ started: 50, done: 50, cut: 0, failed: 0 })
  expect(report.workers).toMatchObject({ missing: [], takeovers: [{ part: 0 }] })
})

test('without any worker left, the report says which figures are missing, and the exit code is 3', async () => {
  const [redis, server, tape] = [await startRedis(), await countingServer(), lookTape()]
  const only = await startWorker(redis.url)
  const run = loadOn(redis.url, tape, server.url, '--rate', '10/s', '--for', '60s')
  await until(() => server.calls() > 130)
  only.child.kill('SIGKILL')
  expect(await run.exited).toMatchObject({ code: 3 })
  const report = JSON.parse(run.stdout().toString())
  expect(report.workers.missing).toEqual([
    expect.stringMatching(/^part 1 of 1 from \d+ s on, because worker \S+ was lost$/),
  ])
  expect(report.sessions.done).toBeGreaterThan(5)
})

test('Ctrl+C ends a run on workers within a second, with its report and exit code 130', async () => {
  const [redis, server, tape] = [await startRedis(), await countingServer(), lookTape()]
  const worker = await startWorker(redis.url, ['--once'])
  const run = loadOn(redis.url, tape, server.url, '--users', '3', '--for', '10m')
  await until(() => server.calls() > 50)
  run.child.kill('SIGINT')
  expect(await run.exited).toMatchObject({ code: 130 })
  const report = JSON.parse(run.stdout().toString())
  expect(report).toMatchObject({ wasStopped: true, workers: { missing: [] } })
  expect(report.sessions.done).toBeGreaterThan(5)
  expect(await worker.exited).toMatchObject({ code: 0 })
})

test('the tape travels redacted, once, and headers and secrets are those of the worker', async () => {
  const secret = `ghp_${'Zx9Qw3Er5Ty7'.repeat(3)}`
  const [redis, server, tape] = [await startRedis(), await countingServer(), lookTape({ token: secret })]
  const env = { ...process.env, API_TOKEN: secret, LOAD_AUTH: 'Bearer of-the-worker' }
  await startWorker(redis.url, ['--header', 'authorization: ${env.LOAD_AUTH}'], env)
  for (let round = 0; round < 2; round++) {
    const run = loadOn(redis.url, tape, server.url, '--rate', '5/s', '--for', '1s')
    expect(await run.exited).toMatchObject({ code: 0 })
  }
  expect([...server.authorizations]).toEqual(['Bearer of-the-worker'])
  const client = new Redis(redis.url)
  onTestFinished(() => client.disconnect())
  const keys = await client.keys('*')
  const tapes = keys.filter((key) => key.startsWith('reelay:tape:'))
  expect(tapes).toHaveLength(1)
  const content = gunzipSync((await client.hgetBuffer(tapes[0]!, 'tape'))!).toString()
  expect(content).toContain('look')
  expect(content).not.toContain(secret)
})

test('a worker sends load only to hosts that its owner allows', async () => {
  const [redis, tape] = [await startRedis(), lookTape()]
  await startWorker(redis.url)
  const run = loadOn(
    redis.url,
    tape,
    'http://198.51.100.7/mcp',
    '--rate',
    '5',
    '--for',
    '1s',
    '--target-allowed',
    '198.51.100.7',
  )
  expect(await run.exited).toMatchObject({ code: 3 })
  expect(run.stderr()).toContain('this worker does not send load to 198.51.100.7')
})

test('a run without --url uses the server command of each worker', async () => {
  const [redis, tape] = [await startRedis(), lookTape()]
  const command = [process.execPath, REELAY, 'serve', tape, '--match', 'method', '--leftovers', 'note']
  await startWorker(redis.url, ['--max-processes', '2', '--', ...command])
  const words = [
    'load',
    tape,
    '--users',
    '2',
    '--for',
    '1s',
    '--allow',
    'look',
    '--workers',
    redis.url,
    '--json',
  ]
  const { code, out } = await reelay(...words)
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ all: { failed: 0 }, sessions: { failed: 0 } })
})

test('a wrong password ends with a clear message, for the run and for the worker', async () => {
  const redis = await startRedis('--requirepass', 'right')
  const address = (password: string): string => `redis://:${password}@127.0.0.1:${redis.port}`
  const words = [
    'load',
    lookTape(),
    '--rate',
    '5',
    '--for',
    '1s',
    '--url',
    'http://127.0.0.1:1/mcp',
    '--workers',
  ]
  for (const args of [
    [...words, address('wrong')],
    ['worker', address('wrong')],
  ]) {
    const { code, err } = await reelay(...args)
    expect(code).toBe(3)
    expect(err).toContain(`Redis at redis://127.0.0.1:${redis.port} refuses the password`)
    expect(err).not.toContain('wrong@')
  }
  const { code, err } = await reelay('worker', redis.url)
  expect([code, err]).toEqual([3, expect.stringContaining('requires a password')])
  await startWorker(redis.url, [], { ...process.env, REELAY_REDIS_PASSWORD: 'right' })
})

test('a second run with the same workers, and a Redis that is not there, are refused', async () => {
  const [redis, server, tape] = [await startRedis(), await countingServer(), lookTape()]
  await startWorker(redis.url)
  const first = loadOn(redis.url, tape, server.url, '--rate', '5', '--for', '1m')
  await until(() => server.calls() > 20)
  const second = loadOn(redis.url, tape, server.url, '--rate', '5', '--for', '1s')
  expect(await second.exited).toMatchObject({ code: 3 })
  expect(second.stderr()).toContain('another run uses the workers')
  first.child.kill('SIGINT')
  await first.exited
  await redis.kill()
  const { code, err } = await reelay('worker', redis.url)
  expect([code, err]).toEqual([3, expect.stringContaining('cannot be reached: ')])
})
