import { gunzipSync } from 'node:zlib'
import { removeMembers } from '../../json/find-replace.ts'
import type { JsonNode } from '../../json/node.ts'
import { isObject, member } from '../../json/parse.ts'
import type { Direction } from '../../protocol/message.ts'
import type { TapeServer } from '../../tape/header.ts'
import { directionOf, FrameList, SessionNumbers } from './frame-list.ts'
import type { ImportFormat, ImportedRecording } from './import-format.ts'
import { brokenLinesNote, type ImportSource, timeOf } from './import-source.ts'

/*
 * Recorders that write one JSON object per message, each with a direction. They differ in the names of the members and in what
 * else they write.
 */

/** mcporter: the message itself, with a `_meta` that says where it belongs. */
export const mcporterFormat: ImportFormat = lineFormat({
  name: 'mcporter',
  description: 'NDJSON of mcporter record',
  expects: 'lines with "_meta": {"dir", "server"}',
  isOne: (row) => ['send', 'recv', 'lifecycle'].includes(String(member(row.object['_meta'], 'dir'))),
  read: ({ lines }) => {
    const list = new FrameList()
    const starts = new Map<string, number>()
    const names = new Set<string>()
    for (const row of lines.rows) {
      const meta = row.object['_meta']
      const [dir, server] = [member(meta, 'dir'), textOr(member(meta, 'server'), 'server')]
      names.add(server)
      const method = row.string('method') ?? ''
      if (method === '$transport/start') starts.set(server, (starts.get(server) ?? 0) + 1)
      const place = { at: timeOf(member(meta, 'ts')), server, conn: Math.max(1, starts.get(server) ?? 1) }
      if (dir === 'lifecycle') list.event(method === '$transport/close' ? 'eof' : 'start', {}, place)
      else list.text(dir === 'send' ? 'c2s' : 's2c', removeMembers(row.text, ['_meta']), place)
    }
    return recording(list, serversNamed(names))
  },
})

/** mcp-rec: epoch seconds, a spelled direction, and the message. The file is appended to. */
export const mcpRecFormat: ImportFormat = lineFormat({
  name: 'mcp-rec',
  description: 'JSONL of mcp-rec',
  expects: 'lines with "ts", "dir": "client->server" and "msg"',
  isOne: (row) => /^(client->server|server->client)$/.test(row.string('dir') ?? '') && 'msg' in row.object,
  read: ({ lines }) => {
    const list = new FrameList()
    const sessions = new SessionNumbers()
    for (const row of lines.rows) {
      const [dir, message] = [directionOf(row.object['dir']), row.get('msg')]
      if (dir === undefined || message === undefined) list.skip('lines without a message')
      else {
        const place = { at: timeOf(row.object['ts']), conn: sessions.connOf(dir, message.text) }
        if (message.object['_unparsed'] === true)
          list.raw(dir, message.string('_raw') ?? '', 'not JSON', place)
        else list.text(dir, message.text, place)
      }
    }
    return recording(list)
  },
})

/** mcp-recorder by toddegray: a summary with the command is the last line. */
export const mcpRecorderJsonlFormat: ImportFormat = lineFormat({
  name: 'mcp-recorder-jsonl',
  description: 'JSONL of mcp-recorder (toddegray)',
  expects: 'lines with "seq", "t", "dir" and "msg"',
  isOne: (row) => 'seq' in row.object && 'msg' in row.object && isTapeDirection(row),
  read: ({ lines }) => {
    const list = new FrameList()
    let server: TapeServer | undefined
    for (const row of lines.rows) {
      const dir = directionOf(row.object['dir'])
      const message = row.get('msg')
      if (row.object['type'] === 'summary') server = describedServer(row.object['server'])
      else if (dir === undefined || message === undefined) list.skip('lines without a message')
      else if (typeof message.value === 'string')
        list.raw(dir, message.value, 'not JSON', { at: timeOf(row.object['t']) })
      else list.text(dir, message.text, { at: timeOf(row.object['t']) })
    }
    return recording(list, server && { server })
  },
})

