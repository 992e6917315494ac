import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { isDeepStrictEqual } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { installPythonSdk } from '../../scripts/interop/ecosystem.mjs'
import { parseFaultRules } from '../../src/faults/fault-rules.ts'
import { FAULT_KINDS } from '../../src/faults/kinds/registry.ts'
import { recordHttp } from '../../src/record/http/record-url.ts'
import { FaultInjector } from '../../src/record/intercept/fault-injector.ts'
import { serveHttp } from '../../src/serve/http/serve-http.ts'
import { linesOf, temporaryFolder } from '../support/recorder.ts'
import { client, HANDSHAKE, server, tapeOf, type Said } from '../support/tape-of.ts'

vi.setConfig({ testTimeout: 120_000 })

const RESULT = {
  content: [{ type: 'text', text: 'one at 2026-11-18T10:00:00.000Z' }],
  structuredContent: { count: 1 },
  isError: false,
}
const OUTPUT = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] }
const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  client({ id: 1, method: 'tools/list' }),
  server({
    id: 1,
    result: {
      tools: [
        { name: 'first', inputSchema: { type: 'object' }, outputSchema: OUTPUT },
        { name: 'second', inputSchema: { type: 'object' } },
      ],
    },
  }),
  client({ id: 2, method: 'tools/call', params: { name: 'first', arguments: {} } }),
  server({ id: 2, result: RESULT }),
]

/** What a client saw of the session: its tools, and the result of its call. */
interface PlayedSession {
  readonly tools: readonly string[]
  readonly isError: boolean
  readonly text: string
  readonly structured: unknown
}

type Played = { readonly result: PlayedSession } | { readonly error: string } | { readonly hung: true }

type PlayClient = (url: string) => Promise<Played>

const TIMEOUT_MS = 1500
/** A client that takes longer does not keep its own time limit. */
const HUNG_AFTER_MS = 10_000

async function playSdk(sdk: 'v1' | 'v2', url: string): Promise<Played> {
  const mcp =
    sdk === 'v1'
      ? new ClientV1({ name: 'tester', version: '1' })
      : new ClientV2({ name: 'tester', version: '1' })
  const options = { timeout: TIMEOUT_MS }
  const play = async (): Promise<Played> => {
    try {
      if (mcp instanceof ClientV1) await mcp.connect(new HttpV1(new URL(url)), options)
      else await mcp.connect(new HttpV2(new URL(url)), options)
      const { tools } = await mcp.listTools(undefined, options)
      const call = { name: 'first', arguments: {} }
      const { content, structuredContent, isError } =
        mcp instanceof ClientV1
          ? await mcp.callTool(call, undefined, options)
          : await mcp.callTool(call, options)
      const text = (content as { text?: string }[]).map((part) => part.text ?? '').join('')
      const names = tools.map(({ name }) => name).toSorted()
      return {
        result: { tools: names, isError: isError === true, text, structured: structuredContent ?? null },
      }
    } catch (error) {
      return { error: String(error) }
    }
  }
  let timer: NodeJS.Timeout | undefined
  const hung = new Promise<Played>((resolve) => {
    timer = setTimeout(() => resolve({ hung: true }), HUNG_AFTER_MS)
  })
  try {
    return await Promise.race([play(), hung])
  } finally {
    clearTimeout(timer)
    await mcp.close().catch(() => {})
  }
}

/** Sessions of one process of the Python SDK. */
function pythonClient(): PlayClient {
  const child = spawn(installPythonSdk(), ['test/fixtures/clients/python-sdk.py'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill())
  const waiting = new Map<string, (played: Played) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { url, ...played } = JSON.parse(line) as Played & { url: string }
    waiting.get(url)?.(played)
  })
  return (url) =>
    new Promise((resolve) => {
      waiting.set(url, resolve)
      child.stdin.write(`${url}\n`)
    })
}

/** `recovered` means the same results as without a fault; `degraded` an error; `wrong` other results, without an error. */
type Outcome = 'recovered' | 'degraded' | 'wrong' | 'hung'

interface PlannedFault {
  readonly kind: (typeof FAULT_KINDS)[number]
  readonly value: unknown
  readonly method: string
}

/** Tasks, subscriptions and requests that need input are not in the session: `sdk-sessions.test.ts` has them. */
const OTHER_SESSIONS = new Set(['task', 'unsubscribe', 'rounds'])

const PLANNED: readonly PlannedFault[] = FAULT_KINDS.filter(({ name }) => !OTHER_SESSIONS.has(name)).flatMap(
  (kind) =>
    (kind.variants ?? [kind.example]).flatMap((value) => {
      const methods = ['tools/list', 'tools/call'].filter((name) => kind.affects?.test(name) !== false)
      return (methods.length === 0 ? ['initialize'] : methods).map((method) => ({ kind, value, method }))
    }),
)

/** Plays the session through the proxy, with one fault. Returns a row of the table. */
async function tryFault({ kind, value, method }: PlannedFault, play: PlayClient): Promise<string> {
  const rules = parseFaultRules({ faults: [{ method, [kind.name]: value }] })
  const tape = join(temporaryFolder(), 'chaos.tape.jsonl')
  await using served = await serveHttp({ tape: tapeOf(...SESSION) })
  const proxy = await recordHttp({
    url: served.url,
    tape,
    interceptor: new FaultInjector({ rules, seed: 1, transport: 'http' }),
  })
  const played = await play(proxy.url)
  await proxy.close()
  const marked = linesOf(tape).find(({ event }) => event === 'fault')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const name = value === true ? kind.name : `${kind.name} ${text}`
  const outcome = marked?.['kind'] === kind.name ? outcomeOf(played) : 'not injected'
  return `${name.padEnd(50)} ${method.padEnd(11)} ${outcome}`
}

function outcomeOf(played: Played): Outcome {
  if ('hung' in played) return 'hung'
  if ('error' in played || played.result.isError) return 'degraded'
  const expected: PlayedSession = {
    tools: ['first', 'second'],
    isError: false,
    text: RESULT.content[0]?.text ?? '',
    structured: RESULT.structuredContent,
  }
  return isDeepStrictEqual(played.result, expected) ? 'recovered' : 'wrong'
}

const CLIENTS: readonly (readonly [name: string, open: () => PlayClient])[] = [
  ['sdk-v1', () => (url) => playSdk('v1', url)],
  ['sdk-v2', () => (url) => playSdk('v2', url)],
  ['python-sdk', pythonClient],
]

/** The table of each client is pinned. `REELAY_PIN=1` writes it again. */
test.each(CLIENTS)(
  'every fault reaches a client of %s, and does to it what is pinned',
  async (name, open) => {
    const play = open()
    const rows: string[] = []
    const left = [...PLANNED.entries()]
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        rows[next[0]] = await tryFault(next[1], play)
    }
    await Promise.all(Array.from({ length: 16 }, worker))
    const path = join(import.meta.dirname, 'sdk-outcomes', `${name}.txt`)
    if (process.env['REELAY_PIN'] === '1') writeFileSync(path, `${rows.join('\n')}\n`)
    const pinned = readFileSync(path, 'utf8').trimEnd().split('\n')
    // On a busy machine a client may give up early. What differs is tried again, alone.
    for (const [at, fault] of PLANNED.entries())
      for (let again = 0; again < 3 && rows[at] !== pinned[at]; again++)
        rows[at] = await tryFault(fault, play)
    expect(rows).toEqual(pinned)
  },
)
