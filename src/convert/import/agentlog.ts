import { ReelayError } from '../../errors.ts'
import { isObject, member, type JsonObject } from '../../json/parse.ts'
import { FrameList } from './frame-list.ts'
import type { ImportedRecording, ImportFormat } from './import-format.ts'
import { timeOf } from './import-source.ts'
import { lineFormat } from './message-lines.ts'
import { callResult, NO_HANDSHAKE_NOTE } from './tool-calls.ts'

/** Shadow's `.agentlog`: calls as content-addressed records, written by its recorder and by `shadow import --format mcp`. */
export const agentlogFormat: ImportFormat = lineFormat({
  name: 'agentlog',
  description: 'Shadow logs that contain tool calls',
  expects: 'lines with "kind" and "payload"',
  isOne: isRecord,
  read: ({ lines }) => readAgentlog(lines.rows.filter(isRecord).map(({ object }) => object)),
})

function isRecord({ object }: { readonly object: JsonObject }): boolean {
  return typeof object['kind'] === 'string' && isObject(object['payload']) && !('proxy_id' in object)
}

/** A request and its response, as a record describes them. */
interface LoggedCall {
  readonly method: string
  readonly params: unknown
  readonly outcome: JsonObject
  /** The call is a notification, which has no response. */
  readonly isNotification?: boolean
  readonly at?: number | undefined
}

function readAgentlog(records: readonly JsonObject[]): ImportedRecording {
  const calls = [...records.flatMap(toolsListCalls), ...records.flatMap(metadataCalls), ...toolCalls(records)]
  if (calls.length === 0)
    throw new ReelayError('IMPORT_FAILED', 'the records contain no call to an MCP server', {
      hint: 'record the session with Reelay, or import the JSON-RPC messages themselves with --format mcp',
    })
  const list = new FrameList()
  for (const [index, call] of calls.entries()) addCall(list, call, index)
  const hasHandshake = calls.some(({ method }) => method === 'initialize')
  return { frames: list.inOrderOfTime(), notes: hasHandshake ? [] : [NO_HANDSHAKE_NOTE] }
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
  return calls.filter(isObject).flatMap(({ method, params, result, error, notification }) => {
    if (typeof method !== 'string') return []
    const outcome = error === undefined || error === null ? { result: result ?? {} } : { error }
    return [{ method, params, outcome, isNotification: notification === true }]
  })
}

/** Tool calls: separate records, or parts of a chat. */
function toolCalls(records: readonly JsonObject[]): readonly LoggedCall[] {
  const parts = records.flatMap(loggedParts)
  const results = new Map(parts.filter(({ kind }) => kind === 'result').map((part) => [part.id, part.value]))
  return parts.flatMap(({ kind, id, value, at }) => {
    const result = results.get(id)
    return kind === 'use' && result !== undefined
      ? [{ method: 'tools/call', params: value, outcome: { result }, at }]
      : []
  })
}

interface LoggedPart {
  readonly kind: 'use' | 'result'
  readonly id: unknown
  readonly value: JsonObject
  readonly at?: number | undefined
}

function loggedParts({ kind, payload, ts }: JsonObject): readonly LoggedPart[] {
  const record = isObject(payload) ? payload : {}
  const at = timeOf(ts)
  if (kind === 'tool_call')
    return [{ ...usePart(record['tool_call_id'], record['tool_name'], record['arguments']), at }]
  if (kind === 'tool_result')
    return [{ ...resultPart(record['tool_call_id'], record['output'], record['is_error']), at }]
  const content = kind === 'chat_response' ? record['content'] : undefined
  const parts = Array.isArray(content) ? content.filter(isObject).flatMap(chatPart) : []
  return parts.map((part) => ({ ...part, at }))
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
  return { kind: 'result', id, value: callResult(output, failed === true) }
}

function addCall(
  list: FrameList,
  { method, params, outcome, isNotification, at }: LoggedCall,
  id: number,
): void {
  const call = { method, ...(params !== undefined && { params }) }
  if (isNotification === true) return list.value(notificationSender(method), call, { at })
  list.value('c2s', { id, ...call }, { at })
  list.value('s2c', { id, ...outcome }, { at })
}

function notificationSender(method: string): 'c2s' | 's2c' {
  return /^notifications\/(initialized|cancelled|roots\/list_changed)$/.test(method) ? 'c2s' : 's2c'
}