/** mcp-cassette (npm): a header, then frames whose times count from it. */
export const mcpCassetteJsonlFormat: ImportFormat = lineFormat({
  name: 'mcp-cassette',
  description: 'JSONL of mcp-cassette (npm)',
  expects: 'a first line with "type": "header" and "cassetteVersion"',
  isOne: (row) => row.object['type'] === 'header' && 'cassetteVersion' in row.object,
  read: ({ lines }) => {
    const list = new FrameList()
    const [header] = lines.rows
    const version = header?.number('cassetteVersion') ?? 0
    const start = timeOf(header?.object['startedAt'])
    const isHttp = header?.object['transport'] === 'http'
    for (const row of lines.rows.slice(1)) readCassetteRow(row, list, start ?? 0)
    const newer = version > 2 ? [`the cassette has version ${version}, and versions up to 2 are known`] : []
    const redacted = member(header?.object['redaction'], 'applied') === true ? [REDACTED_NOTE] : []
    const command = stringList(header?.object['command'])
    const url = header?.string('url')
    const server: TapeServer = {
      transport: isHttp ? 'http' : 'stdio',
      ...(command.length > 0 && { command }),
      ...(url !== undefined && { url }),
    }
    const { notes = [], ...read } = recording(list, { server })
    return { ...read, notes: [...notes, ...newer, ...redacted] }
  },
})

function readCassetteRow(row: JsonNode, list: FrameList, start: number): void {
  const dir = directionOf(row.object['dir'])
  const at = start + (row.number('t') ?? 0)
  const frame = row.get('frame')
  const data = row.string('data')
  if (row.object['type'] === 'frame' && dir !== undefined && frame !== undefined)
    list.text(dir, frame.text, { at })
  else if (row.object['type'] === 'raw' && dir !== undefined && data !== undefined)
    list.raw(dir, data, 'not JSON', { at })
  else if (row.object['type'] === 'chunks')
    for (const chunk of row.get('chunks')?.items() ?? []) {
      const message = chunk.get('frame')
      if (message !== undefined)
        list.text('s2c', message.text, { at: start + (chunk.number('t') ?? row.number('t') ?? 0) })
    }
  else list.skip(`lines of type ${JSON.stringify(row.object['type'] ?? null)}`)
}

const REDACTED_NOTE = 'the recorder replaced secrets by placeholders of its own, which stay as they are'

/** mcp-tape: raw lines, `in` from the client and `out` from the server. */
export const mcpTapeFormat: ImportFormat = lineFormat({
  name: 'mcp-tape',
  description: 'JSONL of mcp-tape',
  expects:
    'a first line with "type": "meta" and "mcpTapVersion", or lines with "t", "dir": "in" or "out", and "raw"',
  isOne: (row) =>
    'mcpTapVersion' in row.object || (/^(in|out)$/.test(row.string('dir') ?? '') && 'raw' in row.object),
  read: ({ lines }) => {
    const list = new FrameList()
    let server: TapeServer | undefined
    for (const row of lines.rows) {
      const at = timeOf(row.object['t'] ?? row.object['startedAt'])
      const raw = row.get('raw')
      const type = row.object['type']
      if (type === 'meta') server = { transport: 'stdio', command: stringList(row.object['command']) }
      else if (type === 'end') list.event('exit', { code: row.object['exitCode'] ?? null }, { at })
      else if (raw === undefined) list.skip('lines without a message')
      else list.text(row.object['dir'] === 'in' ? 'c2s' : 's2c', jsonTextOf(raw), { at })
    }
    return recording(list, server && { server })
  },
})

/** mcpsnoop: an envelope for messages, stderr and facts about the session. */
export const mcpsnoopFormat: ImportFormat = lineFormat({
  name: 'mcpsnoop',
  description: 'JSONL of mcpsnoop',
  expects: 'lines with "session_id", "seq" and "direction": "c2s", "s2c", "stderr" or "meta"',
  isOne: (row) => 'session_id' in row.object && /^(c2s|s2c|stderr|meta)$/.test(row.string('direction') ?? ''),
  read: ({ lines }) => {
    const list = new FrameList()
    const conns = new ConnNumbers()
    const servers = new Map<string, TapeServer>()
    for (const row of lines.rows) readSnoopRow(row, { list, conns, servers })
    return recording(list, Object.fromEntries(servers))
  },
})

