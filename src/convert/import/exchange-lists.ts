import { removeMembers } from '../../json/find-replace.ts'
import { JsonNode } from '../../json/node.ts'
import { isObject, member } from '../../json/parse.ts'
import type { Direction } from '../../protocol/message.ts'
import { pickLabels, type TapeServer } from '../../tape/header.ts'
import { FrameList } from './frame-list.ts'
import type { ImportedRecording, ImportFormat } from './import-format.ts'
import { commandWords, type ImportSource, timeOf } from './import-source.ts'
import { stringList } from './message-lines.ts'
import { hasItemWith, objectFormat } from './message-lists.ts'

/* Recorders that write a list of requests, each with its response. */

/** Agent VCR, in Python and TypeScript. An interaction is written when its response arrives, and has the time of that. */
export const agentVcrFormat: ImportFormat = objectFormat({
  name: 'agent-vcr',
  description: '.vcr files of Agent VCR (Python and TypeScript)',
  expects: '"format_version" and "session" with "interactions"',
  isOne: (root) =>
    'format_version' in root.object && Array.isArray(member(root.object['session'], 'interactions')),
  read: (root) => {
    const list = new FrameList()
    const session = root.get('session')
    const metadata = root.get('metadata')
    const start = timeOf(metadata?.object['recorded_at'])
    addOpening(list, session, start)
    let before = start ?? 0
    for (const interaction of session?.get('interactions')?.items() ?? [])
      before = addInteraction(list, interaction, before)
    const id = metadata?.string('session_id')
    const labels = pickLabels({
      ...(id !== undefined && { session: id }),
      ...named('endpoint', metadata?.string('endpoint_id')),
      ...named('agent', metadata?.string('agent_id')),
      tags: Object.fromEntries(
        Object.entries(metadata?.get('tags')?.object ?? {}).map(([name, value]) => [name, String(value)]),
      ),
    })
    return { frames: list.frames, notes: list.notes, servers: { server: vcrServer(metadata) }, labels }
  },
})

function named(label: 'endpoint' | 'agent', value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [label]: value }
}

function vcrServer(metadata: JsonNode | undefined): TapeServer {
  const command = metadata?.string('server_command')
  const transport = metadata?.string('transport') ?? 'stdio'
  const args = stringList(metadata?.object['server_args'])
  return {
    transport,
    ...(command !== undefined && { command: [...commandWords(command), ...args] }),
  }
}

/** An empty recording has a made-up initialize, without a client. */
function addOpening(list: FrameList, session: JsonNode | undefined, at: number | undefined): void {
  const [request, response] = [session?.get('initialize_request'), session?.get('initialize_response')]
  if (request?.isObject !== true) return
  list.text('c2s', withoutNulls(request), { at })
  if (response?.isObject === true) list.text('s2c', withoutNulls(response), { at })
}

/** Returns the time at which the interaction ended. */
function addInteraction(list: FrameList, interaction: JsonNode, before: number): number {
  const dir: Direction = interaction.object['direction'] === 'server_to_client' ? 's2c' : 'c2s'
  const other: Direction = dir === 'c2s' ? 's2c' : 'c2s'
  const end = timeOf(interaction.object['timestamp']) ?? before
  const start = Math.max(before, end - (interaction.number('latency_ms') ?? 0))
  const [request, response] = [interaction.get('request'), interaction.get('response')]
  if (request?.isObject === true) list.text(dir, withoutNulls(request), { at: start })
  for (const notification of interaction.get('notifications')?.items() ?? [])
    list.text('s2c', withoutNulls(notification), { at: end })
  if (response?.isObject === true) list.text(other, withoutNulls(response), { at: end })
  return Math.max(before, end)
}

/** Python writes members that are missing as null, also the error of a response. The result of a response can be null. */
function withoutNulls(message: JsonNode): string {
  const nulls = ['id', 'params', 'error', 'result'].filter((name) => message.object[name] === null)
  const isResponse = !('method' in message.object)
  const keep = isResponse ? ['id', ...(message.object['error'] ? [] : ['result'])] : []
  return removeMembers(
    message.text,
    nulls.filter((name) => !keep.includes(name)),
  )
}

/** mcp-recorder by devhelm: exchanges over HTTP. */
export const mcpRecorderFormat: ImportFormat = objectFormat({
  name: 'mcp-recorder',
  description: 'cassettes of mcp-recorder (devhelm)',
  expects: '"version", "metadata" and "interactions" with "response_status"',
  isOne: (root) => hasItemWith(root, 'interactions', ['type', 'request', 'response_status']),
  read: (root) => {
    const list = new FrameList()
    const metadata = root.get('metadata')
    const url = metadata?.string('server_url')
    const isHttp = metadata?.object['transport_type'] !== 'stdio'
    let at = timeOf(metadata?.object['recorded_at']) ?? 0
    for (const [index, each] of (root.get('interactions')?.items() ?? []).entries()) {
      const place = isHttp ? { x: index + 1 } : {}
      const [method, path] = [each.string('http_method'), each.string('http_path')]
      const [request, response] = [each.get('request'), each.get('response')]
      if (isHttp)
        list.frames.push({
          kind: 'http',
          dir: 'c2s',
          http: { method: method ?? 'POST', path: path ?? '/mcp', headers: [] },
          at,
          ...place,
        })
      if (request?.isObject === true) list.text('c2s', request.text, { at, ...place })
      at += each.number('latency_ms') ?? 0
      const status = each.number('response_status')
      const type = each.object['response_is_sse'] === true ? 'text/event-stream' : 'application/json'
      if (isHttp && status !== undefined)
        list.frames.push({
          kind: 'http',
          dir: 's2c',
          http: { status, headers: response === undefined ? [] : [['content-type', type]] },
          at,
          ...place,
        })
      for (const one of response?.isArray === true ? response.items() : [response])
        if (one?.isObject === true) list.text('s2c', one.text, { at, ...place })
    }
    return {
      frames: list.frames,
      notes: list.notes,
      servers: {
        server: { transport: isHttp ? 'http' : 'stdio', ...(url !== undefined && isHttp && { url }) },
      },
    }
  },
})

