import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MAIN, ServeProcess } from './serve-process.ts'
import { fileBeside, tapeFile, tornTapeFile } from './tape-file.ts'
import { answerOf, call, callOf, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'cats', limit: 10 }, 'cats'),
  ...call(2, 'count', {}, 'one'),
  ...call(3, 'count', {}, 'two'),
]
const OPENING = [
  { id: 'i', method: 'initialize', params: { protocolVersion: '2025-11-25' } },
  { method: 'notifications/initialized' },
]

test('a served session gets its recorded answers, stdout holds nothing else, and the exit code is 0', async () => {
  const path = tapeFile(...SESSION)
  const serve = new ServeProcess([path])
  serve.say(
    ...OPENING,
    callOf('a', 'count', {}),
    callOf('b', 'search', { limit: 10, q: 'cats' }),
    callOf('c', 'count', {}),
  )
  const { code, lines, stderr } = await serve.end()
  expect(lines.map((line) => JSON.parse(line)).slice(1)).toEqual([
    { jsonrpc: '2.0', ...answerOf('a', 'one') },
    { jsonrpc: '2.0', ...answerOf('b', 'cats') },
    { jsonrpc: '2.0', ...answerOf('c', 'two') },
  ])
  expect(lines).toHaveLength(4)
  expect(stderr).toBe(
    [
      `reelay serve: ${path}, 4 exchanges, legacy 2025-11-25`,
      `reelay serve: config for a client: {"mcpServers":{"demo":{"command":"${process.execPath}","args":["${MAIN}","serve","${path}"]}}}`,
      'reelay serve: 4 requests answered, 0 misses, 0 left over',
      '',
    ].join('\n'),
  )
  expect(code).toBe(0)
})

test('what was recorded and not asked for is reported at the end, with exit code 1', async () => {
  const serve = new ServeProcess([tapeFile(...SESSION)])
  serve.say(...OPENING, callOf(1, 'count', {}))
  const { code, stderr } = await serve.end()
  expect(stderr.split('\n').slice(2)).toEqual([
    'reelay serve: 2 requests answered, 0 misses, 2 left over',
    'not requested: #2 tools/call search {"limit":10,"q":"cats"}',
    'not requested: #4 tools/call count {}',
    '',
  ])
  expect(code).toBe(1)
})

test('with --leftovers note, what was not asked for is reported and fails nothing; a miss still does', async () => {
  const path = tapeFile(...SESSION)
  const some = new ServeProcess([path, '--leftovers', 'note'])
  some.say(...OPENING, callOf(1, 'count', {}))
  const { code, stderr } = await some.end()
  expect(stderr.split('\n').slice(2, 4)).toEqual([
    'reelay serve: 2 requests answered, 0 misses, 2 left over',
    'not requested: #2 tools/call search {"limit":10,"q":"cats"}',
  ])
  expect(code).toBe(0)
  const other = new ServeProcess([path, '--leftovers', 'note'])
  other.say(...OPENING, callOf(1, 'unknown', {}))
  expect((await other.end()).code).toBe(1)
})

test('a miss goes to the client and, in full, to stderr; the command that it advises is accepted', async () => {
  const path = tapeFile(...SESSION)
  const asked = [
    ...OPENING,
    callOf(1, 'search', { q: 'cats', limit: 20 }),
    callOf(2, 'count', {}),
    callOf(3, 'count', {}),
  ]
  const serve = new ServeProcess([path])
  serve.say(...asked)
  const { code, lines, stderr } = await serve.end()
  const command = `reelay serve ${path} --ignore params.arguments.limit`
  expect(JSON.parse(lines[1] ?? '').error.data).toMatchObject({ kind: 'replay_miss', accept: command })
  expect(stderr.replaceAll(path, 'TAPE').replace(/^reelay serve: config.*\n/m, '')).toMatchInlineSnapshot(`
    "reelay serve: TAPE, 4 exchanges, legacy 2025-11-25
    REPLAY MISS  tools/call search   tape: TAPE
    why          ARGUMENT_DRIFT: same tool, 1 of 3 fields differs
    request      tools/call search {"limit":20,"q":"cats"}
    nearest      #2, distance 0.17, recorded 2026-11-15, used 0 of 1 times
      ~ params.arguments.limit   recorded 10   got 20
      = params.name, params.arguments.q
    next         #2 tools/call search {"limit":10,"q":"cats"}
    fixes        for this run only                    reelay serve TAPE --ignore params.arguments.limit
                 ignore the difference, from now on   reelay match add TAPE params.arguments.limit --as ignore --tool search
    reelay serve: 3 requests answered, 1 miss, 1 left over
    not requested: #2 tools/call search {"limit":10,"q":"cats"} (a similar request was made: params.arguments.limit recorded 10, got 20)
    missed: ARGUMENT_DRIFT tools/call search {"limit":20,"q":"cats"}
    "
  `)
  expect(code).toBe(1)

  const again = new ServeProcess(command.split(' ').slice(2))
  again.say(...asked)
  const accepted = await again.end()
  expect(accepted.lines[1]).toContain('cats')
  expect(accepted.code).toBe(0)
})

