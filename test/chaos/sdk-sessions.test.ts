import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { installPythonSdk } from '../../scripts/interop/ecosystem.mjs'
import { connectStdio, type SdkProcess } from '../support/sdk-session.ts'
import { callTool } from '../support/sdk.ts'
import { fixtureServer, linesOf, REELAY, temporaryFolder } from '../support/recorder.ts'
import { v2 } from '../interop/modern-session.ts'

vi.setConfig({ testTimeout: 60_000 })

/** The command of the chaos proxy in front of a server with one fault, and its tape. */
function chaos(server: string, fault: object): { command: string[]; tape: string } {
  const folder = temporaryFolder()
  const [tape, faults] = [join(folder, 'chaos.tape.jsonl'), join(folder, 'faults.json')]
  writeFileSync(faults, JSON.stringify({ faults: [fault] }))
  const options = ['chaos', '-q', '--faults', faults, '-o', tape]
  return { tape, command: [process.execPath, REELAY, ...options, '--', ...fixtureServer(server)] }
}

function markedOn(tape: string): readonly unknown[] {
  return linesOf(tape).flatMap(({ event, kind }) => (event === 'fault' ? [kind] : []))
}

/** Creates a task of a server of SDK v1. */
async function taskClient(command: readonly string[]): Promise<{ client: ClientV1; taskId: string }> {
  const client = new ClientV1({ name: 'tasks', version: '1' }, { capabilities: { tasks: {} } })
  const [file = '', ...args] = command
  await client.connect(new StdioV1({ command: file, args, stderr: 'ignore' }))
  onTestFinished(() => client.close())
  await client.listTools()
  const call = { name: 'research', arguments: {} }
  for await (const said of client.experimental.tasks.callToolStream(call))
    if (said.type === 'taskCreated') return { client, taskId: said.task.taskId }
  throw new Error('no task was made')
}

test('a client of SDK v1 polls a task that never ends, and cannot see that it is done', async () => {
  const { command, tape } = chaos('tasks', { method: 'tasks/get', task: 'never-ends' })
  const { client, taskId } = await taskClient(command)
  await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema) // which waits for its end
  expect((await client.experimental.tasks.getTask(taskId)).status).toBe('working')
  expect(markedOn(tape)).toContain('task')
})

test('a client of SDK v1 is told that its task has expired', async () => {
  const { command, tape } = chaos('tasks', { method: 'tasks/get', task: 'expired' })
  const { client, taskId } = await taskClient(command)
  await expect(client.experimental.tasks.getTask(taskId)).rejects.toThrow('Task not found or expired')
  expect(markedOn(tape)).toContain('task')
})

test.each([
  ['never-ends', { status: 'working' }],
  ['expired', { error: 'Task not found or expired' }],
])(
  'a client of the Python SDK asks for a task with the fault %s, and is told what the fault says',
  async (task, seen) => {
    const { command, tape } = chaos('tasks', { method: 'tasks/get', task })
    const words = ['test/fixtures/clients/python-task.py', ...command]
    const child = spawn(installPythonSdk(), words, { stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(child, 'exit')
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    expect(JSON.parse(String(line))).toEqual(seen)
    await ended
    expect(markedOn(tape)).toContain('task')
  },
)

/** A session of SDK v2 in the modern era. */
function modernClient(command: readonly string[]): Promise<SdkProcess> {
  return connectStdio({
    sdk: 'v2',
    command,
    answers: { root: 'file:///nowhere', elicited: { sure: true } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  })
}

test.each(['stale-state', 'no-state'])(
  'a client of SDK v2 sends its input back with the %s that it was given',
  async (rounds) => {
    const { command, tape } = chaos('modern', { tool: 'deploy', nth: 1, rounds })
    const session = await modernClient(command)
    await session.client.listTools()
    expect(await callTool(session.client, 'deploy', { env: 'production' })).toMatchObject({
      content: [{ text: 'deployed to production: true' }],
    })
    await session.close()
    const sent = linesOf(tape).flatMap(({ dir, msg }) => {
      const { method, params } = (msg ?? {}) as { method?: string; params?: { requestState?: string } }
      return dir === 'c2s' && method === 'tools/call' ? [params?.requestState] : []
    })
    expect(sent.at(-1)).toBe(rounds === 'stale-state' ? 'reelay-stale-state' : undefined)
    expect(markedOn(tape)).toEqual(['rounds'])
  },
)

test('a client of SDK v2 whose subscription is lost hears of no change', async () => {
  const { command, tape } = chaos('modern', { method: 'subscriptions/listen', unsubscribe: true })
  const session = await modernClient(command)
  const listening = v2(session)
    .listen({ toolsListChanged: true })
    .catch(() => undefined)
  await callTool(session.client, 'learn', { name: 'sing' })
  expect((await session.client.listTools()).tools.map(({ name }) => name)).toContain('sing')
  expect(JSON.stringify(session.received)).not.toContain('list_changed')
  await session.close()
  await listening
  expect(markedOn(tape)).toEqual(['unsubscribe'])
})