/** The protocol view of MCP Inspector. A request contains its response. */
export const inspectorFormat: ImportFormat = {
  name: 'inspector',
  description: 'protocol exports of MCP Inspector',
  reject: ({ json }) => {
    const first: unknown = Array.isArray(json?.value) ? json.value[0] : undefined
    return isObject(first) && 'direction' in first && 'message' in first && 'timestamp' in first
      ? undefined
      : 'not a JSON array of entries with "timestamp", "direction" and "message"'
  },
  read: ({ json }: ImportSource): ImportedRecording => {
    const list = new FrameList()
    for (const entry of json?.items() ?? []) {
      const message = entry.get('message')
      const at = timeOf(entry.object['timestamp'])
      const dir: Direction = entry.object['origin'] === 'server' || isServerMessage(entry) ? 's2c' : 'c2s'
      const response = entry.get('response')
      if (message?.isObject !== true) list.skip('entries without a message')
      else list.text(dir, message.text, { at })
      if (response?.isObject === true)
        list.text(dir === 'c2s' ? 's2c' : 'c2s', response.text, {
          at: at === undefined ? undefined : at + (entry.number('duration') ?? 0),
        })
    }
    return { frames: list.inOrderOfTime(), notes: list.notes }
  },
}

/** Older exports have no `origin`: notifications came from the server, and so did responses without a request. */
function isServerMessage(entry: JsonNode): boolean {
  return entry.object['origin'] === undefined && entry.object['direction'] !== 'request'
}

/** Any other list of requests and responses. */
export const pairsFormat: ImportFormat = {
  name: 'pairs',
  description:
    'JSON or YAML with a list of {"request", "response"}, such as cassettes of mcptest and mcp-test fixtures',
  reject: (source) =>
    pairsIn(source).length > 0 ? undefined : 'no list of JSON-RPC requests with their responses',
  read: (source): ImportedRecording => {
    const list = new FrameList()
    for (const [index, pair] of pairsIn(source).entries()) addPair(list, pair, index + 1)
    const notes = [
      ...list.notes,
      'the order of the list is the order on the tape: calls at the same time follow each other',
    ]
    return { frames: list.frames, notes }
  },
}

const LIST_NAMES = [
  'interactions',
  'exchanges',
  'entries',
  'pairs',
  'messages',
  'calls',
  'records',
  'cassette',
]

function pairsIn(source: ImportSource): readonly JsonNode[] {
  const root =
    source.json ?? (source.yaml === undefined ? undefined : JsonNode.parse(JSON.stringify(source.yaml)))
  if (root === undefined) return source.lines.rows.filter(isPair)
  if (isPair(root)) return [root]
  const lists = [root, ...LIST_NAMES.map((name) => root.get(name))]
  return (
    lists
      .find((list) => list?.items().some(isPair))
      ?.items()
      .filter(isPair) ?? []
  )
}

function isPair(node: JsonNode): boolean {
  const { request, response, method } = node.object
  const call = isObject(request) ? request : node.object
  if (typeof call['method'] !== 'string' || response === undefined) return false
  return isObject(request) || (method !== undefined && isObject(response))
}

function addPair(list: FrameList, pair: JsonNode, number: number): void {
  const request = pair.get('request') ?? pair
  const response = pair.get('response')
  const at = timeOf(pair.object['timestamp'] ?? pair.object['recordedAt'] ?? pair.object['recorded_at'])
  const id = request.get('id')?.text ?? String(number)
  const params = request.get('params')
  const method = JSON.stringify(request.string('method'))
  const isWhole = request.object['jsonrpc'] === '2.0' && 'id' in request.object
  const call = `{"jsonrpc":"2.0","id":${id},"method":${method}${params === undefined ? '' : `,"params":${params.text}`}}`
  list.text('c2s', isWhole ? request.text : call, { at })
  const latency = pair.number('latency_ms') ?? pair.number('duration_ms') ?? 0
  if (response?.isObject === true)
    list.text('s2c', responseText(response, id), { at: at === undefined ? undefined : at + latency })
}

/** A response that is only a result gets the rest of its message. */
function responseText(response: JsonNode, id: string): string {
  const { object, text } = response
  if (object['jsonrpc'] === '2.0') return text
  const [name, value] =
    'result' in object
      ? ['result', response.get('result')?.text]
      : 'error' in object && isObject(object['error'])
        ? ['error', response.get('error')?.text]
        : ['result', text]
  return `{"jsonrpc":"2.0","id":${id},"${name}":${value}}`
}
