import { expect, test } from 'vitest'
import { classifyFetch } from './hooks.ts'

const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const BOTH = { accept: 'application/json, text/event-stream' }
const STREAM = { accept: 'text/event-stream' }
const VERSION = { 'mcp-protocol-version': '2025-11-25' }
const SESSION = { 'Mcp-Session-Id': 'a' }

test.each<[string, RequestInit | undefined, boolean, string]>([
  ['a message', { method: 'POST', headers: BOTH, body: BODY }, false, 'streamable'],
  ['a batch', { method: 'POST', headers: BOTH, body: `[${BODY}]` }, false, 'streamable'],
  ['a stream of a session', { headers: { ...STREAM, ...SESSION } }, false, 'streamable'],
  ['the end of a session', { method: 'DELETE', headers: SESSION }, false, 'streamable'],
  ['a legacy stream of an SDK', { headers: STREAM }, true, 'sse stream'],
  ['a legacy message of an SDK', { method: 'POST', body: BODY }, true, 'sse message'],
  ['a stream of the AI SDK', { headers: { ...STREAM, ...VERSION } }, false, 'streamable'],
  ['a legacy message of the AI SDK', { method: 'POST', headers: VERSION, body: BODY }, false, 'sse message'],
  ['a page', undefined, false, 'other'],
  ['a page that an SDK fetches', undefined, true, 'other'],
  ['a token that an SDK fetches', { method: 'POST', body: 'grant_type=x', headers: BOTH }, true, 'other'],
  ['JSON-RPC that is no MCP', { method: 'POST', body: BODY }, false, 'other'],
  ['a stream of somebody else', { headers: STREAM }, false, 'other'],
  ['JSON of a language model', { method: 'POST', headers: BOTH, body: '{"model":"m"}' }, false, 'other'],
  ['a deletion', { method: 'DELETE' }, true, 'other'],
  ['an upload', { method: 'PUT', headers: SESSION }, false, 'other'],
  ['headers that cannot be', { method: 'POST', headers: { 'a b': 'c' }, body: BODY }, false, 'other'],
])('%s is told from the rest', (_, init, isFromSdk, kind) => {
  expect(classifyFetch(init, isFromSdk)).toBe(kind)
})
