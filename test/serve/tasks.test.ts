import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { member } from '../../src/json/parse.ts'
import { httpOf } from '../support/http-servers.ts'
import { ask, open, post } from '../support/http.ts'
import { fixtureServer, record, REELAY, temporaryFolder } from '../support/recorder.ts'
import { startServing } from '../support/serving.ts'
import { ServeProcess } from './serve-process.ts'
import { jsonOf, read } from './serving.ts'
import { ENVELOPE } from '../support/tape-of.ts'

type Transport = Parameters<Client['connect']>[0]

async function connected(transport: Transport): Promise<Client> {
  const client = new Client(
    { name: 'tasks', version: '1' },
    { capabilities: { elicitation: { form: {} }, tasks: {} } },
  )
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }))
  await client.connect(transport)
  await client.listTools()
  return client
}

function reelay(...args: readonly string[]): Transport {
  return new StdioClientTransport({ command: process.execPath, args: [REELAY, ...args], stderr: 'ignore' })
}

/** Calls a tool as a task and lets the SDK poll; says what it ended with, and how often it was told a state. */
async function ranTask(client: Client, name: string): Promise<{ text: string; states: number }> {
  let states = 0
  for await (const said of client.experimental.tasks.callToolStream({ name, arguments: {} })) {
    if (said.type === 'taskStatus') states++
    if (said.type === 'result') return { text: JSON.stringify(said.result), states }
    if (said.type === 'error') return { text: said.error.message, states }
  }
  return { text: 'nothing', states }
}

/** Calls a tool as a task, and does nothing more. */
async function begun(client: Client, name: string): Promise<string> {
  for await (const said of client.experimental.tasks.callToolStream({ name, arguments: {} }))
    if (said.type === 'taskCreated') return said.task.taskId
  throw new Error('no task was made')
}

async function recorded(): Promise<string> {
  const tape = join(temporaryFolder(), 'tasks.tape.jsonl')
  const client = await connected(reelay('record', '-o', tape, '--', ...fixtureServer('tasks')))
  expect((await ranTask(client, 'research')).text).toContain('found')
  expect((await ranTask(client, 'clarify')).text).toContain('clarified: accept')
  const forever = await begun(client, 'forever')
  expect((await client.experimental.tasks.getTask(forever)).status).toBe('working')
  await client.experimental.tasks.cancelTask(forever)
  expect((await client.experimental.tasks.getTask(forever)).status).toBe('cancelled')
  expect((await client.experimental.tasks.listTasks()).tasks).toHaveLength(3)
  await client.close()
  return tape
}

test('tasks of the legacy era are played to an SDK client: created, polled, asked for input, fetched, cancelled, listed', async () => {
  const tape = await recorded()
  const serving = await startServing(tape, '--http')
  const transports = [reelay('serve', tape), httpOf('v1', 'streamableHttp', serving.urls()[0] ?? '')]
  for (const transport of transports) {
    const client = await connected(transport)
    const research = await ranTask(client, 'research')
    expect(research.text).toContain('found')
    expect(research.states).toBeGreaterThan(1)
    expect((await ranTask(client, 'clarify')).text).toContain('clarified: accept')
    const forever = await begun(client, 'forever')
    await client.experimental.tasks.cancelTask(forever)
    expect((await client.experimental.tasks.listTasks()).tasks).toHaveLength(3)
    await client.close()
  }
  expect((await serving.stop()).stderr).toContain('0 misses, 0 left over')
})

test('a task is polled as often as the client likes; no state is told before what brought it about, and none after', async () => {
  const tape = await recorded()
  const client = await connected(reelay('serve', tape))
  const { tasks } = client.experimental
  const forever = await begun(client, 'forever')
  const before: string[] = []
  for (let poll = 0; poll < 10; poll++) before.push((await tasks.getTask(forever)).status)
  expect(new Set(before)).toEqual(new Set(['working']))
  expect((await tasks.cancelTask(forever)).status).toBe('cancelled')
  for (let poll = 0; poll < 5; poll++) expect((await tasks.getTask(forever)).status).toBe('cancelled')
  const research = await begun(client, 'research')
  const states: string[] = []
  for (let poll = 0; poll < 100; poll++) states.push((await tasks.getTask(research)).status)
  expect(states.lastIndexOf('working')).toBeLessThan(states.indexOf('completed'))
  expect(states.at(-1)).toBe('completed')
  await client.close()
})

test('whoever never polls gets the result all the same, and nothing is left over for it', async () => {
  const tape = await recorded()
  const serve = new ServeProcess([tape, '--leftovers', 'fail'])
  const call = (id: number, method: string, params: object): void => serve.say({ id, method, params })
  call(0, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  })
  serve.say({ method: 'notifications/initialized' })
  call(1, 'tools/list', {})
  const made: string[] = []
  for (const [at, name] of ['research', 'clarify', 'forever'].entries()) {
    call(10 + at, 'tools/call', { name, arguments: {}, task: {} })
    const lines = await serve.heardText(`"id":${10 + at}}`)
    made.push(JSON.parse(lines.at(-1) ?? '').result.task.taskId)
  }
  call(20, 'tasks/result', { taskId: made[0] })
  expect((await serve.heardText('"id":20}')).join()).toContain('found')
  call(21, 'tasks/result', { taskId: made[1] })
  await serve.heardText('elicitation/create')
  serve.say({ id: 'reelay-1', result: { action: 'accept', content: {} } })
  await serve.heardText('clarified')
  call(22, 'tasks/cancel', { taskId: made[2] })
  call(23, 'tasks/list', {})
  const { code, stderr } = await serve.end()
  expect(stderr).toContain('0 misses, 0 left over')
  expect(code).toBe(0)
})

