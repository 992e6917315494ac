import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DebugClient } from '@vscode/debugadapter-testsupport'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { memorySession } from '../interop/memory-session.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { recorded, run } from '../interop/run.ts'
import { fixtureServer, isAlive, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { DapClient, type DapMessage, startAdapter } from './dap-client.ts'
import { recordWarehouse } from './warehouse-tape.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const tape = join(sharedFolder(), 'warehouse.tape.jsonl')
const command = fixtureServer('warehouse', 'list-b')
beforeAll(() => recordWarehouse(tape, 'list-7f3a91c2'))

/** The line of the first message that contains this text. */
function lineOf(text: string, dir: 'c2s' | 's2c' = 'c2s', { after = 0, file = tape } = {}): number {
  const lines = readFileSync(file, 'utf8').split('\n')
  return (
    lines.findIndex((line, at) => at >= after && line.includes(`"dir":"${dir}"`) && line.includes(text)) + 1
  )
}

/** Launches a tape; the run begins with `configurationDone`. */
async function launch(client: DapClient, entry: object = {}): Promise<void> {
  await client.request('initialize', { adapterID: 'reelay', linesStartAt1: true, columnsStartAt1: true })
  await client.request('launch', { tape, command, ...entry })
  await client.event('initialized')
}

async function topFrame(client: DapClient): Promise<DapMessage['body']> {
  return (await client.request('stackTrace', { threadId: 1 })).stackFrames[0]
}

/** The variables of the message that is shown: each scope with its values, as far as they are named. */
async function variables(client: DapClient, ...path: readonly string[]): Promise<Record<string, string>> {
  const { id } = await topFrame(client)
  let { scopes: found } = await client.request('scopes', { frameId: id })
  for (const name of path) {
    const { variablesReference } = found.find((one: { name: string }) => one.name.startsWith(name))
    found = (await client.request('variables', { variablesReference })).variables
  }
  return Object.fromEntries(found.map(({ name, value }: { name: string; value: string }) => [name, value]))
}

async function referenceOf(client: DapClient, ...path: readonly string[]): Promise<number> {
  const { id } = await topFrame(client)
  let { scopes: found } = await client.request('scopes', { frameId: id })
  let reference = 0
  for (const name of path) {
    reference = found.find((one: { name: string }) => one.name.startsWith(name)).variablesReference
    found = (await client.request('variables', { variablesReference: reference })).variables
  }
  return reference
}

test('launch, breakpoint with a condition, variables, set variable, continue, step back, terminate', async () => {
  const { client, child } = startAdapter()
  await launch(client)
  const line = lineOf('"total"', 'c2s', { after: lineOf('"count":70') })
  const { breakpoints } = await client.request('setBreakpoints', {
    source: { path: tape },
    breakpoints: [{ line, condition: 'result.structuredContent.total > 100' }, { line: 1 }, { line: 9999 }],
  })
  expect(breakpoints).toEqual([
    { id: 1, verified: true, line },
    { verified: false, message: expect.stringContaining('Reelay sends its own handshake') },
    { verified: false, message: 'there is no message on this line or after it' },
  ])
  await client.request('setExceptionBreakpoints', { filters: ['difference'] })
  await client.request('configurationDone')
  expect(await client.event('stopped')).toMatchObject({ reason: 'entry', threadId: 1 })
  await client.request('continue', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({ reason: 'breakpoint', hitBreakpointIds: [1] })

  // Stopped at the response line of #7, with everything about it.
  expect(await topFrame(client)).toMatchObject({
    name: '#7 tools/call total (done)',
    source: { path: tape },
    line: lineOf('"total":110', 's2c'),
  })
  expect(await variables(client)).toEqual({
    Request: undefined,
    Bindings: undefined,
    Response: undefined,
    Difference: undefined,
    Recorded: undefined,
  })
  expect(await variables(client, 'Request', 'params', 'arguments')).toEqual({ listId: '"list-b"' })
  expect(await variables(client, 'Bindings', 'params.arguments.listId')).toEqual({
    live: '"list-b"',
    recorded: '"list-7f3a91c2"',
    from: '"#3 result.structuredContent.listId"',
  })
  expect(await variables(client, 'Response', 'result', 'structuredContent')).toEqual({ total: '110' })
  expect(await variables(client, 'Difference')).toEqual({ none: '"as recorded"' })

  // The next message is changed before it is sent.
  await client.request('next', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({ reason: 'step' })
  expect(await topFrame(client)).toMatchObject({ name: '#8 tools/call add', line: lineOf('"count":60') })
  const variablesReference = await referenceOf(client, 'Request', 'params', 'arguments')
  expect(
    await client.request('setVariable', { variablesReference, name: 'count', value: '1000' }),
  ).toMatchObject({
    value: '1000',
    type: 'number',
  })
  await client.request('continue', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({
    reason: 'exception',
    text: expect.stringContaining('recorded 60   now 1000'),
  })
  expect(await variables(client, 'Difference', 'result.structuredContent.added')).toMatchObject({
    recorded: '60',
    live: '1000',
  })
  expect(await client.request('exceptionInfo', { threadId: 1 })).toMatchObject({
    exceptionId: 'difference',
    description: expect.stringContaining('recorded 60   now 1000'),
  })

  // Back to an earlier message, which is sent again with another value.
  for (const _ of [1, 2, 3]) {
    await client.request('stepBack', { threadId: 1 })
    expect(await client.event('stopped')).toMatchObject({ reason: 'step' })
  }
  const earlier = await topFrame(client)
  expect(earlier).toMatchObject({ name: '#7 tools/call total (done)', line })
  expect(
    await client.request('evaluate', {
      expression: 'result.structuredContent.total',
      frameId: earlier.id,
      context: 'hover',
    }),
  ).toMatchObject({ result: '110' })
  await client.request('restartFrame', { frameId: earlier.id })
  await client.event('stopped')
  expect(await variables(client, 'Response', 'result', 'structuredContent')).toEqual({ total: '1110' })

  await client.request('terminate')
  expect(await client.event('exited')).toEqual({ exitCode: 1 })
  await client.event('terminated')
  await client.request('disconnect')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('a step waits for a request that got no response when it was recorded', async () => {
  const { client } = startAdapter()
  const lost = join(temporaryFolder(), 'lost.tape.jsonl')
  await recordWarehouse(lost, 'list-7f3a91c2', 'total')
  await launch(client, { tape: lost })
  await client.request('setBreakpoints', {
    source: { path: lost },
    breakpoints: [{ line: lineOf('"total"', 'c2s', { file: lost }) }],
  })
  await client.request('configurationDone')
  await client.event('stopped')
  await client.request('continue', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({ reason: 'breakpoint' })
  await client.request('stepIn', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({ reason: 'step' })
  expect(await topFrame(client)).toMatchObject({ name: '#5 tools/call total (done)' })
  expect(await variables(client, 'Response', 'result', 'structuredContent')).toEqual({ total: '40' })
  expect(JSON.stringify(await variables(client, 'Difference'))).toContain('no response was recorded')
  await client.request('stepIn', { threadId: 1 })
  await client.event('stopped')
  expect(await topFrame(client)).toMatchObject({ name: '#6 tools/call add' })
  await client.request('disconnect')
})

test('an editor that launches twice at once, or leaves while a tape is opened, gets a response to each request', async () => {
  const { client, child } = startAdapter()
  await client.request('initialize')
  const answers = await Promise.all([
    client.ask('launch', { tape, command }),
    client.ask('launch', { tape, command }),
  ])
  expect(answers.filter(({ success }) => success)).toHaveLength(1)
  await client.request('disconnect')
  expect(await once(child, 'exit')).toEqual([0, null])

  const second = startAdapter()
  const launched = second.client.ask('launch', { tape, command })
  await second.client.request('disconnect')
  expect((await launched).command).toBe('launch')
  expect(await once(second.child, 'exit')).toEqual([0, null])
})

test('leaving does not wait for a request that the server does not answer', async () => {
  const { client, child } = startAdapter()
  const silent = fixtureServer('warehouse', 'list-b', '0', 'total')
  await launch(client, { command: silent, stopOnEntry: false, timeout: '10m' })
  await client.request('configurationDone')
  let printed = ''
  while (!printed.includes('#4 tools/call add')) printed = (await client.event('output')).output
  await client.request('terminate')
  await client.event('terminated')
  await client.request('disconnect')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('does the same with a live server-memory', async () => {
  const folder = temporaryFolder()
  const memory = join(folder, 'memory.tape.jsonl')
  const server = referenceServer('server-memory')
  const env = { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') }
  await run(
    { sdk: 'v1', answers: { root: '', elicited: {} }, command: recorded(memory, server), env },
    memorySession,
  )
  rmSync(env.MEMORY_FILE_PATH)

  const { client, child } = startAdapter()
  await launch(client, { tape: memory, command: server, env, allowWrites: true })
  const line = lineOf('"read_graph"', 'c2s', {
    after: lineOf('"create_entities"', 'c2s', { file: memory }),
    file: memory,
  })
  const condition = 'result.structuredContent.entities[*].name = Engine'
  const { breakpoints } = await client.request('setBreakpoints', {
    source: { path: memory },
    breakpoints: [{ line, condition }],
  })
  expect(breakpoints).toEqual([{ id: 1, verified: true, line }])
  await client.request('setExceptionBreakpoints', { filters: ['first-difference'] })
  await client.request('configurationDone')
  await client.event('stopped')
  await client.request('continue', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({ reason: 'breakpoint', hitBreakpointIds: [1] })
  expect(await topFrame(client)).toMatchObject({
    name: expect.stringMatching(/^#\d+ tools\/call read_graph \(done\)$/),
  })
  expect(await variables(client, 'Response', 'result', 'structuredContent', 'entities', '1')).toMatchObject({
    name: '"Engine"',
  })

  await client.request('next', { threadId: 1 })
  await client.event('stopped')
  const variablesReference = await referenceOf(client, 'Request', 'params', 'arguments', 'relations', '0')
  await client.request('setVariable', { variablesReference, name: 'relationType', value: 'repairs' })
  await client.request('continue', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({
    reason: 'exception',
    text: expect.stringContaining('repairs'),
  })
  expect(await topFrame(client)).toMatchObject({
    name: expect.stringMatching(/tools\/call create_relations \(done, differs\)$/),
  })
  await client.request('stepBack', { threadId: 1 })
  await client.event('stopped')
  await client.request('stepBack', { threadId: 1 })
  await client.event('stopped')
  expect(await topFrame(client)).toMatchObject({
    name: expect.stringMatching(/tools\/call read_graph \(done\)$/),
  })
  await client.request('terminate')
  await client.event('terminated')
  await client.request('disconnect')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('goes through the tape in both directions, prints logpoints, and stops at the end', async () => {
  const { client } = startAdapter()
  await launch(client, { stopOnEntry: false })
  await client.request('setBreakpoints', {
    source: { path: tape },
    breakpoints: [
      {
        line: lineOf('"count":40'),
        logMessage: 'adding {params.arguments.count} to {params.arguments.listId}',
      },
      { line: lineOf('"total":40', 's2c') },
    ],
  })
  const { breakpoints } = await client.request('setFunctionBreakpoints', {
    breakpoints: [{ name: 'tool:add', hitCondition: '3' }, { name: 'status:nonsense' }],
  })
  expect(breakpoints).toEqual([
    { id: expect.any(Number), verified: true },
    { verified: false, message: expect.stringContaining('cannot read the filter') },
  ])
  await client.request('configurationDone')
  await client.event('stopped')
  expect(client.messages.find(({ body }) => body?.output === 'adding 40 to list-b\n')?.body).toMatchObject({
    category: 'console',
    line: lineOf('"count":40'),
  })
  expect(await topFrame(client)).toMatchObject({ line: lineOf('"total":40', 's2c') })
  await client.request('continue', { threadId: 1 })
  await client.event('stopped')
  expect(await topFrame(client)).toMatchObject({ name: '#8 tools/call add' })
  await client.request('reverseContinue', { threadId: 1 })
  await client.event('stopped')
  expect(await topFrame(client)).toMatchObject({ line: lineOf('"total":40', 's2c') })
  await client.request('stepIn', { threadId: 1 })
  await client.event('stopped')
  expect(await topFrame(client)).toMatchObject({ line: lineOf('"count":70') })
  const { targets } = await client.request('gotoTargets', {
    source: { path: tape },
    line: lineOf('"name":"remove"'),
  })
  await client.request('goto', { threadId: 1, targetId: targets[0].id })
  expect(await client.event('stopped')).toMatchObject({ reason: 'goto' })
  expect(await topFrame(client)).toMatchObject({ name: '#10 tools/call remove' })
  await client.request('next', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({ description: 'End of the tape' })
  expect(await topFrame(client)).toMatchObject({ name: 'end of the tape' })
  expect((await client.request('evaluate', { expression: 'status', context: 'repl' })).result).toContain(
    '9 of 9 messages are done',
  )
  await client.request('continue', { threadId: 1 })
  expect(await client.event('exited')).toEqual({ exitCode: 3 }) // one call was held back
  await client.event('terminated')
})

test('pause stops a run that waits for the time of its messages', async () => {
  const { client } = startAdapter()
  await launch(client, { stopOnEntry: false, timing: '200ms' })
  await client.request('configurationDone')
  expect((await client.ask('stackTrace', { threadId: 1 })).success).toBe(false)
  await client.request('pause', { threadId: 1 })
  expect(await client.event('stopped')).toMatchObject({ reason: 'pause' })
})

test('the console completes commands and paths, a watch can be set, and long lists come in pages', async () => {
  const { client } = startAdapter()
  await launch(client)
  await client.request('configurationDone')
  await client.event('stopped')
  const complete = async (text: string): Promise<string[]> =>
    (await client.request('completions', { text, column: text.length + 1 })).targets.map(
      (one: { text: string; start: number; length: number }) =>
        `${text.slice(0, one.start)}${one.text}${text.slice(one.start + one.length)}`,
    )
  expect(await complete('tb')).toEqual(['tbreak '])
  expect(await complete('break tool:to')).toEqual(['break tool:total'])
  await client.request('evaluate', { expression: 'goto #4', context: 'repl' })
  await client.event('stopped')
  expect(await complete('params.arguments.')).toEqual(['params.arguments.listId', 'params.arguments.count'])
  const { id: frameId } = await topFrame(client)
  const set = { expression: 'params.arguments.count', value: '41', frameId }
  expect(await client.request('setExpression', set)).toMatchObject({ value: '41' })
  expect(await client.ask('setExpression', { ...set, expression: 'result.total' })).toMatchObject({
    success: false,
    message: expect.stringContaining('only values of the request can be changed'),
  })
  await client.request('stepIn', { threadId: 1 })
  await client.event('stopped')
  expect(await client.request('evaluate', { expression: 'params.arguments.count' })).toMatchObject({
    result: '41',
  })
  await client.request('evaluate', { expression: 'goto #2', context: 'repl' })
  await client.event('stopped')
  const tools = await referenceOf(client, 'Response', 'result', 'tools')
  const page = async (more: object): Promise<string[]> =>
    (await client.request('variables', { variablesReference: tools, ...more })).variables.map(
      ({ name }: { name: string }) => name,
    )
  expect(await page({ filter: 'indexed', start: 1, count: 2 })).toEqual(['1', '2'])
  expect(await page({ filter: 'named' })).toEqual([])
  await client.request('terminate')
  await client.event('terminated')
})

test('an editor that counts lines from 0 is answered in the same way, and may send a URI', async () => {
  const { client } = startAdapter()
  await client.request('initialize', { adapterID: 'reelay', linesStartAt1: false, pathFormat: 'uri' })
  await client.request('launch', { tape, command, stopOnEntry: false })
  await client.event('initialized')
  const line = lineOf('"count":40') - 1
  const { breakpoints } = await client.request('setBreakpoints', {
    source: { path: pathToFileURL(tape).href },
    breakpoints: [{ line }],
  })
  expect(breakpoints).toMatchObject([{ verified: true, line }])
  await client.request('configurationDone')
  await client.event('stopped')
  expect(await topFrame(client)).toMatchObject({ line, name: '#4 tools/call add' })
})

test('everything that is announced is supported, every response has its request, and numbers grow', async () => {
  const { client } = startAdapter()
  const capabilities = await client.request('initialize', { adapterID: 'reelay' })
  const announced = Object.keys(capabilities).filter((name) => capabilities[name] === true)
  for (const name of announced) {
    const requests = CAPABILITY_REQUESTS[name]
    expect(requests, `${name} is not known to this test`).toBeDefined()
    for (const each of requests ?? [])
      expect((await client.ask(each)).message ?? '').not.toContain('is not supported')
  }
  expect((await client.ask('cancel', { requestId: 1 })).message).toContain('is not supported')
  const numbers = client.messages.map((one) => Reflect.get(one, 'seq') as number)
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
  await client.request('terminate') // before a tape was launched
  await client.event('terminated')
})

const CAPABILITY_REQUESTS: Readonly<Record<string, readonly string[]>> = {
  supportsConfigurationDoneRequest: ['configurationDone'],
  supportsFunctionBreakpoints: ['setFunctionBreakpoints'],
  supportsConditionalBreakpoints: ['setBreakpoints'],
  supportsHitConditionalBreakpoints: ['setBreakpoints'],
  supportsLogPoints: ['setBreakpoints'],
  supportsEvaluateForHovers: ['evaluate'],
  supportsStepBack: ['stepBack', 'reverseContinue'],
  supportsSetVariable: ['setVariable'],
  supportsSetExpression: ['setExpression'],
  supportsCompletionsRequest: ['completions'],
  supportsRestartFrame: ['restartFrame'],
  supportsGotoTargetsRequest: ['gotoTargets', 'goto'],
  supportsExceptionInfoRequest: ['exceptionInfo'],
  supportsTerminateRequest: [],
  supportsBreakpointLocationsRequest: ['breakpointLocations'],
}

test('mistakes are refused with a reason, and the session goes on', async () => {
  const { client } = startAdapter()
  const refused = async (name: string, given: object = {}): Promise<string | undefined> =>
    (await client.ask(name, given)).message
  expect(await refused('threads')).toBeUndefined()
  expect(await refused('stackTrace')).toContain('no tape is debugged')
  expect(await refused('launch', {})).toContain('the launch entry has no tape')
  expect(await refused('launch', { tape: 'no-such-tape', command })).toContain('no-such-tape')
  expect(await refused('launch', { tape, command, timeout: 'soon' })).toContain(
    'invalid duration "soon" for --timeout',
  )
  expect(await refused('launch', { tape })).toContain('no live server is given')
  expect(await refused('disassemble')).toContain('the request disassemble is not supported')
  client.write('{"not":"a request"}')
  client.write('not even JSON')
  await launch(client)
  await client.request('configurationDone')
  await client.event('stopped')
  expect(await refused('variables', { variablesReference: 77 })).toContain('the run has gone on since')
  expect(await refused('restartFrame', { frameId: 3 })).toContain('the message was not sent yet')
  expect(await refused('evaluate', { expression: 'result.nothing', context: 'watch' })).toContain(
    'there is no value at result.nothing',
  )
  expect((await client.ask('stepBack', { threadId: 1 })).success).toBe(true) // nothing is before the first message
  expect(await client.event('stopped')).toMatchObject({ reason: 'entry' })
})

test('calls that may write are sent only if the launch entry allows them', async () => {
  const { client } = startAdapter()
  await launch(client, { allow: ['remove'], stopOnEntry: false })
  await client.request('configurationDone')
  expect(await client.event('exited')).toEqual({ exitCode: 0 })
})

describe.skipIf(process.platform === 'win32')('no process is left behind', () => {
  test('if the editor disconnects', async () => {
    const { client, child, pid, record } = await stopped()
    await client.request('disconnect')
    await once(child, 'exit')
    expect(isAlive(pid)).toBe(false)
    expect(readFileSync(record, 'utf8')).toMatch(/"event":"debugger","action":"stopped"[^]*"event":"end"/)
  })

  test('if the editor is gone', async () => {
    const { child, pid, record } = await stopped()
    child.stdin?.destroy()
    await once(child, 'exit')
    expect(isAlive(pid)).toBe(false)
    expect(readFileSync(record, 'utf8')).toContain('"event":"end"')
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)('if the adapter is ended by %s', async (signal) => {
    const { child, pid, record } = await stopped()
    child.kill(signal)
    await once(child, 'exit')
    await expect.poll(() => isAlive(pid)).toBe(false)
    expect(readFileSync(record, 'utf8')).toContain('"method":"tools/list"')
  })
})

describe('a port', () => {
  test('serves one editor after the other, which cannot choose what is started', async () => {
    const port = await freePort()
    const adapter = start([process.execPath, REELAY, 'dap', '--port', String(port), tape, '--', ...command])
    await expect.poll(adapter.stderr, { timeout: 20_000 }).toContain(`listening on 127.0.0.1:${port}`)
    for (const _ of [1, 2]) {
      const socket = connect(port, '127.0.0.1')
      const client = new DapClient(socket, socket)
      await client.request('initialize')
      expect((await client.ask('launch', { command: ['touch', '/tmp/x'] })).message).toContain(
        'the command line of reelay dap decides',
      )
      await client.request('attach')
      await client.event('initialized')
      await client.request('configurationDone')
      expect(await client.event('stopped')).toMatchObject({ reason: 'entry' })
      await client.request('disconnect')
      await once(socket, 'close')
    }
  })

  test('the client of the VS Code team breaks on a condition, reads and sets a variable, steps back and terminates', async () => {
    const port = await freePort()
    const adapter = start([process.execPath, REELAY, 'dap', '--port', String(port), tape, '--', ...command])
    await expect.poll(adapter.stderr, { timeout: 20_000 }).toContain('listening on')
    const client = new DebugClient('node', '', 'reelay', undefined, true)
    client.defaultTimeout = 20_000
    await client.start(port)
    const nextStop = async (ask: () => Promise<unknown>): Promise<object> => {
      const stop = client.waitForEvent('stopped')
      await ask()
      return (await stop).body as object
    }
    const top = async (): Promise<{ readonly id: number; readonly name: string }> =>
      (await client.stackTraceRequest({ threadId: 1 })).body.stackFrames[0]!

    const initialized = client.waitForEvent('initialized')
    await client.initializeRequest()
    const attached = client.attachRequest({})
    await initialized
    const line = lineOf('"total"', 'c2s', { after: lineOf('"count":70') })
    const condition = 'result.structuredContent.total > 100'
    await client.setBreakpointsRequest({ source: { path: tape }, breakpoints: [{ line, condition }] })
    await nextStop(() => client.configurationDoneRequest())
    await attached
    const next = (): Promise<unknown> => client.nextRequest({ threadId: 1 })
    expect(await nextStop(() => client.continueRequest({ threadId: 1 }))).toMatchObject({
      hitBreakpointIds: [1],
    })
    expect((await top()).name).toBe('#7 tools/call total (done)')
    await nextStop(next)
    const frame = await top()
    expect(frame.name).toBe('#8 tools/call add')
    const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body
    let reference = scopes[0]!.variablesReference
    for (const name of ['params', 'arguments']) {
      const { variables: found } = (await client.variablesRequest({ variablesReference: reference })).body
      reference = found.find((one) => one.name === name)!.variablesReference
    }
    const change = { variablesReference: reference, name: 'count', value: '1000' }
    expect((await client.setVariableRequest(change)).body).toMatchObject({ value: '1000' })
    await nextStop(next)
    expect(await nextStop(() => client.stepBackRequest({ threadId: 1 }))).toMatchObject({ reason: 'step' })
    expect((await top()).name).toMatch(/^#8 tools\/call add \(done/)
    const asked = { expression: 'params.arguments.count', frameId: (await top()).id }
    expect((await client.evaluateRequest(asked)).body.result).toBe('1000')
    const terminated = client.waitForEvent('terminated')
    await client.terminateRequest()
    await terminated
    await client.stop()
  })

  test('closes the connection of a web page', async () => {
    const port = await freePort()
    const adapter = start([process.execPath, REELAY, 'dap', '--port', String(port), tape, '--', ...command])
    await expect.poll(adapter.stderr, { timeout: 20_000 }).toContain('listening on')
    const body = JSON.stringify({ seq: 1, type: 'request', command: 'attach' })
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, mode: 'no-cors' }).then(
      String,
      () => 'closed',
    )
    expect(answer).toBe('closed')
    expect(adapter.stderr()).toContain('the header is not one of the Debug Adapter Protocol')
  })

  test('needs the tape and the server on the command line', async () => {
    const adapter = start([process.execPath, REELAY, 'dap', '--port', '47115'])
    expect((await adapter.exited).code).toBe(2)
    expect(adapter.stderr()).toContain('--port needs the tape and the server on the command line')
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A session that has stopped after its first message, with the process id of its server. */
async function stopped(): Promise<{
  client: DapClient
  child: ReturnType<typeof startAdapter>['child']
  pid: number
  record: string
}> {
  const record = join(temporaryFolder(), 'run.tape.jsonl')
  const { client, child } = startAdapter()
  await launch(client, { record })
  await client.request('configurationDone')
  await client.event('stopped')
  await client.request('next', { threadId: 1 })
  await client.event('stopped')
  const said = client.messages.find(({ body }) => body?.category === 'stderr')?.body.output
  return { client, child, record, pid: Number(/pid (\d+)/.exec(said)?.[1]) }
}
