import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as bodyOf } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { member } from '../../src/json/parse.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { httpServer, startRecorder } from '../support/http.ts'
import { fixtureServer, isAlive, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { reelay } from './reelay.ts'
import { folderWith } from '../support/config-folder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { recordOrders } from './orders-tape.ts'
import { tapeOfWaits } from './waits-tape.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { answerOf, callOf, client as sent, HANDSHAKE, server as said } from '../support/tape-of.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const recorded = join(sharedFolder(), 'orders.tape.jsonl')

beforeAll(() => recordOrders(recorded))

test('verify ends with 0 for a server that is as recorded, and with 1 for one that is not', async () => {
  const same = await reelay('verify', recorded, '--allow-writes', '--', ...fixtureServer('orders'))
  const other = await reelay('verify', recorded, '--allow-writes', '--', ...fixtureServer('orders', 'value'))
  expect([same.code, other.code]).toEqual([0, 1])
  expect(same.out).toMatch(/^4 of 4 responses as recorded$/m)
  expect(other.out).toMatch(
    /values +result\.structuredContent\.order\.total +changed +\(in all 7 runs\)\n +recorded 42\n +now +43\n/,
  )
})

test('a tape verifies against its own serve', async () => {
  const served = [process.execPath, REELAY, 'serve', recorded]
  const { code, out, err } = await reelay('verify', recorded, '--allow-writes', '--', ...served)
  expect(out).toMatch(/^4 of 4 responses as recorded$/m)
  expect(err).toMatch(/the server wrote \d+ lines on stderr; -v shows them/)
  expect(code).toBe(0)
})

test('what may write is held back and named, what needs it is not sent, and the exit code says that not all was', async () => {
  const { code, out } = await reelay('verify', recorded, '--', ...fixtureServer('orders'))
  expect(out).not.toMatch(/get_order/)
  expect(out).toContain(
    '1 call was not sent, because it may write. To send it: --allow create_order or --allow-writes\n' +
      '1 more call was not sent, because it needs a value from the response to an earlier call; -v shows it\n',
  )
  expect(out).toMatch(/verdict: as recorded, but incomplete/)
  expect(code).toBe(3)
  const all = await reelay('verify', recorded, '-v', '--', ...fixtureServer('orders'))
  expect(all.out).toMatch(/not sent +#\d+ +tools\/call get_order .*, which this run did not receive/)
  expect(all.out).not.toContain('-v shows it')
})

test('one tool is allowed by its name', async () => {
  const { code } = await reelay(
    'verify',
    recorded,
    '--allow',
    'create_order',
    '--',
    ...fixtureServer('orders'),
  )
  expect(code).toBe(0)
})

test('a call of a tool that the server does not list is sent if the user allows it, and its error is compared', async () => {
  const folder = temporaryFolder()
  const server = join(folder, 'server.mjs')
  writeFileSync(server, SERVER_OF_ONE_TOOL)
  const tape = join(folder, 'unknown.tape.jsonl')
  const client = new Client({ name: 'x', version: '1' })
  const args = [REELAY, 'record', '-q', '-o', tape, '--', process.execPath, server, 'not found']
  await client.connect(new StdioClientTransport({ command: process.execPath, args }))
  await client.listTools()
  await expect(client.callTool({ name: 'nope', arguments: {} })).rejects.toThrow('not found')
  await client.close()
  const verify = (message: string, ...flags: string[]): ReturnType<typeof reelay> =>
    reelay('verify', tape, ...flags, '--', process.execPath, server, message)
  const [held, allowed, named, changed] = await Promise.all([
    verify('not found'),
    verify('not found', '--allow-writes'),
    verify('not found', '--allow', 'nope'),
    verify('unknown', '--allow-writes'),
  ])
  expect([held.code, allowed.code, named.code, changed.code]).toEqual([3, 0, 0, 1])
  expect(held.out).toContain('To send it: --allow nope or --allow-writes')
  for (const { out } of [allowed, named]) expect(out).toContain('2 of 2 responses as recorded')
  expect(named.out).not.toContain('matches no tool')
  expect(changed.out).toMatch(/error\.message/)
})

const SERVER_OF_ONE_TOOL = `
  import { createInterface } from 'node:readline'
  const results = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [{ name: 'only', inputSchema: { type: 'object' } }] },
  }
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    const outcome = results[method] ? { result: results[method] } : { error: { code: -32602, message: process.argv[2] } }
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
  })`

test('a dry run starts nothing and says what would be sent', async () => {
  const { code, out } = await reelay('replay', recorded, '--dry-run')
  expect(code).toBe(0)
  expect(out.replaceAll(/#\d+/g, '#').replaceAll(/ +/g, ' ')).toBe(
    [
      'skip # initialize (Reelay does its own handshake)',
      'skip notifications/initialized (Reelay does its own handshake)',
      'send # tools/list',
      'hold # tools/call create_order (the tool is not marked as read-only)',
      'send # tools/call get_order (after 1 answer)',
      'send # tools/call describe (after 1 answer)',
      '1 call would not be sent, because it may write. To send it: --allow create_order or --allow-writes',
      '',
    ].join('\n'),
  )
})

test('the JSON report fits its published schema', async () => {
  const { out } = await reelay(
    'verify',
    recorded,
    '--json',
    '--allow-writes',
    '--',
    ...fixtureServer('orders', 'type'),
  )
  const schema: unknown = JSON.parse(readFileSync('schema/replay-report-1.json', 'utf8'))
  const validate = new Ajv2020({ allErrors: true, strict: true }).compile(Object(schema))
  const report: unknown = JSON.parse(out)
  validate(report)
  expect(validate.errors).toBeNull()
  expect(report).toMatchObject({ summary: { verdict: 'fail', sent: 4 }, runs: 3 })
})

test('a response that is missing in one of two runs is flaky: exit code 1, or 0 if that is allowed', async () => {
  const [failed, allowed] = await Promise.all([runTwice(), runTwice('--flaky', 'allow', '--json')])
  expect([failed.code, allowed.code]).toEqual([1, 0])
  expect(failed.out).toMatch(/^timeout +#1 +tools\/call wait .*\n.*\(in 1 of 2 runs\)\n/m)
  expect(failed.out).toMatch(/verdict: flaky: as recorded in some runs only\n$/)
  expect(JSON.parse(allowed.out)).toMatchObject({ summary: { verdict: 'flaky' }, unstable: [{ inRuns: 1 }] })
})

test('an update puts the new answers on the tape and leaves every other byte alone', async () => {
  const tape = join(temporaryFolder(), 'copy.tape.jsonl')
  copyFileSync(recorded, tape)
  const changed = fixtureServer('orders', 'value')
  const update = await reelay('verify', tape, '--update', '--allow-writes', '--', ...changed)
  expect(update.out).toMatch(/accepted +#\d+ tools\/call get_order\n1 answer on .* replaced/)
  const again = await reelay('verify', tape, '--allow-writes', '--', ...changed)
  expect([update.code, again.code]).toEqual([0, 0])
  const differing = linesOf(tape).filter((line, place) => line !== linesOf(recorded)[place])
  expect(differing).toHaveLength(1)
  expect(differing[0]).toBe(
    linesOf(recorded)
      .find((line) => line.includes('{\\"order\\":{'))
      ?.replaceAll(/(total\\?":)42/g, '$143'),
  )
})

test('--set sends another value, and --record makes a tape of what was sent', async () => {
  const tape = join(temporaryFolder(), 'run.tape.jsonl')
  const set = 'tools/call:create_order:$.arguments.item=bread'
  const target = ['--', ...fixtureServer('orders')]
  const { code } = await reelay(
    'replay',
    recorded,
    '--allow-writes',
    '--set',
    set,
    '--record',
    tape,
    ...target,
  )
  expect(code).toBe(1)
  const { turns } = await loadTape(tape)
  expect(turns.map(({ trigger }) => trigger?.text).join('\n')).toContain(
    '{"name":"create_order","arguments":{"item":"bread"}}',
  )
})

test('a tape of a run has the session of the recorded client, however often it is recorded again', async () => {
  const folder = temporaryFolder()
  const again = async (from: string, name: string, ...options: readonly string[]): Promise<string> => {
    const tape = join(folder, name)
    const args = ['--allow-writes', '--record', tape, ...options, '--', ...fixtureServer('orders')]
    expect((await reelay('replay', from, ...args)).code).toBe(0)
    return tape
  }
  const first = await again(recorded, '1.tape.jsonl')
  const second = await again(first, '2.tape.jsonl')
  const kept = await again(second, '3.tape.jsonl', '--handshake', 'recorded', '--exclude', 'tools/list')
  const listed = await again(kept, '4.tape.jsonl')
  expect(await methodsOf(first)).toEqual(await methodsOf(recorded))
  expect(await methodsOf(second)).toEqual(await methodsOf(first))
  expect((await methodsOf(listed)).filter((method) => method === 'tools/list')).toEqual([])
  const { header } = await loadTape(second)
  expect(header.tags).toEqual({ 'replay-of': (await loadTape(first)).header.id, handshake: 'recorded' })
  const own = await again(recorded, '5.tape.jsonl', '--handshake', 'own')
  expect([await clientOf(first), await clientOf(own)]).toEqual([await clientOf(recorded), 'reelay'])
  expect(readFileSync(second, 'utf8')).not.toContain('__handshake__')
})

test.each([
  [['replay', recorded], /no live server is given/],
  [
    ['replay', recorded, '--url', 'http://127.0.0.1:1/mcp', '--', 'x'],
    /a URL and a server command are both given/,
  ],
  [['replay', recorded, '--url', 'ftp://x'], /"ftp:\/\/x" is neither http: nor https:/],
  [
    ['replay', recorded, '--pace', 'quick', '--', 'x'],
    /invalid pace "quick" for --pace \(expected none, recorded/,
  ],
  [
    ['replay', recorded, '--order', 'any', '--', 'x'],
    /invalid value "any" for --order \(expected correlated, sequential, priority or random\)/,
  ],
  [['replay', recorded, '--set', 'nonsense', '--', 'x'], /cannot read --set "nonsense"/],
  [
    ['replay', recorded, '--set', 'tools/call:creat_order:$.arguments.item=x', '--', 'x'],
    /the tape has no call of creat_order; did you mean create_order/,
  ],
  [['replay', recorded, '--ignore', 'a..b', '--', 'x'], /cannot read the path "a\.\.b"/],
  [['replay', recorded, '--repeat', '0', '--', 'x'], /invalid number "0" for --repeat/],
  [['replay', recorded, '--header', 'x: ${env.NO_SUCH_NAME}', '--url', 'http://127.0.0.1:1'], /NO_SUCH_NAME/],
])('misuse ends with 2 and a hint: %j', async (args, message) => {
  const { code, err } = await reelay(...args)
  expect(code).toBe(2)
  expect(err).toMatch(message)
  expect(err).toMatch(/hint: /)
})

test('a server that cannot be started, or does not answer, ends with 3', async () => {
  const missing = await reelay('replay', recorded, '--', 'no-such-command')
  const brief = ['--start-timeout', '2s']
  const silent = await reelay('replay', recorded, ...brief, '--', ...fixtureServer('read-nothing'))
  const gone = await reelay('replay', recorded, '--url', 'http://127.0.0.1:1/mcp')
  expect([missing.code, silent.code, gone.code]).toEqual([3, 3, 3])
  expect(missing.err).toMatch(/COMMAND_NOT_FOUND/)
  expect(silent.err).toMatch(/TARGET_REFUSED the server did not answer initialize. It wrote 1 line on stdout/)
  expect(gone.err).toMatch(/TARGET_REFUSED .*ECONNREFUSED/)
})

test('Ctrl+C in the handshake ends with 130, and the server with it', async () => {
  const file = join(temporaryFolder(), 'pid')
  const patient = ['replay', recorded, '--start-timeout', '3600s']
  const run = start([process.execPath, REELAY, ...patient, '--', ...fixtureServer('read-nothing', file)])
  const pidIn = (): number => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0)
  const pid = await vi.waitUntil(pidIn, 30_000)
  run.child.kill('SIGINT')
  expect(await run.exited).toEqual({ code: 130, signal: null })
  expect(isAlive(pid)).toBe(false)
})

test('Ctrl+C while a stream of events is being opened ends with 130', async () => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  onTestFinished(() => silent.close().closeAllConnections())
  await once(silent, 'listening')
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/sse`
  const run = start([process.execPath, REELAY, 'replay', recorded, '--url', address, '--sse'])
  await once(silent, 'request')
  run.child.kill('SIGINT')
  expect(await run.exited).toEqual({ code: 130, signal: null })
})

function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n')
}

/** Replays a call twice. In the second run, the server does not answer it. */
function runTwice(...more: readonly string[]): ReturnType<typeof reelay> {
  const file = join(temporaryFolder(), 'mute')
  const mute = `process.env.REELAY_RUN === '2' && fs.writeFileSync(process.argv[1], '')`
  const before = ['--before-run', `"${process.execPath}" -e "${mute}" "${file}"`]
  const server = fixtureServer('slow-calls', '0', 'done', 'tools/call', file)
  const twice = ['--repeat', '2', '--timeout', '1500', ...before]
  return reelay('replay', tapeOfWaits(1), ...twice, ...more, '--', ...server)
}

async function methodsOf(path: string): Promise<readonly unknown[]> {
  const { turns } = await loadTape(path)
  return turns.map(({ trigger }) => member(trigger?.message, 'method'))
}

async function clientOf(path: string): Promise<unknown> {
  const { turns } = await loadTape(path)
  const [params] = turns.map(({ trigger }) => member(trigger?.message, 'params'))
  return member(member(params, 'clientInfo'), 'name')
}

/** A server of one tool that may write and one that reads what was written. The arguments make it behave badly. */
const NOTES_SERVER = `
  const [how] = process.argv.slice(1)
  if (how === 'noisy') setInterval(() => console.log('hello, I am a log line'), 50)
  if (how === 'early') process.exit(7)
  const notes = []
  const text = (text) => ({ content: [{ type: 'text', text }] })
  const tools = [{ name: 'add', inputSchema: { type: 'object' } }, { name: 'all', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }]
  const answers = {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } }),
    'tools/list': () => ({ tools }),
    'tools/call': ({ name }) => (name === 'add' ? text('added ' + notes.push('milk')) : text('x'.repeat(200) + (how === 'changed' ? 'B' : 'A') + notes.join())),
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (how !== 'noisy' && id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }))
  })`
const notesServer = (...args: string[]): string[] => ['--', process.execPath, '-e', NOTES_SERVER, ...args]

async function notesTape(): Promise<string> {
  return recordCalls({ name: 'add' }, { name: 'all' })
}

async function callTape(given: object): Promise<string> {
  return recordCalls({ name: 'all', arguments: given })
}

async function recordCalls(...params: readonly object[]): Promise<string> {
  const tape = join(temporaryFolder(), 'notes.tape.jsonl')
  const calls = [
    {
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    },
    ...params.map((each, at) => ({ id: at + 1, method: 'tools/call', params: each })),
  ]
  const run = start([process.execPath, REELAY, 'record', '-q', '-o', tape, ...notesServer()])
  for (const call of calls) {
    run.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...call })}\n`)
    await run.line(`"id":${call.id},`)
  }
  run.child.stdin.end()
  await run.exited
  return tape
}

