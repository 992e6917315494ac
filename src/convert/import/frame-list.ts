import { parseJson } from '../../json/parse.ts'
import type { Direction } from '../../protocol/message.ts'
import type { ImportedFrame, ImportedPlace } from './import-format.ts'

/** Collects the frames of a recording that is read in order. */
export class FrameList {
  readonly frames: ImportedFrame[] = []
  readonly #notes = new Map<string, number>()

  /** Adds a message as JSON text. Text that is not a JSON object or array becomes a raw frame. */
  text(dir: Direction, text: string, place: ImportedPlace = {}): void {
    const value = parseJson(text)
    if (typeof value === 'object' && value !== null)
      this.frames.push({ kind: 'message', dir, text, ...place })
    else this.raw(dir, text, 'not JSON', place)
  }

  /** Adds a message that a format does not contain as JSON text. */
  value(dir: Direction, message: Readonly<Record<string, unknown>>, place: ImportedPlace = {}): void {
    this.frames.push({ kind: 'message', dir, text: JSON.stringify({ jsonrpc: '2.0', ...message }), ...place })
  }

  raw(dir: Direction, raw: string, why: string, place: ImportedPlace = {}): void {
    this.frames.push({ kind: 'raw', dir, raw, why, ...place })
  }

  stderr(stderr: string, place: ImportedPlace = {}): void {
    this.frames.push({ kind: 'stderr', stderr, ...place })
  }

  event(event: string, details: Readonly<Record<string, unknown>>, place: ImportedPlace = {}): void {
    this.frames.push({ kind: 'event', event, details, ...place })
  }

  /** Counts something that could not be imported. */
  skip(what: string): void {
    this.#notes.set(what, (this.#notes.get(what) ?? 0) + 1)
  }

  get notes(): readonly string[] {
    return [...this.#notes].map(([what, count]) => `skipped ${count} ${what}`)
  }

  /** The frames by their times. Frames without a time, or with the same, keep their order. */
  inOrderOfTime(): readonly ImportedFrame[] {
    let time = -Infinity
    return this.frames
      .map((frame) => ({ frame, time: (time = frame.at ?? time) }))
      .toSorted((a, b) => (a.time === b.time ? 0 : a.time - b.time))
      .map(({ frame }) => frame)
  }
}

/** Numbers the sessions of files to which several are appended: each further `initialize` of the client begins one. */
export class SessionNumbers {
  readonly #conns = new Map<string, { conn: number; isOpen: boolean }>()

  /** The number of the connection that a message belongs to. */
  connOf(dir: Direction, text: string, server = ''): number {
    const last = this.#conns.get(server) ?? { conn: 1, isOpen: false }
    this.#conns.set(server, last)
    if (dir === 'c2s' && INITIALIZE.test(text)) {
      if (last.isOpen) last.conn++
      last.isOpen = true
    }
    return last.conn
  }
}

const INITIALIZE = /"method"\s*:\s*"initialize"/

/** Reads the ways in which recorders spell who sent a message. */
export function directionOf(spelled: unknown): Direction | undefined {
  return typeof spelled === 'string' ? DIRECTIONS.get(spelled.toLowerCase()) : undefined
}

const DIRECTIONS: ReadonlyMap<string, Direction> = new Map<string, Direction>([
  ...[
    'c2s',
    'client->server',
    'client_to_server',
    'client-to-server',
    'client',
    'send',
    'sent',
    'out',
    'outgoing',
    'request',
    '>',
    '->',
    '→',
  ].map((spelled) => [spelled, 'c2s'] as const),
  ...[
    's2c',
    'server->client',
    'server_to_client',
    'server-to-client',
    'server',
    'recv',
    'received',
    'receive',
    'in',
    'incoming',
    'response',
    '<',
    '<-',
    '←',
  ].map((spelled) => [spelled, 's2c'] as const),
])
