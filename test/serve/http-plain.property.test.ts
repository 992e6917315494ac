import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/serve/http/serve-http.ts'
import { rawClient, type RawAnswer, type RawClient } from '../support/raw-http.ts'
import {
  answerOf,
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../support/tape-of.ts'
import { cases } from '../support/cases.ts'

const log = { method: 'notifications/message', params: { level: 'info', data: 'working' } }

const LEGACY: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'count', {}, 'one'),
  ...call(2, 'count', {}, 'zwölf'),
  ...call(3, 'count', { n: 1 }, 'x'.repeat(100_000)),
  client(callOf(4, 'work', {})),
  server(log),
  server(answerOf(4, 'done')),
  client(callOf(5, 'broken', {})),
  server({ id: 5, error: { code: -32000, message: 'out of order' } }),
]
const MODERN: readonly Said[] = LEGACY.slice(HANDSHAKE.length).map(({ dir, text }) => ({
  dir,
  text: dir === 'c2s' ? enveloped(text) : text,
}))

/** What is said to the server, and how: at each cut a new piece begins. */
interface Step {
  readonly body: string
  readonly headers: readonly string[]
  readonly path: string
  readonly cuts: readonly number[]
}

const id = fc.oneof(fc.nat(20), fc.constantFrom('a', 'é', '"', ''))
const requests = fc
  .record({ id, name: fc.constantFrom('count', 'work', 'broken', 'never'), n: fc.constantFrom({}, { n: 1 }) })
  .map(({ id: own, name, n }) => JSON.stringify({ jsonrpc: '2.0', ...callOf(own, name, n) }))
const bodies = fc.oneof(
  { weight: 6, arbitrary: requests },
  fc.constantFrom(
    '',
    '{',
    '[]',
    '{}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]',
  ),
)
const headers = fc.subarray([
  'Accept: text/html',
  'Content-Type: text/plain',
  'Mcp-Session-Id: unknown',
  'MCP-Protocol-Version: 1999-01-01',
  'Mcp-Name: other',
  'Host: example.com',
  'Origin: http://example.com',
  'Connection: close',
  'X-Other: 1',
])
const step: fc.Arbitrary<Step> = fc.record({
  body: bodies,
  headers: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, headers),
  path: fc.oneof(
    { weight: 6, arbitrary: fc.constant('/mcp') },
    fc.constantFrom('/', '/mcp?client=a', '/mcp/'),
  ),
  cuts: fc.array(fc.nat(600), { maxLength: 2 }),
})

test('a client gets the same answers, byte for byte, whether we read its requests or Node does', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (steps, isModern) => {
        const [ours, nodes] = [
          await played(steps, isModern, ourPieces),
          await played(steps, isModern, nodesPieces),
        ]
        expect(ours).toEqual(nodes)
      },
    ),
    cases(40),
  )
}, 120_000)

type Pieces = (text: string, cuts: readonly number[]) => readonly string[]

/** Cut within the body, if at all. */
const ourPieces: Pieces = (text, cuts) => {
  const body = text.indexOf('\r\n\r\n') + 4
  const places = cuts.map((cut) => Math.min(body + cut, text.length)).toSorted((a, b) => a - b)
  return [0, ...places].map((from, at) => text.slice(from, places[at]))
}

/** A head that comes in two pieces is for Node. */
const nodesPieces: Pieces = (text) => [text.slice(0, 1), text.slice(1)]

interface Played {
  readonly answers: readonly RawAnswer[]
  readonly drift: unknown
}

async function played(steps: readonly Step[], isModern: boolean, pieces: Pieces): Promise<Played> {
  const served = await serveHttp({ tape: tapeOf(...(isModern ? MODERN : LEGACY)) })
  const talk = new Talk(served.url, pieces)
  try {
    const session = isModern ? '' : await talk.begin()
    const answers: RawAnswer[] = []
    for (const each of steps) answers.push(await talk.say(isModern ? modernStep(each) : each, session))
    return { answers: answers.map((answer) => without(session, answer)), drift: served.drift() }
  } finally {
    talk.end()
    await served.close()
  }
}

/** Says one thing after the other, on one connection as long as it is kept. */
class Talk {
  readonly #url: string
  readonly #pieces: Pieces
  #client: RawClient | undefined

  constructor(url: string, pieces: Pieces) {
    this.#url = url
    this.#pieces = pieces
  }

  async begin(): Promise<string> {
    const { headers: lines } = await this.say(
      { body: HANDSHAKE[0]?.text ?? '', headers: [], path: '/mcp', cuts: [] },
      '',
    )
    return /Mcp-Session-Id: (\S+)/.exec(lines.join('\n'))?.[1] ?? ''
  }

  async say({ body, headers: changed, path, cuts }: Step, session: string): Promise<RawAnswer> {
    const { host } = new URL(this.#url)
    const usual = [
      `Host: ${host}`,
      'Accept: application/json, text/event-stream',
      'Content-Type: application/json',
    ]
    if (session !== '') usual.push(`Mcp-Session-Id: ${session}`, 'MCP-Protocol-Version: 2025-11-25')
    const kept = usual.filter((line) => !changed.some((other) => nameOf(other) === nameOf(line)))
    const lines = [...kept, ...changed, `Content-Length: ${Buffer.byteLength(body)}`]
    const talking = (this.#client ??= rawClient(this.#url))
    await talking.write(
      ...this.#pieces(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`, cuts),
    )
    const answer = await talking.answer()
    if (answer.headers.includes('Connection: close')) this.end()
    return answer
  }

  end(): void {
    this.#client?.socket.destroy()
    this.#client = undefined
  }
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':'))
}

function without(session: string, { status, headers: lines, body }: RawAnswer): RawAnswer {
  return {
    status,
    headers: lines.map((line) => (session === '' ? line : line.replace(session, '(ours)'))),
    body,
  }
}

function modernStep(given: Step): Step {
  const name = /"name":"(\w+)"/.exec(given.body)?.[1]
  const method = /"method":"([\w/]+)"/.exec(given.body)?.[1]
  const own = ['MCP-Protocol-Version: 2026-07-28', `Mcp-Method: ${method ?? 'x'}`, `Mcp-Name: ${name ?? 'x'}`]
  const kept = own.filter((line) => !given.headers.some((other) => nameOf(other) === nameOf(line)))
  return { ...given, body: enveloped(given.body), headers: [...kept, ...given.headers] }
}

/** The same call with what a modern one carries. */
function enveloped(text: string): string {
  return text.replace('"arguments":', `"_meta":${JSON.stringify(ENVELOPE)},"arguments":`)
}
