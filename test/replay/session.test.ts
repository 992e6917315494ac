import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { member } from '../../src/json/parse.ts'
import { fixtureServer, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const tape = join(sharedFolder(), 'session.tape.jsonl')

beforeAll(async () => {
  const client = new Client({ name: 'recorded-client', version: '7' }, { capabilities: { sampling: {} } })
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'a secret ingredient' },
  }))
  const args = [REELAY, 'record', '-q', '-o', tape, '--', ...fixtureServer('meet-and-ask')]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  await Promise.all([client.callTool({ name: 'meet' }), client.callTool({ name: 'meet' })])
  await client.callTool({ name: 'ask' })
  await client.notification({ method: 'notifications/progress', params: { progressToken: 'x', progress: 1 } })
  await client.callTool({ name: 'hello' })
  await client.close()
})

test('calls that were open together are open together again, and a question under the id of an open call is answered', async () => {
  const { code, out } = await reelay('verify', tape)
  expect(out).toMatch(/verdict: as recorded\n/)
  expect(code).toBe(0)
})

test('the handshake is its own: an id of its own, the recorded capabilities, the name reelay, then initialized', async () => {
  const [initialize, initialized] = await sentWith('--handshake', 'own')
  expect(initialize).toMatchObject({
    id: '__handshake__',
    method: 'initialize',
    params: { capabilities: { sampling: {} }, clientInfo: { name: 'reelay' } },
  })
  expect(initialized).toMatchObject({ method: 'notifications/initialized' })
})

test('the recorded handshake goes out when it is wanted, and none when none is', async () => {
  const [initialize, initialized, ...rest] = await sentWith('--handshake', 'recorded')
  expect(initialize).toMatchObject({ params: { clientInfo: { name: 'recorded-client', version: '7' } } })
  expect(initialized).toMatchObject({ method: 'notifications/initialized' })
  expect(await sentWith('--handshake', 'none')).toEqual(rest)
})

test('requests and notifications go out in their order, and nothing that the server had said', async () => {
  const sent = await sentWith()
  expect(sent.map(({ method, params }) => `${method} ${params?.name ?? ''}`.trim()).slice(2)).toEqual([
    'tools/call meet',
    'tools/call meet',
    'tools/call ask',
    'notifications/progress',
    'tools/call hello',
  ])
})

test('what each message brought is written down: the original, what was sent, the answer, the error, the time', async () => {
  const file = join(temporaryFolder(), 'results.json')
  await reelay('replay', tape, '--results', file)
  const { results } = JSON.parse(readFileSync(file, 'utf8')) as { results: readonly object[] }
  const { trigger } = (await loadTape(tape)).turns.findLast((turn) => turn.response !== undefined) ?? {}
  expect(results.at(-1)).toEqual({
    original_request: {
      id: `frame-${trigger?.n}`,
      method: 'tools/call',
      jsonrpc_id: member(trigger?.message, 'id'),
    },
    sent_message: expect.objectContaining({ method: 'tools/call', params: { name: 'hello' } }) as object,
    response: expect.objectContaining({ result: { content: [{ type: 'text', text: 'hello' }] } }) as object,
    error: null,
    duration_ms: expect.any(Number) as number,
  })
  expect(results.at(-2)).toMatchObject({ response: null, error: null })
})

test('a result and the messages of its exchange have the same id, which is that of the exported session', async () => {
  const [file, session] = ['results.json', 'session.json'].map((name) => join(temporaryFolder(), name))
  await reelay('replay', tape, '--results', file ?? '')
  await run('export', tape, '--format', 'qai', '-o', session ?? '')
  const { results, messages } = JSON.parse(readFileSync(file ?? '', 'utf8')) as Results
  const exported = JSON.parse(readFileSync(session ?? '', 'utf8')) as Pick<Results, 'messages'>
  expect(results.length).toBeGreaterThan(4)
  for (const { original_request: original, sent_message: sent } of results) {
    expect(messages.find((each) => each.proxy_id === original.id)?.payload).toEqual(sent)
    expect(exported.messages.find((each) => each.proxy_id === original.id)).toMatchObject({
      method: original.method,
    })
  }
})

