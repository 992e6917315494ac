import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { errorMessage, ReelayError } from '../../errors.ts'
import { replaceValue } from '../../json/find-replace.ts'
import { parseJson } from '../../json/parse.ts'
import { type Line, lineBytes, LineSplitter } from '../../protocol/lines.ts'
import { type Direction, classifyMessage } from '../../protocol/message.ts'
import { fileChunks, loadTape, LONGEST_FRAME_BYTES, openTape, type TapeReader } from './read.ts'
import { messagesOfTurn } from '../../tape/turns.ts'
import { replaceFile } from './replace-file.ts'
import { decodeFrame, encodeFrame, type BrokenLine } from '../../tape/codec.ts'
import type { EventFrame, Frame, MessageFrame } from '../../tape/frame.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { quoteShellWord } from '../../text.ts'

/** Replaces the messages of some frames. All other bytes stay as they are. Returns the number of changed frames. */
export async function rewriteMessages(path: string, messages: ReadonlyMap<number, string>): Promise<number> {
  try {
    return await replaceFile(path, (draft) => writeDraft(path, draft, messages))
  } catch (error) {
    if (error instanceof ReelayError) throw error
    const why = errorMessage(error)
    const hint = 'check the folder and the free space on the disk; the tape is unchanged'
    throw new ReelayError('TAPE_UNWRITABLE', `${path} cannot be rewritten: ${why}`, { hint, cause: error })
  }
}

async function writeDraft(
  path: string,
  draft: string,
  messages: ReadonlyMap<number, string>,
): Promise<number> {
  const { mode } = await stat(path)
  const file = await open(draft, 'wx', mode & 0o777)
  let changed = 0
  const splitter = new LineSplitter({ maxBytes: LONGEST_FRAME_BYTES })
  const write = async (line: Line): Promise<void> => {
    if (line.isOverlong) return
    const bytes = lineBytes(line)
    const replaced = rewriteLine(bytes, messages)
    if (replaced !== undefined) changed++
    await file.write(replaced ?? bytes)
    await file.write(NEWLINE)
  }
  try {
    for await (const chunk of fileChunks(path)) for (const line of splitter.split(chunk)) await write(line)
    for (const line of splitter.end()) await write(line)
    await file.sync()
  } finally {
    await file.close()
  }
  return changed
}

const NEWLINE: Uint8Array = Uint8Array.of(10)
const FRAME_START = /^\{"n":(\d+),/

function rewriteLine(line: Uint8Array, messages: ReadonlyMap<number, string>): Uint8Array | undefined {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.length)
  const number = FRAME_START.exec(bytes.toString('latin1', 0, 64))?.[1]
  const message = messages.get(Number(number ?? -1))
  return message === undefined
    ? undefined
    : Buffer.from(replaceValue(bytes.toString('utf8'), ['msg'], message))
}

/**
 * Removes the exchanges that begin with these frames: the request, the response, what came between them, and the HTTP frames
 * around them. The frames that remain are numbered anew.
 */
export async function removeExchanges(path: string, frames: readonly number[]): Promise<void> {
  const { turns } = await loadTape(path)
  const wanted = new Set(frames)
  const messages = turns.flatMap((turn) => (wanted.has(turn.trigger?.n ?? 0) ? messagesOfTurn(turn) : []))
  const removed = new Set(messages.map(({ n }) => n))
  const http = new Set(messages.flatMap(({ x }) => (x === undefined ? [] : [x])))
  // An HTTP exchange of legacy sessions may carry messages of other turns; then its frames stay.
  for (const turn of turns)
    for (const { n, x } of messagesOfTurn(turn)) if (x !== undefined && !removed.has(n)) http.delete(x)
  const text = await readFile(path, 'utf8')
  const [header = '', ...lines] = text.split('\n').filter((line) => line !== '')
  const kept = lines.filter((line) => {
    const frame = decodeFrame(line)
    if (frame.kind === 'broken') return true
    return !removed.has(frame.n) && !('x' in frame && typeof frame.x === 'number' && http.has(frame.x))
  })
  const numbered = kept.map((line, at) => {
    const renumbered = line.replace(FRAME_START, `{"n":${at + 1},`)
    return isEndFrame(decodeFrame(line))
      ? replaceValue(renumbered, ['frames'], String(kept.length))
      : renumbered
  })
  await replaceFile(path, (draft) => writeFile(draft, `${[header, ...numbered].join('\n')}\n`, NEW_FILE))
}

