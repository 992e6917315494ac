import { isObject, member, parseJson, type JsonObject } from '../../json/parse.ts'
import { JsonNode } from '../../json/node.ts'
import type { TapeServer } from '../../tape/header.ts'
import { FrameList } from './frame-list.ts'
import type { ImportedRecording, ImportFormat } from './import-format.ts'
import { type ImportSource, timeOf } from './import-source.ts'
import { lineFormat, describedServer } from './message-lines.ts'
import { hasItemWith, objectFormat } from './message-lists.ts'

/* Recorders that write tool calls and results, and no messages. */

/** A tool call as a recorder describes it. */
interface RecordedCall {
  readonly server?: string | undefined
  readonly tool: string
  readonly input: unknown
  /** A result of `tools/call`, a list of content, or any other value; `undefined` if the call was never answered. */
  readonly output: unknown
  readonly isError?: boolean
  /** A JSON-RPC error instead of a result. */
  readonly error?: unknown
  readonly at?: number | undefined
  readonly durationMs?: number | undefined
}

/** Turns calls into messages. Ids are made up. */
class CallList {
  readonly list: FrameList = new FrameList()
  #id = 0

  call({ server, tool, input, output, isError, error, at, durationMs = 0 }: RecordedCall): void {
    const params = { name: tool, arguments: isObject(input) ? input : {} }
    const end = at === undefined ? undefined : at + durationMs
    const result = callResult(output, isError)
    this.request(
      { method: 'tools/call', params },
      error !== undefined && error !== null
        ? { error: rpcError(error) }
        : output === undefined
          ? undefined
          : { result },
      { server, at },
      end,
    )
  }

  request(
    call: { readonly method: string; readonly params?: unknown },
    outcome: Readonly<Record<string, unknown>> | undefined,
    place: { readonly server?: string | undefined; readonly at?: number | undefined },
    end: number | undefined = place.at,
  ): void {
    const id = ++this.#id
    this.list.value('c2s', { id, ...call }, place)
    if (outcome !== undefined) this.list.value('s2c', { id, ...outcome }, { ...place, at: end })
  }

  tools(tools: readonly unknown[], place: { readonly at?: number | undefined } = {}): void {
    const listed = tools.flatMap(listedTool)
    if (listed.length > 0) this.request({ method: 'tools/list' }, { result: { tools: listed } }, place)
  }

  recording(
    servers: Readonly<Record<string, TapeServer>> | undefined,
    notes: readonly string[] = [],
  ): ImportedRecording {
    return {
      frames: this.list.inOrderOfTime(),
      notes: [...this.list.notes, ...notes, NO_HANDSHAKE_NOTE],
      ...(servers !== undefined && { servers }),
    }
  }
}

export const NO_HANDSHAKE_NOTE =
  'the recording contains no handshake: `reelay serve` derives its answer from the other messages'

function listedTool(tool: unknown): readonly JsonObject[] {
  if (typeof tool === 'string') return [{ name: tool, inputSchema: { type: 'object' } }]
  if (!isObject(tool) || typeof tool['name'] !== 'string') return []
  const { input_schema: schema, ...rest } = tool
  return [{ inputSchema: schema ?? { type: 'object' }, ...rest }]
}

/** A value in the form of a tool result. */
export function callResult(output: unknown, isError = false): JsonObject {
  const failed = isError ? { isError: true } : {}
  if (isObject(output) && Array.isArray(output['content'])) return { ...output, ...failed }
  if (Array.isArray(output) && output.every((item) => isObject(item) && typeof item['type'] === 'string'))
    return { content: output, ...failed }
  return {
    content: [{ type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output ?? null) }],
    ...failed,
  }
}

function rpcError(error: unknown): JsonObject {
  if (isObject(error) && typeof error['code'] === 'number') return error
  const message = isObject(error) ? error['message'] : error
  return { code: -32603, message: typeof message === 'string' ? message : JSON.stringify(message) }
}

