import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Frame } from '../../src/tape/frame.ts'
import type { TapeHeader } from '../../src/tape/header.ts'
import {
  busySession,
  call,
  end,
  handshake,
  hostileSession,
  modernSession,
  parallelCalls,
  said,
  tapeText,
  trip,
} from './travel-tape.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'reelay-inspect-'))))
afterEach(() => rmSync(folder, { recursive: true }))

test('inspect shows who talked to whom, each exchange with its own latency, and what else happened', async () => {
  const { stdout, stderr, code } = await inspect(writeTape(busySession()))
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  expect(stdout).toMatchInlineSnapshot(`
    "<folder>/travel.tape.jsonl
    23 frames in 2.48 s, recorded 2026-11-15T07:20:59.123Z by reelay 0.1.0, suite=smoke

    travel (stdio) node travel.js --port 0
      connection 1: tester 2.0 → travel-server 1.1, 2025-11-25 (legacy), exit code 0
        client capabilities: elicitation; server capabilities: tools, logging

    #         at  request               latency  outcome
    1    +0.4 ms  initialize            48.5 ms  ok
    2   +50.0 ms  tools/call trip       70.8 ms  ok  to=Lisbon  1 notification, asked elicitation/create
    3  +130.0 ms  tools/call broken     20.0 ms  tool error: no network
    4  +131.0 ms  tools/call nope        9.0 ms  error -32602: Unknown tool: nope
    5  +132.0 ms  tools/call missed     19.0 ms  miss: ARGUMENT_DRIFT: no recorded answer
    6  +133.0 ms  tools/call cancelled           cancelled
    7  +134.0 ms  tools/call forgotten           unanswered

    latency   5 answered: median 20.0 ms, p95 70.8 ms, longest 70.8 ms
    misses    exchange 5: ARGUMENT_DRIFT: no recorded answer
    outside   → notifications/initialized
              → notifications/cancelled
              ← answer to 99
    stderr    listening
              warning: low battery
    raw       ← oops, a print (not JSON)
    "
  `)
})

test('inspect -v shows every message in its recorded place', async () => {
  const { stdout } = await inspect(writeTape([...handshake(), ...trip(), end(9)]), '-v')
  expect(stdout).toMatchInlineSnapshot(`
    "<folder>/travel.tape.jsonl
    9 frames in 500.0 ms, recorded 2026-11-15T07:20:59.123Z by reelay 0.1.0, suite=smoke

    travel (stdio) node travel.js --port 0
      connection 1: tester 2.0 → travel-server 1.1, 2025-11-25 (legacy)
        client capabilities: elicitation; server capabilities: tools, logging

    #        at  request          latency  outcome
    1   +0.4 ms  initialize       48.5 ms  ok
       → initialize at +0.4 ms
         {
           "jsonrpc": "2.0",
           "id": 0,
           "method": "initialize",
           "params": {
             "protocolVersion": "2025-11-25",
             "capabilities": {
               "elicitation": {}
             },
             "clientInfo": {
               "name": "tester",
               "version": "2.0"
             }
           }
         }
       ← answer to 0 at +48.9 ms
         {
           "jsonrpc": "2.0",
           "id": 0,
           "result": {
             "protocolVersion": "2025-11-25",
             "capabilities": {
               "tools": {},
               "logging": {}
             },
             "serverInfo": {
               "name": "travel-server",
               "version": "1.1"
             }
           }
         }
    2  +50.0 ms  tools/call trip  70.8 ms  ok  to=Lisbon  1 notification, asked elicitation/create
       → tools/call at +50.0 ms
         {
           "jsonrpc": "2.0",
           "id": 4,
           "method": "tools/call",
           "params": {
             "name": "trip",
             "arguments": {
               "to": "Lisbon"
             },
             "_meta": {
               "progressToken": 4
             }
           }
         }
       ← notifications/progress at +60.0 ms
         {
           "jsonrpc": "2.0",
           "method": "notifications/progress",
           "params": {
             "progressToken": 4,
             "progress": 1
           }
         }
       ← elicitation/create at +70.0 ms
         {
           "jsonrpc": "2.0",
           "id": 0,
           "method": "elicitation/create",
           "params": {
             "message": "How?"
           }
         }
       → answer to 0 at +95.5 ms
         {
           "jsonrpc": "2.0",
           "id": 0,
           "result": {
             "action": "accept"
           }
         }
       ← answer to 4 at +120.8 ms
         {
           "jsonrpc": "2.0",
           "id": 4,
           "result": {
             "content": [
               {
                 "type": "text",
                 "text": "by train"
               }
             ]
           }
         }

    latency   2 answered: median 48.5 ms, p95 70.8 ms, longest 70.8 ms
    outside   → notifications/initialized at +49.2 ms
                {
                  "jsonrpc": "2.0",
                  "method": "notifications/initialized"
                }
    events    +500.0 ms end {"frames":9}
    "
  `)
})