interface SnoopState {
  readonly list: FrameList
  readonly conns: ConnNumbers
  readonly servers: Map<string, TapeServer>
}

function readSnoopRow(row: JsonNode, { list, conns, servers }: SnoopState): void {
  const server = row.string('server_label') ?? 'server'
  const direction = row.string('direction')
  const key = `${row.string('session_id')} ${row.get('conn_id')?.text ?? ''}`
  const place = { at: timeOf(row.object['ts']), server, conn: conns.connOf(server, key) }
  const raw = row.get('raw')
  const text = raw === undefined ? row.string('text') : jsonTextOf(raw)
  const isHttp = row.string('transport')?.includes('http') === true
  if (!servers.has(server)) servers.set(server, { transport: isHttp ? 'http' : 'stdio' })
  if (direction === 'meta') {
    const command = stringList(member(raw?.value, 'command'))
    if (command.length > 0) servers.set(server, { transport: 'stdio', command })
    return
  }
  if (direction === 'stderr') return list.stderr(`${row.string('text') ?? text ?? ''}\n`, place)
  if (text === undefined) return list.skip('envelopes without a message')
  if (row.object['truncated'] === true)
    return list.raw(direction === 'c2s' ? 'c2s' : 's2c', text, 'cut off by the recorder', place)
  list.text(direction === 'c2s' ? 'c2s' : 's2c', text, place)
}

/** Shadowcat tape v2: frames among records that only describe them. */
export const shadowcatFormat: ImportFormat = lineFormat({
  name: 'shadowcat',
  description: 'Shadowcat tapes, version 2',
  expects: 'a first line with "type": "init" and "tape_id"',
  isOne: (row) => row.object['type'] === 'init' && 'tape_id' in row.object,
  read: ({ lines }) => {
    const list = new FrameList()
    let server: TapeServer = { transport: 'stdio' }
    for (const row of lines.rows) {
      if (row.object['type'] !== 'frame') continue
      const dir = directionOf(row.object['dir'])
      const text = envelopeText(row)
      if (dir === undefined || text === undefined) list.skip('frames without a readable message')
      else list.text(dir, text, { at: timeOf(row.object['ts']) })
      const stdio = member(row.object['transport'], 'stdio') ?? member(row.object['transport'], 'Stdio')
      if (server.command === undefined && isObject(stdio)) server = describedServer(stdio) ?? server
    }
    return recording(list, { server })
  },
})

/** The message of an envelope. Older writers spell it as a text, and long ones are compressed. */
function envelopeText(row: JsonNode): string | undefined {
  const message = row.get('env')?.get('message')
  if (message !== undefined) return jsonTextOf(message)
  const packed = row.object['env_compressed']
  if (typeof packed !== 'string') return undefined
  try {
    const bytes = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_UNPACKED })
    const envelope: unknown = JSON.parse(bytes.toString('utf8'))
    const inner = member(envelope, 'message')
    return typeof inner === 'string' ? inner : inner === undefined ? undefined : JSON.stringify(inner)
  } catch {
    return undefined // the frame is counted as unreadable
  }
}

const MAX_UNPACKED = 64 * 1024 * 1024

/** Lines of other recorders, and Reelay's own export: a direction and a message, under the usual names. */
export const directedLinesFormat: ImportFormat = lineFormat({
  name: 'jsonl',
  description:
    'JSON lines that contain a direction and a JSON-RPC message, such as those of reelay export --format jsonl',
  expects: 'lines with a direction and a JSON-RPC message',
  isOne: (row) => {
    const found = directedMessage(row)
    return found !== undefined && member(found.message.value, 'jsonrpc') === '2.0'
  },
  read: ({ lines }) => {
    const list = new FrameList()
    const sessions = new SessionNumbers()
    const names = new Map<string, TapeServer>()
    for (const row of lines.rows) {
      const found = directedMessage(row)
      if (found === undefined) {
        list.skip('lines without a direction or a message')
        continue
      }
      const { dir, text } = found
      const server = row.string('server')
      if (server !== undefined) names.set(server, { transport: row.string('transport') ?? 'import' })
      const conn = row.number('conn') ?? sessions.connOf(dir, text, server)
      list.text(dir, text, { at: rowTime(row), server, conn, x: row.number('x') })
    }
    return recording(list, names.size === 0 ? undefined : Object.fromEntries(names))
  },
})

