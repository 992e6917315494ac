import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { beforeAll, expect, test, vi } from 'vitest'
import { serveHttp } from '../../src/serve/http/serve-http.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { REELAY } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { reelay } from './reelay.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const NODE = process.execPath
const server = (sdk: string): readonly string[] => [
  NODE,
  resolve('test/fixtures/servers/one-program.mjs'),
  sdk,
]
const client = (era: string): readonly string[] => [resolve('test/fixtures/clients/one-program.mjs'), era]

const folder = sharedFolder()
const tape = (name: string): string => join(folder, `${name}.tape.jsonl`)

// The same program and the same client, recorded on both SDKs and in both eras.
beforeAll(() => {
  for (const [era, sdk] of [
    ['legacy', 'v1'],
    ['legacy', 'v2'],
    ['modern', 'v2'],
  ] as const)
    execFileSync(NODE, [
      ...client(era),
      NODE,
      REELAY,
      'record',
      '-q',
      '-o',
      tape(`${era}-${sdk}`),
      '--',
      ...server(sdk),
    ])
})

/** Verifies once, and returns the report. */
async function verify(
  ...args: readonly string[]
): Promise<{ code: number | null; out: string; err: string }> {
  const { code, out, err } = await reelay('verify', '--allow-writes', '--repeat', '1', ...args)
  return { code, out, err }
}

test('a session is verified against a server without sessions, and the other way round', async () => {
  const [there, back] = await Promise.all([
    verify('--as', '2026-07-28', tape('legacy-v2'), '--', ...server('v2')),
    verify('--as', '2025-11-25', tape('modern-v2'), '--', ...server('v2')),
  ])
  expect(there.out).toContain('21 of 21 responses as recorded')
  expect(there.out).toContain(
    'note: from 2025-11-25 to 2026-07-28: 22 exchanges: 15 the same, 6 translated, 1 dropped by the specification, 0 without equivalent',
  )
  expect(there.out).toContain(
    'note: translated: a request of the server becomes a round of input (era-input-request, #8, #9)',
  )
  expect(there.code).toBe(0)
  expect(back.out).toContain('20 of 20 responses as recorded')
  expect(back.out).toContain('(era-input-round, #6, #7, #8, #9)')
  expect(back.code).toBe(0)
})

test('a client whose first request can do nothing is asked all the same', async () => {
  const lines = readFileSync(tape('modern-v2'), 'utf8').split('\n')
  const changed = join(folder, 'nothing.tape.jsonl')
  const declared = '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"sampling":{}}'
  const nothing = lines.map((line) =>
    line.includes('server/discover')
      ? line.replace(declared, '"io.modelcontextprotocol/clientCapabilities":{}')
      : line,
  )
  expect(nothing).not.toEqual(lines)
  writeFileSync(changed, nothing.join('\n'))
  const { code, out, err } = await verify('--as', '2025-11-25', changed, '--', ...server('v2'))
  expect(err).toBe('')
  expect([out.includes('20 of 20 responses as recorded'), code]).toEqual([true, 0])
})

test('a method that only sessions have, and that the server refused, has no equivalent there', async () => {
  const path = join(folder, 'ping.tape.jsonl')
  const lines = readFileSync(tape('modern-v2'), 'utf8').trim().split('\n')
  const last = lines.findLastIndex((line) => line.includes('"dir":"s2c"'))
  const frame = JSON.parse(lines[last] ?? '') as { n: number; t: number; server: string; conn: number }
  const { n, t, server: name, conn } = frame
  const message = (offset: number, dir: string, msg: object): string =>
    JSON.stringify({ n: n + offset, t, server: name, conn, dir, msg: { jsonrpc: '2.0', id: 'p', ...msg } })
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  const ping = [
    message(0.1, 'c2s', { method: 'ping', params: { _meta } }),
    message(0.2, 's2c', { error: { code: -32601, message: 'Method not found' } }),
  ]
  const numbered = lines
    .toSpliced(last + 1, 0, ...ping)
    .map((line, at) => (at === 0 ? line : JSON.stringify({ ...(JSON.parse(line) as object), n: at })))
  writeFileSync(path, `${numbered.join('\n')}\n`)
  const { code, out } = await reelay('lint', path, '--for', '2025-11-25')
  expect(out).toContain('era-session-method')
  expect(code).toBe(1)
})

test('what the other SDK really answers in another way is still a difference', async () => {
  const { code, out } = await verify('--as', '2026-07-28', tape('legacy-v1'), '--', ...server('v2'))
  expect(code).toBe(1)
  expect(out).toContain('19 of 21 responses as recorded, 2 differ')
  expect(out).toContain('differs    #19  resources/read')
  expect(out).toContain('differs    #22  tools/call no_such_tool')
})

