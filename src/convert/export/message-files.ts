import { jsonOnOneLine } from '../../json/parse.ts'
import type { MessageFrame } from '../../tape/frame.ts'
import type { TapeHeader, TapeServer } from '../../tape/header.ts'
import { quoteShellWord } from '../../text.ts'
import {
  type ExportFormat,
  type ExportedTape,
  framesToWrite,
  isoTime,
  type WrittenFrame,
} from './export-format.ts'

/* Formats with one entry per message. The messages keep their spelling. */

/** Lines that any program can read: time, server, direction and message. */
export const jsonlExport: ExportFormat = {
  name: 'jsonl',
  description: 'one line of JSON per message, with its time, server and direction',
  extension: '.jsonl',
  write: (tape, losses) =>
    framesToWrite(tape, losses, { timing: true, connections: true, exchanges: true })
      .filter((frame) => frame.kind === 'message')
      .map(
        ({ t, server, conn, x, dir, text }) =>
          `{"time":"${preciseTime(tape.header, t)}","server":${JSON.stringify(server)},"conn":${conn}${x === undefined ? '' : `,"x":${x}`},"dir":"${dir}","message":${jsonOnOneLine(text)}}\n`,
      )
      .join(''),
}

/** mcporter puts its own facts into the message. */
export const mcporterExport: ExportFormat = {
  name: 'mcporter',
  description: 'NDJSON that mcporter replay reads',
  extension: '.ndjson',
  write: (tape, losses) => {
    const frames = framesToWrite(tape, losses, { timing: true, connections: true })
    losses.note('times below a millisecond')
    const started = new Set<string>()
    return frames
      .flatMap((frame) => {
        if (frame.kind !== 'message' || frame.message.kind === 'batch') {
          losses.count('batches')
          return []
        }
        const link = `${frame.conn} ${frame.server}`
        const isNew = !started.has(link)
        started.add(link)
        const opening = isNew
          ? [`{"jsonrpc":"2.0","method":"$transport/start",${mcporterMeta(tape.header, frame, 'lifecycle')}}`]
          : []
        const [, body = '', end = '}'] = /^([^]*?)(\s*\}\s*)$/.exec(jsonOnOneLine(frame.text)) ?? []
        const comma = body.endsWith('{') ? '' : ','
        return [
          ...opening,
          `${body}${comma}${mcporterMeta(tape.header, frame, frame.dir === 'c2s' ? 'send' : 'recv')}${end}`,
        ]
      })
      .map((line) => `${line}\n`)
      .join('')
  },
}

function mcporterMeta(header: TapeHeader, { t, server }: WrittenFrame, dir: string): string {
  return `"_meta":${JSON.stringify({ dir, server, ts: isoTime(header, t) })}`
}

export const mcpRecExport: ExportFormat = {
  name: 'mcp-rec',
  description: 'JSONL of mcp-rec',
  extension: '.rec.jsonl',
  holdsOneServer: true,
  write: (tape, losses) => {
    const frames = framesToWrite(tape, losses, {
      timing: true,
      raw: true,
      connections: opensEachConnection(tape),
    })
    const start = Date.parse(tape.header.started)
    return frames
      .flatMap((frame) => {
        if (frame.kind === 'stderr') return []
        const dir = frame.dir === 'c2s' ? 'client->server' : 'server->client'
        const message =
          frame.kind === 'message'
            ? jsonOnOneLine(frame.text)
            : JSON.stringify({ _raw: frame.raw, _unparsed: true })
        return [`{"ts": ${((start + frame.t) / 1000).toFixed(6)}, "dir": "${dir}", "msg": ${message}}\n`]
      })
      .join('')
  },
}

/** Its readers find the next session by its handshake. */
function opensEachConnection({ frames }: ExportedTape): boolean {
  const seen = new Set<number>()
  for (const frame of frames) {
    if (frame.kind !== 'message' || seen.has(frame.conn)) continue
    seen.add(frame.conn)
    if (seen.size > 1 && !(frame.message.kind === 'request' && frame.message.method === 'initialize'))
      return false
  }
  return true
}

export const mcpCassetteExport: ExportFormat = {
  name: 'mcp-cassette',
  description: 'cassette of mcp-cassette (npm), version 2',
  extension: '.cassette.jsonl',
  holdsOneServer: true,
  write: (tape, losses) => {
    const frames = framesToWrite(tape, losses, { timing: true, raw: true, server: true })
    const [info] = serverOf(tape)
    const isHttp = info.transport.includes('http')
    const hasSession = frames.some(
      (frame) =>
        frame.kind === 'message' && frame.message.kind === 'request' && frame.message.method === 'initialize',
    )
    const header = {
      type: 'header',
      cassetteVersion: 2,
      recorder: tape.header.by.replace(' ', '@'),
      startedAt: tape.header.started,
      transport: isHttp ? 'http' : 'stdio',
      ...(info.command !== undefined && { command: info.command }),
      ...(info.url !== undefined && { url: info.url }),
      era: hasSession ? 'legacy' : 'modern',
    }
    const lines = frames.flatMap((frame) => {
      if (frame.kind === 'stderr') return []
      const place = `"t":${frame.t},"dir":"${frame.dir}"`
      return frame.kind === 'message'
        ? [`{"type":"frame",${place},"frame":${jsonOnOneLine(frame.text)}}`]
        : [`{"type":"raw",${place},"data":${JSON.stringify(frame.raw)}}`]
    })
    return [JSON.stringify(header), ...lines].map((line) => `${line}\n`).join('')
  },
}