function rowTime(row: JsonNode): number | undefined {
  const name = ['time', 'ts', 'timestamp', 'at'].find((each) => each in row.object)
  return name === undefined ? undefined : timeOf(row.object[name])
}

interface DirectedMessage {
  readonly dir: Direction
  readonly message: JsonNode
  readonly text: string
}

const DIRECTION_NAMES = ['dir', 'direction', 'from', 'sender']
const MESSAGE_NAMES = ['message', 'msg', 'payload', 'frame', 'data', 'json', 'raw']

function directedMessage(row: JsonNode): DirectedMessage | undefined {
  const name = DIRECTION_NAMES.find((each) => directionOf(row.object[each]) !== undefined)
  const dir = name === undefined ? undefined : directionOf(row.object[name])
  if (dir === undefined) return undefined
  if (row.object['jsonrpc'] === '2.0')
    return { dir, message: row, text: removeMembers(row.text, ENVELOPE_NAMES) }
  const message = MESSAGE_NAMES.map((each) => row.get(each)).find((each) => each !== undefined)
  return message && { dir, message, text: jsonTextOf(message) }
}

const ENVELOPE_NAMES = [...DIRECTION_NAMES, 'ts', 'time', 'timestamp', 'at', 'server', 'conn', 'x', 'seq']

interface LineFormat extends Omit<ImportFormat, 'reject'> {
  /** What the lines of the format look like, for the error if they do not. */
  readonly expects: string
  readonly isOne: (row: JsonNode) => boolean
}

/** A format that one of the first lines shows. */
export function lineFormat({ expects, isOne, read, ...format }: LineFormat): ImportFormat {
  return {
    ...format,
    reject: ({ firstRows }) => {
      if (firstRows.length === 0) return 'not lines of JSON objects'
      return firstRows.some(isOne) ? undefined : `no ${expects}`
    },
    read: (source: ImportSource) => {
      const { notes = [], ...recorded } = read(source)
      return { ...recorded, notes: [...brokenLinesNote(source.lines), ...notes] }
    },
  }
}

/** Numbers the connections of a server by a key that the recorder gives them. */
class ConnNumbers {
  readonly #keys = new Map<string, string[]>()

  connOf(server: string, key: string): number {
    const keys = this.#keys.get(server) ?? []
    this.#keys.set(server, keys)
    return keys.includes(key) ? keys.indexOf(key) + 1 : keys.push(key)
  }
}

function recording(list: FrameList, servers?: Readonly<Record<string, TapeServer>>): ImportedRecording {
  return { frames: list.frames, notes: list.notes, ...(servers !== undefined && { servers }) }
}

function serversNamed(names: Iterable<string>): Readonly<Record<string, TapeServer>> {
  return Object.fromEntries([...names].map((name) => [name, { transport: 'import' }]))
}

/** The text of a message that is JSON, or a text that contains JSON. */
function jsonTextOf(node: JsonNode): string {
  return typeof node.value === 'string' ? node.value : node.text
}

function isTapeDirection(row: JsonNode): boolean {
  return row.object['dir'] === 'c2s' || row.object['dir'] === 's2c'
}

/** A server from `{command, args}`. */
export function describedServer(described: unknown): TapeServer | undefined {
  const command = member(described, 'command') ?? member(described, 'executable')
  if (typeof command !== 'string') return undefined
  return { transport: 'stdio', command: [command, ...stringList(member(described, 'args'))] }
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

export function stringList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