test('each tape of a pair serves the other, exchange for exchange', async () => {
  const served = (name: string, as: string): readonly string[] => [
    NODE,
    REELAY,
    'serve',
    tape(name),
    '--as',
    as,
  ]
  const [modern, legacy] = await Promise.all([
    verify(tape('modern-v2'), '--', ...served('legacy-v2', '2026-07-28')),
    verify(tape('legacy-v2'), '--', ...served('modern-v2', '2025-11-25')),
  ])
  expect(modern.out).toContain('20 of 20 responses as recorded')
  expect(modern.code).toBe(0)
  // Without sessions, log messages come only for requests with a log level, and the modern client set none.
  expect(legacy.out).toContain('20 of 21 responses as recorded, 1 differs (notifications 1)')
  expect(legacy.out).toContain('notifications/message is missing')
})

/** Plays the client against a served tape. It fails if it does not get its answers. */
function session(era: string, name: string, as: string): () => unknown {
  const command = [...client(era), NODE, REELAY, 'serve', tape(name), '--as', as]
  return () => execFileSync(NODE, command, { stdio: 'ignore' })
}

test('clients of the other era use a tape over stdio, and everything that was recorded for them is played', () => {
  expect(session('modern', 'legacy-v1', '2026-07-28')).not.toThrow()
  expect(session('legacy', 'modern-v2', '2025-11-25')).not.toThrow()
})

test.each([
  ['modern', 'legacy-v2', '2026-07-28'],
  ['legacy', 'modern-v2', '2025-11-25'],
] as const)('a %s client uses the tape %s over HTTP, two clients at once', async (era, name, as) => {
  await using served = await serveHttp({ tape: await loadTape(tape(name)), as })
  const greet = async (): Promise<string> => {
    const sdk = new Client(
      { name: 'one-client', version: '1' },
      {
        capabilities: { elicitation: { form: {} } },
        ...(era === 'modern' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
      },
    )
    sdk.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }))
    await sdk.connect(new StreamableHTTPClientTransport(new URL(served.url)))
    const result = await sdk.callTool({ name: 'greet', arguments: {} })
    await sdk.close()
    return JSON.stringify(result.content)
  }
  const hello = JSON.stringify([{ type: 'text', text: 'Hello, Ada' }])
  // Clients without sessions are told apart by their names only, so they share what is left of the tape.
  expect(await Promise.all(era === 'legacy' ? [greet(), greet()] : [greet()])).toEqual(
    era === 'legacy' ? [hello, hello] : [hello],
  )
})

test('a refused client is told which option serves it', async () => {
  await using served = await serveHttp({ tape: await loadTape(tape('modern-v2')) })
  const response = await fetch(served.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
    }),
  })
  expect(await response.text()).toContain('Serve the tape with --as 2025-11-25')
})

test('the run is recorded in the era of the server, so a tape can be moved', async () => {
  const moved = tape('moved')
  const run = await verify('--as', '2026-07-28', '--record', moved, tape('legacy-v2'), '--', ...server('v2'))
  expect(run.code).toBe(0)
  const again = await verify(moved, '--', ...server('v2'))
  expect(again.code).toBe(0)
  const { turns } = await loadTape(moved)
  const methods = turns
    .map(({ trigger }) => trigger?.message)
    .map((message) => message && 'method' in message && message.method)
  expect(methods).toContain('server/discover')
  expect(methods).not.toContain('initialize')
})

test('lint makes the checklist from a tape alone', async () => {
  const { code, out } = await reelay('lint', tape('legacy-v1'))
  expect(code).toBe(0)
  expect(out).toContain('2025-11-25 → 2026-07-28')
  expect(out).toContain('era-subscribe  resources/subscribe and unsubscribe become subscriptions/listen  #4')
  expect(out.trimEnd().split('\n').at(-1)).toBe(
    '22 exchanges: 15 the same, 6 translated, 1 dropped by the specification, 0 without equivalent',
  )
  const sarif = join(folder, 'lint.sarif')
  await reelay('lint', tape('legacy-v1'), '--report', `sarif=${sarif}`)
  const { runs } = JSON.parse(readFileSync(sarif, 'utf8')) as { runs: { results: { ruleId: string }[] }[] }
  expect(runs[0]?.results.map(({ ruleId }) => ruleId)).toContain('era-ping')
})

test('--as with the era of the tape changes nothing, and says so', async () => {
  const run = await reelay(
    'verify',
    '--repeat',
    '1',
    '--allow-writes',
    '--as',
    '2026-07-28',
    tape('modern-v2'),
    '--',
    ...server('v2'),
  )
  expect(run.code).toBe(0)
  expect(run.err).toContain('--as 2026-07-28 changes nothing: the tape was recorded in this era')
})
