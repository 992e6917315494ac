import { canonicalJson } from '../json/canonical.ts'
import { memberRanges } from '../json/find-replace.ts'
import { jsonOnOneLine, parseJson, isObject, type JsonObject } from '../json/parse.ts'
import { isId, type Direction, classifyMessage } from '../protocol/message.ts'
import {
  type FrameOrigin,
  type EventFrame,
  type Frame,
  type MessageFrame,
  type RawFrame,
  type SseFields,
  roundTime,
  type HeaderList,
  type HttpFrame,
} from './frame.ts'

/** A line of a tape that cannot be read as a frame. */
export interface BrokenLine {
  readonly kind: 'broken'
  readonly why: string
}

/** Decodes a line after the header, with its keys in any order and spacing. Never throws. */
export function decodeFrame(line: string): Frame | BrokenLine {
  return decodeRecordedLine(line) ?? decodeAnyLine(line)
}

/** Encodes a frame as one line, with its keys in a fixed order and the payload last. */
export function encodeFrame(frame: Frame): string {
  switch (frame.kind) {
    case 'message':
      return `${encodeLinePrefix(frame)}${encodeSse(frame.sse)}${encodeInterception(frame)},"msg":${jsonOnOneLine(frame.text)}}`
    case 'raw':
      return `${encodeLinePrefix(frame)}${encodeSse(frame.sse)}${encodeMembers({ cut: frame.cut, raw: frame.raw, why: frame.why, base64: frame.base64 })}}`
    case 'stderr':
      return `${encodeLinePrefix(frame)},"stderr":${JSON.stringify(frame.stderr)}}`
    case 'http':
      return `${encodeLinePrefix(frame)}${encodeInterception(frame)},"http":${JSON.stringify(frame.http)}}`
    case 'event':
      return encodeEvent(frame)
    case 'other':
      return frame.line
  }
}

/** Encodes what happened to a message that was held, which comes before the payload. */
export function encodeInterception({ side, of, original }: Interception): string {
  const members = [
    ...(side === undefined ? [] : [`,"side":"${side}"`]),
    ...(of === undefined ? [] : [`,"of":${of}`]),
    ...(original === undefined ? [] : [`,"modified":true,"original_payload":${jsonOnOneLine(original)}`]),
  ]
  return members.join('')
}

type Interception = Partial<Pick<MessageFrame, 'side' | 'of' | 'original'>>

/** Encodes the beginning of a line, up to `,"msg":` or another payload. */
export function encodeLinePrefix(origin: FrameOrigin): string {
  const x = origin.x === undefined ? '' : `,"x":${origin.x}`
  const link = `"server":${JSON.stringify(origin.server)},"conn":${origin.conn}${x}`
  return `{"n":${origin.n},"t":${roundTime(origin.t)},${link},"dir":"${origin.dir}"`
}

function encodeEvent({ n, t, server, conn, x, event, details }: EventFrame): string {
  return `{"n":${n},"t":${roundTime(t)}${encodeMembers({ server, conn, x, event, ...details })}}`
}

function encodeMembers(members: JsonObject): string {
  const present = Object.entries(members).filter(([, value]) => value !== undefined)
  return present.map(([key, value]) => `,${JSON.stringify(key)}:${canonicalJson(value)}`).join('')
}

// `n`, `t`, `server` without escapes, `conn`, `x`, `dir`, `sse` without braces, then a message to the end of the line.
const RECORDED_LINE =
  /^\{"n":([1-9]\d{0,14}),"t":((?:0|[1-9]\d{0,14})(?:\.\d+)?),"server":"([^"\\\p{Cc}]*)","conn":([1-9]\d{0,14})(?:,"x":([1-9]\d{0,14}))?,"dir":"(c2s|s2c)"(?:,"sse":(\{[^{}]*\}))?,"msg":/u

// Tapes can be gigabytes long. This fast path parses only the message, and only once.
function decodeRecordedLine(line: string): MessageFrame | RawFrame | undefined {
  const found = parseRecordedLine(line)
  if (found === undefined) return undefined
  const { origin, sse, text } = found
  const value = parseJson(text)
  if (value !== undefined)
    return { kind: 'message', ...origin, ...sse, text: text.trim(), message: classifyMessage(value) }
  // A recorder that is killed cannot check a long message for validity. An invalid message may even look as if members of a
  // frame followed it, so nothing after `msg` is read as part of the frame.
  return CONTAINER.test(text) ? { kind: 'raw', ...origin, ...sse, raw: text, why: 'not JSON' } : undefined
}

