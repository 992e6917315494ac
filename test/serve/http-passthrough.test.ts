import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/serve/http/serve-http.ts'
import { PassthroughServer, Passthrough } from '../../src/serve/upstream/passthrough.ts'
import { upstreamLink } from '../../src/serve/upstream/upstream.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { turnStoreOf } from '../../src/tape/turns.ts'
import { member } from '../../src/json/parse.ts'
import { httpOf, listening, type HttpKind } from '../support/http-servers.ts'
import { ask, httpServer, open, post, type Listener } from '../support/http.ts'
import { fixtureServer, isAlive, temporaryFolder, until } from '../support/recorder.ts'
import { connect } from '../support/sdk-session.ts'
import { callTool, clientOf, type AnyClient } from '../support/sdk.ts'
import { startServing, startServingLive, type Serving } from '../support/serving.ts'
import { begin, jsonOf, messagesOf, read, serving as servingHere } from './serving.ts'
import { ServeProcess } from './serve-process.ts'
import { tapeFile } from './tape-file.ts'
import {
  answerOf,
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../support/tape-of.ts'

const SESSION: readonly Said[] = [...HANDSHAKE, ...call(1, 'echo', { q: 'old' }, 'recorded')]
const LIVE = ['--', ...fixtureServer('ask-then-answer')]
const PASSED_ON = ['--on-miss', 'passthrough', ...LIVE]
const ANSWERS = { root: 'file:///nowhere', elicited: {} }
const TRANSPORTS: readonly [string, HttpKind][] = [
  ['--http', 'streamableHttp'],
  ['--sse', 'sse'],
]

async function clientAt({ urls }: Serving, kind: HttpKind, sdk: 'v1' | 'v2' = 'v1'): Promise<AnyClient> {
  const one = clientOf(sdk, { answers: ANSWERS })
  await one.connect(httpOf(sdk, kind, urls()[0] ?? ''))
  return one
}

const textOf = (answer: unknown): unknown => (answer as { content: { text: string }[] }).content[0]?.text

test.each(TRANSPORTS)(
  'over %s, what is not on the tape goes live, marked and said; each client has a live server of its own',
  async (option, kind) => {
    const path = tapeFile(...SESSION)
    const before = readFileSync(path, 'utf8')
    const serving = await startServingLive([path, option, ...PASSED_ON])
    const [one, two] = [await clientAt(serving, kind), await clientAt(serving, kind, 'v2')]
    expect(textOf(await callTool(one, 'echo', { q: 'old' }))).toBe('recorded')
    const first = await callTool(one, 'count')
    expect(first).toMatchObject({ content: [{ text: '1' }], _meta: { 'reelay/live': true } })
    expect([textOf(await callTool(one, 'count')), textOf(await callTool(two, 'count'))]).toEqual(['2', '1'])
    const pids = [textOf(await callTool(one, 'pid')), textOf(await callTool(two, 'pid'))].map(Number)
    const { code, stderr } = await serving.stop()
    expect(stderr).toContain('reelay serve: goes live: tools/call count {}\n')
    expect(stderr).toContain(': 3 requests answered, 0 misses, 0 left over, 5 WENT LIVE\n')
    expect([code, pids.filter(isAlive)]).toEqual([0, []])
    expect(readFileSync(path, 'utf8')).toBe(before)
    await Promise.all([one.close(), two.close()])
  },
)

test.each(TRANSPORTS)(
  'over %s, what the live server asks reaches the client and comes back',
  async (option, kind) => {
    const serving = await startServingLive([tapeFile(...SESSION), option, ...PASSED_ON])
    const one = clientOf('v2', { answers: ANSWERS })
    const { received } = await connect(one, httpOf('v2', kind, serving.urls()[0] ?? ''))
    expect(textOf(await callTool(one, 'ask'))).toBe('got accept')
    expect(received).toContainEqual(
      expect.objectContaining({ method: 'elicitation/create', id: 'reelay-live-1' }),
    )
    await one.close()
  },
)

test('a call that the client cancels is cancelled at the live server, under the name that it has there', async () => {
  const serving = await startServingLive([tapeFile(...SESSION), '--http', ...PASSED_ON])
  const one = await clientAt(serving, 'streamableHttp')
  const stop = new AbortController()
  const progress: object[] = []
  const waits = callTool(
    one,
    'wait',
    {},
    {
      signal: stop.signal,
      onprogress: (step) => {
        progress.push(step)
        stop.abort('enough')
      },
    },
  )
  await expect(waits).rejects.toThrow('enough')
  await until(() => serving.stderr().includes('cancelled'))
  const { stderr } = await serving.stop()
  const [, name] = /waits as (\d+)/.exec(stderr) ?? []
  expect(stderr).toContain(`cancelled ${name}, enough\n`)
  expect(progress).toEqual([{ progress: 1 }])
  await one.close()
})

test('a live server that dies leaves nobody waiting, now or later, and no other client notices', async () => {
  const serving = await startServingLive([tapeFile(...SESSION), '--http', ...PASSED_ON])
  const [one, two] = [await clientAt(serving, 'streamableHttp'), await clientAt(serving, 'streamableHttp')]
  const why = 'the live server did not answer: the server ended with exit code 3'
  await expect(callTool(one, 'die')).rejects.toThrow(why)
  await expect(callTool(one, 'count')).rejects.toThrow(why)
  expect(textOf(await callTool(one, 'echo', { q: 'old' }))).toBe('recorded')
  expect(textOf(await callTool(two, 'count'))).toBe('1')
  await Promise.all([one.close(), two.close()])
})

test('a command that is not there is said to whoever asks, and the tape is served all the same', async () => {
  const missing = ['--', 'no-such-command-anywhere']
  const serving = await startServingLive([
    tapeFile(...SESSION),
    '--http',
    '--on-miss',
    'passthrough',
    ...missing,
  ])
  const one = await clientAt(serving, 'streamableHttp')
  await expect(callTool(one, 'count')).rejects.toThrow('no-such-command-anywhere was not found')
  expect(textOf(await callTool(one, 'echo', { q: 'old' }))).toBe('recorded')
  await one.close()
})

test('what is left of a session that ends is no process: DELETE, a lost SSE stream, a killed serve', async () => {
  const path = tapeFile(...SESSION)
  const args = [path, '--http', '--sse', ...PASSED_ON]
  const serving = await startServingLive(args)
  const [url = '', sse = ''] = serving.urls()
  const raw = await begin(url)
  const asked = jsonOf(await raw.say(callOf(9, 'pid', {})))
  const one = clientOf('v1', { answers: ANSWERS })
  await one.connect(httpOf('v1', 'sse', sse))
  const [deleted, lost] = [
    Number(textOf((asked as { result: unknown }).result)),
    Number(textOf(await callTool(one, 'pid'))),
  ]
  expect([isAlive(deleted), isAlive(lost)]).toEqual([true, true])
  await fetch(url, { method: 'DELETE', headers: raw.headers })
  await one.close()
  await until(() => !isAlive(deleted) && !isAlive(lost))
  const two = await clientAt(serving, 'streamableHttp')
  const orphan = Number(textOf(await callTool(two, 'pid')))
  await serving.stop('SIGKILL')
  await until(() => !isAlive(orphan))
})

test('a client that vanishes takes its live server with it; one that never had a standing stream may be silent', async () => {
  const ended: string[] = []
  const upstream = (): Passthrough =>
    new Passthrough({
      open: async ({ onText }) => ({
        send: (text) => onText(text.replace(/"method":"[^"]+"/, '"result":{}')),
        close: async () => void ended.push('live'),
      }),
    })
  const { url } = await servingHere({ tape: tapeOf(...SESSION), upstream, keepLiveMs: 5 })
  const [silent, vanishing] = [await begin(url), await begin(url)]
  for (const session of [silent, vanishing]) await session.say(callOf(1, 'other', {}))
  const stream = await open(url, { headers: { ...vanishing.headers, Accept: 'text/event-stream' } })
  stream.destroy()
  await until(() => ended.length > 0)
  expect((await vanishing.say(callOf(2, 'other', {}))).status).toBe(404)
  expect((await silent.say(callOf(2, 'other', {}))).status).toBe(200)
  expect(ended).toEqual(['live'])
})

test('every client of a run becomes a connection of a new episode, and the tape then answers them all by itself', async () => {
  const path = tapeFile(...SESSION)
  const learning = await startServingLive([path, '--http', '--mode', 'new-episodes', ...LIVE])
  const [one, two] = [await clientAt(learning, 'streamableHttp'), await clientAt(learning, 'streamableHttp')]
  await callTool(one, 'echo', { q: 'new' })
  await callTool(two, 'echo', { q: 'newer' })
  await callTool(one, 'count')
  await Promise.all([one.close(), two.close()])
  const { stderr } = await learning.stop()
  expect(stderr).toMatch(/the tape has a new episode of \d+ messages, from 2 clients\n/)
  expect(await loadTape(path)).toMatchObject({ ended: true, problems: [] })
  const serving = await startServing(path, '--http')
  const three = await clientAt(serving, 'streamableHttp')
  expect([
    textOf(await callTool(three, 'echo', { q: 'newer' })),
    textOf(await callTool(three, 'echo', { q: 'new' })),
    textOf(await callTool(three, 'count')),
    textOf(await callTool(three, 'echo', { q: 'old' })),
  ]).toEqual(['live {"q":"newer"}', 'live {"q":"new"}', '1', 'recorded'])
  await three.close()
  expect((await serving.stop()).code).toBe(0)
})

test('a program gives every client a transport of its own to the live server, and learns from them all', async () => {
  const path = tapeFile(...SESSION)
  const [command = '', ...args] = fixtureServer('ask-then-answer')
  const live = (): StdioClientTransport => new StdioClientTransport({ command, args })
  const gone: string[] = []
  const served = await serveHttp({
    tape: await loadTape(path),
    live,
    mode: 'new-episodes',
    onLive: ({ method }) => gone.push(method),
  })
  const sessions = [await begin(served.url), await begin(served.url)]
  const answers = []
  for (const { say } of sessions) answers.push(jsonOf(await say(callOf(7, 'count', {}))))
  expect(answers).toMatchObject([answerOf(7, '1'), answerOf(7, '1')])
  await served.close()
  await served.close()
  expect(gone).toEqual(['tools/call', 'tools/call'])
  const { turns, problems } = await loadTape(path)
  expect([problems, new Set(turns.map(({ trigger }) => trigger?.conn))]).toEqual([[], new Set([1, 2, 3])])
})

test('once records the live server when there is no tape, all whenever it is said; what it says is not marked', async () => {
  const path = join(temporaryFolder(), 'fresh.tape.jsonl')
  for (const mode of ['once', 'all']) {
    const recording = await startServingLive([path, '--http', '--sse', '--mode', mode, ...LIVE])
    const one = await clientAt(recording, 'streamableHttp')
    expect(await callTool(one, 'count')).toEqual({ content: [{ type: 'text', text: '1' }] })
    await one.ping()
    const two = clientOf('v2', { answers: ANSWERS })
    await two.connect(httpOf('v2', 'sse', recording.urls()[1] ?? ''))
    expect(textOf(await callTool(two, 'ask'))).toBe('got accept')
    await Promise.all([one.close(), two.close()])
    const { code, stderr } = await recording.stop()
    expect(stderr).toMatch(new RegExp(`recorded \\d+ frames to ${path}\n$`))
    expect(code).toBe(0)
  }
  const replay = await startServingLive([path, '--http', '--mode', 'once', ...LIVE], { CI: 'true' })
  const [one, two] = [
    await clientAt(replay, 'streamableHttp'),
    await clientAt(replay, 'streamableHttp', 'v2'),
  ]
  expect([textOf(await callTool(one, 'count')), textOf(await callTool(two, 'ask'))]).toEqual([
    '1',
    'got accept',
  ])
  await Promise.all([one.close(), two.close()])
  const { code, stderr } = await replay.stop()
  expect([code, stderr.includes('live')]).toEqual([0, false])
  expect(readdirSync(dirname(path))).toEqual(['fresh.tape.jsonl'])
})

test('in CI nothing goes live by itself over HTTP either, and a mode that does is said aloud', async () => {
  const path = join(temporaryFolder(), 'fresh.tape.jsonl')
  const quiet = await startServingLive([path, '--http', ...LIVE], { CI: 'true' })
  expect((await quiet.exited).code).toBe(3)
  expect(quiet.stderr()).toContain('CI is set, so nothing is recorded; --mode once records anyway')
  expect(existsSync(path)).toBe(false)
  const loud = await startServingLive([tapeFile(...SESSION), '--http', '--mode', 'new-episodes', ...LIVE], {
    CI: '1',
  })
  expect((await loud.stop()).stderr).toContain(
    'CI is set, and --mode new-episodes lets this run use the live server',
  )
})

test('a secret that crosses the live link does not reach the tape: by its looks, or because the user says so', async () => {
  const folder = temporaryFolder()
  const [path, file] = [join(folder, 'fresh.tape.jsonl'), join(folder, 'secrets.env')]
  const [token, word] = [`ghp_${'Ab1'.repeat(12)}`, 'the-name-of-my-cat']
  writeFileSync(file, `CAT=${word}\n`, { mode: 0o600 })
  for (const mode of ['once', 'new-episodes']) {
    const serving = await startServingLive([path, '--http', '--secrets', file, '--mode', mode, ...LIVE])
    const one = await clientAt(serving, 'streamableHttp')
    const said = textOf(await callTool(one, 'echo', { mode, token, word }))
    expect(said).toBe(`live ${JSON.stringify({ mode, token, word })}`)
    await one.close()
    await serving.stop()
  }
  const tape = readFileSync(path, 'utf8')
  expect(tape).toContain('"event":"episode"')
  expect([tape.includes(token), tape.includes(word)]).toEqual([false, false])
})

const MODERN = { mode: { pin: '2026-07-28' } } as const
const COUNT_3 = { method: 'tools/call', params: { name: 'count', arguments: { to: 3 } } }
const HEADERS = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'count' }

const modern = (
  id: number | string,
  { method, params }: { method: string; params: object },
  meta: object = {},
): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { ...params, _meta: { ...ENVELOPE, ...meta } },
})
const MODERN_TAPE: readonly Said[] = [
  client(modern(1, { method: 'tools/call', params: { name: 'count', arguments: { to: 1 } } })),
  server({ id: 1, result: { content: [{ type: 'text', text: 'recorded' }], resultType: 'complete' } }),
]

