import type { JsonNode } from '../../json/node.ts'
import { isObject, member } from '../../json/parse.ts'
import { pickLabels, type TapeServer } from '../../tape/header.ts'
import { directionOf, FrameList } from './frame-list.ts'
import type { ImportedRecording, ImportFormat } from './import-format.ts'
import { commandWords, type ImportSource, timeOf } from './import-source.ts'
import { describedServer, stringList, textOr } from './message-lines.ts'

/* Recorders that write one document with a list of messages, each with a direction. */

/** qai and ctpf: sessions of their proxy. */
export const qaiFormat: ImportFormat = objectFormat({
  name: 'qai',
  description: 'sessions of qai and ctpf (session.json)',
  expects: '"messages" with "proxy_id" and "payload"',
  isOne: (root) => hasItemWith(root, 'messages', ['payload', 'direction', 'proxy_id']),
  read: (root) => {
    const list = new FrameList()
    for (const message of root.get('messages')?.items() ?? []) {
      const [dir, payload] = [directionOf(message.object['direction']), message.get('payload')]
      const original = message.object['modified'] === true ? message.get('original_payload') : undefined
      if (dir === undefined || payload === undefined) list.skip('messages without a direction or a payload')
      else
        list.frames.push({
          kind: 'message',
          dir,
          text: payload.text,
          at: timeOf(message.object['timestamp']),
          ...(original?.isObject === true && { original: original.text }),
        })
    }
    const id = root.string('id')
    return {
      frames: list.frames,
      notes: [...list.notes, 'qai removes members that are null from messages'],
      servers: { server: serverOf(root, ['server_command', 'server_url']) },
      ...(id !== undefined && { labels: pickLabels({ session: id }) }),
    }
  },
})

/** qai and ctpf: the results of a replay. */
export const qaiResultsFormat: ImportFormat = objectFormat({
  name: 'qai-results',
  description: 'replay results of qai and ctpf',
  expects: '"results" with "original_request"',
  isOne: (root) => hasItemWith(root, 'results', ['original_request']),
  read: (root) => {
    const list = new FrameList()
    for (const result of root.get('results')?.items() ?? []) {
      const sent = [result.get('sent_message'), result.get('original_request')].find(isJsonRpc)
      const response = result.get('response')
      if (sent === undefined) list.skip('results without the message that was sent')
      else list.text('c2s', sent.text)
      if (sent !== undefined && response?.isObject === true) list.text('s2c', response.text)
    }
    return {
      frames: list.frames,
      notes: [...list.notes, 'results contain no times except durations'],
      servers: { server: serverOf(root, ['target_command', 'target_url']) },
    }
  },
})

function isJsonRpc(node: JsonNode | undefined): node is JsonNode {
  return node?.object['jsonrpc'] === '2.0'
}

/** mcp-cassette (PyPI). Redacted values can have another type than the original. */
export const mcpCassettePyFormat: ImportFormat = objectFormat({
  name: 'mcp-cassette-py',
  description: 'cassettes of mcp-cassette (PyPI)',
  expects: '"format_version" and "messages" with "sender" and "payload"',
  isOne: (root) => 'format_version' in root.object && hasItemWith(root, 'messages', ['sender', 'payload']),
  read: (root) => {
    const list = new FrameList()
    const start = timeOf(root.object['recorded_at']) ?? 0
    for (const message of root.get('messages')?.items() ?? []) {
      const [dir, payload] = [directionOf(message.object['sender']), message.get('payload')]
      const exchange = message.number('exchange')
      const place = {
        at: start + (message.number('t_offset_ms') ?? 0),
        x: exchange === undefined ? undefined : exchange + 1,
      }
      if (dir === undefined || payload === undefined) list.skip('messages without a sender or a payload')
      else if (typeof payload.value === 'string') list.raw(dir, payload.value, 'not JSON', place)
      else list.text(dir, payload.text, place)
    }
    const hasRedacted = root
      .get('messages')
      ?.items()
      .some(({ object }) => object['redacted'] === true)
    const redacted = hasRedacted
      ? ['the cassette was redacted: its values can have other types than the originals']
      : []
    return {
      frames: list.frames,
      notes: [...list.notes, ...redacted],
      servers: { server: serverOf(root, ['', 'server_url']) },
    }
  },
})

/** mcp-flight-recorder: messages that were taken apart into members. */
export const flightRecorderFormat: ImportFormat = objectFormat({
  name: 'mcp-flight-recorder',
  description: 'traces of mcp-flight-recorder',
  expects: '"events" with "direction" and "kind", and "calls"',
  isOne: (root) => 'calls' in root.object && hasItemWith(root, 'events', ['direction', 'kind']),
  read: (root) => {
    const list = new FrameList()
    for (const event of root.get('events')?.items() ?? []) {
      const dir = directionOf(event.object['direction'])
      if (dir === undefined || !/^(request|response|notification)$/.test(event.string('kind') ?? ''))
        list.skip('events that are not messages')
      else list.text(dir, messageFromMembers(event), { at: timeOf(event.object['timestamp']) })
    }
    const hasRedacted = root.text.includes('"[REDACTED]"')
    return {
      frames: list.frames,
      notes: [
        ...list.notes,
        ...(hasRedacted ? ['the trace was redacted: progress tokens and other values are missing'] : []),
      ],
      servers: { server: describedServer(root.object['command']) ?? { transport: 'stdio' } },
    }
  },
})