const CONTAINER = /^(\{.*\}|\[.*\])$/s

/** A line with an unparsed message. */
interface RecordedLine {
  readonly origin: FrameOrigin
  readonly sse: { readonly sse?: SseFields }
  readonly text: string
}

/** Parses the beginning of a line in the spelling of the recorder. The text after `msg` is not checked. */
export function parseRecordedLine(line: string): RecordedLine | undefined {
  const match = RECORDED_LINE.exec(line)
  if (match === null || !line.endsWith('}')) return undefined
  const [start, n, t, server = '', conn, x, dir, fields] = match
  const sse = fields === undefined ? {} : readSse(parseJson(fields))
  if (typeof sse === 'string') return undefined
  const origin = {
    n: Number(n),
    t: Number(t),
    server,
    conn: Number(conn),
    ...(x === undefined ? {} : { x: Number(x) }),
    dir: dir === 'c2s' ? ('c2s' as const) : ('s2c' as const),
  }
  return { origin, sse, text: line.slice(start.length, -1) }
}

function decodeAnyLine(line: string): Frame | BrokenLine {
  const value = parseJson(line)
  if (value === undefined) return brokenLine('not JSON')
  if (!isObject(value)) return brokenLine('not a JSON object')
  const { n, t } = value
  if (!isPositiveInteger(n)) return brokenLine('"n" is not a positive integer')
  if (typeof t !== 'number' || !(t >= 0 && t < Infinity))
    return brokenLine('"t" is not a time in milliseconds')
  if (Object.hasOwn(value, 'event')) return readEvent(value, n, t)
  if (!['msg', 'raw', 'stderr', 'http'].some((key) => Object.hasOwn(value, key)))
    return { kind: 'other', n, t, line }
  return readFrame(value, n, t, line)
}

function readEvent(value: JsonObject, frameNumber: number, time: number): EventFrame | BrokenLine {
  const { n: _n, t: _t, server, conn, x, event, ...details } = value
  if (typeof event !== 'string') return brokenLine('"event" is not a string')
  if (server !== undefined && typeof server !== 'string') return brokenLine('"server" is not a string')
  if (conn !== undefined && !isPositiveInteger(conn)) return brokenLine('"conn" is not a positive integer')
  if (x !== undefined && !isPositiveInteger(x)) return brokenLine('"x" is not a positive integer')
  const link = {
    ...(server === undefined ? {} : { server }),
    ...(conn === undefined ? {} : { conn }),
    ...(x === undefined ? {} : { x }),
  }
  return { kind: 'event', n: frameNumber, t: time, ...link, event, details }
}

function readFrame(value: JsonObject, n: number, t: number, line: string): Frame | BrokenLine {
  const { server, conn, x, dir, side } = value
  if (typeof server !== 'string') return brokenLine('"server" is not a string')
  if (!isPositiveInteger(conn)) return brokenLine('"conn" is not a positive integer')
  if (x !== undefined && !isPositiveInteger(x)) return brokenLine('"x" is not a positive integer')
  if (dir !== 'c2s' && dir !== 's2c') return brokenLine('"dir" is neither "c2s" nor "s2c"')
  if (side !== undefined && side !== 'client' && side !== 'server')
    return brokenLine('"side" is neither "client" nor "server"')
  const origin: FrameOrigin = {
    n,
    t,
    server,
    conn,
    ...(x === undefined ? {} : { x }),
    dir,
    ...(side === undefined ? {} : { side }),
  }
  return readPayload(value, origin, line)
}

/** Reads which message was held and changed, or returns a text that says why it is invalid. */
function readInterception(value: JsonObject, line: string): Interception | string {
  const { of, original_payload: original } = value
  if (of !== undefined && !isPositiveInteger(of)) return '"of" is not a positive integer'
  return {
    ...(of === undefined ? {} : { of }),
    ...(original === undefined ? {} : { original: memberText(line, 'original_payload') }),
  }
}