/** qai and ctpf. The id of a message names its frame on the tape, so that results can be joined with it. */
export const qaiExport: ExportFormat = {
  name: 'qai',
  description: 'session.json of qai and ctpf',
  extension: '.session.json',
  holdsOneServer: true,
  write: (tape, losses) => {
    const frames = framesToWrite(tape, losses, {
      timing: true,
      originals: true,
      labels: ['session'],
      server: true,
    })
      .filter((frame) => frame.kind === 'message')
      .filter((frame) => {
        if (frame.message.kind === 'batch') losses.count('batches')
        return frame.message.kind !== 'batch'
      })
    losses.note('times below a millisecond')
    const requests = requestsOfResponses(tape)
    const [info] = serverOf(tape)
    const { header } = tape
    const transport = qaiTransport(info)
    const head = {
      id: header.session ?? header.id,
      started_at: isoTime(header, 0),
      ended_at: isoTime(header, tape.frames.at(-1)?.t ?? 0),
      transport,
      server_command: info.command === undefined ? null : info.command.map(quoteShellWord).join(' '),
      server_url: info.url ?? null,
    }
    const messages = frames.map((frame, sequence) =>
      qaiMessage(frame, { sequence, transport, header, requests }),
    )
    return `${JSON.stringify(head).slice(0, -1)},"messages":[\n${messages.join(',\n')}\n],"metadata":{}}\n`
  },
}

function qaiTransport({ transport }: TapeServer): string {
  if (transport === 'sse') return 'sse'
  return transport === 'http' ? 'streamable-http' : 'stdio'
}

interface QaiContext {
  readonly sequence: number
  readonly transport: string
  readonly header: TapeHeader
  readonly requests: ReadonlyMap<number, number>
}

function qaiMessage(frame: MessageFrame, { sequence, transport, header, requests }: QaiContext): string {
  const { message, n, t, dir, text, original } = frame
  const id = message.kind === 'request' || message.kind === 'response' ? message.id : null
  const request = requests.get(n)
  const facts = {
    proxy_id: proxyId(n),
    sequence,
    timestamp: isoTime(header, t),
    direction: dir === 'c2s' ? 'client_to_server' : 'server_to_client',
    transport,
    jsonrpc_id: id,
    method: message.kind === 'request' || message.kind === 'notification' ? message.method : null,
    correlated_id: request === undefined ? null : proxyId(request),
    modified: original !== undefined,
  }
  const before = original === undefined ? '' : `,"original_payload":${jsonOnOneLine(original)}`
  return `${JSON.stringify(facts).slice(0, -1)},"payload":${jsonOnOneLine(text)}${before}}`
}

function proxyId(frame: number): string {
  return `frame-${frame}`
}

/** The frame of the request that each response answers. */
function requestsOfResponses({ turns }: ExportedTape): ReadonlyMap<number, number> {
  const requests = new Map<number, number>()
  for (const { trigger, response, steps } of turns) {
    if (trigger !== undefined && response !== undefined) requests.set(response.n, trigger.n)
    for (const step of steps)
      if (step.kind === 'ask' && step.answer !== undefined) requests.set(step.answer.n, step.request.n)
  }
  return requests
}

/** The results of a replay in the form of qai: every request that was sent, and what came back. */
export const qaiResultsExport: ExportFormat = {
  name: 'qai-results',
  description: 'results in the form of qai and ctpf: each request with its response',
  extension: '.results.json',
  holdsOneServer: true,
  write: (tape, losses) => {
    framesToWrite(tape, losses, { server: true })
    const [info] = serverOf(tape)
    const results = tape.turns.flatMap(({ trigger, response, steps }) => {
      losses.count(
        'messages besides requests and responses',
        steps.filter(({ kind }) => kind !== 'respond').length,
      )
      if (trigger?.message.kind !== 'request') {
        losses.count('messages besides requests and responses', trigger === undefined ? 0 : 1)
        return []
      }
      const { id, method } = trigger.message
      const duration = response === undefined ? 0 : response.t - trigger.t
      const original = JSON.stringify({ id: proxyId(trigger.n), method, jsonrpc_id: id })
      const error = response === undefined ? '"no response was recorded"' : 'null'
      return [
        `{"original_request":${original},"sent_message":${jsonOnOneLine(trigger.text)},"response":${response === undefined ? 'null' : jsonOnOneLine(response.text)},"error":${error},"duration_ms":${duration}}`,
      ]
    })
    const command = info.command === undefined ? null : info.command.map(quoteShellWord).join(' ')
    const head = { target_command: command, target_url: info.url ?? null }
    return `${JSON.stringify(head).slice(0, -1)},"results":[\n${results.join(',\n')}\n]}\n`
  },
}

/** The only server of a tape, for formats that have a place for one. */
export function serverOf({ header, frames }: ExportedTape): readonly [TapeServer, name: string] {
  const named = frames.find((frame) => 'server' in frame && frame.server !== undefined)
  const name =
    (named !== undefined && 'server' in named ? named.server : undefined) ??
    Object.keys(header.servers)[0] ??
    'server'
  return [header.servers[name] ?? { transport: 'stdio' }, name]
}

/** ISO 8601 with microseconds, which a tape has. */
function preciseTime({ started }: TapeHeader, t: number): string {
  const time = Date.parse(started) + t
  const micros = Math.round((time - Math.floor(time)) * 1000)
  const iso = new Date(Math.floor(time)).toISOString()
  return micros === 0 ? iso : `${iso.slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}