/**
 * Moves a new recording to its place and returns true. If the server sent no message, there is nothing to play: the new recording
 * is deleted, and an older tape stays.
 */
export async function replaceTapeIfAnswered(fresh: string, path: string): Promise<boolean> {
  const isKept = await hasServerMessage(fresh)
  if (!isKept) await rm(fresh, { force: true })
  else if (fresh !== path) await rename(fresh, path)
  return isKept
}

/** Says why no server on a tape has sent a message; `undefined` if one has, or if the tape does not say why. */
export async function whyServersAreSilent(path: string): Promise<string | undefined> {
  const tape = await openTape(path)
  let why: string | undefined
  for await (const frame of tape.frames()) {
    if (frame.kind === 'message' && frame.dir === 's2c') return undefined
    if (frame.kind !== 'event') continue
    const { code, signal, message } = frame.details
    const command = tape.header.servers[frame.server ?? '']?.command?.map(quoteShellWord).join(' ')
    const server = command === undefined ? '' : `: ${command}`
    if (frame.event === 'error') why ??= `the server could not be started (${String(message)})${server}`
    if (frame.event === 'exit')
      why ??= `the server ended ${typeof signal === 'string' ? `by ${signal}` : `with exit code ${String(code)}`} and answered nothing${server}`
  }
  return why
}

async function hasServerMessage(path: string): Promise<boolean> {
  for await (const frame of (await openTape(path)).frames())
    if (frame.kind === 'message' && frame.dir === 's2c') return true
  return false
}

/** The messages that were exchanged with a live server while a tape was played. */
interface Episode {
  readonly server: string
  /** One list of messages per client. */
  readonly links: readonly (readonly EpisodeMessage[])[]
  /** Returns what redacts the tape, or `undefined` if it is not redacted. */
  readonly redaction?: (header: TapeHeader) => { readonly text: (text: string) => string } | undefined
}

export interface EpisodeMessage {
  readonly dir: Direction
  readonly text: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/**
 * Adds an episode to a tape. Each link becomes a further connection to the server. The new frames go before the end frame, so the
 * file is replaced, and a process that reads the old file is not disturbed.
 */
export async function appendEpisode(path: string, episode: Episode): Promise<void> {
  const reader = await openTape(path)
  const tail = await readTail(reader)
  try {
    await replaceFile(path, async (draft) => {
      await pipeline(createReadStream(path, { end: tail.bytes - 1 }), createWriteStream(draft, NEW_FILE))
      await pipeline(episodeLines(episode, reader, tail), createWriteStream(draft, { flags: 'a' }))
    })
  } catch (cause) {
    const why = errorMessage(cause)
    throw new ReelayError('TAPE_UNWRITABLE', `${path} cannot be extended: ${why}`, {
      hint: 'the tape is unchanged; check the folder and the free space on the disk',
      cause,
    })
  }
}

/** Returns true if the live server sent a message. Without one there is nothing to play. */
export function hasServerMessages(messages: readonly EpisodeMessage[]): boolean {
  return messages.some(({ dir }) => dir === 's2c')
}

const NEW_FILE = { flags: 'wx', mode: 0o600 } as const

/** The end of the existing tape. */
interface TapeTail {
  /** Length of the file without its end frame, or without a truncated line. */
  readonly bytes: number
  readonly frames: number
  readonly n: number
  readonly t: number
  readonly conns: ReadonlyMap<string, number>
  readonly end: Readonly<Record<string, unknown>>
}

async function readTail(reader: TapeReader): Promise<TapeTail> {
  const conns = new Map<string, number>()
  let [n, t] = [0, 0]
  let end: TapeTail['end'] = {}
  for await (const frame of reader.frames()) {
    if (isEndFrame(frame)) end = frame.details
    else n = Math.max(n, frame.n)
    t = Math.max(t, frame.t)
    if ('server' in frame && frame.server !== undefined)
      conns.set(frame.server, Math.max(conns.get(frame.server) ?? 0, frame.conn ?? 0))
  }
  const bytes = await bytesToKeep(reader.path)
  return { bytes, frames: (await countLines(reader.path, bytes)) - 1, n, t, conns, end }
}

function isEndFrame(frame: Frame | BrokenLine): frame is EventFrame {
  return frame.kind === 'event' && frame.event === 'end'
}

const LAST_LINES_BYTES = 64 * 1024

/** The offset of the end frame, or of the text after the last line feed. */
async function bytesToKeep(path: string): Promise<number> {
  const { size } = await stat(path)
  const start = Math.max(0, size - LAST_LINES_BYTES)
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { start })) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks)
  const lastFeed = text.lastIndexOf('\n')
  const lineStart = text.lastIndexOf('\n', lastFeed - 1) + 1
  const last = decodeFrame(text.subarray(lineStart, lastFeed).toString('utf8'))
  return start + (isEndFrame(last) ? lineStart : lastFeed + 1)
}

