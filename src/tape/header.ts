import { ReelayError } from '../errors.ts'
import { parseJson, isObject, type JsonObject } from '../json/parse.ts'
import type { EventFrame, Frame } from './frame.ts'

/** The version of the tape format that is written. Older versions can be read. */
export const TAPE_VERSION = 1

/** Line 1 of a tape. */
export interface TapeHeader extends TapeLabels {
  readonly reelay: number
  readonly id: string
  /** The time that the times of the frames are relative to. */
  readonly started: string
  /** How far local time was from UTC in January and July, in minutes; absent if it was UTC, and on older tapes. */
  readonly utcOffsets?: readonly number[]
  /** The program that wrote the tape. */
  readonly by: string
  readonly servers: Readonly<Record<string, TapeServer>>
  /** The rules that replaced secrets by placeholders, and the name of the key that was used. Absent if nothing was replaced. */
  readonly redaction?: { readonly rules: string; readonly key: string }
}

export interface TapeServer {
  readonly transport: string
  readonly command?: readonly string[]
  /** The URL of an HTTP server, without possible secrets in its query. */
  readonly url?: string
  /** Names, never values, of environment variables that are likely to contain a secret. */
  readonly env?: readonly string[]
}

/** The labels that are strings, in the order of the header. */
export const TEXT_LABELS = ['session', 'endpoint', 'agent', 'note'] as const

/** Labels that the user gives to a tape. */
export interface TapeLabels {
  /** An id of the user's own. */
  readonly session?: string
  readonly endpoint?: string
  readonly agent?: string
  readonly note?: string
  readonly tags: Readonly<Record<string, string>>
}

export type TapeLabelOptions = Partial<TapeLabels>

/** Picks the labels from other options. Empty strings are left out. */
export function pickLabels(options: TapeLabelOptions): TapeLabels {
  const given = TEXT_LABELS.filter((id) => options[id] !== undefined && options[id] !== '')
  return { ...Object.fromEntries(given.map((id) => [id, options[id]])), tags: options.tags ?? {} }
}

/** Decodes line 1 of a tape. Unknown members are ignored. */
export function decodeHeader(line: string): TapeHeader {
  const header = parseHeaderObject(line)
  return {
    reelay: readVersion(header),
    id: readTextMember(header, 'id'),
    started: withTimeZone(readTextMember(header, 'started')),
    ...readUtcOffsets(header),
    by: readTextMember(header, 'by'),
    ...readTextLabels(header),
    servers: readMap(header['servers'], 'servers', readServer),
    ...readRedaction(header),
    tags: header['tags'] === undefined ? {} : readMap(header['tags'], 'tags', readText),
  }
}

/** Reads the version from line 1 of a tape. Throws if the file is not a tape or has a newer version. */
export function readTapeVersion(line: string): number {
  return readVersion(parseHeaderObject(line))
}

/** Encodes line 1 of a tape, with its keys in a fixed order. */
export function encodeHeader(header: TapeHeader): string {
  const { reelay, id, started, utcOffsets, by, session, endpoint, agent, note, servers, redaction, tags } =
    header
  const labels = { session, endpoint, agent, note }
  return JSON.stringify({ reelay, id, started, utcOffsets, by, ...labels, servers, redaction, tags })
}

function parseHeaderObject(line: string): JsonObject {
  const value = parseJson(line)
  if (isObject(value) && Object.hasOwn(value, 'reelay')) return value
  const what = isObject(value) && value['jsonrpc'] === '2.0' ? 'a JSON-RPC message' : 'not a Reelay header'
  throw new ReelayError('TAPE_NOT_OURS', `not a Reelay tape: its first line is ${what}`, {
    hint: NOT_OURS_HINT,
  })
}

export const NOT_OURS_HINT =
  'if another tool recorded it, convert it with `reelay import`; `reelay record` makes a tape'

