import type { IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import { serveHttp, type ServedHttp, type ServeHttpOptions } from '../../src/serve/http/serve-http.ts'
import { member } from '../../src/json/parse.ts'
import { ask, post, type Answer } from '../support/http.ts'

/** A tape that is served until the test is over. */
export async function serving(options: ServeHttpOptions): Promise<ServedHttp> {
  const served = await serveHttp(options)
  onTestFinished(() => served.close())
  return served
}

/** The headers of an answer that a client looks at. */
export function headerOf({ headers }: Answer, name: string): string | undefined {
  const line = headers.find((each) => each.toLowerCase().startsWith(`${name}: `))
  return line?.slice(name.length + 2)
}

export function jsonOf({ body }: Answer): unknown {
  return JSON.parse(body.toString())
}

/** The messages of an answer that is a stream. */
export function messagesOf({ body }: Answer): readonly unknown[] {
  return [...body.toString().matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'i',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'live', version: '2' } },
}

export interface RawSession {
  readonly id: string
  /** Sends a message in the session. */
  readonly say: (message: object, headers?: Record<string, string>) => Promise<Answer>
  readonly headers: Record<string, string>
}

/** Begins a session as a client would, without an SDK. */
export async function begin(url: string, version = '2025-11-25'): Promise<RawSession> {
  const params = { ...INITIALIZE.params, protocolVersion: version }
  const answer = await ask(url, post({ ...INITIALIZE, params }))
  const id = headerOf(answer, 'mcp-session-id') ?? ''
  const headers = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': version }
  const say: RawSession['say'] = (message, more = {}) =>
    ask(url, post({ jsonrpc: '2.0', ...message }, { ...headers, ...more }))
  return { id, headers, say }
}

/** Waits for the first chunk of a stream that holds this text; what came with and before it is returned. */
export async function read(stream: IncomingMessage, wanted: string): Promise<string> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes(wanted)) break
  }
  return text
}

export function errorOf(answer: Answer): { status: number; code: unknown } {
  return { status: answer.status, code: member(member(jsonOf(answer), 'error'), 'code') }
}