function readPayload(value: JsonObject, origin: FrameOrigin, line: string): Frame | BrokenLine {
  const { msg, stderr, raw, http } = value
  const sse = readSse(value['sse'])
  if (typeof sse === 'string') return brokenLine(sse)
  const held = readInterception(value, line)
  if (typeof held === 'string') return brokenLine(held)
  if (msg !== undefined)
    return {
      kind: 'message',
      ...origin,
      ...sse,
      ...held,
      text: memberText(line, 'msg'),
      message: classifyMessage(msg),
    }
  if (stderr !== undefined)
    return typeof stderr === 'string'
      ? { kind: 'stderr', ...origin, stderr }
      : brokenLine('"stderr" is not a string')
  return raw === undefined ? readHttpFrame(http, origin) : readRaw(value, { ...origin, ...sse })
}

function readHttpFrame(value: unknown, origin: FrameOrigin): Frame | BrokenLine {
  const http = readHttpHead(value, origin.dir)
  return typeof http === 'string' ? brokenLine(http) : { kind: 'http', ...origin, http }
}

function readRaw(
  { raw, why, base64, cut: given }: JsonObject,
  origin: FrameOrigin & { readonly sse?: SseFields },
): RawFrame | BrokenLine {
  if (typeof raw !== 'string') return brokenLine('"raw" is not a string')
  if (typeof why !== 'string') return brokenLine('"why" is not a string')
  if (base64 !== undefined && typeof base64 !== 'string') return brokenLine('"base64" is not a string')
  const cut = readCut(given)
  if (typeof cut === 'string') return brokenLine(cut)
  return { kind: 'raw', ...origin, raw, why, ...(base64 === undefined ? {} : { base64 }), ...cut }
}

function memberText(line: string, name: string): string {
  const range = memberRanges(line).get(name)
  return line.slice(range?.start, range?.end)
}

function isPositiveInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

function brokenLine(why: string): BrokenLine {
  return { kind: 'broken', why }
}

/** Encodes the fields of a server-sent event, which come before the payload. */
export function encodeSse(sse: SseFields | undefined): string {
  if (sse === undefined) return ''
  const { id, event, retry } = sse
  return `,"sse":${JSON.stringify({ id, event, retry })}`
}

/** Reads the `sse` of a line, or returns a text that says why it is invalid. */
export function readSse(value: unknown): { readonly sse?: SseFields } | string {
  if (value === undefined) return {}
  if (!isObject(value)) return '"sse" is not an object'
  const { id, event, retry } = value
  if (id !== undefined && typeof id !== 'string') return '"sse.id" is not a string'
  if (event !== undefined && typeof event !== 'string') return '"sse.event" is not a string'
  if (retry !== undefined && !isNonNegativeInteger(retry)) return '"sse.retry" is not a whole number'
  return {
    sse: {
      ...(id === undefined ? {} : { id }),
      ...(event === undefined ? {} : { event }),
      ...(retry === undefined ? {} : { retry }),
    },
  }
}

/** Reads the `http` of a line, or returns a text that says why it is invalid. The direction tells requests from responses. */
function readHttpHead(value: unknown, dir: Direction): HttpFrame['http'] | string {
  if (!isObject(value)) return '"http" is not an object'
  const { headers } = value
  if (!isHeaderList(headers)) return '"http.headers" is not a list of names and values'
  return dir === 'c2s' ? readRequestHead(value, headers) : readResponseHead(value, headers)
}

function readRequestHead({ method, path }: JsonObject, headers: HeaderList): HttpFrame['http'] | string {
  if (typeof method !== 'string') return '"http.method" is not a string'
  if (typeof path !== 'string') return '"http.path" is not a string'
  return { method, path, headers }
}

function readResponseHead({ status }: JsonObject, headers: HeaderList): HttpFrame['http'] | string {
  return isNonNegativeInteger(status) ? { status, headers } : '"http.status" is not a whole number'
}

function isHeaderList(value: unknown): value is HeaderList {
  return Array.isArray(value) && value.every(isHeader)
}

function isHeader(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string')
}

function isNonNegativeInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Reads the `cut` of a line, or returns a text that says why it is invalid. */
function readCut(value: unknown): Pick<RawFrame, 'cut'> | string {
  if (value === undefined) return {}
  if (!isObject(value)) return '"cut" is not an object'
  const { bytes, id, method } = value
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    return '"cut.bytes" is not a length'
  if (id !== undefined && !isId(id)) return '"cut.id" is neither a string nor a number'
  if (method !== undefined && typeof method !== 'string') return '"cut.method" is not a string'
  return { cut: { bytes, ...(id === undefined ? {} : { id }), ...(method === undefined ? {} : { method }) } }
}