test('a call that was held back does not fail the reads after it', async () => {
  const tape = await notesTape()
  const { code, out } = await reelay('verify', tape, ...notesServer())
  expect(code).toBe(3)
  expect(out).toContain('perhaps only because an earlier call was not sent; -v shows it\n')
  const all = await reelay('verify', '-v', tape, ...notesServer())
  expect(all.out).toMatch(/held +#2 +tools\/call add +the tool is not marked as read-only/)
  expect(all.out).toMatch(/skipped +#3 /)
  expect(all.out).toContain('not comparable, because an earlier call was not sent')
  expect(out).toContain(
    '1 call was not sent, because it may write. To send it: --allow add or --allow-writes\n',
  )
  expect(out).not.toContain('in all 3 runs')
})

test('a difference is shown once, with the changed part of a long text', async () => {
  const { code, out } = await reelay('verify', await notesTape(), '--allow', 'add', ...notesServer('changed'))
  expect(code).toBe(1)
  expect(out.match(/changed/g)).toHaveLength(1)
  expect(out).toContain(
    `recorded "…${'x'.repeat(49)}Amilk"\n              now      "…${'x'.repeat(49)}Bmilk"\n`,
  )
})

test.each([
  [
    'noisy',
    /wrote \d+ lines on stdout that are not JSON-RPC; the first: hello, I am a log line\n {2}hint: .*log to stderr/,
  ],
  ['early', /hint: the server ended before it answered/],
])('a server that does not start well (%s) gets its own hint', async (how, expected) => {
  const options = ['--timeout', '1s', '--start-timeout', '3s']
  const { code, err } = await reelay('verify', await notesTape(), ...options, ...notesServer(how))
  expect(code).toBe(3)
  expect(err).toMatch(expected)
})

test('an address without a server, and one without http://, get their own hints', async () => {
  const tape = await notesTape()
  const refused = await reelay('verify', tape, '--url', 'http://127.0.0.1:9/mcp')
  expect(refused.err).toContain('hint: nothing listens at this address')
  const bare = await reelay('verify', tape, '--url', '127.0.0.1:3000')
  expect([bare.code, bare.err]).toEqual([
    2,
    expect.stringContaining('did you mean http://127.0.0.1:3000/mcp?'),
  ])
})

test('a tape with an unanswered request alone is not verified', async () => {
  const tape = join(temporaryFolder(), 'open.tape.jsonl')
  const server = ['--', process.execPath, '-e', 'process.stdin.resume()']
  const run = start([process.execPath, REELAY, 'record', '-q', '-o', tape, ...server])
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await run.exited
  const { code, out } = await reelay(
    'verify',
    '-v',
    tape,
    '--handshake',
    'none',
    '--timeout',
    '1s',
    ...server,
  )
  expect(out).toMatch(/^open +#1 +ping/m)
  expect(out).toContain(
    '\n0 of 0 responses as recorded, 1 without a response on the tape\nverdict: none, because no response was compared\n',
  )
  expect(code).toBe(3)
})

test('requests that got an HTTP error or were lost are named and counted, and not called as recorded', async () => {
  let isFixed = false
  const { origin } = await httpServer(async (req, res) => {
    const body = await bodyOf(req)
    const isNotification = !body.includes('"id"')
    if (req.method !== 'POST' || isNotification) return res.writeHead(req.method === 'POST' ? 202 : 405).end()
    if (!isFixed && body.includes('lost')) return req.socket.destroy()
    if (!isFixed && body.includes('broken')) return res.writeHead(502).end('db-7 is down')
    return res.writeHead(200, { 'Content-Type': 'application/json' }).end(responseTo(body))
  })
  const recorder = await startRecorder(`${origin}/mcp`)
  const client = new Client({ name: 'c', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(recorder.url)))
  for (const name of ['fine', 'broken', 'lost']) await client.callTool({ name }).catch(() => {})
  await client.close()
  recorder.child.kill('SIGTERM')
  await recorder.exited
  const verify = (): ReturnType<typeof reelay> =>
    reelay('verify', recorder.tape, '--allow-writes', '--url', `${origin}/mcp`)
  // A run does not wait for them, so a response may come too late.
  const same = await verify()
  expect(same.out).toMatch(/^(lost|open) +#3 +tools\/call broken .*the tape has no response either$/m)
  expect(same.out).toMatch(/^(lost|open) +#4 +tools\/call lost .*the tape has no response either$/m)
  expect(same.out).toMatch(/^1 of 1 responses as recorded, 2 without a response on the tape$/m)
  isFixed = true
  const fixed = await verify()
  expect(fixed.out).toMatch(/^(new|open) +#3 +tools\/call broken .*the tape has no response( either)?$/m)
  expect(fixed.out).toMatch(/^1 of 1 responses as recorded, 2 without a response on the tape$/m)
})

/** The response of a server whose tools return their names. */
function responseTo(body: string): string {
  const { id, method, params } = JSON.parse(body)
  const info = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
  const result = method === 'initialize' ? info : { content: [{ type: 'text', text: params?.name }] }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

test('one exchange is selected by its number, and names that match nothing are reported', async () => {
  const tape = await notesTape()
  const one = await reelay('verify', '-v', tape, '--include', '#3', '--allow', 'ad', ...notesServer())
  expect(one.out).toMatch(/skipped +#2 .*not included {2}frame \d+\n/)
  expect(one.out).toMatch(/#3 +tools\/call all/)
  expect(one.out).toContain('note: --allow ad matches no tool; did you mean add?\n')
  const none = await reelay('verify', tape, '--exclude', 'tools/cal', ...notesServer())
  expect(none.out).toContain(
    'note: tools/cal of --exclude matches no message of the tape; did you mean tools/call?\n',
  )
})

test.each([
  ['excludeMethods', 'parameterOverrides', 'errorInjection', 'errorTypes'],
  ['exclude_methods', 'parameter_overrides', 'error_injection', 'error_types'],
])(
  'the config changes which messages are sent, in which order and with which values: %s',
  async (...names) => {
    const [exclude, overrides, injection, types] = names
    const selection = `${exclude}: ['tools/call:get_order'], ordering: { priority: { tools/call: 2 } }`
    const text = `replay: { ${selection}, ${overrides}: { 'tools/call:create_order:$.arguments.item': bread } }`
    const config = join(folderWith('scenario.yaml', text), 'scenario.yaml')
    const dry = await reelay('replay', recorded, '--dry-run', '--allow-writes', '--config', config)
    expect(dry.out).toMatch(
      /^send +#3 +tools\/call create_order\nskip +#4 .*\(excluded\)\nsend +#5 .*\n(?:skip.*\n)*send +#2 +tools\/list/,
    )
    const failing = text.replace('{', `{ ${injection}: { probability: 1, ${types}: [network_error] },`)
    const other = join(folderWith('failing.yaml', failing), 'failing.yaml')
    const [run, failed] = await Promise.all(
      [config, other].map((file) =>
        reelay('replay', recorded, '--allow-writes', '--config', file, '--', ...fixtureServer('orders')),
      ),
    )
    expect(run?.out).toMatch(/order\.item +changed\n +recorded "milk"\n +now +"bread"\n/)
    expect(failed?.out).toContain('3 faults injected')
  },
)

test('faults and ignored paths that match nothing are reported, with the name that was probably meant', async () => {
  const faults = join(
    folderWith('faults.yaml', '- { tool: descrbe, delay: 1 }\n- { method: tools/lst, delay: 1 }\n'),
    'faults.yaml',
  )
  const both = ['--faults', faults]
  const ignored = ['--ignore', 'result.content[0].txt', '--ignore', 'result.tools']
  const rule = 'tools/call params.arguments.day relative-date'
  const matching = ['--ignore', 'params.arguments.itm', '--ignore', 'params.name', '--rule', rule]
  const [played, served] = await Promise.all([
    reelay('replay', recorded, ...both, ...ignored, '--', ...fixtureServer('orders')),
    reelay('serve', recorded, ...both, ...matching),
  ])
  const shared = [
    `${faults}:1:3: the tape has no call of descrbe; did you mean describe?`,
    `${faults}:2:3: the tape has no tools/lst; did you mean tools/list?`,
  ]
  const nowhere = 'no recorded request has a value there'
  const path = 'result.content[0].txt'
  expect(warningsIn(played.err)).toEqual([
    ...shared,
    `--ignore ${path}: no recorded response has a value there; did you mean result.content[0].text?`,
  ])
  expect(warningsIn(served.err)).toEqual([
    ...shared,
    expect.stringContaining(
      `--rule "tools/call params.arguments.day relative-date": ${nowhere}; there are params.`,
    ),
    `--ignore params.arguments.itm: ${nowhere}; did you mean params.arguments.item?`,
  ])
})

function warningsIn(err: string): readonly string[] {
  return [...err.matchAll(/^reelay.*?: warning: (.*)$/gm)].map(([, text = '']) => text)
}

test('a missing redaction key is mentioned only if a request that failed holds a placeholder', async () => {
  vi.stubEnv('REELAY_HOME', temporaryFolder())
  const withSecret = await callTape({ api_key: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' })
  const without = await callTape({ day: 'Monday' })
  vi.stubEnv('REELAY_HOME', temporaryFolder())
  onTestFinished(() => void vi.unstubAllEnvs())
  const [secret, plain] = await Promise.all(
    [withSecret, without].map((tape) => reelay('verify', tape, ...notesServer('changed'))),
  )
  const note = 'the secrets of the tape were redacted with the key'
  expect([secret?.code, secret?.out.includes(note)]).toEqual([1, true])
  expect([plain?.code, plain?.out.includes(note), plain?.err.includes(note)]).toEqual([1, false, false])
})

test.each([
  [401, 'the server requires authentication: add --header'],
  [403, 'the server refuses this request: it may need a token (--header'],
  [404, 'check the path of the URL: most servers answer at /mcp'],
  [405, 'check the path of the URL: most servers answer at /mcp'],
])('a server that answers with HTTP %i gets its own hint', async (status, hint) => {
  const server = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { code, err } = await reelay('verify', recorded, '--url', `http://127.0.0.1:${port}/`)
  expect([code, err.includes(`\n  hint: ${hint}`)]).toEqual([3, true])
})

test('a host that does not exist gets its own hint', async () => {
  const { code, err } = await reelay('verify', recorded, '--url', 'https://no-such-host.invalid/mcp')
  expect(code).toBe(3)
  expect(err).toContain('\n  hint: there is no such host: check the name in the URL')
})

test('calls of a tool that the server no longer has are named, and no option is offered for them', async () => {
  const folder = temporaryFolder()
  const tape = tapeFile(
    ...HANDSHAKE,
    sent({ id: 1, method: 'tools/list', params: {} }),
    said({ id: 1, result: { tools: [{ name: 'gone', inputSchema: { type: 'object' } }] } }),
    sent(callOf(2, 'gone', {})),
    said(answerOf(2, 'x')),
  )
  const server = join(folder, 'server.mjs')
  writeFileSync(server, SERVER_OF_ONE_TOOL)
  const { code, out } = await reelay('verify', tape, '--', process.execPath, server, 'not found')
  expect(code).toBe(1)
  expect(out).toContain('the server no longer lists gone, so no call of it was sent\n')
  expect(out).not.toContain('--allow')
})
