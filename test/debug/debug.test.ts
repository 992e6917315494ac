import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { fixtureServer, isAlive, REELAY, type Running, start, temporaryFolder } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { openTmux } from '../support/tmux.ts'
import { recordWarehouse } from './warehouse-tape.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const tape = join(sharedFolder(), 'warehouse.tape.jsonl')
const warehouse = (...args: string[]): readonly string[] => ['--', ...fixtureServer('warehouse', ...args)]

/** The same session, in which the first `total` got no response. */
const lost = join(sharedFolder(), 'lost.tape.jsonl')

beforeAll(async () => {
  await recordWarehouse(tape, 'list-7f3a91c2')
  await recordWarehouse(lost, 'list-7f3a91c2', 'total')
})

describe('a script of commands', () => {
  test('stops at the first message, sends one at a time, and shows requests, bindings, responses and differences', async () => {
    const { code, out } = await script(['next', 'next', 'next', 'quit'], [tape, ...warehouse('list-b', '5')])
    expect(out).toMatchInlineSnapshot(`
      "#2 tools/list  frame N, first message
        request not sent yet
          {}
      > next
      ok      #2 tools/list
        response
          {
            "tools": [
              {
                "name": "open_list",
                "inputSchema": {
                  "type": "object"
                },
                "annotations": {
                  "readOnlyHint": true
                }
              },
              {
                "name": "add",
                "inputSchema": {
                  "type": "object"
                },
                "annotations": {
                  "readOnlyHint": true
                }
              },
              {
                "name": "total",
                "inputSchema": {
                  "type": "object"
          … 16 more lines; "show" prints all
      #3 tools/call open_list  frame N, step
        request not sent yet
          {
            "name": "open_list",
            "arguments": {}
          }
      > next
      ok      #3 tools/call open_list
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"listId\\":\\"list-b\\"}"
              }
            ],
            "structuredContent": {
              "listId": "list-b"
            }
          }
      #4 tools/call add  frame N, step
        request not sent yet
          {
            "name": "add",
            "arguments": {
              "listId": "list-b",   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
              "count": 40
            }
          }
      > next
      ok      #4 tools/call add
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"added\\":40}"
              }
            ],
            "structuredContent": {
              "added": 40
            }
          }
      #5 tools/call total  frame N, step
        request not sent yet
          {
            "name": "total",
            "arguments": {
              "listId": "list-b"   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
            }
          }
      > quit
      3 of 3 responses as recorded, 6 skipped
      verdict: as recorded, but incomplete: not everything could be sent
      "
    `)
    expect(code).toBe(3)
  })

  test('breaks on a condition, goes back, changes a value, injects and sends again', async () => {
    const { code, out } = await script(
      [
        '# the second total is 110',
        'break result.structuredContent.total > 100',
        'continue',
        'back',
        'show params.arguments.count',
        'resend',
        'next',
        'next',
        'set params.arguments.count 1000',
        'next',
        'show params.arguments',
        'tbreak difference',
        'delete 1',
        'continue',
        'show result.structuredContent.total',
        'inject {"method":"tools/call","params":{"name":"remove","arguments":{"listId":"list-b"}}}',
        'inject {"method":"ping"}',
        'status',
        'continue',
      ],
      [tape, ...warehouse('list-b')],
    )
    expect(out).toMatchInlineSnapshot(`
      "#2 tools/list  frame N, first message
        request not sent yet
          {}
      > break result.structuredContent.total > 100
      breakpoint 1: result.structuredContent.total > 100 (after the response)
      > continue
      ok      #2 tools/list
      ok      #3 tools/call open_list
      ok      #4 tools/call add
      ok      #5 tools/call total
      ok      #6 tools/call add
      #7 tools/call total  frame N, breakpoint 1, after its response
        request sent
          {
            "name": "total",
            "arguments": {
              "listId": "list-b"   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
            }
          }
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"total\\":110}"
              }
            ],
            "structuredContent": {
              "total": 110
            }
          }
        difference none: as recorded
      > back
      #6 tools/call add  frame N, earlier message, already sent
        request sent
          {
            "name": "add",
            "arguments": {
              "listId": "list-b",   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
              "count": 70
            }
          }
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"added\\":70}"
              }
            ],
            "structuredContent": {
              "added": 70
            }
          }
        difference none: as recorded
      > show params.arguments.count
      70
      > resend
      sent again: #6 tools/call add; the live server keeps the state of all messages so far
        request sent
          {
            "name": "add",
            "arguments": {
              "listId": "list-b",   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
              "count": 70
            }
          }
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"added\\":70}"
              }
            ],
            "structuredContent": {
              "added": 70
            }
          }
        difference none: as recorded
      > next
      #7 tools/call total  frame N, step, already sent
        request sent
          {
            "name": "total",
            "arguments": {
              "listId": "list-b"   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
            }
          }
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"total\\":110}"
              }
            ],
            "structuredContent": {
              "total": 110
            }
          }
        difference none: as recorded
      > next
      #8 tools/call add  frame N, step
        request not sent yet
          {
            "name": "add",
            "arguments": {
              "listId": "list-b",   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
              "count": 60
            }
          }
      > set params.arguments.count 1000
        request changed, not sent yet
          {
            "name": "add",
            "arguments": {
              "listId": "list-b",   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
              "count": 1000
            }
          }
      > next
      differs #8 tools/call add
        difference result.content[0].text.added   changed   recorded 60   now 1000
        difference result.structuredContent.added   changed   recorded 60   now 1000
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"added\\":1000}"
              }
            ],
            "structuredContent": {
              "added": 1000
            }
          }
      #9 tools/call total  frame N, step
        request not sent yet
          {
            "name": "total",
            "arguments": {
              "listId": "list-b"   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
            }
          }
      > show params.arguments
      {
        "listId": "list-b"
      }
      > tbreak difference
      breakpoint 2: difference (after the response, once)
      > delete 1
      breakpoint 1 is removed
      > continue
      #9 tools/call total  frame N, difference, breakpoint 2, after its response
        request sent
          {
            "name": "total",
            "arguments": {
              "listId": "list-b"   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"
            }
          }
        response
          {
            "content": [
              {
                "type": "text",
                "text": "{\\"total\\":1180}"
              }
            ],
            "structuredContent": {
              "total": 1180
            }
          }
        difference result.content[0].text.total   changed   recorded 170   now 1180
        difference result.structuredContent.total   changed   recorded 170   now 1180
      > show result.structuredContent.total
      1180
      > inject {"method":"tools/call","params":{"name":"remove","arguments":{"listId":"list-b"}}}
      error: the message must not be sent: the tool is not marked as read-only (allow the tool with --allow <tool>)
      > inject {"method":"ping"}
      sent: {"jsonrpc":"2.0","id":11,"method":"ping"}
        response
          {}
      > status
      paused: 8 of 9 messages are done (88.9 %)
      at #9 tools/call total
      2 with differences, 0 skipped, 0 held back, 1 sent again, 1 injected
      > continue
      held    #10 tools/call remove  the tool is not marked as read-only
      note: tools/call (#6) was sent again by the user; the server kept its state
      note: ping was sent by the user; it is not on the tape
      6 of 8 responses as recorded, 2 differ (values 4), 1 held back
      1 call was not sent, because it may write. To send it: --allow remove or --allow-writes
      verdict: not as recorded
      "
    `)
    expect(code).toBe(1)
  })

  test('waits for a request that got no response when it was recorded, and shows what became of it', async () => {
    const answering = await script(['goto #5', 'step', 'step', 'c'], [lost, ...warehouse('list-b')])
    expect(answering.out).toMatch(
      /^#5 tools\/call total {2}frame N, step, after its response\n[^]*"total": 40\n[^]*^ {2}difference no response was recorded\n> step\n#6 /m,
    )
    expect(answering.out).toContain('responses as recorded, 1 not compared')
    const silent = await script(
      ['break difference', 'goto #6', 'back', 'info'],
      [lost, '--timeout', '1500', ...warehouse('list-b', '0', 'total')],
    )
    expect(silent.out).toMatch(/^ {2}response none: no answer within 1500 ms; the tape has none either$/m)
    const crashing = await script(['goto #5', 'step'], [lost, ...warehouse('list-b', '0', 'total', '3')])
    expect(crashing.out).toMatch(/^ {2}response none: the server ended with exit code 3$/m)
  })

  test('changes the message that is shown, with set as with edit', async () => {
    const { out } = await script(
      [
        'goto #4',
        'step',
        'set params.arguments.count 5',
        'show params.arguments.count',
        'skip',
        'resend',
        'next',
        'step',
        'show result.structuredContent.total',
        'set params.arguments.count 6',
        'fail 1 no',
        'resend',
        'info',
      ],
      [tape, ...warehouse('list-b')],
    )
    expect(out).toMatch(
      /^> set params.arguments.count 5\n {2}request changed, not sent yet\n[^]*"count": 5\n[^>]*"resend" sends the changed one/m,
    )
    expect(out).toMatch(/^> show params.arguments.count\n40$/m)
    expect(out).toMatch(/^> skip\nerror: skip needs a message that was not sent yet/m)
    expect(out).toMatch(/^> show result.structuredContent.total\n45$/m)
    expect(out).toMatch(/^> fail 1 no\nerror: fail needs a message that was not sent yet/m)
    expect(out).toMatch(/^sent again: #5 tools\/call total[^]*"count": 6$/m)
    expect(out).toMatch(/^paused: 4 of 9 messages are done/m) // #2 to #5; the handshake is not counted
  })

  test('gives the same output each time', async () => {
    const commands = [
      'log "{tool}: {result.structuredContent.total}" tool:total',
      'goto #6',
      'step',
      'list',
      'reverse',
      'c',
    ]
    const runs = [
      await script(commands, [tape, ...warehouse('list-b')]),
      await script(commands, [tape, ...warehouse('list-b')]),
    ]
    expect(runs[0]).toEqual(runs[1])
    expect(runs[0]?.out).toContain('log: total: 40\n')
  })

  test.each([
    [0, 'as recorded', ['continue'], [tape, '--allow', 'remove', ...warehouse('list-b')]],
    [1, 'not as recorded', ['continue'], [tape, ...warehouse('list-b', '1')]],
    [3, 'as recorded, but incomplete', ['next', 'quit'], [tape, ...warehouse('list-b')]],
    [3, 'none, because nothing was sent', [], [tape, ...warehouse('list-b')]],
  ])('ends with exit code %i if the run is %s', async (code, verdict, commands, args) => {
    const run = await script(commands, args)
    expect([run.code, run.out.trim().split('\n').at(-1)]).toEqual([
      code,
      expect.stringContaining(`verdict: ${verdict}`),
    ])
  })

  test('starts at a breakpoint of the command line, by the number of an exchange', async () => {
    const { out } = await script(['quit'], ['--run', '--break', '#7', tape, ...warehouse('list-b')])
    expect(out).toMatch(/^ok +#6 tools\/call add$/m)
    expect(out).toMatch(/^#7 tools\/call total {2}frame N, breakpoint 1$/m)
  })

  test('opens the editor on a message that waits, and on one that was sent, which is sent again only by resend', async () => {
    const editor = join(temporaryFolder(), 'editor.sh')
    writeFileSync(editor, 'sed -i.bak -e "s/\\"count\\": 40/\\"count\\": 7/" "$1"\n')
    const { out } = await script(
      ['goto #4', 'edit', 'next', 'back', 'edit', 'resend', 'c'],
      [tape, ...warehouse('list-b')],
      { EDITOR: `sh ${editor}` },
    )
    expect(out).toContain('  request changed, not sent yet\n')
    expect(out).toContain('recorded 40   now 7')
    expect(out).toContain('the message is unchanged\n') // there is no 40 left to replace
    expect(out).toContain(
      'sent again: #4 tools/call add; the live server keeps the state of all messages so far\n',
    )
  })

  test('after resend, show has the new response; breakpoints are listed and removed', async () => {
    const { out } = await script(
      [
        'goto #5',
        'next',
        'back',
        'show result.structuredContent.total',
        'inject {"method":"tools/call","params":{"name":"add","arguments":{"listId":"list-b","count":2}}}',
        'resend',
        'show result.structuredContent.total',
        'show difference',
        'break tool:total',
        'break tool:add',
        'info breakpoints',
        'delete all',
        'delete',
        'break',
      ],
      [tape, '--allow', 'add', ...warehouse('list-b')],
    )
    expect(out).toMatch(
      /^> show result.structuredContent.total\n40\n[^]*^> show result.structuredContent.total\n42$/m,
    )
    expect(out).toMatch(/^> show difference\n.*recorded 40 {3}now 42$/m)
    expect(out).toMatch(/^> info breakpoints\nbreakpoint 1: tool:total .*\nbreakpoint 2: tool:add .*$/m)
    expect(out).toMatch(/^> delete all\nbreakpoint 1 is removed\nbreakpoint 2 is removed$/m)
    expect(out).toMatch(/^> delete\nerror: delete needs the number of a breakpoint, or all/m)
    expect(out).toMatch(/^> break\nno breakpoints$/m)
  })

  test('names mistakes and goes on', async () => {
    const commands = [
      'nxt',
      'break status:',
      'goto #99',
      'set params',
      'delete 7',
      'back',
      'show nothing',
      'help goto',
      's',
      'quit',
    ]
    const { out } = await script(commands, [tape, ...warehouse('list-b')])
    expect(out.split('\n').filter((line) => line.startsWith('error: '))).toEqual([
      'error: there is no command nxt; did you mean next? (help lists the commands)',
      expect.stringContaining('error: cannot read the filter "status:": status: needs a value'),
      'error: the tape has no message at exchange 99 that is sent (reelay inspect shows the numbers of the exchanges)',
      'error: set needs a path and a value (as in set params.arguments.q "milk")',
      'error: there is no breakpoint 7 (break lists them)',
      'error: there is no message before this one (step goes forward)',
      expect.stringContaining('error: there is no value at nothing'),
    ])
    expect(out).toContain('goto #38 | frame N | 12s | 50% | start | end\n')
    expect(out).toMatch(/^#2 tools\/list {2}frame N, step, after its response$/m)
  })

  test('does not show secrets', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
    const { out } = await script(
      [
        'goto #4',
        `set params.arguments.note "${secret}"`,
        'next',
        'back',
        'show',
        'inject {"method":"ping","params":{"a":"' + secret + '"}}',
        'quit',
      ],
      [tape, ...warehouse('list-b')],
    )
    expect(out.replaceAll(/^> .*\n/gm, '')).not.toContain(secret)
    expect(out).toContain('"note": "')
  })
})

test.skipIf(process.platform === 'win32')(
  'at a terminal: break on a condition, step, step back, edit an argument, resume',
  async () => {
    const editor = join(temporaryFolder(), 'editor.sh')
    writeFileSync(editor, 'sed -i.bak -e "s/\\"count\\": 60/\\"count\\": 600/" "$1"\n')
    const terminal = openTmux([process.execPath, REELAY, 'debug', tape, ...warehouse('list-b')], {
      env: { VISUAL: `sh ${editor}` },
    })
    await terminal.shows(
      /#2 tools\/list {2}frame \d+, first message\n {2}request not sent yet\n.*\n\(reelay\) *$/m,
    )
    // Completion: a command, a tool of the tape, and a path of the message.
    terminal.press('b', 'r', 'Tab')
    await terminal.shows(/^\(reelay\) break *$/m)
    terminal.press('tool:to', 'Tab')
    await terminal.shows(/^\(reelay\) break tool:total *$/m)
    terminal.type(' result.structuredContent.total > 100')
    await terminal.shows(
      /^breakpoint 1: tool:total result.structuredContent.total > 100 \(after the response\)$/m,
    )
    terminal.type('c')
    await terminal.shows(
      /^#7 tools\/call total {2}frame \d+, breakpoint 1, after its response[^]*"total": 110[^]*difference none: as recorded\n\(reelay\) *$/m,
    )
    expect(terminal.screen()).toContain(
      '"listId": "list-b"   <- from #3 result.structuredContent.listId, recorded "list-7f3a91c2"',
    )
    terminal.type('step')
    await terminal.shows(/^#8 tools\/call add {2}frame \d+, step$/m)
    terminal.type('back')
    await terminal.shows(/^#7 tools\/call total {2}frame \d+, earlier message, already sent$/m)
    terminal.press('Enter') // repeats the command
    await terminal.shows(/^#6 tools\/call add {2}frame \d+, earlier message, already sent[^]*"count": 70/m)
    terminal.type('goto #8')
    await terminal.shows(/^#8 tools\/call add {2}frame \d+, goto$/m)
    terminal.press('Up', 'C-u', 'e', 'd', 'i', 't', 'Enter')
    await terminal.shows(/^ {2}request changed, not sent yet[^]*"count": 600\n[^]*\(reelay\) *$/m)
    terminal.type('next')
    await terminal.shows(/recorded 60 {3}now 600\n[^]*^#9 tools\/call total {2}frame \d+, step$/m)
    terminal.type('delete 1')
    terminal.type('c')
    await terminal.shows(
      /recorded 170 {3}now 710[^]*^held +#10 tools\/call remove[^]*^verdict: not as recorded[^]*^exit code 1$/m,
    )
  },
)

test.skipIf(process.platform === 'win32')(
  'at a terminal: lines are kept for the next session without secrets, and paths are completed',
  async () => {
    const home = temporaryFolder()
    const open = (): ReturnType<typeof openTmux> =>
      openTmux([process.execPath, REELAY, 'debug', tape, ...warehouse('list-b')], {
        env: { REELAY_HOME: home },
      })
    const secret = `ghp_${'aB3dE6gH9'.repeat(4)}`
    const first = open()
    await first.shows(/first message[^]*\(reelay\) *$/m)
    first.type('goto #5')
    await first.shows(/^#5 tools\/call total[^]*\(reelay\) *$/m)
    first.press('p', 'Space', 'params.arg', 'Tab')
    await first.shows(/^\(reelay\) p params\.arguments\.listId *$/m)
    first.press('Enter')
    await first.shows(/^"list-b"$/m)
    first.type(`set params.arguments.note ${secret}`)
    await first.shows(/request changed/)
    first.type('quit')
    await first.shows(/exit code/)
    const file = join(home, 'debug-history')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const kept = readFileSync(file, 'utf8')
    expect(kept).toContain('goto #5\np params.arguments.listId\nset params.arguments.note ')
    expect(kept).not.toContain(secret)
    const second = open()
    await second.shows(/first message[^]*\(reelay\) *$/m)
    second.press('Up', 'Up', 'Up', 'Up')
    await second.shows(/^\(reelay\) goto #5 *$/m)
  },
)

test.skipIf(process.platform === 'win32')(
  'Ctrl+C pauses a run that waits for the time of its messages, and quit ends it',
  async () => {
    const terminal = openTmux([
      process.execPath,
      REELAY,
      'debug',
      '--run',
      '--pace',
      '300ms',
      tape,
      ...warehouse('list-b'),
    ])
    await terminal.shows(/^ok +#2 tools\/list/m)
    terminal.press('C-c')
    await terminal.shows(/frame \d+, paused[^]*\(reelay\) *$/m)
    terminal.press('C-c')
    await terminal.shows(/type "quit" to end the run/)
    terminal.type('quit')
    await terminal.shows(/^exit code 3$/m)
    expect(terminal.screen()).toContain('verdict: as recorded, but incomplete')
  },
)

test('one message is chosen by the same number in inspect, replay and debug', async () => {
  const shown = await reelay('inspect', tape, '#6')
  expect(shown.out).toMatch(/^6 .*tools\/call add/m)
  expect(shown.out).toContain('"count": 70')
  expect((await reelay('inspect', tape, '6')).out).toBe(shown.out)
  const json = JSON.parse((await reelay('inspect', tape, '6', '--json')).out) as { exchanges: unknown[] }
  expect(json.exchanges).toEqual([expect.objectContaining({ method: 'tools/call', target: 'add' })])
  const replayed = await reelay('replay', '--include', '#6', '--no-correlate', tape, ...warehouse('list-b'))
  expect(replayed.out).toMatch(/^differs +#6 +tools\/call add/m)
  expect(replayed.out).toContain('0 of 1 responses as recorded')
  const { out } = await script(
    ['show params.arguments.count', 'quit'],
    ['--run', '--break', '#6', tape, ...warehouse('list-b')],
  )
  expect(out).toMatch(/^#6 tools\/call add .*breakpoint 1[^]*^70$/m)
  expect(await reelay('inspect', tape, '66')).toMatchObject({
    code: 2,
    err: expect.stringContaining('the tape has no exchange #66'),
  })
  expect(await reelay('inspect', tape, 'add')).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not the number of an exchange'),
  })
})

describe.skipIf(process.platform === 'win32')('a debugger that is ended', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'by %s leaves no process, and a tape of the run up to there',
    async (signal) => {
      const record = join(temporaryFolder(), 'run.tape.jsonl')
      const run = start([
        process.execPath,
        REELAY,
        'debug',
        '-v',
        '--record',
        record,
        tape,
        ...warehouse('list-b'),
      ])
      run.child.stdin.write('goto #4\nset params.arguments.count 7\nnext\n')
      await said(run, '#5 tools/call total')
      const pid = Number(/^pid (\d+)$/m.exec(run.stderr())?.[1])
      expect(isAlive(pid)).toBe(true)
      run.child.kill(signal)
      await run.exited
      await expect.poll(() => isAlive(pid)).toBe(false)
      const frames = readFileSync(record, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Frame)
      const text = frames.map((frame) => JSON.stringify(frame.msg ?? frame))
      expect(text.findIndex((line) => line.includes('"action":"edited"'))).toBeLessThan(
        text.findIndex((line) => line.includes('"count":7')),
      )
      expect(text.filter((line) => line.includes('"action":"edited","exchange":4'))).toHaveLength(1)
      expect(text.some((line) => line.includes('"added":7'))).toBe(true)
      const hasEnd = frames.at(-1)?.event === 'end'
      expect([hasEnd, text.some((line) => line.includes('"action":"stopped"'))]).toEqual(
        signal === 'SIGKILL' ? [false, false] : [true, true],
      )
    },
  )
})

interface Frame {
  readonly event?: string
  readonly msg?: unknown
}

/** Runs the debugger with commands on its stdin. */
async function script(
  commands: readonly string[],
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number | null; readonly out: string }> {
  const run = start([process.execPath, REELAY, 'debug', ...args], {
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  run.child.stdin.end(commands.map((line) => `${line}\n`).join(''))
  const { code } = await run.exited
  // The number of a frame depends on when the recorder has read the stderr of the server.
  return {
    code,
    out: run
      .stdout()
      .toString()
      .replaceAll(/\bframe \d+/g, 'frame N'),
  }
}

async function said(run: Running, text: string): Promise<void> {
  while (!run.stdout().includes(text)) await once(run.child.stdout, 'data')
}