test('in the modern era, requests with the same id and token at the same time get their own live answers', async () => {
  const serving = await startServingLive([
    tapeFile(...MODERN_TAPE),
    '--http',
    '--on-miss',
    'passthrough',
    '--',
    ...fixtureServer('modern'),
  ])
  const [url = ''] = serving.urls()
  const bodies = [2, 3, 4].map((to) =>
    modern(7, { ...COUNT_3, params: { name: 'count', arguments: { to } } }, { progressToken: 'same' }),
  )
  const answers = await Promise.all(bodies.map((body) => ask(url, post(body, HEADERS))))
  for (const [at, answer] of answers.entries()) {
    const messages = messagesOf(answer)
    expect(messages.slice(0, -1).map((message) => member(message, 'params'))).toEqual(
      Array.from({ length: at + 2 }, (_, step) => ({
        progressToken: 'same',
        progress: step + 1,
        total: at + 2,
      })),
    )
    expect(messages.at(-1)).toMatchObject({
      id: 7,
      result: { content: [{ text: `counted to ${at + 2}` }], _meta: { 'reelay/live': true } },
    })
  }
  expect((await serving.stop()).stderr).toContain('3 WENT LIVE')
})

test('a modern client that closes its stream cancels the live call', async () => {
  const serving = await startServingLive([tapeFile(...MODERN_TAPE), '--http', ...PASSED_ON])
  const [url = ''] = serving.urls()
  const wait = modern(
    7,
    { ...COUNT_3, params: { name: 'wait', arguments: { to: 0 } } },
    { progressToken: 'mine' },
  )
  const stream = await open(url, post(wait, { ...HEADERS, 'Mcp-Name': 'wait' }))
  expect(await read(stream, 'progress')).toContain('"progressToken":"mine"')
  stream.destroy()
  await until(() => serving.stderr().includes('cancelled'))
  expect(serving.stderr()).toContain('cancelled 1, undefined\n')
})