test('a request asked once too often is exhausted, and --permissive accepts it', async () => {
  const path = tapeFile(...HANDSHAKE, ...call(1, 'count', {}, 'one'))
  const serve = new ServeProcess([path])
  serve.say(callOf(1, 'count', {}), callOf(2, 'count', {}))
  const { lines, code } = await serve.end()
  const { message, data } = JSON.parse(lines[1] ?? '').error
  expect(message).toBe(
    'REPLAY MISS EXHAUSTED: tools/call count {}: already used 1 of 1 times; every recorded request has been used',
  )
  expect(data.accept).toBe(`reelay serve ${path} --permissive`)
  expect(code).toBe(1)

  const again = new ServeProcess([path, '--permissive'])
  again.say(callOf(1, 'count', {}), callOf(2, 'count', {}))
  const accepted = await again.end()
  expect(accepted.lines.every((line) => line.includes('"one"'))).toBe(true)
  expect(accepted.code).toBe(0)
})

test.each([
  ['exact', { q: 'cats', limit: 10 }, 'cats'],
  ['method', { q: 'birds' }, 'cats'],
  ['method-and-params', { limit: 10, q: 'cats' }, 'cats'],
  ['subset', { q: 'cats' }, 'cats'],
  ['fuzzy', { limit: 10 }, 'cats'],
  ['sequential', { q: 'cats', limit: 10 }, 'cats'],
  ['next', { anything: 'else' }, 'cats'],
])('--match %s answers %j', async (strategy, args, answer) => {
  const serve = new ServeProcess([tapeFile(...SESSION), '--match', strategy])
  serve.say(callOf(1, 'search', args))
  const { lines } = await serve.end()
  expect(lines).toEqual([JSON.stringify({ jsonrpc: '2.0', ...answerOf(1, answer) })])
})

test('--match sequential refuses what comes too early, as out of order, and the client reads what was due', async () => {
  const serve = new ServeProcess([tapeFile(...SESSION), '--match', 'sequential'])
  serve.say(...OPENING, callOf(1, 'count', {}))
  const { lines, code } = await serve.end()
  expect(JSON.parse(lines[1] ?? '').error.message).toBe(
    'REPLAY MISS OUT_OF_ORDER: tools/call count {}: recorded as #3, but #2 tools/call search {"limit":10,"q":"cats"} comes first; next expected: #2 tools/call search {"limit":10,"q":"cats"}',
  )
  expect(code).toBe(1)
})

test('--match next ignores what is asked: each request gets the next recorded response', async () => {
  const serve = new ServeProcess([tapeFile(...SESSION), '--match', 'next'])
  serve.say(...OPENING, callOf(1, 'count', {}), { id: 2, method: 'resources/list' }, callOf(3, 'search', {}))
  const { lines, code } = await serve.end()
  expect(lines.slice(1)).toEqual(
    [answerOf(1, 'cats'), answerOf(2, 'one'), answerOf(3, 'two')].map((each) =>
      JSON.stringify({ jsonrpc: '2.0', ...each }),
    ),
  )
  expect(code).toBe(0)
})

test('--rule compares one part of some requests in another way', async () => {
  const rule = 'tools/call search params.arguments.limit number within 50%'
  const serve = new ServeProcess([tapeFile(...SESSION), '--rule', rule])
  serve.say(callOf(1, 'search', { q: 'cats', limit: 15 }), callOf(2, 'search', { q: 'cats', limit: 16 }))
  const { lines } = await serve.end()
  expect(lines[0]).toContain('"cats"')
  expect(lines[1]).toContain('replay_miss')
})