async function countLines(path: string, bytes: number): Promise<number> {
  let lines = 0
  for await (const chunk of createReadStream(path, { end: bytes - 1 }))
    for (const byte of chunk as Buffer) if (byte === LINE_FEED) lines++
  return lines
}

const LINE_FEED = 10

function* episodeLines(episode: Episode, { header }: TapeReader, tail: TapeTail): Generator<string> {
  const began = Date.parse(header.started)
  const redact = episode.redaction?.(header)?.text ?? String
  const { server } = episode
  let { n, t } = tail
  for (const { at, conn, message } of eventsInOrder(episode, (tail.conns.get(server) ?? 0) + 1)) {
    t = Math.max(t, at - began)
    const place = { n: ++n, t, server, conn }
    if (message === undefined) yield frameLine({ ...place, kind: 'event', event: 'episode', details: {} })
    else yield frameLine({ ...place, ...messageFrame(message, redact) })
  }
  const lost = typeof tail.end['lost'] === 'number' ? tail.end['lost'] : 0
  const details = { ...tail.end, frames: tail.frames + lost + (n - tail.n) + 1 }
  yield frameLine({ kind: 'event', n: n + 1, t, event: 'end', details })
}

/** The beginning of a link, or a message on it. */
interface EpisodeEvent {
  readonly at: number
  readonly conn: number
  readonly message: EpisodeMessage | undefined
}

/** The events of all links by time. Events of one link keep their order, even if the clock was set back. */
function eventsInOrder({ links }: Episode, firstConn: number): readonly EpisodeEvent[] {
  const events = links.flatMap((messages, link) => eventsOfLink(messages, firstConn + link))
  return events.toSorted((a, b) => a.at - b.at)
}

function eventsOfLink(messages: readonly EpisodeMessage[], conn: number): readonly EpisodeEvent[] {
  let at = messages[0]?.at ?? 0
  const events = messages.map((message): EpisodeEvent => ({
    at: (at = Math.max(at, message.at)),
    conn,
    message,
  }))
  return [{ at: messages[0]?.at ?? 0, conn, message: undefined }, ...events]
}

function messageFrame(
  { dir, text: original }: EpisodeMessage,
  redact: (text: string) => string,
): Pick<MessageFrame, 'kind' | 'dir' | 'text' | 'message'> {
  const text = redact(original)
  return { kind: 'message', dir, text, message: classifyMessage(parseJson(text)) }
}

function frameLine(frame: Frame): string {
  return `${encodeFrame(frame)}\n`
}