test('a live subscription speaks of itself by the id that its client gave it', async () => {
  const live = ['--on-miss', 'passthrough', '--', ...fixtureServer('modern')]
  const serving = await startServingLive([tapeFile(...MODERN_TAPE), '--http', ...live])
  const [url = ''] = serving.urls()
  const listen = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
  const headers = { ...HEADERS, 'Mcp-Method': 'subscriptions/listen' }
  const stream = await open(url, post(modern('L1', listen), headers))
  const first = await read(stream, 'acknowledged')
  const learn = { method: 'tools/call', params: { name: 'learn', arguments: { name: 'fly' } } }
  await ask(url, post(modern('L1', learn), { ...HEADERS, 'Mcp-Name': 'learn' }))
  const said = first + (await read(stream, 'list_changed'))
  expect(said.match(/"io.modelcontextprotocol\/subscriptionId":"L1"/g)).toHaveLength(2)
  stream.destroy()
  expect((await serving.stop()).stderr).toContain('2 WENT LIVE')
})

test.each([
  ['a command', (): Promise<readonly string[]> => Promise.resolve(['--', ...fixtureServer('modern')])],
  [
    'a URL',
    async (): Promise<readonly string[]> => ['--url', `${await listening(fixtureServer('modern-http'))}/mcp`],
  ],
])(
  'a modern client is recorded once from %s, asked for input, and replayed without it',
  async (_what, target) => {
    const path = join(temporaryFolder(), 'fresh.tape.jsonl')
    const answers: unknown[] = []
    for (const args of [await target(), []]) {
      const serving =
        args.length > 0
          ? await startServingLive([path, '--http', ...args])
          : await startServing(path, '--http')
      const one = clientOf('v2', {
        answers: { ...ANSWERS, elicited: { sure: true } },
        versionNegotiation: MODERN,
      })
      await one.connect(httpOf('v2', 'streamableHttp', serving.urls()[0] ?? ''))
      const steps: object[] = []
      answers.push([
        textOf(await callTool(one, 'count', { to: 3 }, { onprogress: (step) => steps.push(step) })),
        textOf(await callTool(one, 'deploy', { env: 'prod' })),
        steps.length,
      ])
      await one.close()
      expect((await serving.stop()).code).toBe(0)
    }
    expect(answers).toEqual([
      ['counted to 3', 'deployed to prod: true', 3],
      ['counted to 3', 'deployed to prod: true', 3],
    ])
  },
)