const EXTENSION = { 'io.modelcontextprotocol/tasks': {} }
const META = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { extensions: EXTENSION } }
const modern = (id: number | string, method: string, params: object): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { ...params, _meta: META },
})
const YEAR = { year: { action: 'accept', content: { year: '1999' } } }
const REPORT = { name: 'report', arguments: {} }

/** One session with the tasks extension, and another in which the task is cancelled. */
async function recordedModern(): Promise<{ tape: string; taskId: string }> {
  const run = record(fixtureServer('modern-tasks'))
  const say = (message: object): void => void run.child.stdin.write(`${JSON.stringify(message)}\n`)
  const listen = { notifications: { taskIds: ['*'] } }
  say(modern('L', 'subscriptions/listen', listen))
  await run.line('acknowledged')
  say(modern(1, 'tools/call', REPORT))
  const { taskId } = JSON.parse(await run.line('"id":1')).result
  for (const id of [2, 3]) {
    say(modern(id, 'tasks/get', { taskId }))
    await run.line(`"id":${id}`)
  }
  say(modern(4, 'tasks/update', { taskId, inputResponses: YEAR }))
  await run.line('"completed"')
  say(modern(5, 'tasks/get', { taskId }))
  await run.line('"id":5')
  run.child.stdin.end()
  await run.exited
  return { tape: run.tape, taskId }
}

const HEADERS = { 'MCP-Protocol-Version': '2026-07-28' }
const headersOf = (method: string, name: string): Record<string, string> => ({
  ...HEADERS,
  'Mcp-Method': method,
  'Mcp-Name': name,
})

test('the tasks extension is played over HTTP: any number of polls, input that must be the recorded one, news for a listener', async () => {
  const { tape, taskId } = await recordedModern()
  const serving = await startServing(tape, '--http')
  const [url = ''] = serving.urls()
  const stream = await open(
    url,
    post(modern(77, 'subscriptions/listen', { notifications: { taskIds: ['*'] } }), {
      ...HEADERS,
      'Mcp-Method': 'subscriptions/listen',
    }),
  )
  await read(stream, 'acknowledged')
  const call = async (method: string, params: object): Promise<{ status: number; json: unknown }> => {
    const name = method === 'tools/call' ? 'report' : taskId
    const answer = await ask(url, post(modern(7, method, params), headersOf(method, name)))
    return { status: answer.status, json: jsonOf(answer) }
  }
  expect((await call('tools/call', REPORT)).json).toMatchObject({
    id: 7,
    result: { resultType: 'task', taskId },
  })
  const statuses: unknown[] = []
  for (let poll = 0; poll < 6; poll++)
    statuses.push(member(member((await call('tasks/get', { taskId })).json, 'result'), 'status'))
  expect(statuses).toEqual(['working', ...Array.from({ length: 5 }, () => 'input_required')])
  const declined = await call('tasks/update', { taskId, inputResponses: { year: { action: 'decline' } } })
  expect(declined.json).toMatchObject({ error: { code: -39404, data: { reason: 'ARGUMENT_DRIFT' } } })
  expect((await call('tasks/get', { taskId })).json).toMatchObject({ result: { status: 'input_required' } })
  await call('tasks/update', { taskId, inputResponses: YEAR })
  const news = await read(stream, '"completed"')
  expect(news).toContain('"io.modelcontextprotocol/subscriptionId":77')
  expect((await call('tasks/get', { taskId })).json).toMatchObject({
    result: { status: 'completed', result: { content: [{ text: '1999' }] } },
  })
  const wrong = await ask(url, post(modern(7, 'tasks/get', { taskId }), headersOf('tasks/get', 'other')))
  expect(wrong.status).toBe(400)
  stream.destroy()
  expect((await serving.stop()).stderr).toContain('1 miss, 0 left over')
})

test('a state that the tape tells only after a change is a miss until then, and says what comes first', async () => {
  const run = record(fixtureServer('modern-tasks'))
  const say = (message: object): void => void run.child.stdin.write(`${JSON.stringify(message)}\n`)
  say(modern(1, 'tools/call', REPORT))
  const { taskId } = JSON.parse(await run.line('"id":1')).result
  say(modern(2, 'tasks/cancel', { taskId }))
  say(modern(3, 'tasks/get', { taskId }))
  await run.line('"id":3')
  run.child.stdin.end()
  await run.exited
  const serve = new ServeProcess([run.tape])
  serve.say(modern('a', 'tools/call', REPORT), modern('b', 'tasks/get', { taskId }))
  serve.say(modern('c', 'tasks/cancel', { taskId }), modern('d', 'tasks/get', { taskId }))
  const { lines } = await serve.end()
  expect(lines.map((line) => JSON.parse(line)).slice(1)).toMatchObject([
    {
      id: 'b',
      error: {
        data: {
          reason: 'OUT_OF_ORDER',
          why: expect.stringMatching(/^the tape has the state of this task only after #\d+ tasks\/cancel/),
        },
      },
    },
    { id: 'c', result: {} },
    { id: 'd', result: { status: 'cancelled' } },
  ])
})