test('serving opens no socket and starts no process', async () => {
  const guard = fileURLToPath(new URL('../fixtures/preload/no-outside.cjs', import.meta.url))
  const serve = new ServeProcess([tapeFile(...SESSION)], ['--require', guard])
  serve.say(...OPENING, callOf(1, 'count', {}), callOf(2, 'nothing', {}))
  const { code, lines } = await serve.end()
  expect(lines).toHaveLength(3)
  expect(code).toBe(1)
})

test('starts, exits, stderr and noise of the recorded server are on the tape, and are not replayed', async () => {
  const path = tapeFile(...HANDSHAKE, ...call(1, 'count', {}, 'one'))
  const [header, ...frames] = readFileSync(path, 'utf8').split('\n')
  const place = '"t":0,"server":"demo","conn":1'
  const around = [
    `{"n":1,${place},"event":"start"}`,
    `{"n":2,${place},"dir":"s2c","stderr":"listening\\n"}`,
    `{"n":3,${place},"dir":"s2c","raw":"a print on stdout","why":"not JSON"}`,
    `{"n":4,${place},"event":"exit","code":0}`,
  ]
  writeFileSync(path, [header, ...around, ...frames].join('\n'))
  const serve = new ServeProcess([path])
  serve.say(...OPENING, callOf(1, 'count', {}))
  const { code, lines } = await serve.end()
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(['i', 1])
  expect(code).toBe(0)
})

test('a torn tape is served, with a warning', async () => {
  const serve = new ServeProcess([tornTapeFile(...HANDSHAKE, ...call(1, 'count', {}, 'one'))])
  serve.say(callOf(1, 'count', {}))
  const { code, lines, stderr } = await serve.end()
  expect(lines).toHaveLength(1)
  expect(
    stderr
      .split('\n')
      .slice(1, -1)
      .filter((line) => !line.includes('config for a client')),
  ).toMatchInlineSnapshot(`
    [
      "reelay serve: warning: line 7 of the tape: truncated: the file ends within this line, which is skipped",
      "reelay serve: warning: the tape has no end: it was cut off, or is still being recorded",
      "reelay serve: 1 request answered, 0 misses, 0 left over",
    ]
  `)
  expect(code).toBe(0)
})

test('a tape of a probe alone says where to look for the session', async () => {
  const probe = { id: 'server-discover-probe-1', method: 'server/discover' }
  const serve = new ServeProcess([
    tapeFile(client(probe), server({ id: probe.id, error: { code: -32601, message: 'no' } })),
  ])
  const { stderr } = await serve.end()
  expect(stderr).toContain(
    'warning: the tape contains only a probe (server/discover); the session that followed',
  )
})