test.each(['streamableHttp', 'sse'] as const)(
  'a live server at a URL (%s) stands behind the tape too, with headers of ours, over HTTP and on stdin and stdout',
  async (kind) => {
    const origin = await listening([
      process.execPath,
      'node_modules/@modelcontextprotocol/server-everything/dist/index.js',
      kind,
    ])
    const url = `${origin}/${kind === 'sse' ? 'sse' : 'mcp'}`
    const serving = await startServingLive([
      tapeFile(...SESSION),
      '--http',
      '--on-miss',
      'passthrough',
      '--url',
      url,
      '--header',
      'X-Reelay-Test: 1',
    ])
    const one = await clientAt(serving, 'streamableHttp')
    expect(textOf(await callTool(one, 'echo', { message: 'hi' }))).toBe('Echo: hi')
    expect(textOf(await callTool(one, 'trigger-sampling-request', { prompt: 'p', maxTokens: 5 }))).toContain(
      'a sample',
    )
    expect(textOf(await callTool(one, 'echo', { q: 'old' }))).toBe('recorded')
    await one.close()
    expect((await serving.stop()).stderr).toContain('2 WENT LIVE')
    const stdio = new ServeProcess([tapeFile(...SESSION), '--on-miss', 'passthrough', '--url', url], [], {
      CI: '',
    })
    stdio.say(
      { ...INITIALIZE, id: 'i' },
      { method: 'notifications/initialized' },
      callOf(3, 'echo', { message: 'hi' }),
    )
    expect((await stdio.end()).lines.at(-1)).toContain('Echo: hi')
  },
)