test('inspect --json tells the whole tape: metadata, exchanges, latency of each request', async () => {
  const { stdout } = await inspect(writeTape([...handshake(), ...trip(), end(9)]), '--json')
  expect(stdout).toMatchInlineSnapshot(`
    "{
      "tape": {
        "path": "<folder>/travel.tape.jsonl",
        "version": 1,
        "id": "01KA2B3C4D5E6F7G8H9JKMNPQR",
        "recordedAt": "2026-11-15T07:20:59.123Z",
        "recordedBy": "reelay 0.1.0",
        "redaction": null,
        "session": null,
        "endpoint": null,
        "agent": null,
        "note": null,
        "tags": {
          "suite": "smoke"
        },
        "frames": 9,
        "durationMs": 500,
        "ended": true
      },
      "servers": [
        {
          "name": "travel",
          "transport": "stdio",
          "command": "node",
          "args": [
            "travel.js",
            "--port",
            "0"
          ],
          "url": null,
          "env": [
            "TOKEN"
          ]
        }
      ],
      "connections": [
        {
          "server": "travel",
          "connection": 1,
          "protocolVersion": "2025-11-25",
          "era": "legacy",
          "clientInfo": {
            "name": "tester",
            "version": "2.0"
          },
          "serverInfo": {
            "name": "travel-server",
            "version": "1.1"
          },
          "clientCapabilities": {
            "elicitation": {}
          },
          "serverCapabilities": {
            "logging": {},
            "tools": {}
          },
          "exit": null
        }
      ],
      "exchanges": [
        {
          "sequence": 1,
          "frame": 1,
          "timestamp": "2026-11-15T07:20:59.123Z",
          "server": "travel",
          "connection": 1,
          "direction": "c2s",
          "method": "initialize",
          "target": null,
          "outcome": {
            "kind": "ok"
          },
          "latencyMs": 48.488,
          "request": {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
              "protocolVersion": "2025-11-25",
              "capabilities": {
                "elicitation": {}
              },
              "clientInfo": {
                "name": "tester",
                "version": "2.0"
              }
            }
          },
          "notifications": [],
          "asks": [],
          "response": {
            "jsonrpc": "2.0",
            "id": 0,
            "result": {
              "protocolVersion": "2025-11-25",
              "capabilities": {
                "tools": {},
                "logging": {}
              },
              "serverInfo": {
                "name": "travel-server",
                "version": "1.1"
              }
            }
          }
        },
        {
          "sequence": 2,
          "frame": 4,
          "timestamp": "2026-11-15T07:20:59.173Z",
          "server": "travel",
          "connection": 1,
          "direction": "c2s",
          "method": "tools/call",
          "target": "trip",
          "outcome": {
            "kind": "ok"
          },
          "latencyMs": 70.75,
          "request": {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {
              "name": "trip",
              "arguments": {
                "to": "Lisbon"
              },
              "_meta": {
                "progressToken": 4
              }
            }
          },
          "notifications": [
            {
              "frame": 5,
              "timestamp": "2026-11-15T07:20:59.183Z",
              "server": "travel",
              "connection": 1,
              "direction": "s2c",
              "message": {
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {
                  "progressToken": 4,
                  "progress": 1
                }
              }
            }
          ],
          "asks": [
            {
              "frame": 6,
              "timestamp": "2026-11-15T07:20:59.193Z",
              "server": "travel",
              "connection": 1,
              "direction": "s2c",
              "latencyMs": 25.5,
              "request": {
                "jsonrpc": "2.0",
                "id": 0,
                "method": "elicitation/create",
                "params": {
                  "message": "How?"
                }
              },
              "response": {
                "jsonrpc": "2.0",
                "id": 0,
                "result": {
                  "action": "accept"
                }
              }
            }
          ],
          "response": {
            "jsonrpc": "2.0",
            "id": 4,
            "result": {
              "content": [
                {
                  "type": "text",
                  "text": "by train"
                }
              ]
            }
          }
        }
      ],
      "outside": [
        {
          "frame": 3,
          "timestamp": "2026-11-15T07:20:59.172Z",
          "server": "travel",
          "connection": 1,
          "direction": "c2s",
          "message": {
            "jsonrpc": "2.0",
            "method": "notifications/initialized"
          }
        }
      ],
      "stderr": [],
      "raw": [],
      "events": [
        {
          "frame": 9,
          "timestamp": "2026-11-15T07:20:59.623Z",
          "server": null,
          "connection": null,
          "event": "end",
          "details": {
            "frames": 9
          }
        }
      ],
      "misses": [],
      "latency": {
        "answered": 2,
        "maxMs": 70.75,
        "medianMs": 48.488,
        "minMs": 48.488,
        "p95Ms": 70.75
      },
      "unknownFrames": 0,
      "problems": []
    }
    "
  `)
})