test('the results of every run are kept', async () => {
  const file = join(temporaryFolder(), 'results.json')
  await reelay('replay', tape, '--repeat', '3', '--results', file)
  const { runs, results } = JSON.parse(readFileSync(file, 'utf8')) as Results
  expect(runs?.map(({ run: number }) => number)).toEqual([1, 2, 3])
  for (const each of runs ?? []) {
    expect(each.results.map(({ original_request: { id } }) => id)).toEqual(
      results.map(({ original_request: { id } }) => id),
    )
    expect(each.results.at(-1)).toMatchObject({ response: { result: { content: [{ text: 'hello' }] } } })
    expect(each.messages.length).toBeGreaterThan(each.results.length)
  }
  await reelay('replay', tape, '--results', file)
  expect(JSON.parse(readFileSync(file, 'utf8'))).not.toHaveProperty('runs')
})

test('the option names of qai are read as those of Reelay, and the command line that is run is shown', async () => {
  const folder = temporaryFolder()
  const [results, own] = ['results.json', 'own.tape.jsonl'].map((name) => join(folder, name))
  const command = fixtureServer('meet-and-ask')
    .map((word) => `"${word}"`)
    .join(' ')
  const target = ['--target-command', command, '--timeout', '7.5']
  const { code, err } = await run('replay', '--session-file', tape, ...target, '--output', results ?? '')
  expect(code).toBe(0)
  expect(err).toContain(`reelay: read as: reelay replay ${tape} --timeout 7.5s --results ${results} -- `)
  const written = JSON.parse(readFileSync(results ?? '', 'utf8')) as Results
  expect(written.results[0]?.original_request.id).toMatch(/^frame-\d+$/)
  const options = [`--target-command=${command}`, '--no-handshake', '--allow-writes', '--record', own ?? '']
  expect(await run('replay', `--session-file=${tape}`, ...options)).toMatchObject({ code: 0 })
  const [first] = (await loadTape(own ?? '')).turns
  expect(first?.trigger?.text).toContain('recorded-client')
  const elsewhere = await run('verify', '--session-file', tape, '--target-url', 'http://127.0.0.1:1/mcp')
  expect(elsewhere).toMatchObject({ code: 3 })
  expect(elsewhere.err).toContain(`read as: reelay verify ${tape} --url http://127.0.0.1:1/mcp\n`)
  const twice = await reelay('replay', '--session-file', tape, ...target)
  expect(twice).toMatchObject({ code: 2 })
  expect(twice.err).toContain('the server command is given twice')
})

test('a session is recorded with the option names of qai, and a server keeps its own options', async () => {
  const file = join(temporaryFolder(), 'session.json')
  const program = `process.stdin.on('data', () => console.log(JSON.stringify(process.argv.slice(2))))`
  const args = ['--transport', 'stdio', '--target-command']
  const line = `"${process.execPath}" -e "${program}" -- 'two words' a\\ b`
  const { child, exited, stdout } = start([
    process.execPath,
    REELAY,
    'record',
    ...args,
    process.platform === 'win32' ? line.replace('a\\ b', '"a b"') : line,
    '--session-file',
    file,
  ])
  child.stdin.end('{}\n')
  await exited
  expect(JSON.parse(stdout().toString())).toEqual(['a b'])
  expect((await loadTape(file)).ended).toBe(true)
  const own = await run(
    'record',
    '-o',
    `${file}l`,
    '--',
    process.execPath,
    '-p',
    'process.argv[1]',
    '--',
    '--session-file',
  )
  expect(own.out).toBe('--session-file\n')
})

interface Results {
  readonly results: readonly {
    readonly original_request: { readonly id: string; readonly method: string }
    readonly sent_message: object
    readonly response: object | null
  }[]
  readonly messages: readonly { readonly proxy_id: string; readonly payload: object }[]
  readonly runs?: readonly (Omit<Results, 'runs'> & { readonly run: number })[]
}