const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

const refusing = (id: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'go away' } })

test.each<[string, Listener, string]>([
  ['wants a token', (_req, res) => res.writeHead(401).end(), 'the server answered HTTP 401'],
  ['is a web page', (_req, res) => res.writeHead(200).end('<html>'), 'the server answered HTTP 200: <html>'],
  [
    'breaks off',
    (_req, res) => res.destroy(),
    'the request to ORIGIN failed: the server closed the connection',
  ],
  [
    'refuses to begin',
    (_req, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(refusing('reelay-live-initialize')),
    'it rejected initialize: "go away"',
  ],
])(
  'a live server at a URL that %s is said to whoever asks, again and again, and the tape is served',
  async (_, listener, why) => {
    const seen: unknown[] = []
    const { origin } = await httpServer((req, res) => {
      seen.push(req.headers['x-mine'])
      return listener(req, res)
    })
    const target = { kind: 'url', url: new URL(origin), headers: { 'x-mine': 'yes' } } as const
    const tape = tapeOf(...SESSION)
    const live = new PassthroughServer({
      open: upstreamLink(target, turnStoreOf(tape.turns)),
      learns: false,
    })
    const { url } = await servingHere({ tape, upstream: () => live.connectClient() })
    const { say } = await begin(url)
    for (const id of [7, 8])
      expect(jsonOf(await say(callOf(id, 'other', {})))).toMatchObject({
        id,
        error: {
          code: -32603,
          message: expect.stringContaining(
            `the live server did not answer: ${why.replace('ORIGIN', origin)}`,
          ),
        },
      })
    expect(jsonOf(await say(callOf(9, 'echo', { q: 'old' })))).toMatchObject(answerOf(9, 'recorded'))
    expect(new Set(seen)).toEqual(new Set(['yes']))
  },
)

test('once records a server at a URL on stdin and stdout too, and plays it from then on', async () => {
  const path = join(temporaryFolder(), 'fresh.tape.jsonl')
  const url = `${await listening(fixtureServer('modern-http'))}/mcp`
  const said: unknown[] = []
  for (const target of [['--url', url], []]) {
    const serve = new ServeProcess([path, ...target], [], { CI: '' })
    serve.say(modern(1, COUNT_3, { progressToken: 5 }))
    const lines = await serve.heardText('"counted to 3"')
    said.push(lines.map((line) => JSON.parse(line)).map((message) => member(message, 'method') ?? 'answer'))
    expect((await serve.end()).code).toBe(0)
  }
  const progress = Array.from({ length: 3 }, () => 'notifications/progress')
  expect(said).toEqual([
    [...progress, 'answer'],
    [...progress, 'answer'],
  ])
})

test.each([
  [['--url', 'http://127.0.0.1:9', '--', 'x'], 'both a command and --url are given'],
  [['--header', 'A: b', '--', 'x'], '--header has no effect without --url'],
  [['--mode', 'all'], 'all needs a live server'],
])('a live server that makes no sense is refused: %j', async (args, problem) => {
  const serving = await startServingLive([tapeFile(...SESSION), '--http', ...args])
  expect((await serving.exited).code).toBe(2)
  expect(serving.stderr()).toContain(`reelay: USAGE ${problem}\n  hint: `)
})

test('one live server cannot stand behind two tapes, nor behind two servers of one', async () => {
  const two = await startServingLive([tapeFile(...SESSION), tapeFile(...SESSION), '--http', ...LIVE])
  expect((await two.exited).code).toBe(2)
  expect(two.stderr()).toContain('2 tapes cannot share one live server')
  const other = call(1, 'count', {}, 'x').map((said) => ({ ...said, server: 'other' }))
  const one = await startServingLive([tapeFile(...HANDSHAKE, ...other), '--http', ...PASSED_ON])
  expect((await one.exited).code).toBe(2)
  expect(one.stderr()).toContain('choose one with --server: demo, other')
})

test('a message on several lines reaches a live server that reads lines', async () => {
  const serving = await startServingLive([tapeFile(...SESSION), '--http', ...PASSED_ON])
  const raw = await begin(serving.urls()[0] ?? '')
  const body = JSON.stringify({ jsonrpc: '2.0', ...callOf(4, 'count', {}) }, null, 2)
  const answer = await ask(serving.urls()[0] ?? '', { ...post({}, raw.headers), body })
  expect(jsonOf(answer)).toMatchObject(answerOf(4, '1'))
})