/** mcp-time-travel: `recording.jsonl`, with `metadata.json` beside it. */
export const timeTravelFormat: ImportFormat = lineFormat({
  name: 'mcp-time-travel',
  description: 'recordings of mcp-time-travel (the folder, or its recording.jsonl)',
  expects: 'lines with "type": "tool_call", "tool" and "latency_ms"',
  isOne: ({ object }) => object['type'] === 'tool_call' && 'tool' in object && 'latency_ms' in object,
  read: ({ lines, companions }) => {
    const calls = new CallList()
    for (const row of lines.rows) {
      const { type, timestamp, tools, tool, input, output, is_error: failed } = row.object
      const at = timeOf(timestamp)
      if (type === 'tools_list') calls.tools(Array.isArray(tools) ? tools : [], { at })
      else if (type !== 'tool_call' || typeof tool !== 'string') calls.list.skip('lines that are not calls')
      else {
        const durationMs = row.number('latency_ms') ?? 0
        const start = at === undefined ? undefined : at - durationMs
        calls.call({ tool, input, ...timeTravelOutcome(output, failed), at: start, durationMs })
      }
    }
    const metadata = parseJson(companions.get('metadata.json') ?? '')
    const server = describedServer(member(metadata, 'serverConfig')) ?? { transport: 'import' }
    const name = member(metadata, 'serverName')
    return calls.recording({ [typeof name === 'string' && name !== '' ? name : 'server']: server })
  },
})

/** A JSON-RPC error is written as an output with `error` alone. */
function timeTravelOutcome(
  output: unknown,
  failed: unknown,
): Pick<RecordedCall, 'output' | 'isError' | 'error'> {
  const error = member(output, 'error')
  const isRpcError = failed === true && typeof member(error, 'code') === 'number' && isObject(output)
  if (isRpcError && Object.keys(output).length === 1) return { output: undefined, error }
  return { output, isError: failed === true }
}

/** Agent VCR by JaydenCJ. */
export const agentVcrCallsFormat: ImportFormat = objectFormat({
  name: 'agent-vcr-calls',
  description: 'cassettes of agent-vcr (JaydenCJ)',
  expects: '"agent_vcr_version" and "interactions" with "tool_name"',
  isOne: (root) => 'agent_vcr_version' in root.object || hasItemWith(root, 'interactions', ['tool_name']),
  read: (root) => {
    const calls = new CallList()
    for (const { object } of root.get('interactions')?.items() ?? []) {
      const { tool_name: tool, args, result, error } = object
      if (typeof tool !== 'string') calls.list.skip('interactions without a tool')
      else calls.call({ tool, input: args, output: result, error })
    }
    return calls.recording(undefined)
  },
})

/** MCPSpec. */
export const mcpSpecFormat: ImportFormat = objectFormat({
  name: 'mcpspec',
  description: 'recordings of MCPSpec',
  expects: '"steps" with "tool", "input" and "output"',
  isOne: (root) => hasItemWith(root, 'steps', ['tool', 'output']),
  read: (root) => {
    const calls = new CallList()
    let at = timeOf(root.object['createdAt'])
    calls.tools(Array.isArray(root.object['tools']) ? root.object['tools'] : [], { at })
    for (const step of root.get('steps')?.items() ?? []) {
      const { tool, input, output, isError } = step.object
      const durationMs = step.number('durationMs') ?? 0
      if (typeof tool !== 'string') calls.list.skip('steps without a tool')
      else calls.call({ tool, input, output, isError: isError === true, at, durationMs })
      if (at !== undefined) at += durationMs
    }
    return calls.recording({ [root.string('serverName') ?? 'server']: { transport: 'import' } })
  },
})

