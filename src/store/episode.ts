import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ReelayError } from '../errors.ts'
import { decodeFrame, encodeFrame, type BrokenLine } from '../tape/codec.ts'
import type { EventFrame, Frame } from '../tape/frame.ts'
import type { Header } from '../tape/header.ts'
import type { Direction } from '../wire/direction.ts'
import { classify } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { openTape, type TapeReader } from './read.ts'

/** Messages that crossed a live link while a tape was played, in their order. */
export interface Episode {
  readonly server: string
  readonly messages: readonly EpisodeMessage[]
  /** What replaces secrets on this tape, if anything does. */
  readonly redaction?: (header: Header) => { readonly text: (text: string) => string } | undefined
}

export interface EpisodeMessage {
  readonly dir: Direction
  readonly text: string
  /** When, by the clock on the wall. */
  readonly at: number
}

/**
 * Adds an episode to a tape, as a further connection to its server. A tape that ended well is closed for writing, so the file is
 * written anew beside the old one, which it then replaces: whoever reads meanwhile reads the old one to its end.
 */
export async function appendEpisode(path: string, episode: Episode): Promise<void> {
  const reader = await openTape(path)
  const tail = await tailOf(reader)
  const fresh = `${path}.${process.pid}.new`
  try {
    await pipeline(createReadStream(path, { end: tail.bytes - 1 }), createWriteStream(fresh, NEW_FILE))
    await pipeline(linesOf(episode, reader, tail), createWriteStream(fresh, { flags: 'a' }))
    await rename(fresh, path)
  } catch (cause) {
    await rm(fresh, { force: true })
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ReelayError('TAPE_UNWRITABLE', `${path} was not given its new episode: ${why}`, {
      hint: 'the tape is as it was; check its folder and the space on the disk',
      cause,
    })
  }
}

/** Whether the live server said anything: what was only said to it can never be played. */
export function hasAnswered(messages: readonly EpisodeMessage[]): boolean {
  return messages.some(({ dir }) => dir === 's2c')
}

const NEW_FILE = { flags: 'wx', mode: 0o600 } as const

/** What an episode continues. */
interface Tail {
  /** How much of the file stays: all but the end frame, or a line that was cut off. */
  readonly bytes: number
  readonly frames: number
  readonly n: number
  readonly t: number
  readonly conns: ReadonlyMap<string, number>
  readonly end: Readonly<Record<string, unknown>>
}

async function tailOf(reader: TapeReader): Promise<Tail> {
  const conns = new Map<string, number>()
  let [n, t] = [0, 0]
  let end: Tail['end'] = {}
  for await (const frame of reader.frames()) {
    if (isEnd(frame)) end = frame.details
    else n = Math.max(n, frame.n)
    t = Math.max(t, frame.t)
    if ('server' in frame && frame.server !== undefined)
      conns.set(frame.server, Math.max(conns.get(frame.server) ?? 0, frame.conn ?? 0))
  }
  const bytes = await keptBytes(reader.path)
  return { bytes, frames: (await countLines(reader.path, bytes)) - 1, n, t, conns, end }
}

function isEnd(frame: Frame | BrokenLine): frame is EventFrame {
  return frame.kind === 'event' && frame.event === 'end'
}

const LAST_LINES_BYTES = 64 * 1024

/** Up to the end frame, which is short, or to the last line feed. */
async function keptBytes(path: string): Promise<number> {
  const { size } = await stat(path)
  const start = Math.max(0, size - LAST_LINES_BYTES)
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { start })) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks)
  const lastFeed = text.lastIndexOf('\n')
  const lineStart = text.lastIndexOf('\n', lastFeed - 1) + 1
  const last = decodeFrame(text.subarray(lineStart, lastFeed).toString('utf8'))
  return start + (isEnd(last) ? lineStart : lastFeed + 1)
}

async function countLines(path: string, bytes: number): Promise<number> {
  let lines = 0
  for await (const chunk of createReadStream(path, { end: bytes - 1 }))
    for (const byte of chunk as Buffer) if (byte === LINE_FEED) lines++
  return lines
}

const LINE_FEED = 10

function* linesOf(
  { server, messages, redaction }: Episode,
  { header }: TapeReader,
  { frames, n, t, conns, end }: Tail,
): Generator<string> {
  const conn = (conns.get(server) ?? 0) + 1
  const began = Date.parse(header.started)
  let time = t
  const place = (at: number): number => (time = Math.max(time, at - began))
  yield lineOf({
    kind: 'event',
    n: n + 1,
    t: place(messages[0]?.at ?? 0),
    server,
    conn,
    event: 'episode',
    details: {},
  })
  const redacted = redaction?.(header)?.text ?? String
  for (const [index, { dir, text: said, at }] of messages.entries()) {
    const text = redacted(said)
    const message = classify(parseJson(text))
    yield lineOf({ kind: 'message', n: n + 2 + index, t: place(at), server, conn, dir, text, message })
  }
  const lost = typeof end['lost'] === 'number' ? end['lost'] : 0
  const details = { ...end, frames: frames + lost + messages.length + 2 }
  yield lineOf({ kind: 'event', n: n + 2 + messages.length, t: time, event: 'end', details })
}

function lineOf(frame: Frame): string {
  return `${encodeFrame(frame)}\n`
}
