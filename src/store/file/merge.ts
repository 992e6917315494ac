import { open, type FileHandle } from 'node:fs/promises'
import { canonicalJson } from '../../json/canonical.ts'
import { hashText } from '../../json/hash.ts'
import { requestKey } from '../../match/request-key.ts'
import { isOpeningMethod } from '../../protocol/revisions/index.ts'
import { encodeFrame } from '../../tape/codec.ts'
import { roundTime, type EventFrame, type Frame } from '../../tape/frame.ts'
import { encodeHeader, TEXT_LABELS, type TapeHeader, type TapeLabels } from '../../tape/header.ts'
import { clientCallOf, messagesOfTurn, turnStoreOf, type Turn } from '../../tape/turns.ts'
import { openIndexedTape } from '../index/indexed-tape.ts'
import { openTape } from './read.ts'
import { replaceFile } from './replace-file.ts'

export interface MergeOptions {
  readonly output: string
  /** Leaves out exchanges that have the same request and the same outcome as an earlier one. */
  readonly deduplicate?: boolean
  /** Makes the header of the new tape. */
  readonly header: (started: Date, servers: TapeHeader['servers'], labels: TapeLabels) => TapeHeader
}

export interface MergeResult {
  readonly frames: number
  readonly exchanges: number
  /** Exchanges that were left out. */
  readonly duplicates: number
}

/**
 * Writes several tapes as one. The sessions follow each other in the order in which they were recorded, each with connections of its own.
 * Every message keeps its bytes.
 */
export async function mergeTapes(
  paths: readonly string[],
  { output, deduplicate = false, header }: MergeOptions,
): Promise<MergeResult> {
  const tapes = await Promise.all(paths.map(async (path) => ({ path, header: await headerOf(path) })))
  tapes.sort((one, other) => startOf(one.header) - startOf(other.header))
  const headers = tapes.map((tape) => tape.header)
  const names = serverNames(headers)
  const servers = Object.assign(
    {},
    ...headers.map((each, at) =>
      Object.fromEntries(
        Object.entries(each.servers).map(([name, server]) => [names[at]?.get(name) ?? name, server]),
      ),
    ),
  ) as TapeHeader['servers']
  const first = startOf(headers[0])
  const merged = { ...header(new Date(first), servers, commonLabels(headers)), ...commonRedaction(headers) }
  return replaceFile(output, async (draft) => {
    const file = await open(draft, 'wx', 0o600)
    try {
      const writer = new MergedTape(file, names)
      await writer.line(encodeHeader(merged))
      for (const [at, tape] of tapes.entries())
        await writer.add(tape.path, { at, offset: Math.max(0, startOf(tape.header) - first), deduplicate })
      return await writer.end()
    } finally {
      await file.close()
    }
  })
}

async function headerOf(path: string): Promise<TapeHeader> {
  return (await openTape(path)).header
}

function startOf(header: TapeHeader | undefined): number {
  const time = Date.parse(header?.started ?? '')
  return Number.isNaN(time) ? 0 : time
}

/** Names of servers on the merged tape. Different servers with one name get a number. */
function serverNames(headers: readonly TapeHeader[]): readonly ReadonlyMap<string, string>[] {
  const targets = new Map<string, string>()
  return headers.map(({ servers }) => {
    const names = new Map<string, string>()
    for (const [name, { transport, command, url }] of Object.entries(servers)) {
      const target = canonicalJson({ transport, command, url })
      let chosen = name
      for (let copy = 2; (targets.get(chosen) ?? target) !== target; copy++) chosen = `${name}-${copy}`
      targets.set(chosen, target)
      names.set(name, chosen)
    }
    return names
  })
}

/** The labels that all tapes have. */
function commonLabels(headers: readonly TapeHeader[]): TapeLabels {
  const [first, ...others] = headers
  const ids = TEXT_LABELS.filter((id) => others.every((each) => each[id] === first?.[id]))
  const tags = Object.entries(first?.tags ?? {}).filter(([key, value]) =>
    others.every((each) => each.tags[key] === value),
  )
  return {
    ...Object.fromEntries(ids.flatMap((id) => (first?.[id] === undefined ? [] : [[id, first[id]]]))),
    tags: Object.fromEntries(tags),
  }
}

/** A tape of which a part was not redacted is redacted whenever it is shown. */
function commonRedaction(headers: readonly TapeHeader[]): Pick<TapeHeader, 'redaction'> {
  const [first, ...others] = headers.map(({ redaction }) => redaction)
  return first !== undefined && others.every((each) => each?.rules === first.rules && each.key === first.key)
    ? { redaction: first }
    : {}
}

const BLOCK_LINES = 2_000

class MergedTape {
  readonly #file: FileHandle
  readonly #names: readonly ReadonlyMap<string, string>[]
  readonly #seen = new Set<string>()
  readonly #connections = new Map<string, number>()
  #lines: string[] = []
  #frames = 0
  #lastTime = 0
  #lastExchange = 0
  #exchanges = 0
  #duplicates = 0

  constructor(file: FileHandle, names: readonly ReadonlyMap<string, string>[]) {
    this.#file = file
    this.#names = names
  }

