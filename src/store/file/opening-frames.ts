import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { idKey, isId } from '../../protocol/message.ts'
import { isObject, member, type JsonObject, parseJson } from '../../json/parse.ts'

const SCANNED_BYTES = 256 * 1024
/** The handshake methods of all revisions. They are repeated here because a recorder that loads no revisions starts faster. */
const HANDSHAKE_METHODS: ReadonlySet<unknown> = new Set([
  'initialize',
  'notifications/initialized',
  'server/discover',
])

/** The frames that open the sessions of a tape, without their number and time: the next tape of a series begins with them. */
export function openingFrames(path: string, firstNumber: number): OpeningFrames {
  const lines = firstLines(path).flatMap((line) => {
    const [place] = /^\{"n":\d+,"t":[\d.]+/.exec(line) ?? []
    const frame = place === undefined ? undefined : parseJson(line)
    return place !== undefined && isObject(frame) ? [{ frame, rest: line.slice(place.length, -1) }] : []
  })
  const exchanges = new Set(lines.flatMap(({ frame }) => (isOpening(frame) ? [frame['x']] : [])))
  exchanges.delete(undefined) // messages over stdio have no exchange
  const unanswered = new Set<string>()
  /** The new numbers of the frames that are copied, by the old ones. */
  const numbers = new Map<unknown, number>()
  const frames: string[] = []
  let requests = 0
  for (const { frame, rest } of lines) {
    const isDelivery = numbers.has(frame['of']) // of a message that was held
    if (!isOpeningExchange(frame, unanswered) && !exchanges.has(frame['x']) && !isDelivery) continue
    numbers.set(frame['n'], firstNumber + frames.length)
    frames.push(withNewNumber(rest, frame['of'], numbers))
    if (frame['of'] === undefined) requests += requestsIn(frame)
  }
  return { frames, requests }
}

interface OpeningFrames {
  /** Everything after the time of each frame. */
  readonly frames: readonly string[]
  /** The number of requests of the client in them. */
  readonly requests: number
}

/** The frame in which a held message arrived has another number now. */
function withNewNumber(rest: string, of: unknown, numbers: ReadonlyMap<unknown, number>): string {
  const number = numbers.get(of)
  if (of === undefined) return rest
  return rest.replace(/,"of":\d+/, number === undefined ? '' : `,"of":${number}`)
}

function requestsIn({ dir, msg }: JsonObject): number {
  const items: readonly unknown[] = Array.isArray(msg) ? msg : [msg]
  return dir === 'c2s' ? items.filter(isRequest).length : 0
}

function isRequest(item: unknown): boolean {
  return member(item, 'method') !== undefined && isId(member(item, 'id'))
}

/** A finished tape of a client that only asked what the server can do. */
export interface ProbeTape {
  /** The first line of the file. */
  readonly header: string
  /** The start of the recording, as in the header. */
  readonly started: string
  /** The number of frames before the end frame, and where that one begins in the file. */
  readonly frames: number
  readonly end: number
  /** The highest numbers of a connection and of an HTTP exchange. */
  readonly connections: number
  readonly exchanges: number
  /** The number of requests of the client. */
  readonly requests: number
}

/**
 * Reads a tape on which the client sent nothing but `server/discover`. A client of SDK v2 that negotiates starts its server
 * twice: for this question, and then for the session. Returns `undefined` for every other file, and for the tape of a recorder
 * that is still running. If a header is given, it must name the same servers.
 */
export function readProbeTape(path: string, header?: string): ProbeTape | undefined {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (size === undefined || size === 0 || size >= SCANNED_BYTES) return undefined
  const [first = '', ...lines] = firstLines(path)
  const last = lines.at(-1) ?? ''
  const frames = lines.slice(0, -1).map((line) => parseJson(line))
  const sent = frames.filter(isClientMessage)
  const started = member(parseJson(first), 'started')
  if (sent.length === 0 || !sent.every(isProbe) || typeof started !== 'string') return undefined
  if (member(parseJson(last), 'event') !== 'end' || member(parseJson(last), 'lost') !== undefined)
    return undefined
  if (header !== undefined && serversIn(first) !== serversIn(header)) return undefined
  return {
    header: first,
    started,
    frames: frames.length,
    end: size - Buffer.byteLength(last) - 1,
    connections: highest(frames, 'conn'),
    exchanges: highest(frames, 'x'),
    requests: sent.length,
  }
}

/** Returns true if a tape that is still being written has only the probe of a negotiating client so far. */
export function holdsOnlyProbe(path: string): boolean {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (size === undefined || size === 0 || size >= SCANNED_BYTES) return false
  const sent = firstLines(path)
    .map((line) => parseJson(line))
    .filter(isClientMessage)
  return sent.length > 0 && sent.every(isProbe)
}

/** Events and the heads of HTTP have a direction too. */
function isClientMessage(frame: unknown): boolean {
  const isOther = member(frame, 'event') !== undefined || member(frame, 'http') !== undefined
  return member(frame, 'dir') === 'c2s' && !isOther
}

function isProbe(frame: unknown): boolean {
  return member(member(frame, 'msg'), 'method') === 'server/discover'
}

function serversIn(header: string): string {
  const value = parseJson(header)
  return JSON.stringify([member(value, 'servers'), member(value, 'redaction')])
}

function highest(frames: readonly unknown[], name: string): number {
  return Math.max(0, ...frames.map((frame) => Number(member(frame, name) ?? 0)))
}

function firstLines(path: string): readonly string[] {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.allocUnsafe(SCANNED_BYTES)
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, SCANNED_BYTES, 0))
    return text.slice(0, text.lastIndexOf('\n')).split('\n')
  } finally {
    closeSync(file)
  }
}

/** Returns true for the opening message and for the first response to it. */
function isOpeningExchange(frame: JsonObject, unanswered: Set<string>): boolean {
  const id = member(frame['msg'], 'id')
  const key = JSON.stringify([frame['server'], frame['conn'], isId(id) ? idKey(id) : null])
  if (!isOpening(frame)) return frame['dir'] === 's2c' && unanswered.delete(key)
  if (isId(id)) unanswered.add(key)
  return true
}

function isOpening({ dir, msg }: JsonObject): boolean {
  return dir === 'c2s' && HANDSHAKE_METHODS.has(member(msg, 'method'))
}
