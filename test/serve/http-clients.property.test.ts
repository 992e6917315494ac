import { Agent } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/serve/http/serve-http.ts'
import { member } from '../../src/json/parse.ts'
import { ask, post } from '../support/http.ts'
import { begin, jsonOf } from './serving.ts'
import {
  answerOf,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../support/tape-of.ts'
import { costlyCases } from '../support/cases.ts'

interface Call {
  readonly tool: string
  readonly n: number
}

const tool = fc.constantFrom('a', 'b')
const n = fc.nat(2)
const recordedCalls = fc.array(fc.record({ tool, n }), { minLength: 1, maxLength: 12 })
const liveCalls = fc.array(fc.record({ tool: fc.oneof(tool, fc.constant('never')), n }), { maxLength: 6 })
const clients = fc.array(liveCalls, { minLength: 1, maxLength: 12 })

test('however clients at once interleave, each request gets its own recorded answer or a miss, by its own cursors', async () => {
  await fc.assert(
    fc.asyncProperty(recordedCalls, clients, fc.boolean(), async (recorded, live, isModern) => {
      expect(await playedTo(live, recorded, isModern)).toEqual(
        live.map((calls) => expectedFor(calls, recorded)),
      )
    }),
    costlyCases(25),
  )
}, 60_000)

test.each([false, true])(
  'three hundred clients at once, all counting their ids from 1 (modern: %s)',
  async (isModern) => {
    const recorded = Array.from({ length: 8 }, (_, at) => ({ tool: 'a', n: at % 3 }))
    const live = Array.from({ length: 300 }, (_, at) =>
      [0, 1, 2, 0, 1].map((each) => ({ tool: 'a', n: (at + each) % 4 })),
    )
    const expected = live.map((calls) => expectedFor(calls, recorded))
    expect(await playedTo(live, recorded, isModern)).toEqual(expected)
  },
  60_000,
)

/** What all calls of each client came to, by their content; all calls of all clients are under way at once. */
async function playedTo(
  live: readonly (readonly Call[])[],
  recorded: readonly Call[],
  isModern: boolean,
): Promise<readonly Outcome[]> {
  const served = await serveHttp({ tape: tapeOf(...saidFor(recorded, isModern)) })
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  try {
    return await Promise.all(
      live.map((calls, at) => outcomeOf(calls, { url: served.url, at, agent, isModern })),
    )
  } finally {
    agent.destroy()
    await served.close()
  }
}

function saidFor(recorded: readonly Call[], isModern: boolean): readonly Said[] {
  const calls = recorded.flatMap((call, at) => [
    client(isModern ? modernCall(at, call) : legacyCall(at, call)),
    server(isModern ? modernAnswer(at) : answerOf(at, `answer ${at}`)),
  ])
  return isModern ? calls : [...HANDSHAKE, ...calls]
}

type Outcome = Readonly<Record<string, readonly string[]>>

interface Client {
  readonly url: string
  readonly at: number
  readonly agent: Agent
  readonly isModern: boolean
}

async function outcomeOf(calls: readonly Call[], { url, at, agent, isModern }: Client): Promise<Outcome> {
  const target = isModern ? `${url}?client=${at}` : url
  const session = isModern ? {} : (await begin(url)).headers
  const answers = await Promise.all(
    calls.map(async (call, place) => {
      const id = place + 1
      const headers = isModern ? modernHeaders(call) : session
      const message = isModern ? modernCall(id, call) : legacyCall(id, call)
      const answer = jsonOf(await ask(target, { ...post({ jsonrpc: '2.0', ...message }, headers), agent }))
      expect(member(answer, 'id')).toBe(id)
      return [keyOf(call), textOf(answer)] as const
    }),
  )
  return grouped(answers)
}

/** By its own cursors a client gets the first recorded answers to each request, and misses when they are used up. */
function expectedFor(calls: readonly Call[], recorded: readonly Call[]): Outcome {
  const used = new Map<string, number>()
  return grouped(
    calls.map((call) => {
      const key = keyOf(call)
      const nth = used.get(key) ?? 0
      used.set(key, nth + 1)
      const at = recorded
        .map((each, place) => (keyOf(each) === key ? place : -1))
        .filter((place) => place >= 0)[nth]
      return [key, at === undefined ? 'miss' : `answer ${at}`] as const
    }),
  )
}

function grouped(pairs: readonly (readonly [key: string, text: string])[]): Outcome {
  const keys = [...new Set(pairs.map(([key]) => key))].toSorted()
  return Object.fromEntries(
    keys.map((key) => [
      key,
      pairs
        .filter(([each]) => each === key)
        .map(([, text]) => text)
        .toSorted(),
    ]),
  )
}

function keyOf({ tool: name, n: value }: Call): string {
  return `${name} ${value}`
}

function textOf(answer: unknown): string {
  const error = member(answer, 'error')
  if (error !== undefined) return member(error, 'code') === -39404 ? 'miss' : JSON.stringify(error)
  const [content] = member(member(answer, 'result'), 'content') as unknown[]
  return String(member(content, 'text'))
}

function legacyCall(id: number, { tool: name, n: value }: Call): object {
  return callOf(id, name, { n: value })
}

function modernCall(id: number, { tool: name, n: value }: Call): object {
  return { id, method: 'tools/call', params: { name, arguments: { n: value }, _meta: ENVELOPE } }
}

function modernAnswer(at: number): object {
  return { id: at, result: { content: [{ type: 'text', text: `answer ${at}` }], resultType: 'complete' } }
}

function modernHeaders({ tool: name }: Call): Record<string, string> {
  return { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name }
}