function readVersion({ reelay }: JsonObject): number {
  if (typeof reelay !== 'number' || !Number.isSafeInteger(reelay) || reelay < 1) {
    throw brokenHeader('"reelay" is not a version number')
  }
  if (reelay <= TAPE_VERSION) return reelay
  throw new ReelayError(
    'TAPE_TOO_NEW',
    `the tape has version ${reelay}, but this Reelay reads versions up to ${TAPE_VERSION}`,
    { hint: 'use a newer Reelay: reelay --version shows the version of this one' },
  )
}

function readTextMember(header: JsonObject, name: string): string {
  return readText(header[name], name)
}

function readText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw brokenHeader(`"${name}" is not a string`)
  return value
}

// Some programs write times without a zone. They are read as UTC, so that they mean the same moment everywhere.
function withTimeZone(started: string): string {
  const zoned = /[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(started) ? `${started.replace(' ', 'T')}Z` : started
  if (Number.isNaN(Date.parse(zoned))) throw brokenHeader('"started" is not a time')
  return zoned
}

function readUtcOffsets({ utcOffsets }: JsonObject): Pick<TapeHeader, 'utcOffsets'> {
  if (utcOffsets === undefined) return {}
  if (!Array.isArray(utcOffsets) || utcOffsets.length > 2 || !utcOffsets.every(isOffset))
    throw brokenHeader('"utcOffsets" is not a list of one or two numbers of minutes')
  return { utcOffsets }
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 1440
}

function readMap<Value>(
  map: unknown,
  name: string,
  read: (value: unknown, name: string) => Value,
): Readonly<Record<string, Value>> {
  if (!isObject(map)) throw brokenHeader(`"${name}" is not an object`)
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, read(value, `${name}.${key}`)]))
}

function readServer(info: unknown, name: string): TapeServer {
  if (!isObject(info)) throw brokenHeader(`"${name}" is not an object`)
  const { transport, command, url, env } = info
  return {
    transport: readText(transport, `${name}.transport`),
    ...(command === undefined ? {} : { command: readTextList(command, `${name}.command`) }),
    ...(url === undefined ? {} : { url: readText(url, `${name}.url`) }),
    ...(env === undefined ? {} : { env: readTextList(env, `${name}.env`) }),
  }
}

function readTextList(list: unknown, name: string): readonly string[] {
  if (!Array.isArray(list)) throw brokenHeader(`"${name}" is not a list`)
  return list.map((item: unknown, index) => readText(item, `${name}[${index}]`))
}

function readTextLabels(header: JsonObject): Omit<TapeLabels, 'tags'> {
  const given = TEXT_LABELS.filter((id) => header[id] !== undefined)
  return Object.fromEntries(given.map((id) => [id, readTextMember(header, id)]))
}

function readRedaction({ redaction }: JsonObject): Pick<TapeHeader, 'redaction'> {
  if (redaction === undefined) return {}
  if (!isObject(redaction)) throw brokenHeader('"redaction" is not an object')
  const { rules, key } = redaction
  return { redaction: { rules: readText(rules, 'redaction.rules'), key: readText(key, 'redaction.key') } }
}

function brokenHeader(why: string): ReelayError {
  return new ReelayError('TAPE_BROKEN', `the header of the tape (line 1) is invalid: ${why}`, {
    hint: 'restore line 1 from a copy, or write it as described in docs/reference/tape-format.md',
  })
}

/** Adds the servers that joined the recording after the header was written. Each of them has a `server` event. */
export function withLateServers(header: TapeHeader, frames: readonly Frame[]): TapeHeader {
  const joined = frames.flatMap((frame) => (frame.kind === 'event' ? lateServer(frame) : []))
  if (joined.length === 0) return header
  return { ...header, servers: { ...header.servers, ...Object.fromEntries(joined) } }
}

function lateServer({ event, server, details }: EventFrame): readonly [name: string, info: TapeServer][] {
  if (event !== 'server' || server === undefined) return []
  const { transport, command, url, env } = details
  const info = {
    transport: typeof transport === 'string' ? transport : 'unknown',
    ...(isTextList(command) && { command }),
    ...(typeof url === 'string' && { url }),
    ...(isTextList(env) && { env }),
  }
  return [[server, info]]
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
