import { ReelayError } from '../../errors.ts'
import { isObject, member, type JsonObject, parseJson } from '../../json/parse.ts'
import type { ImportFormat, ImportedMessage, ImportedRecording } from './import-format.ts'

/** Shadow's `.agentlog`: calls as content-addressed records, written by its recorder and by `shadow import --format mcp`. */
export const agentlogFormat: ImportFormat = {
  name: 'agentlog',
  description: 'Shadow logs that contain tool calls',
  matches: (text) => recordsIn(text.slice(0, text.indexOf('\n') + 1 || text.length)).length > 0,
  read: readAgentlog,
}

/** A request and its response, as a record describes them. */
interface LoggedCall {
  readonly method: string
  readonly params: unknown
  readonly outcome: JsonObject
}

function readAgentlog(text: string): ImportedRecording {
  const records = recordsIn(text)
  const calls = [...records.flatMap(toolsListCalls), ...records.flatMap(metadataCalls), ...toolCalls(records)]
  if (calls.length === 0)
    throw new ReelayError('IMPORT_FAILED', 'the records contain no call to an MCP server', {
      hint: 'record the session with Reelay, or import the JSON-RPC messages themselves with --format mcp',
    })
  const notes = [
    'these records contain no handshake: `reelay serve` derives its answer from the other messages',
  ]
  return { messages: calls.flatMap(messagesForCall), notes }
}

function recordsIn(text: string): readonly JsonObject[] {
  return text
    .split('\n')
    .map((line) => parseJson(line))
    .filter(isObject)
    .filter((record) => typeof record['kind'] === 'string' && isObject(record['payload']))
}

/** Builds a `tools/list` response from the tools that the metadata names. */
function toolsListCalls({ kind, payload }: JsonObject): readonly LoggedCall[] {
  const tools = kind === 'metadata' ? member(payload, 'tools') : undefined
  if (!Array.isArray(tools)) return []
  const named = tools.filter(isObject).map(({ name, description, input_schema: inputSchema }) => ({
    name,
    ...(description !== undefined && { description }),
    inputSchema: inputSchema ?? { type: 'object' },
  }))
  return [{ method: 'tools/list', params: undefined, outcome: { result: { tools: named } } }]
}

/** Calls of any method that the metadata contains in full. */
function metadataCalls({ kind, payload }: JsonObject): readonly LoggedCall[] {
  const calls = kind === 'metadata' ? member(member(payload, 'mcp'), 'calls') : undefined
  if (!Array.isArray(calls)) return []
  return calls.filter(isObject).flatMap(({ method, params, result, error }) => {
    if (typeof method !== 'string') return []
    return [{ method, params, outcome: error === undefined ? { result: result ?? {} } : { error } }]
  })
}

/** Tool calls: separate records, or parts of a chat. */
function toolCalls(records: readonly JsonObject[]): readonly LoggedCall[] {
  const parts = records.flatMap(loggedParts)
  const results = new Map(parts.filter(({ kind }) => kind === 'result').map((part) => [part.id, part.value]))
  return parts.flatMap(({ kind, id, value }) => {
    const result = results.get(id)
    return kind === 'use' && result !== undefined
      ? [{ method: 'tools/call', params: value, outcome: { result } }]
      : []
  })
}

interface LoggedPart {
  readonly kind: 'use' | 'result'
  readonly id: unknown
  readonly value: JsonObject
}

function loggedParts({ kind, payload }: JsonObject): readonly LoggedPart[] {
  const record = isObject(payload) ? payload : {}
  if (kind === 'tool_call') return [usePart(record['tool_call_id'], record['tool_name'], record['arguments'])]
  if (kind === 'tool_result')
    return [resultPart(record['tool_call_id'], record['output'], record['is_error'])]
  const content = kind === 'chat_response' ? record['content'] : undefined
  return Array.isArray(content) ? content.filter(isObject).flatMap(chatPart) : []
}

function chatPart({
  type,
  id,
  name,
  input,
  tool_use_id: useId,
  content,
  is_error: failed,
}: JsonObject): readonly LoggedPart[] {
  if (type === 'tool_use') return [usePart(id, name, input)]
  return type === 'tool_result' ? [resultPart(useId, content, failed)] : []
}

function usePart(id: unknown, name: unknown, input: unknown): LoggedPart {
  return { kind: 'use', id, value: { name, arguments: input ?? {} } }
}

function resultPart(id: unknown, output: unknown, failed: unknown): LoggedPart {
  const content = Array.isArray(output) ? output : [{ type: 'text', text: outputText(output) }]
  return { kind: 'result', id, value: { content, ...(failed === true && { isError: true }) } }
}

function outputText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output ?? null)
}

function messagesForCall({ method, params, outcome }: LoggedCall, id: number): readonly ImportedMessage[] {
  const request = { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }
  return [
    { dir: 'c2s', text: JSON.stringify(request) },
    { dir: 's2c', text: JSON.stringify({ jsonrpc: '2.0', id, ...outcome }) },
  ]
}