test('parallel calls that were answered in another order keep the latency of each', async () => {
  const { stdout } = await inspect(writeTape(parallelCalls()), '--json')
  const { exchanges } = JSON.parse(stdout) as { exchanges: { target: string; latencyMs: number }[] }
  expect(exchanges.map(({ target, latencyMs }) => [target, latencyMs])).toEqual([
    ['slow', 90],
    ['quick', 5.5],
    ['middle', 40.25],
  ])
})

test('numbers and escapes of a message stay in the JSON as they crossed the wire', async () => {
  const spelled = '{"jsonrpc":"2.0","id":7,"result":{"big":12345678901234567890,"one":1.0,"a":"\\u0041"}}'
  const { stdout } = await inspect(
    writeTape([...call(1, 0, 7, 'exact'), said(2, 1, 's2c', spelled)]),
    '--json',
  )
  expect(stdout).toContain('"big": 12345678901234567890')
  expect(stdout).toContain('"one": 1.0')
  expect(stdout).toContain('"a": "\\u0041"')
})

test('nothing on a tape can steer the terminal, in any view', async () => {
  const path = writeTape(hostileSession(), { by: 'evil\u001b]0;title\u0007', tags: { '\u202e': '\r' } })
  for (const view of [[], ['-v'], ['--json']]) {
    const { stdout, code } = await inspect(path, ...view)
    expect(code).toBe(0)
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
})

test('colour marks how an exchange went, and is all that it adds', async () => {
  const path = writeTape(busySession())
  const coloured = (await inspectWith({ FORCE_COLOR: '1' }, path)).stdout
  expect(coloured).toContain('\u001b[32mok\u001b[39m')
  expect(coloured).toContain('\u001b[31mtool error: no network\u001b[39m')
  expect(stripVTControlCharacters(coloured)).toBe((await inspect(path)).stdout)
})

test('a reader who leaves early is no error', async () => {
  const calls = Array.from({ length: 5000 }, (_, index) => call(index + 1, index, index, 'many')).flat()
  const child = spawn(process.execPath, ['dist/cli/main.js', 'inspect', writeTape(calls), '--json'])
  const stderr = text(child.stderr)
  child.stdout.once('data', () => child.stdout.destroy())
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
  expect(await stderr).toBe('')
})

test('a tape that was cut in the middle of a line still opens, and says so', async () => {
  const path = join(folder, 'cut.tape.jsonl')
  writeFileSync(path, `${tapeText(handshake())}{"n":4,"t":60.5,"server":"travel","conn":1,"dir":"c`)
  const { stdout, code } = await inspect(path)
  expect(code).toBe(0)
  expect(stdout.slice(stdout.indexOf('problems'))).toMatchInlineSnapshot(`
    "problems  line 5: truncated: the file ends within this line, which is skipped
              the tape has no end: it was cut off, or is still being recorded
    "
  `)
})

test('an HTTP error is shown with its body, a lost connection with its reason, and both are errors of a filter', async () => {
  const tape = writeTape(failedExchanges())
  const { stdout } = await inspect(tape)
  expect(stdout).toMatch(/^1 .* tools\/call gateway +HTTP 502: 502 Bad Gateway db-7 is down$/m)
  expect(stdout).toMatch(/^2 .* tools\/call broken +HTTP 500: no disk$/m)
  expect(stdout).toMatch(/^5 .* tools\/call lost-session +HTTP 404: Session not found$/m)
  expect(stdout).toMatch(/^3 .* tools\/call reset +lost: the server closed the connection$/m)
  expect(stdout).not.toMatch(/^raw|← invalid|answer to null/m)
  const inFull = (await inspect(tape, '2')).stdout
  expect(inFull).toContain(
    '← HTTP 500, without a JSON-RPC response\n     {\n       "error": "no disk"\n     }\n',
  )
  const failed = (await inspect(tape, '--filter', 'status:error', '--json')).stdout
  expect(JSON.parse(failed)).toMatchObject({
    exchanges: [
      { outcome: { kind: 'http-error', status: 502, body: expect.stringContaining('db-7') } },
      { outcome: { kind: 'http-error', status: 500 } },
      { outcome: { kind: 'lost', why: 'the server closed the connection' } },
      { outcome: { kind: 'http-error', status: 404 } },
    ],
    raw: [],
  })
  expect((await inspect(tape, '--filter', 'db-7')).stdout).toContain('tools/call gateway')
})

interface Place {
  readonly n: number
  readonly t: number
  readonly server: string
  readonly conn: number
  readonly x: number
}

const place = (n: number, x: number): Place => ({ n, t: n, server: 'travel', conn: x, x })

/** Three calls over HTTP that got no JSON-RPC response, and one that did. */
function failedExchanges(): readonly Frame[] {
  const asked = (n: number, x: number, name: string): readonly Frame[] =>
    call(n, n, x, name).map((frame) => ({ ...frame, ...place(n, x) }))
  const status = (n: number, x: number, code: number): Frame => ({
    kind: 'http',
    dir: 's2c',
    ...place(n, x),
    http: { status: code, headers: [] },
  })
  const page = '<html><h1>502 Bad Gateway</h1>\n<p>db-7 is down</p></html>'
  return [
    ...asked(1, 1, 'gateway'),
    status(2, 1, 502),
    { kind: 'raw', dir: 's2c', ...place(3, 1), raw: page, why: 'not JSON' },
    ...asked(4, 2, 'broken'),
    status(5, 2, 500),
    { ...said(6, 6, 's2c', '{"error":"no disk"}'), ...place(6, 2) },
    ...asked(7, 3, 'reset'),
    {
      kind: 'event',
      ...place(8, 3),
      event: 'unreachable',
      details: { why: 'the server closed the connection' },
    },
    ...asked(9, 4, 'fine'),
    status(10, 4, 200),
    { ...said(11, 11, 's2c', { id: 4, result: {} }), ...place(11, 4) },
    ...asked(12, 5, 'lost-session'),
    status(13, 5, 404),
    {
      ...said(14, 14, 's2c', { id: null, error: { code: -32001, message: 'Session not found' } }),
      ...place(14, 5),
    },
    end(15),
  ]
}

test('a tape of several links says which exchange belongs to which', async () => {
  const { stdout } = await inspect(
    writeTape([
      ...call(1, 0, 1, 'first'),
      { ...said(2, 1, 'c2s', { id: 1, method: 'ping' }), conn: 2 } as Frame,
      { ...said(3, 4, 's2c', { id: 1, result: {} }), conn: 2 } as Frame,
    ]),
  )
  expect(stdout).toMatchInlineSnapshot(`
    "<folder>/travel.tape.jsonl
    3 frames in 4.0 ms, recorded 2026-11-15T07:20:59.123Z by reelay 0.1.0, suite=smoke

    travel (stdio) node travel.js --port 0
      connection 1 and 1 more: no handshake

    #       at  link      request           latency  outcome
    1  +0.0 ms  travel/1  tools/call first           unanswered
    2  +1.0 ms  travel/2  ping               3.0 ms  ok

    latency   1 answered: median 3.0 ms, p95 3.0 ms, longest 3.0 ms
    problems  the tape has no end: it was cut off, or is still being recorded
    "
  `)
})

test('a modern session is known by its envelope', async () => {
  const { stdout } = await inspect(writeTape(modernSession()))
  expect(stdout).toMatchInlineSnapshot(`
    "<folder>/travel.tape.jsonl
    2 frames in 3.5 ms, recorded 2026-11-15T07:20:59.123Z by reelay 0.1.0, suite=smoke

    travel (stdio) node travel.js --port 0
      connection 1: modern-client 3 → modern-server 4, 2026-07-28 (modern)
        client capabilities: elicitation

    #       at  request         latency  outcome
    1  +1.0 ms  tools/call pay   2.5 ms  input required

    latency   1 answered: median 2.5 ms, p95 2.5 ms, longest 2.5 ms
    problems  the tape has no end: it was cut off, or is still being recorded
    "
  `)
})

test('a tape that does not exist is one clear error', async () => {
  const { stdout, stderr, code } = await inspect('nowhere')
  expect({ stdout, code }).toEqual({ stdout: '', code: 3 })
  expect(stderr).toMatch(/^reelay: TAPE_NOT_FOUND .*nowhere/)
})

test('an unknown option is misuse', async () => {
  const { stderr, code } = await inspect('any', '--jsn')
  expect(code).toBe(2)
  expect(stderr).toMatch(/^reelay: USAGE unknown option '--jsn'/)
})

interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

function inspect(tape: string, ...options: string[]): Promise<Ran> {
  return inspectWith({}, tape, ...options)
}

function inspectWith(own: NodeJS.ProcessEnv, tape: string, ...options: string[]): Promise<Ran> {
  const env = { ...process.env, FORCE_COLOR: undefined, REELAY_HOME: folder, ...own }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['dist/cli/main.js', 'inspect', tape, ...options],
      { env },
      (error, out, err) => {
        const code = typeof error?.code === 'number' ? error.code : 0
        resolve({ stdout: out.replaceAll(folder, '<folder>'), stderr: err, code })
      },
    )
  })
}

function writeTape(frames: readonly Frame[], header: Partial<TapeHeader> = {}): string {
  const path = join(folder, 'travel.tape.jsonl')
  writeFileSync(path, tapeText(frames, header))
  return path
}