/** Session files of Claude Code. */
export const claudeCodeFormat: ImportFormat = lineFormat({
  name: 'claude-code',
  description: 'session files of Claude Code',
  expects: 'lines with "sessionId" and "message" with "content"',
  isOne: ({ object }) =>
    ('sessionId' in object || 'parentUuid' in object) &&
    isObject(object['message']) &&
    'role' in object['message'],
  read: (source) => readTranscript(source, claudeParts),
})

function claudeParts({ object }: JsonNode): readonly TranscriptPart[] {
  const content = member(object['message'], 'content')
  const at = timeOf(object['timestamp'])
  return (Array.isArray(content) ? content : [])
    .filter(isObject)
    .flatMap((part): readonly TranscriptPart[] => {
      const { type, id, name, input, tool_use_id: useId, content: output, is_error: failed } = part
      if (type === 'tool_use') return [{ kind: 'use', id, at, input, ...mcpName(name) }]
      if (type === 'tool_result')
        return [{ kind: 'result', id: useId, at, output: output ?? [], isError: failed === true }]
      return []
    })
}

/** Session files of Codex. Its events contain calls to MCP servers in full; other entries only their texts. */
export const codexFormat: ImportFormat = lineFormat({
  name: 'codex',
  description: 'session files of Codex (rollout-*.jsonl)',
  expects: 'lines with "type": "session_meta", "response_item" or "event_msg" and "payload"',
  isOne: ({ object }) =>
    /^(session_meta|response_item|event_msg|turn_context)$/.test(String(object['type'])) &&
    isObject(object['payload']),
  read: (source) => {
    const inFull = new Set(
      source.lines.rows.flatMap(({ object }) =>
        member(object['payload'], 'type') === 'mcp_tool_call_end'
          ? [member(object['payload'], 'call_id')]
          : [],
      ),
    )
    return readTranscript(source, (row) => codexParts(row, inFull))
  },
})

function codexParts({ object }: JsonNode, inFull: ReadonlySet<unknown>): readonly TranscriptPart[] {
  const payload = isObject(object['payload']) ? object['payload'] : {}
  const { type, call_id: id, name, arguments: given, output, invocation, result } = payload
  const at = timeOf(object['timestamp'])
  if (type === 'mcp_tool_call_end') {
    const [server, tool] = [member(invocation, 'server'), member(invocation, 'tool')]
    const ok = member(result, 'Ok') ?? (member(result, 'Err') === undefined ? result : undefined)
    const failure = member(result, 'Err')
    const input = member(invocation, 'arguments')
    return [
      {
        kind: 'use',
        id,
        at: startOf(at, payload['duration']),
        input,
        server: textOrNone(server),
        tool: String(tool),
      },
      { kind: 'result', id, at, output: ok ?? [], isError: member(ok, 'is_error') === true, error: failure },
    ]
  }
  if (inFull.has(id)) return []
  if (type === 'function_call')
    return [{ kind: 'use', id, at, input: parseJson(String(given)) ?? {}, ...mcpName(name) }]
  if (type === 'function_call_output') return [{ kind: 'result', id, at, output: codexOutput(output) }]
  return []
}

function startOf(end: number | undefined, duration: unknown): number | undefined {
  const [secs, nanos] = [member(duration, 'secs'), member(duration, 'nanos')]
  if (end === undefined || typeof secs !== 'number') return end
  return end - secs * 1000 - (typeof nanos === 'number' ? nanos / 1e6 : 0)
}

/** The output of a call to an MCP server is often the JSON of its content. */
function codexOutput(output: unknown): unknown {
  const text = typeof output === 'string' ? output : member(output, 'content')
  const parsed = typeof text === 'string' ? parseJson(text) : undefined
  return Array.isArray(parsed) || Array.isArray(member(parsed, 'content')) ? parsed : (text ?? output)
}

