import { parseJson, member } from '../../json/parse.ts'
import { connectionsInTape, type ConnectionFacts } from '../connections.ts'
import {
  exchangesInTurns,
  type ExchangeFacts,
  withHttpStatuses,
  summarizeLatency,
  type LatencySummary,
} from '../exchanges.ts'
import type { Tape, TapeReader } from '../../store/file/read.ts'
import type { EventFrame, RawFrame, StderrFrame, Frame } from '../../tape/frame.ts'
import { type TapeHeader, withLateServers } from '../../tape/header.ts'
import { selectServers } from '../../tape/server-filter.ts'
import { messagesOfTurn, type RecordedMessage } from '../../tape/turns.ts'

/** The facts about a tape, which every view formats. */
export interface Inspection {
  readonly path: string
  readonly header: TapeHeader
  readonly frames: number
  readonly durationMs: number
  /** False if the tape was cut off or is still being written. */
  readonly ended: boolean
  readonly connections: readonly ConnectionFacts[]
  readonly exchanges: readonly ExchangeFacts[]
  /** Messages that belong to no exchange: notifications of the client, messages that follow them, and stray responses. */
  readonly outside: readonly RecordedMessage[]
  readonly stderr: readonly StderrFrame[]
  readonly raw: readonly RawFrame[]
  readonly events: readonly EventFrame[]
  /** Frames of a kind that this version does not know. */
  readonly unknownFrames: number
  readonly latency: LatencySummary | undefined
  readonly problems: Tape['problems']
}

export function inspectTape(tape: Tape): Inspection {
  const exchanges = withHttpStatuses(exchangesInTurns(tape.turns), tape.rest)
  const outside = messagesOutsideExchanges(tape)
  const events = tape.rest.filter((frame) => frame.kind === 'event')
  const stderr = tape.rest.filter((frame) => frame.kind === 'stderr')
  const raw = tape.rest.filter((frame) => frame.kind === 'raw')
  return {
    path: tape.path,
    header: tape.header,
    frames: tape.frames,
    durationMs: tapeDuration(tape),
    ended: tape.ended,
    connections: connectionsInTape(exchanges, events, [...outside, ...stderr, ...raw]),
    exchanges,
    outside,
    stderr,
    raw,
    events,
    unknownFrames: tape.rest.filter((frame) => frame.kind === 'other').length,
    latency: summarizeLatency(exchanges.flatMap(({ latencyMs }) => latencyMs ?? [])),
    problems: tape.problems,
  }
}

/** A request that a served tape could not answer. */
export interface MissedRequest {
  readonly sequence: number
  readonly message: string
}

export function missedRequests({ exchanges }: Inspection): readonly MissedRequest[] {
  return exchanges.flatMap(({ sequence, outcome }) =>
    outcome.kind === 'miss' ? [{ sequence, message: outcome.message }] : [],
  )
}

/** The time of a frame as an ISO date. */
export function frameTimestamp({ header }: Pick<Inspection, 'header'>, t: number): string {
  return new Date(Math.min(Date.parse(header.started) + t, LAST_DATE)).toISOString()
}

const LAST_DATE = 8.64e15 // the last date in JavaScript; a tape that was edited by hand may contain any time

function messagesOutsideExchanges({ turns, strays }: Tape): readonly RecordedMessage[] {
  const loose = turns.filter(({ trigger }) => trigger?.message.kind !== 'request').flatMap(messagesOfTurn)
  return [...loose, ...strays].toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

function tapeDuration({ turns, strays, rest }: Tape): number {
  const times = [...turns.flatMap(messagesOfTurn), ...strays, ...rest].map(({ t }) => t)
  return times.reduce((latest, t) => Math.max(latest, t), 0)
}

/** Filters a tape by server. Frames that belong to no server, such as the end, are kept. */
export async function selectTapeServers(reader: TapeReader, filter: string): Promise<TapeReader> {
  const header = await headerWithServers(reader, filter)
  const selected = selectServers({ path: reader.path, names: Object.keys(header.servers) }, filter)
  const isShown = (frame: Frame): boolean => {
    const server = serverOfFrame(frame)
    return typeof server !== 'string' || selected.includes(server)
  }
  const servers = Object.entries(header.servers).filter(([name]) => selected.includes(name))
  return {
    ...reader,
    header: { ...header, servers: Object.fromEntries(servers) },
    async *batches() {
      for await (const batch of reader.batches()) yield batch.filter(isShown)
    },
    async *frames() {
      for await (const frame of reader.frames()) if (isShown(frame)) yield frame
    },
  }
}

/** The header with all servers of the tape. Servers that joined later are found by reading the whole tape. */
async function headerWithServers(reader: TapeReader, filter: string): Promise<TapeHeader> {
  const { header } = reader
  if (Object.hasOwn(header.servers, filter)) return header
  const joined: Frame[] = []
  for await (const batch of reader.batches())
    for (const frame of batch) if (frame.kind === 'event' && frame.event === 'server') joined.push(frame)
  return withLateServers(header, joined)
}

function serverOfFrame(frame: Frame): unknown {
  return frame.kind === 'other' ? member(parseJson(frame.line), 'server') : frame.server
}
