import { encodeFrame } from '../../src/tape/codec.ts'
import type { Frame } from '../../src/tape/frame.ts'
import { encodeHeader, type TapeHeader } from '../../src/tape/header.ts'
import { type Direction, classifyMessage } from '../../src/protocol/message.ts'

const HEADER: TapeHeader = {
  reelay: 1,
  id: '01KA2B3C4D5E6F7G8H9JKMNPQR',
  started: '2026-11-15T07:20:59.123Z',
  by: 'reelay 0.1.0',
  servers: { travel: { transport: 'stdio', command: ['node', 'travel.js', '--port', '0'], env: ['TOKEN'] } },
  tags: { suite: 'smoke' },
}

export function tapeText(frames: readonly Frame[], header: Partial<TapeHeader> = {}): string {
  return [encodeHeader({ ...HEADER, ...header }), ...frames.map(encodeFrame)]
    .map((line) => `${line}\n`)
    .join('')
}

export function said(n: number, t: number, dir: Direction, message: object | string): Frame {
  const text = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })
  return {
    kind: 'message',
    n,
    t,
    server: 'travel',
    conn: 1,
    dir,
    text,
    message: classifyMessage(JSON.parse(text)),
  }
}

export function call(n: number, t: number, id: number, name: string): readonly Frame[] {
  return [said(n, t, 'c2s', { id, method: 'tools/call', params: { name, arguments: {} } })]
}

export function end(frames: number): Frame {
  return { kind: 'event', n: frames, t: 500, event: 'end', details: { frames } }
}

export function handshake(): readonly Frame[] {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'tester', version: '2.0' },
  }
  const result = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: 'travel-server', version: '1.1' },
  }
  return [
    said(1, 0.412, 'c2s', { id: 0, method: 'initialize', params }),
    said(2, 48.9, 's2c', { id: 0, result }),
    said(3, 49.2, 'c2s', { method: 'notifications/initialized' }),
  ]
}

/** A call with progress and a question of the server, whose id is the one of `initialize`. */
export function trip(): readonly Frame[] {
  const params = { name: 'trip', arguments: { to: 'Lisbon' }, _meta: { progressToken: 4 } }
  return [
    said(4, 50, 'c2s', { id: 4, method: 'tools/call', params }),
    said(5, 60, 's2c', { method: 'notifications/progress', params: { progressToken: 4, progress: 1 } }),
    said(6, 70, 's2c', { id: 0, method: 'elicitation/create', params: { message: 'How?' } }),
    said(7, 95.5, 'c2s', { id: 0, result: { action: 'accept' } }),
    said(8, 120.75, 's2c', { id: 4, result: { content: [{ type: 'text', text: 'by train' }] } }),
  ]
}

export function parallelCalls(): readonly Frame[] {
  return [
    ...call(1, 10, 1, 'slow'),
    ...call(2, 11, 2, 'quick'),
    ...call(3, 12, 3, 'middle'),
    said(4, 16.5, 's2c', { id: 2, result: {} }),
    said(5, 52.25, 's2c', { id: 3, result: {} }),
    said(6, 100, 's2c', { id: 1, result: {} }),
  ]
}

/** One of everything: each outcome, stderr cut in the middle of a line, a print on stdout, an answer to nothing. */
export function busySession(): readonly Frame[] {
  const link = { server: 'travel', conn: 1, dir: 's2c' } as const
  const miss = { code: -31001, message: 'ARGUMENT_DRIFT: no recorded answer', data: { kind: 'replay_miss' } }
  return [
    ...handshake(),
    ...trip(),
    ...call(9, 130, 5, 'broken'),
    ...call(10, 131, 6, 'nope'),
    ...call(11, 132, 7, 'missed'),
    ...call(12, 133, 8, 'cancelled'),
    ...call(13, 134, 9, 'forgotten'),
    said(14, 140, 's2c', { id: 6, error: { code: -32602, message: 'Unknown tool: nope' } }),
    said(15, 150, 's2c', {
      id: 5,
      result: { isError: true, content: [{ type: 'text', text: 'no network' }] },
    }),
    said(16, 151, 's2c', { id: 7, error: miss }),
    said(17, 160, 'c2s', { method: 'notifications/cancelled', params: { requestId: 8 } }),
    said(18, 161, 's2c', { id: 99, result: {} }),
    { kind: 'stderr', n: 19, t: 162, ...link, stderr: 'listening\nwarn' },
    { kind: 'stderr', n: 20, t: 163, ...link, stderr: 'ing: low battery\n' },
    { kind: 'raw', n: 21, t: 164, ...link, raw: 'oops, a print', why: 'not JSON' },
    { kind: 'event', n: 22, t: 2480.5, server: 'travel', conn: 1, event: 'exit', details: { code: 0 } },
    end(23),
  ]
}

export function hostileSession(): readonly Frame[] {
  const evil = '\u001b[2J\u009b31m\r\n\t\u202egpj\u2066\u200b\u2028'
  const link = { server: 'travel', conn: 1, dir: 's2c' } as const
  const clientInfo = { name: evil, version: evil }
  return [
    said(1, 0, 'c2s', {
      id: evil,
      method: 'initialize',
      params: { clientInfo, capabilities: { [evil]: {} } },
    }),
    said(2, 1, 's2c', { id: evil, result: { serverInfo: clientInfo, protocolVersion: evil } }),
    said(3, 2, 'c2s', { id: 2, method: evil, params: { name: evil } }),
    said(4, 3, 's2c', { method: evil, params: evil }),
    said(5, 4, 's2c', { id: 9, method: evil }),
    said(6, 5, 's2c', { id: 2, error: { code: 1, message: evil, data: { kind: 'replay_miss' } } }),
    { kind: 'stderr', n: 7, t: 6, ...link, stderr: evil },
    { kind: 'raw', n: 8, t: 7, ...link, raw: evil, why: evil },
    { kind: 'event', n: 9, t: 8, server: evil, conn: 1, event: 'exit', details: { signal: evil } },
  ]
}

export function modernSession(): readonly Frame[] {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    'io.modelcontextprotocol/clientInfo': { name: 'modern-client', version: '3' },
  }
  const result = {
    resultType: 'input_required',
    requestState: 's1',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern-server', version: '4' } },
  }
  return [
    said(1, 1, 'c2s', {
      id: 1,
      method: 'tools/call',
      params: { name: 'pay', arguments: {}, _meta: envelope },
    }),
    said(2, 3.5, 's2c', { id: 1, result }),
  ]
}