/** Puts a message together from its members, which keep their spelling. */
function messageFromMembers(event: JsonNode): string {
  const id = event.get('id')
  const hasId = id !== undefined && (id.value !== null || event.object['kind'] === 'response')
  const names = ['method', 'params', 'result', 'error']
  const members = names.flatMap((name) => {
    const value = event.get(name)
    return value === undefined || (value.value === null && name !== 'result')
      ? []
      : [`"${name}":${value.text}`]
  })
  return `{${['"jsonrpc":"2.0"', ...(hasId ? [`"id":${id.text}`] : []), ...members].join(',')}}`
}

/** mcp-observatory: messages without ids. A response names the method of its request instead. */
export const observatoryFormat: ImportFormat = objectFormat({
  name: 'mcp-observatory',
  description: 'cassettes of mcp-observatory',
  expects: '"targetId" and "entries" with "direction" and "method"',
  isOne: (root) => 'targetId' in root.object && hasItemWith(root, 'entries', ['direction', 'method']),
  read: (root) => {
    const list = new FrameList()
    const open: { readonly method: string; readonly id: number }[] = []
    let id = 0
    for (const { object } of root.get('entries')?.items() ?? []) {
      const { direction, method, params, result, error } = object
      const place = { at: timeOf(object['timestampMs']) }
      const call = { method, ...(params !== undefined && { params }) }
      if (typeof method !== 'string') list.skip('entries without a method')
      else if (direction === 'request') {
        open.push({ method, id: ++id })
        list.value('c2s', { id, ...call }, place)
      } else if (direction === 'notification')
        list.value(CLIENT_NOTIFICATIONS.has(method) ? 'c2s' : 's2c', call, place)
      else {
        const index = open.findIndex((one) => one.method === method)
        const [request] = index < 0 ? [] : open.splice(index, 1)
        if (request === undefined) list.skip('responses without a request')
        else
          list.value(
            's2c',
            { id: request.id, ...(error === undefined ? { result: result ?? {} } : { error }) },
            place,
          )
      }
    }
    const transport = root.string('transport') ?? 'import'
    const name = root.string('targetId') ?? 'server'
    const notes = [...list.notes, 'the recording has no ids: they were made up in the order of the requests']
    return {
      frames: list.frames.map((frame) => ({ ...frame, server: name })),
      notes,
      servers: { [name]: { transport } },
    }
  },
})

const CLIENT_NOTIFICATIONS = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/roots/list_changed',
])

/** mcp-vcr: YAML with times that count from the beginning. */
export const mcpVcrFormat: ImportFormat = {
  name: 'mcp-vcr',
  description: 'YAML of mcp-vcr',
  reject: ({ yaml }) => {
    if (yaml === undefined) return 'not YAML with a map at the top'
    const [first] = listIn(yaml, 'messages')
    return isObject(first) && 'dir' in first && 'payload' in first
      ? undefined
      : 'no YAML with "meta" and "messages" with "dir" and "payload"'
  },
  read: ({ yaml }: ImportSource): ImportedRecording => {
    const list = new FrameList()
    const meta = member(yaml, 'meta')
    const start = timeOf(member(meta, 'recorded_at')) ?? 0
    for (const message of listIn(yaml, 'messages')) {
      const [dir, payload, t] = [
        directionOf(member(message, 'dir')),
        member(message, 'payload'),
        member(message, 't'),
      ]
      const at = start + (typeof t === 'number' ? t : 0)
      if (dir === undefined || payload === undefined) list.skip('messages without a direction or a payload')
      else if (typeof payload === 'string') list.text(dir, payload, { at })
      else list.text(dir, JSON.stringify(payload), { at })
    }
    const command = stringList(member(meta, 'server_command'))
    const reason = member(meta, 'incomplete_reason')
    const incomplete =
      member(meta, 'incomplete') === true
        ? [`the recording is incomplete: ${textOr(reason, 'no reason given')}`]
        : []
    const session = member(meta, 'session_id')
    return {
      frames: list.frames,
      notes: [...list.notes, ...incomplete],
      servers: { server: { transport: 'stdio', ...(command.length > 0 && { command }) } },
      ...(typeof session === 'string' && { labels: pickLabels({ session }) }),
    }
  },
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = member(value, name)
  return Array.isArray(list) ? list : []
}

interface ObjectFormat extends Omit<ImportFormat, 'reject' | 'read'> {
  readonly expects: string
  readonly isOne: (root: JsonNode) => boolean
  readonly read: (root: JsonNode, source: ImportSource) => ImportedRecording
}

/** A format that is one JSON object. */
export function objectFormat({ expects, isOne, read, ...format }: ObjectFormat): ImportFormat {
  return {
    ...format,
    reject: (source) => {
      const { json } = source
      if (json === undefined || !json.isObject) return source.notJsonObject() ?? 'not one JSON object'
      return isOne(json) ? undefined : `no ${expects}`
    },
    read: (source) => {
      const { json } = source
      return json === undefined ? { frames: [], notes: [] } : read(json, source)
    },
  }
}

/** Whether the first item of a list has these members. */
export function hasItemWith(root: JsonNode, name: string, members: readonly string[]): boolean {
  const list = root.object[name]
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  return isObject(first) && members.every((each) => Object.hasOwn(first, each))
}

/** The server that a recording names with a command line and a URL. */
function serverOf(root: JsonNode, [command, url]: readonly [string, string]): TapeServer {
  const [line, address] = [root.string(command), root.string(url)]
  const transport = root.string('transport') ?? (address === undefined ? 'stdio' : 'http')
  return {
    transport: transport === 'streamable-http' ? 'http' : transport,
    ...(line !== undefined && { command: commandWords(line) }),
    ...(address !== undefined && { url: address }),
  }
}