/** Session files of Gemini CLI, whose tool calls contain their results. */
export const geminiFormat: ImportFormat = {
  name: 'gemini-cli',
  description: 'session files of Gemini CLI',
  reject: ({ json, lines }) => {
    const messages = json?.object['messages'] ?? lines.rows.map(({ object }) => object)
    const isGemini =
      Array.isArray(messages) && messages.some((one) => Array.isArray(member(one, 'toolCalls')))
    return isGemini ? undefined : 'no messages with "toolCalls"'
  },
  read: (source: ImportSource): ImportedRecording => {
    const { json, lines } = source
    const rows = json === undefined ? lines.rows : (json.get('messages')?.items() ?? [])
    return readTranscript(source, geminiParts, rows)
  },
}

function geminiParts({ object }: JsonNode): readonly TranscriptPart[] {
  const calls = Array.isArray(object['toolCalls']) ? object['toolCalls'] : []
  return calls.filter(isObject).flatMap((call): readonly TranscriptPart[] => {
    const { id, name, args, result, status } = call
    const at = timeOf(call['timestamp'] ?? object['timestamp'])
    const use: TranscriptPart = { kind: 'use', id, at, input: args, ...mcpName(name) }
    const output = geminiOutput(result)
    return output === undefined
      ? [use]
      : [use, { kind: 'result', id, at, output, isError: status === 'error' }]
  })
}

function geminiOutput(result: unknown): unknown {
  const [first] = Array.isArray(result) ? result : [result]
  const response = member(member(first, 'functionResponse'), 'response') ?? first
  return member(response, 'content') === undefined
    ? (member(response, 'output') ?? member(response, 'error') ?? response)
    : response
}

/** A call or its result in the transcript of an agent. */
interface TranscriptPart extends Partial<
  Pick<RecordedCall, 'server' | 'tool' | 'input' | 'output' | 'isError' | 'error'>
> {
  readonly kind: 'use' | 'result'
  readonly id: unknown
  readonly at: number | undefined
}

/** Calls of tools that are not on an MCP server are left out. Without any call to one, all calls are kept. */
function readTranscript(
  { lines }: ImportSource,
  partsOf: (row: JsonNode) => readonly TranscriptPart[],
  rows: readonly JsonNode[] = lines.rows,
): ImportedRecording {
  const parts = rows.flatMap(partsOf)
  const results = new Map(parts.filter(({ kind }) => kind === 'result').map((part) => [part.id, part]))
  const uses = parts.filter(({ kind }) => kind === 'use')
  const remote = uses.filter(({ server }) => server !== undefined)
  const calls = new CallList()
  for (const use of remote.length > 0 ? remote : uses) {
    const result = results.get(use.id)
    const { server = 'agent', tool = '', input, at } = use
    calls.call({
      server,
      tool,
      input,
      output: result?.output,
      isError: result?.isError === true,
      error: result?.error,
      at,
      durationMs: Math.max(0, (result?.at ?? at ?? 0) - (at ?? 0)),
    })
  }
  const others = remote.length > 0 ? uses.length - remote.length : 0
  const names = new Set((remote.length > 0 ? remote : uses).map(({ server = 'agent' }) => server))
  return calls.recording(Object.fromEntries([...names].map((name) => [name, { transport: 'import' }])), [
    ...(others > 0 ? [`skipped ${others} calls of tools that are not on an MCP server`] : []),
    ...(remote.length === 0 && uses.length > 0
      ? ['no call names an MCP server: all calls are on one, named agent']
      : []),
    'the transcript contains tool calls only: no lists, notifications or ids of the messages',
  ])
}

/** Agents name the tool of an MCP server `mcp__server__tool`, `server__tool` or `mcp_server_tool`. */
function mcpName(name: unknown): { readonly tool: string; readonly server?: string } {
  const text = typeof name === 'string' ? name : ''
  const [, server, tool] =
    /^(?:mcp__)?([A-Za-z0-9][\w.-]*?)__(.+)$/.exec(text) ?? /^mcp_([A-Za-z0-9-]+)_(.+)$/.exec(text) ?? []
  return server === undefined || tool === undefined ? { tool: text } : { server, tool }
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
