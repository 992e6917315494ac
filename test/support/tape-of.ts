import type { Tape } from '../../src/store/file/read.ts'
import type { Frame } from '../../src/tape/frame.ts'
import { buildTurns } from '../../src/tape/turn-builder.ts'
import { classifyMessage, META_KEYS } from '../../src/protocol/message.ts'
import type { JsonObject } from '../../src/json/parse.ts'

/** One message of a tape that a test makes up. */
export interface Said {
  readonly dir: 'c2s' | 's2c'
  readonly text: string
  readonly server?: string
  readonly conn?: number
  readonly x?: number
}

/** A message of the client; a text is taken as it is. */
export function client(message: object | string): Said {
  return { dir: 'c2s', text: textOf(message) }
}

export function server(message: object | string): Said {
  return { dir: 's2c', text: textOf(message) }
}

/** A call of a tool and its answer. */
export function call(id: number | string, name: string, args: JsonObject, answer: string): readonly Said[] {
  return [client(callOf(id, name, args)), server(answerOf(id, answer))]
}

export function callOf(id: number | string, name: string, args: JsonObject): JsonObject {
  return { id, method: 'tools/call', params: { name, arguments: args } }
}

export function answerOf(id: number | string, text: string): JsonObject {
  return { id, result: { content: [{ type: 'text', text }] } }
}

/** The opening of a legacy session. */
export const HANDSHAKE: readonly Said[] = [
  client({
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'recorded', version: '1' },
    },
  }),
  server({
    id: 0,
    result: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: 'recorded-server', version: '1' },
    },
  }),
  client({ method: 'notifications/initialized' }),
]

/** The `_meta` of a modern request. */
export const ENVELOPE: JsonObject = {
  [META_KEYS.protocolVersion]: '2026-07-28',
  [META_KEYS.clientCapabilities]: {},
  [META_KEYS.clientInfo]: { name: 'recorded', version: '1' },
}

export function framesOf(said: readonly Said[]): readonly Frame[] {
  return said.map((one, index) => ({
    kind: 'message',
    server: 'demo',
    conn: 1,
    ...one,
    n: index + 1,
    t: index + 1,
    message: classifyMessage(JSON.parse(one.text)),
  }))
}

/** A tape as the store would read it. */
export function tapeOf(...said: readonly Said[]): Tape {
  const names = [...new Set(['demo', ...said.flatMap(({ server: name }) => name ?? [])])]
  return {
    path: 'made-up.tape.jsonl',
    header: {
      reelay: 1,
      id: 'made-up',
      started: '2026-11-15T00:00:00.000Z',
      by: 'a test',
      servers: Object.fromEntries(names.map((name) => [name, { transport: 'stdio' }])),
      tags: {},
    },
    turns: buildTurns(framesOf(said)),
    strays: [],
    rest: [],
    frames: said.length,
    ended: true,
    problems: [],
  }
}

function textOf(message: object | string): string {
  return typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })
}