  async line(text: string): Promise<void> {
    this.#lines.push(text)
    if (this.#lines.length >= BLOCK_LINES) await this.#flush()
  }

  async add(
    path: string,
    { at, offset, deduplicate }: { at: number; offset: number; deduplicate: boolean },
  ): Promise<void> {
    const isLeftOut = await this.#choose(path, at, deduplicate)
    const reader = await openTape(path)
    const start = Math.max(offset, this.#lastTime)
    const exchanges = this.#lastExchange
    const connections = new Map<string, number>()
    const numbers = new Map<number, number>()
    for await (const batch of reader.batches())
      for (const frame of batch) {
        if (isLeftOut(frame) || (frame.kind === 'event' && frame.event === 'end')) continue
        const n = ++this.#frames
        numbers.set(frame.n, n)
        const t = roundTime(start + frame.t)
        this.#lastTime = Math.max(this.#lastTime, t)
        await this.line(encodeFrame(this.#moved(frame, { n, t, at, connections, exchanges, numbers })))
      }
  }

  #moved(frame: Frame, { n, t, at, connections, exchanges, numbers }: NewPlace): Frame {
    if (frame.kind === 'other')
      return { ...frame, n, t, line: frame.line.replace(/^\{"n":\d+,"t":[\d.]+/, `{"n":${n},"t":${t}`) }
    const server =
      frame.server === undefined ? undefined : (this.#names[at]?.get(frame.server) ?? frame.server)
    const x = frame.x === undefined ? undefined : frame.x + exchanges
    this.#lastExchange = Math.max(this.#lastExchange, x ?? 0)
    const place = { n, t, ...(x !== undefined && { x }) }
    if (frame.kind === 'event')
      return {
        ...frame,
        ...place,
        ...(server !== undefined && { server }),
        ...(frame.conn !== undefined && { conn: this.#connection(server ?? '', frame.conn, connections) }),
      }
    const own = {
      ...place,
      server: server ?? '',
      conn: this.#connection(server ?? '', frame.conn, connections),
    }
    if (frame.kind !== 'message') return { ...frame, ...own }
    return { ...frame, ...own, ...(frame.of !== undefined && { of: numbers.get(frame.of) ?? n }) }
  }

  #connection(server: string, conn: number, known: Map<string, number>): number {
    const key = `${conn} ${server}`
    const number = known.get(key) ?? (this.#connections.get(server) ?? 0) + 1
    if (!known.has(key)) this.#connections.set(server, number)
    known.set(key, number)
    return number
  }

  /** Decides which frames of a tape are left out: those of duplicates, and connections that have nothing else. */
  async #choose(path: string, at: number, deduplicate: boolean): Promise<(frame: Frame) => boolean> {
    const tape = await openIndexedTape(path)
    try {
      const turns = turnStoreOf(tape.turns)
      const frames = new Set<number>()
      const exchanges = new Set<number>()
      const links = new Map<string, number>()
      for (let index = 0; index < turns.size; index++) {
        if (turns.summary(index).trigger !== 'request') continue
        this.#exchanges++
        const turn = deduplicate ? turns.at(index) : undefined
        if (turn?.trigger === undefined) continue
        const key = this.#keyOf(turn, at)
        const link = `${turn.trigger.conn} ${turn.trigger.server}`
        const isOpening = isOpeningMethod(turns.summary(index).method)
        if (key === undefined || !this.#seen.has(key)) {
          if (key !== undefined) this.#seen.add(key)
          if (!isOpening || !links.has(link)) links.set(link, Infinity)
          continue
        }
        // The handshake stays as long as anything else of its connection does.
        if (isOpening) {
          links.set(link, (links.get(link) ?? 0) + 1)
          continue
        }
        this.#duplicates++
        for (const { n, x } of messagesOfTurn(turn)) {
          frames.add(n)
          if (x !== undefined) exchanges.add(x)
        }
      }
      const empty = new Set([...links].flatMap(([link, openings]) => (openings === Infinity ? [] : [link])))
      for (const openings of links.values()) if (openings < Infinity) this.#duplicates += openings
      return (frame) =>
        frames.has(frame.n) ||
        (frame.kind !== 'other' &&
          ((frame.x !== undefined && exchanges.has(frame.x)) || empty.has(`${frame.conn} ${frame.server}`)))
    } finally {
      tape.close()
    }
  }

  /** Names an exchange by its request and its outcome. Exchanges without an outcome, and parts of batches, are never duplicates. */
  #keyOf(turn: Turn, at: number): string | undefined {
    const call = clientCallOf(turn.trigger)
    const message = turn.response?.message
    if (call === undefined || message?.kind !== 'response') return undefined
    if (messagesOfTurn(turn).some(({ item }) => item !== undefined)) return undefined
    const server = this.#names[at]?.get(call.server) ?? call.server
    const text = requestKey({ ...call, server }) + canonicalJson(message.outcome)
    const { low, high } = hashText(text)
    return `${text.length} ${low} ${high}`
  }

  async end(): Promise<MergeResult> {
    const n = ++this.#frames
    const end: EventFrame = { kind: 'event', n, t: this.#lastTime, event: 'end', details: { frames: n } }
    await this.line(encodeFrame(end))
    await this.#flush()
    return { frames: n, exchanges: this.#exchanges - this.#duplicates, duplicates: this.#duplicates }
  }

  async #flush(): Promise<void> {
    await this.#file.writeFile(this.#lines.map((line) => `${line}\n`).join(''))
    this.#lines = []
  }
}

interface NewPlace {
  readonly n: number
  readonly t: number
  readonly at: number
  readonly connections: Map<string, number>
  readonly exchanges: number
  readonly numbers: ReadonlyMap<number, number>
}
