import { isSeenBy, type Frame, type MessageFrame } from '../../tape/frame.ts'
import type { TapeHeader } from '../../tape/header.ts'
import type { Turn } from '../../tape/turns.ts'

/** One export format: one entry in the list in `index.ts`. */
export interface ExportFormat {
  readonly name: string
  readonly description: string
  /** The end of the name of the file, such as `.har`. */
  readonly extension: string
  /** Set for formats that have a place for one server only. */
  readonly holdsOneServer?: boolean
  /** Writes the tape. What the format cannot hold is counted in `losses`. */
  readonly write: (tape: ExportedTape, losses: Losses) => string | Promise<string>
}

/** A tape in memory, or the part of it that belongs to one server. */
export interface ExportedTape {
  readonly name: string
  readonly header: TapeHeader
  readonly frames: readonly Frame[]
  readonly turns: readonly Turn[]
}

/** Counts what a format cannot hold, so that nothing is dropped silently. */
export class Losses {
  readonly #counts = new Map<string, number>()

  /** Counts things of which there may be several. `what` is their plural. */
  count(what: string, number = 1): void {
    if (number > 0) this.#counts.set(what, (this.#counts.get(what) ?? 0) + number)
  }

  /** Notes a property that is lost as a whole, such as `timing`. */
  note(what: string): void {
    this.#counts.set(what, 0)
  }

  /** Such as `3 stderr frames`, `timing`. */
  list(): readonly string[] {
    return [...this.#counts].map(([what, count]) =>
      count === 0 ? what : `${count} ${count === 1 ? singular(what) : what}`,
    )
  }
}

function singular(plural: string): string {
  const words = plural.split(' ')
  const noun = words.findIndex((word, at) => at < 2 && /[^s]s$/.test(word))
  return words.map((word, at) => (at === noun ? word.replace(/(?<=ch|sh|ss)es$|s$/, '') : word)).join(' ')
}

/** What a format has a place for, besides messages. */
export interface HeldParts {
  readonly timing?: boolean
  readonly connections?: boolean
  readonly exchanges?: boolean
  readonly raw?: boolean
  readonly stderr?: boolean
  readonly originals?: boolean
  /** The labels of the header that have a place. */
  readonly labels?: readonly string[]
  /** The command line or URL of the server. */
  readonly server?: boolean
}

/** The frames that a format of messages writes. All others are counted. */
export function framesToWrite(
  { header, frames }: ExportedTape,
  losses: Losses,
  held: HeldParts,
): readonly WrittenFrame[] {
  countHeader(header, losses, held)
  const written = frames.filter((frame): frame is WrittenFrame => isWritten(frame, losses, held))
  if (held.timing !== true && written.length > 0) losses.note('timing')
  const conns = new Set(written.map(({ server, conn }) => `${conn} ${server}`))
  if (held.connections !== true) losses.count('borders of connections', conns.size - 1)
  return written
}

export type WrittenFrame = Extract<Frame, { readonly kind: 'message' | 'raw' | 'stderr' }>

function isWritten(frame: Frame, losses: Losses, held: HeldParts): boolean {
  if (!isSeenBy(frame, 'client')) return lose(losses, 'messages as only the server saw them')
  switch (frame.kind) {
    case 'message':
      countMessageParts(frame, losses, held)
      return true
    case 'raw':
      return held.raw === true || lose(losses, 'raw frames')
    case 'stderr':
      return held.stderr === true || lose(losses, 'stderr frames')
    case 'http':
      return lose(losses, 'HTTP heads')
    case 'event':
      return frame.event === 'end' || frame.event === 'server' ? false : lose(losses, 'events')
    case 'other':
      return lose(losses, 'frames of a kind that this version does not know')
  }
}

function lose(losses: Losses, what: string): false {
  losses.count(what)
  return false
}

function countMessageParts(frame: MessageFrame, losses: Losses, held: HeldParts): void {
  if (frame.sse !== undefined && Object.values(frame.sse).some((value) => value !== undefined))
    losses.count('fields of server-sent events')
  if (frame.x !== undefined && held.exchanges !== true) losses.note('numbers of HTTP exchanges')
  if (frame.original !== undefined && held.originals !== true) losses.count('originals of changed messages')
}

/** Counts what of the header has no place. */
export function countHeader(header: TapeHeader, losses: Losses, { labels = [], server }: HeldParts): void {
  const given = (['session', 'endpoint', 'agent', 'note'] as const).filter(
    (name) => header[name] !== undefined && !labels.includes(name),
  )
  losses.count('labels', given.length)
  if (!labels.includes('tags')) losses.count('tags', Object.keys(header.tags).length)
  const infos = Object.values(header.servers)
  if (server !== true)
    losses.count(
      'addresses of servers',
      infos.filter(({ command, url }) => command !== undefined || url !== undefined).length,
    )
  losses.count('names of secret variables', infos.flatMap(({ env = [] }) => env).length)
}

/** The time of a frame as ISO 8601. */
export function isoTime({ started }: TapeHeader, t: number): string {
  return new Date(Date.parse(started) + t).toISOString()
}
