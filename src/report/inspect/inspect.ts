import type { Tape } from '../../store/file/read.ts'
import type { EventFrame, RawFrame, StderrFrame } from '../../tape/frame.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { messagesOfTurn } from '../../tape/turn-messages.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import { connectionsInTape, type ConnectionFacts } from '../exchanges/connections.ts'
import { exchangesInTurns, type ExchangeFacts } from '../exchanges/exchange.ts'
import { withHttpStatuses } from '../http-status.ts'
import { summarizeLatency, type LatencySummary } from '../latency.ts'

/** What a tape tells, as plain facts: every view of a tape shows these and decides nothing. */
export interface Inspection {
  readonly path: string
  readonly header: TapeHeader
  readonly frames: number
  readonly durationMs: number
  /** Whether the recording ended well; a tape without its `end` was cut, or is still being written. */
  readonly ended: boolean
  readonly connections: readonly ConnectionFacts[]
  readonly exchanges: readonly ExchangeFacts[]
  /** Messages that belong to no exchange: notifications of the client and what they set off, answers to nothing. */
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

/** The exchanges that a tape, played as a server, could not answer. */
export function missedExchanges({ exchanges }: Inspection): readonly ExchangeFacts[] {
  return exchanges.filter(({ outcome }) => outcome.kind === 'miss')
}

/** The moment of a frame, from the clock of its tape. */
export function frameTimestamp({ header }: Pick<Inspection, 'header'>, t: number): string {
  return new Date(Math.min(Date.parse(header.started) + t, LAST_DATE)).toISOString()
}

const LAST_DATE = 8.64e15 // of JavaScript; a tape that was edited by hand may say anything

function messagesOutsideExchanges({ turns, strays }: Tape): readonly RecordedMessage[] {
  const loose = turns.filter(({ trigger }) => trigger?.message.kind !== 'request').flatMap(messagesOfTurn)
  return [...loose, ...strays].toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

function tapeDuration({ turns, strays, rest }: Tape): number {
  const times = [...turns.flatMap(messagesOfTurn), ...strays, ...rest].map(({ t }) => t)
  return times.reduce((latest, t) => Math.max(latest, t), 0)
}
