import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { attach } from '../support/control.ts'
import { proxyAccess } from '../support/forward.ts'
import { ask, httpServer, post, type Answer } from '../support/http.ts'
import { linesOf, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

// The tests find the control socket of a recorder by its home.
beforeEach(() => {
  process.env['REELAY_HOME'] = temporaryFolder()
})

const call = (id: number, name: string, args: object = {}, meta: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
})

interface Link {
  readonly tape: string
  /** Sends a message and returns what the client gets for it. */
  readonly send: (message: object) => Promise<string>
  readonly end: () => Promise<unknown>
}

type Opener = (url: string, ...options: string[]) => Promise<Link>

const reverse: Opener = async (url, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '-o', tape, '--url', url, ...options])
  const given = (): string | undefined => /client: (http\S+)/.exec(run.stderr())?.[1]
  await until(() => given() !== undefined)
  const send = async (message: object): Promise<string> =>
    bodyOf(await ask(given() ?? '', post(message, ACCEPT)))
  return { tape, send, end: () => (run.child.kill('SIGTERM'), run.exited) }
}

const forward: Opener = async (url, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '--forward', '-o', tape, ...options])
  const proxy = (): string | undefined => /HTTP_PROXY=(\S+)/.exec(run.stderr())?.[1]
  await until(() => proxy() !== undefined)
  const { origin, headers } = proxyAccess(proxy() ?? '')
  const send = async (message: object): Promise<string> =>
    bodyOf(
      await ask(origin, { ...post(message, { Host: new URL(url).host, ...headers, ...ACCEPT }), path: url }),
    )
  return { tape, send, end: () => (run.child.kill('SIGTERM'), run.exited) }
}

const bridge: Opener = async (url, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '--bridge', '--url', url, '-o', tape, ...options])
  const send = (message: object): Promise<string> => {
    run.child.stdin.write(`${JSON.stringify(message)}\n`)
    return run.line(`"id":${Reflect.get(message, 'id')}`)
  }
  return { tape, send, end: () => (run.child.stdin.end(), run.exited) }
}

const ACCEPT = { Accept: 'application/json, text/event-stream' }
const LINKS: readonly (readonly [string, Opener])[] = [
  ['--url', reverse],
  ['--forward', forward],
  ['--bridge', bridge],
]

/** What a client reads from a response: the JSON, or the data of its last event. */
function bodyOf({ body }: Answer): string {
  const events = body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: '))
  return events.at(-1)?.slice('data: '.length) ?? body.toString()
}

/** Answers a call with its arguments, as JSON or as a stream of events. */
async function echoServer(kind: 'json' | 'events'): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const { origin } = await httpServer(async (req: IncomingMessage, res) => {
    const body = await text(req)
    if (req.method !== 'POST') return res.writeHead(405).end()
    seen.push(body)
    const { id, params } = JSON.parse(body) as { id?: number; params?: { arguments?: object } }
    if (id === undefined) return res.writeHead(202).end()
    const response = JSON.stringify({ jsonrpc: '2.0', id, result: { echo: params?.arguments ?? {} } })
    if (kind === 'json') return res.writeHead(200, { 'Content-Type': 'application/json' }).end(response)
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    return res.end(`: first\n\nevent: message\nid: 7\ndata: ${response}\n\n`)
  })
  return { url: `${origin}/mcp`, seen }
}

describe.each(LINKS)('record %s --intercept', (_, open) => {
  test.each(['json', 'events'] as const)(
    'a request and its response, as %s, are held and changed, and both forms are on the tape',
    async (kind) => {
      const { url, seen } = await echoServer(kind)
      const link = await open(url, '--intercept', 'tool:search')
      const user = await attach(link.tape)
      const other = link.send(call(1, 'other', { q: 'passes' }))
      expect(await other).toContain('passes')
      const answer = link.send(call(2, 'search', { city: 'Oslo' }))
      const request = await user.held()
      expect(request).toMatchObject({ dir: 'c2s', target: 'search' })
      await user.command('edit', { key: request.key, text: request.text.replace('Oslo', 'Bergen') })
      const response = await user.held()
      expect(response).toMatchObject({ dir: 's2c', method: 'tools/call', target: 'search' })
      await user.command('edit', { key: response.key, text: response.text.replace('Bergen', 'Rome') })
      expect(await answer).toContain('Rome')
      expect(seen.at(-1)).toContain('Bergen')
      await link.end()
      const changed = linesOf(link.tape).filter((frame) => frame['modified'] === true)
      expect(changed.map((frame) => [frame['dir'], frame['side']])).toEqual([
        ['c2s', 'server'],
        ['s2c', 'client'],
      ])
      const textOf = async (side: 'client' | 'server'): Promise<string> => {
        const { turns } = await loadTape(link.tape, side)
        const [, turn] = turns
        return `${turn?.exchange} ${turn?.trigger?.text} ${turn?.response?.text}`
      }
      expect(await textOf('client')).toMatch(/^2 .*Oslo.*Rome/)
      expect(await textOf('server')).toMatch(/^2 .*Bergen.*Bergen/)
    },
  )

  test('a request is answered by the user and never reaches the server', async () => {
    const { url, seen } = await echoServer('json')
    const link = await open(url, '--intercept', 'tool:search')
    const user = await attach(link.tape)
    const answer = link.send(call(1, 'search'))
    const { key } = await user.held()
    await user.command('answer', { key, error: { code: -32000, message: 'not today' } })
    expect(await answer).toContain('not today')
    expect(seen.filter((body) => body.includes('search'))).toEqual([])
    await link.end()
    const [turn] = (await loadTape(link.tape)).turns
    expect(turn?.response?.text).toContain('not today')
    expect((await loadTape(link.tape, 'server')).turns).toEqual([])
  })

  test('a request is sent again for the user alone', async () => {
    const { url } = await echoServer('events')
    const link = await open(url, '--intercept', 'tool:nothing')
    const user = await attach(link.tape)
    await link.send(call(1, 'search', { q: 'again' }))
    await user.command('repeat', { exchange: 1 })
    await until(() => user.events.some(({ event }) => event === 'repeated'))
    expect(JSON.stringify(user.events.at(-1))).toContain('again')
    await link.end()
    expect((await loadTape(link.tape)).turns).toHaveLength(1)
  })
})

test('a client that wants progress gets it as events while its request is held, and then the response', async () => {
  const { url } = await echoServer('json')
  const link = await reverse(url, '--intercept', 'tool:search', '--hold-limit', '2s')
  const user = await attach(link.tape)
  const tape = join(link.tape)
  const whole = link.send(call(1, 'search', { q: 'slow' }, { progressToken: 'p' }))
  const { key, hasProgress } = await user.held()
  expect(hasProgress).toBe(true)
  await until(() => linesOf(tape).some((frame) => frame['action'] === 'progress'))
  await user.command('forward', { key })
  const response = await user.held()
  await user.command('forward', { key: response.key })
  expect(await whole).toContain('"echo":{"q":"slow"}')
  await link.end()
})

test('a dropped request ends its connection, and a dropped event is left out of its stream', async () => {
  const { url } = await echoServer('events')
  const link = await reverse(url, '--intercept', 'tool:search')
  const user = await attach(link.tape)
  const lost = link.send(call(1, 'search')).catch(String)
  const first = await user.held()
  await user.command('drop', { key: first.key })
  expect(await lost).toContain('socket hang up')
  await user.command('filter', { filter: 'tool:search dir:s2c' })
  const empty = link.send(call(2, 'search'))
  const second = await user.held()
  await user.command('drop', { key: second.key })
  expect(await empty).toBe(': first\n\n')
  await link.end()
})