test('all that was said is written down in its order: names, numbers, directions and payloads', async () => {
  const file = join(temporaryFolder(), 'results.json')
  await reelay('replay', tape, '--results', file)
  const { messages } = JSON.parse(readFileSync(file, 'utf8')) as { messages: readonly Said[] }
  expect(messages.map(({ sequence }) => sequence)).toEqual([...messages.keys()])
  const [request, response] = messages.slice(-2)
  expect(request).toEqual({
    proxy_id: expect.stringMatching(/^frame-\d+$/) as string,
    sequence: messages.length - 2,
    direction: 'client_to_server',
    jsonrpc_id: expect.any(Number) as number,
    method: 'tools/call',
    correlated_id: null,
    payload: expect.objectContaining({ params: { name: 'hello' } }) as object,
  })
  expect(response).toEqual({
    proxy_id: `${request?.proxy_id}-answer`,
    sequence: messages.length - 1,
    direction: 'server_to_client',
    jsonrpc_id: request?.jsonrpc_id,
    method: null,
    correlated_id: request?.proxy_id,
    payload: expect.objectContaining({ result: { content: [{ type: 'text', text: 'hello' }] } }) as object,
  })
})

interface Said {
  readonly proxy_id: string
  readonly sequence: number
  readonly jsonrpc_id: unknown
}

test('an answer that does not come is recorded as that, and the run goes on', async () => {
  const file = join(temporaryFolder(), 'results.json')
  const edited = editedTape('"name":"ask"', '"name":"sulk"')
  const { code } = await reelay('replay', edited, '--timeout', '3000', '--results', file)
  const { results } = JSON.parse(readFileSync(file, 'utf8')) as {
    results: readonly { error: string | null }[]
  }
  expect(code).toBe(1)
  expect(results.map(({ error }) => error).slice(-3)).toEqual(['no answer within 3000 ms', null, null])
})

test('a payload that is edited in the file is what goes out', async () => {
  const sent = await sentBy(editedTape('"name":"hello"', '"name":"meet"'), '--timeout', '3000')
  expect(sent.at(-1)).toMatchObject({ params: { name: 'meet' } })
})

test('a tape and exactly one server have to be named', async () => {
  const none = await run('replay')
  const both = await reelay('replay', tape, '--url', 'http://127.0.0.1:1/mcp')
  expect([none.code, both.code]).toEqual([2, 2])
})

interface Sent {
  readonly method: string
  readonly params?: { readonly name?: string }
}

/** The tape with another text in the frames of the client. */
function editedTape(from: string, to: string): string {
  const path = join(temporaryFolder(), 'edited.tape.jsonl')
  const lines = readFileSync(tape, 'utf8').split('\n')
  writeFileSync(
    path,
    lines.map((line) => (line.includes('"dir":"c2s"') ? line.replace(from, to) : line)).join('\n'),
  )
  return path
}

function sentWith(...options: readonly string[]): Promise<readonly Sent[]> {
  return sentBy(tape, ...options)
}

/** What the client of a replay sends, by the tape that it makes; our own look at the tools left out. */
async function sentBy(path: string, ...options: readonly string[]): Promise<readonly Sent[]> {
  const own = join(temporaryFolder(), 'run.tape.jsonl')
  await reelay('replay', path, '--record', own, ...options)
  const { turns } = await loadTape(own)
  const sent = turns.flatMap(({ trigger }) =>
    trigger === undefined ? [] : [JSON.parse(trigger.text) as Sent & { id?: unknown }],
  )
  return sent.filter(({ id }) => typeof id !== 'string' || !id.startsWith('__tools'))
}

function reelay(...args: readonly string[]): ReturnType<typeof run> {
  return run(...args, '--', ...fixtureServer('meet-and-ask'))
}

async function run(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const { child, exited, stdout, stderr } = start([process.execPath, REELAY, ...args])
  child.stdin.end()
  const { code } = await exited
  return { code, out: stdout().toString(), err: stderr() }
}