test('lines may be cut anywhere, end in CRLF or not at all, and hold no message', async () => {
  const serve = new ServeProcess([tapeFile(...HANDSHAKE, ...call(1, 'größe', {}, 'groß'))])
  const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...callOf(1, 'größe', {}) })}\r\n`)
  for (const byte of line) serve.write(Buffer.from([byte]))
  serve.write('\n\r\nnonsense\n')
  serve.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]))
  serve.write('{"jsonrpc":"2.0","id":2,"method":"ping"}')
  const { code, lines } = await serve.end()
  expect(lines).toEqual([
    JSON.stringify({ jsonrpc: '2.0', ...answerOf(1, 'groß') }),
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: not JSON"}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: not UTF-8"}}',
    '{"jsonrpc":"2.0","id":2,"result":{}}',
  ])
  expect(code).toBe(0)
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 1],
] as const)('%s ends the run with the drift report and exit code %i', async (signal, expected) => {
  const serve = new ServeProcess([tapeFile(...SESSION)])
  serve.say(callOf(1, 'count', {}))
  await serve.heard(1)
  serve.child.kill(signal)
  const { code, stderr } = await serve.ended()
  expect(code).toBe(expected)
  expect(stderr).toContain('1 request answered, 0 misses, 2 left over')
})

test('a client that stops reading ends the run', async () => {
  const serve = new ServeProcess([tapeFile(...SESSION)])
  serve.say(callOf(1, 'count', {}))
  await serve.heard(1)
  serve.child.stdout.destroy()
  serve.say(callOf(2, 'count', {}), callOf(3, 'count', {}))
  expect((await serve.ended()).code).toBe(1)
})

test('a tape of several servers asks which one to be, and never mixes them', async () => {
  const other = call(1, 'count', {}, 'of the other').map((said) => ({ ...said, server: 'other' }))
  const path = tapeFile(...call(1, 'count', {}, 'of the first'), ...other)
  const unnamed = await new ServeProcess([path]).end()
  expect([unnamed.code, unnamed.stderr]).toEqual([
    2,
    `reelay: USAGE ${path} has 2 servers\n  hint: choose one with --server: demo, other\n`,
  ])
  const serve = new ServeProcess([path, '--server', 'other'])
  serve.say(callOf(1, 'count', {}))
  const { code, lines } = await serve.end()
  expect(lines).toEqual([JSON.stringify({ jsonrpc: '2.0', ...answerOf(1, 'of the other') })])
  expect(code).toBe(0)
})

test.each([
  [['--ignore', 'arguments.limit'], 'PATH_INVALID'],
  [['--ignore', 'params..x'], 'PATH_INVALID'],
  [['--fuzzy'], 'USAGE'],
  [['--match', 'closest'], 'USAGE'],
  [['--rule', 'params.arguments.limit roughly'], 'RULE_INVALID'],
  [['--ignore', 'params.inputResponses'], 'PATH_INVALID'],
])('misuse is said in one line with a hint, and nothing is served: %j', async (args, error) => {
  const { code, lines, stderr } = await new ServeProcess([tapeFile(...SESSION), ...args]).end()
  expect(stderr).toMatch(new RegExp(`^reelay: ${error} .+\n  hint: .+\n$`))
  expect(lines).toEqual([])
  expect(code).toBe(2)
})

test('a server that waits for an answer of the client does so over stdio too', async () => {
  const serve = new ServeProcess([
    tapeFile(
      client(callOf(0, 'ask', {})),
      server({ id: 0, method: 'elicitation/create', params: { message: 'sure?' } }),
      client({ id: 0, result: { action: 'accept' } }),
      server(answerOf(0, 'done')),
    ),
  ])
  serve.say(callOf(0, 'ask', {}))
  const [question = ''] = await serve.heard(1)
  serve.say({ id: JSON.parse(question).id, result: { action: 'accept' } })
  const { code, lines } = await serve.end()
  expect(lines[1]).toBe(JSON.stringify({ jsonrpc: '2.0', ...answerOf(0, 'done') }))
  expect(code).toBe(0)
})

test('the answers keep the recorded pace, and the end of the input waits for them', async () => {
  const serve = new ServeProcess([tapeFile(...SESSION), '--pace', 'x0.1', '--pace-cap', '20ms'])
  serve.say(
    ...OPENING,
    callOf(1, 'count', {}),
    callOf(2, 'count', {}),
    callOf(3, 'search', { q: 'cats', limit: 10 }),
  )
  const { code, lines } = await serve.end()
  expect(lines).toHaveLength(4)
  expect(code).toBe(0)
})

test('overrides come first and faults strike, both from files, and the account names them', async () => {
  const path = tapeFile(...SESSION)
  const overrides = fileBeside(path, 'overrides.json', '[{"tool":"search","result":{"content":[]}}]')
  const faults = fileBeside(
    path,
    'faults.yaml',
    'faults:\n  - tool: count\n    nth: 1\n    error: { code: -1, message: busy }\n',
  )
  const serve = new ServeProcess([path, '--override', overrides, '--faults', faults])
  const calls = [1, 2, 3].map((id) => callOf(id, 'count', {}))
  serve.say(
    ...OPENING,
    callOf(0, 'search', { q: 'anything' }),
    callOf(9, 'search', { q: 'cats', limit: 10 }),
    ...calls,
  )
  const { code, lines, stderr } = await serve.end()
  expect(lines.slice(1).map((line) => JSON.parse(line))).toEqual([
    { jsonrpc: '2.0', id: 0, result: { content: [] } },
    { jsonrpc: '2.0', id: 9, result: { content: [] } },
    { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'busy' } },
    { jsonrpc: '2.0', ...answerOf(2, 'one') },
    { jsonrpc: '2.0', ...answerOf(3, 'two') },
  ])
  expect(stderr.split('\n').slice(2)).toEqual([
    'reelay serve: 5 requests answered, 0 misses, 0 left over, 1 fault',
    'fault: tools/call count {} is answered with error -1 "busy"',
    '',
  ])
  expect(code).toBe(0)
})

test('a server that breaks off ends its output and is gone', async () => {
  const path = tapeFile(...SESSION)
  const faults = fileBeside(path, 'faults.yaml', 'faults: [{ tool: count, disconnect: true }]')
  const serve = new ServeProcess([path, '--faults', faults])
  serve.say(...OPENING, callOf(1, 'count', {}))
  const { lines, stderr } = await serve.ended()
  expect(lines).toHaveLength(1)
  expect(stderr).toContain('fault: tools/call count {} ends the connection')
})

test.each([
  [['--pace', 'quick'], 'USAGE invalid pace "quick" for --pace (expected none, recorded, or a factor'],
  [['--pace-cap', 'soon'], 'USAGE invalid duration "soon" for --pace-cap (expected e.g. 500ms or 2s)'],
  [['--pace-cap', '2s'], 'USAGE --pace-cap has no effect without --pace'],
  [['--order', 'mine'], 'USAGE invalid value "mine" for --order (expected any or recorded)'],
  [
    ['--on-client-answer', 'cry'],
    'USAGE invalid value "cry" for --on-client-answer (expected note, fail or ignore)',
  ],
  [['--seed', 'x'], 'USAGE invalid seed "x" for --seed (expected a whole number, e.g. 7)'],
  [['--faults', 'nowhere.yaml'], 'SETTINGS_INVALID nowhere.yaml cannot be read'],
  [['--override', 'nowhere.yaml'], 'SETTINGS_INVALID nowhere.yaml cannot be read'],
])('an option of playing that makes no sense is refused: %j', async (args, message) => {
  const { code, lines, stderr } = await new ServeProcess([tapeFile(...SESSION), ...args]).end()
  expect(stderr).toContain(`reelay: ${message}`)
  expect([code, lines]).toEqual([2, []])
})

test('a fault that needs HTTP is refused over stdio, before anything is served', async () => {
  const path = tapeFile(...SESSION)
  const faults = fileBeside(path, 'faults.yaml', 'faults: [{ http: 503 }]')
  const { code, lines, stderr } = await new ServeProcess([path, '--faults', faults]).end()
  expect(stderr).toContain(`SETTINGS_INVALID ${faults}:1:10: the fault "http" cannot be used here`)
  expect([code, lines]).toEqual([2, []])
})

test('reelay serve --help names its options', () => {
  const help = execFileSync(process.execPath, [MAIN, 'serve', '--help'], { encoding: 'utf8' })
  expect(help).toMatchInlineSnapshot(`
    "Usage: reelay serve [options] [tape...] [-- <live server command…>]

    Serve a tape as an MCP server over stdio or HTTP

    Arguments:
      tape                    Tape name, or path of a tape file; over HTTP you can
                              give several, each on its own port (default: the tapes
                              in the project config)

    Transport:
      --http [host:port]      Serve over Streamable HTTP (default: a free port on
                              127.0.0.1)

    Tape:
      --server <filter>       Select a server by name if the tape has several; *
                              matches any characters

    Live server:
      --url <url>             Use the live server at this URL, instead of a command
                              after --
      --header <name: value>  Add a header to every request to --url; \${env.NAME} is
                              read from the environment (repeatable)
      --on-miss <action>      Answer requests that are not on the tape with an
                              error, or pass them to the live server (values: error,
                              passthrough; default: error)
      --mode <mode>           Record the live server if there is no tape yet (once),
                              for requests that are not on the tape (new-episodes),
                              never (none), or on every run (all) (values: once,
                              new-episodes, none, all; default: once with a live
                              server, none in CI)

    Comparison:
      --match <strategy>      Match live requests to recorded ones with this
                              strategy: method-and-params, exact, method, subset,
                              sequential, next (default: method-and-params)
      --ignore <path>         Do not compare the value at this path, e.g.
                              params.arguments.limit (repeatable)

    Timing and order:
      --pace <pace>           Send responses at this pace: none (no delays),
                              recorded, or a factor such as x2 for twice as fast
                              (default: none)

    Faults and overrides:
      --faults <file>         Inject the faults in this YAML or JSON file, or those
                              of a preset such as flaky (see reelay faults)

    Help:
      --help-all              Show help with all options
      -h, --help              Show help

    reelay serve --help-all shows 18 more options.

    Examples:
      reelay serve my-tape
      reelay serve my-tape --http 8080
      reelay serve my-tape --faults faults.yaml
    "
  `)
})
