import { parseJson, member } from '../../json/parse.ts'
import type { Direction } from '../../protocol/message.ts'
import { connectionsInTape, type ConnectionFacts } from '../connections.ts'
import type { FilterExpression } from '../../filter/filter.ts'
import {
  exchangesInTurns,
  exchangeSubject,
  messageSubject,
  type ExchangeFacts,
  MissingResponses,
  withHttpStatuses,
  withMissingResponses,
  summarizeLatency,
  type LatencySummary,
  latencyBetween,
} from '../exchanges.ts'
import { jsonDocument, jsonList, jsonObject, jsonValue, type JsonMembers } from '../json-text.ts'
import type { Tape, TapeReader } from '../../store/file/read.ts'
import type { EventFrame, RawFrame, StderrFrame, Frame } from '../../tape/frame.ts'
import { type TapeHeader, withLateServers } from '../../tape/header.ts'
import { selectServers } from '../../tape/server-filter.ts'
import { messagesOfTurn, type RecordedMessage, type TurnStep } from '../../tape/turns.ts'

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
  // The body of an HTTP error belongs to its exchange.
  const missing = new MissingResponses()
  const bodies = new Set<object>(tape.rest.filter((frame) => missing.add(frame)))
  const allOutside = messagesOutsideExchanges(tape)
  const outside = allOutside.filter((each) => !missing.addMessage(each))
  const events = tape.rest.filter((frame) => frame.kind === 'event')
  const stderr = tape.rest.filter((frame) => frame.kind === 'stderr')
  const allRaw = tape.rest.filter((frame) => frame.kind === 'raw')
  const raw = allRaw.filter((frame) => !bodies.has(frame))
  const exchanges = withMissingResponses(withHttpStatuses(exchangesInTurns(tape.turns), tape.rest), missing)
  return {
    path: tape.path,
    header: tape.header,
    frames: tape.frames,
    durationMs: tapeDuration(tape),
    ended: tape.ended,
    connections: connectionsInTape(exchanges, events, [...allOutside, ...stderr, ...allRaw]),
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

/** Keeps the exchanges and the messages outside of them that a filter matches, and nothing that it cannot match. */
export function filterInspection(inspection: Inspection, filter: FilterExpression): Inspection {
  const exchanges = inspection.exchanges.filter((exchange) => filter.matches(exchangeSubject(exchange)))
  return {
    ...inspection,
    exchanges,
    outside: inspection.outside.filter((recorded) => filter.matches(messageSubject(recorded))),
    stderr: [],
    raw: [],
    events: [],
    latency: summarizeLatency(exchanges.flatMap(({ latencyMs }) => latencyMs ?? [])),
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

/** Formats a tape for programs, as described in `docs/reference/inspect.md`. Messages keep the bytes that were recorded. */
export function inspectAsJson(inspection: Inspection): string {
  const { connections, exchanges, outside, stderr, raw, events } = inspection
  const { latency, problems, unknownFrames } = inspection
  return jsonDocument({
    tape: tapeJson(inspection),
    servers: serversJson(inspection),
    connections: connections.map(connectionJson),
    exchanges: exchanges.map((exchange) => exchangeJson(exchange, inspection)),
    outside: outside.map((recorded) => messageJson(recorded, inspection)),
    stderr: stderr.map((frame) => stderrJson(frame, inspection)),
    raw: raw.map((frame) => rawJson(frame, inspection)),
    events: events.map((frame) => eventJson(frame, inspection)),
    misses: jsonValue(missedRequests(inspection).map(({ sequence }) => sequence)),
    latency: jsonValue(latency ?? null),
    unknownFrames: jsonValue(unknownFrames),
    problems: jsonValue(problems),
  })
}

function tapeJson({ path, header, frames, durationMs, ended }: Inspection): string {
  const { reelay: version, id, started, by, redaction, tags } = header
  return jsonObject({
    path: jsonValue(path),
    version: jsonValue(version),
    id: jsonValue(id),
    recordedAt: jsonValue(started),
    recordedBy: jsonValue(by),
    redaction: jsonValue(redaction ?? null),
    session: jsonValue(header.session ?? null),
    endpoint: jsonValue(header.endpoint ?? null),
    agent: jsonValue(header.agent ?? null),
    note: jsonValue(header.note ?? null),
    tags: jsonValue(tags),
    frames: jsonValue(frames),
    durationMs: jsonValue(durationMs),
    ended: jsonValue(ended),
  })
}

function serversJson({ header }: Inspection): string {
  const servers = Object.entries(header.servers).map(([name, { transport, command, url, env }]) =>
    jsonObject({
      name: jsonValue(name),
      transport: jsonValue(transport),
      command: jsonValue(command?.[0] ?? null),
      args: jsonValue(command?.slice(1) ?? []),
      url: jsonValue(url ?? null),
      env: jsonValue(env ?? []),
    }),
  )
  return jsonList(servers)
}

function connectionJson(facts: ConnectionFacts): string {
  return jsonObject({
    server: jsonValue(facts.server),
    connection: jsonValue(facts.conn),
    protocolVersion: jsonValue(facts.protocolVersion ?? null),
    era: jsonValue(facts.era ?? null),
    clientInfo: jsonValue(facts.clientInfo ?? null),
    serverInfo: jsonValue(facts.serverInfo ?? null),
    clientCapabilities: jsonValue(facts.clientCapabilities ?? null),
    serverCapabilities: jsonValue(facts.serverCapabilities ?? null),
    exit: jsonValue(facts.exit ?? null),
  })
}

/** One exchange, on one line. */
export function exchangeJson(exchange: ExchangeFacts, inspection: TapeClock): string {
  const { sequence, request, target, steps, response, latencyMs, outcome } = exchange
  return jsonObject({
    sequence: jsonValue(sequence),
    ...directedFrameJson(request, inspection),
    method: jsonValue(request.message.method),
    target: jsonValue(target ?? null),
    outcome: jsonValue(outcome),
    latencyMs: jsonValue(latencyMs ?? null),
    request: request.text,
    notifications: jsonList(steps.flatMap((step) => notificationJson(step, inspection))),
    asks: jsonList(steps.flatMap((step) => serverRequestJson(step, inspection))),
    response: response?.text ?? 'null',
  })
}

function notificationJson(step: TurnStep, inspection: TapeClock): readonly string[] {
  return step.kind === 'notify' ? [messageJson(step.message, inspection)] : []
}

/** A request of the server inside an exchange, with the client's answer. */
function serverRequestJson(step: TurnStep, inspection: TapeClock): readonly string[] {
  if (step.kind !== 'ask') return []
  const { request, answer } = step
  const ask = {
    ...directedFrameJson(request, inspection),
    latencyMs: jsonValue(answer ? latencyBetween(request, answer) : null),
    request: request.text,
    response: answer?.text ?? 'null',
  }
  return [jsonObject(ask)]
}

function messageJson(recorded: RecordedMessage, inspection: TapeClock): string {
  return jsonObject({ ...directedFrameJson(recorded, inspection), message: recorded.text })
}

function stderrJson(frame: StderrFrame, inspection: Inspection): string {
  return jsonObject({ ...directedFrameJson(frame, inspection), text: jsonValue(frame.stderr) })
}

function rawJson(frame: RawFrame, inspection: Inspection): string {
  return jsonObject({
    ...directedFrameJson(frame, inspection),
    text: jsonValue(frame.raw),
    why: jsonValue(frame.why),
    base64: jsonValue(frame.base64 ?? null),
  })
}

function eventJson(frame: EventFrame, inspection: Inspection): string {
  return jsonObject({
    ...framePositionJson(frame, inspection),
    event: jsonValue(frame.event),
    details: jsonValue(frame.details),
  })
}

type TapeClock = Pick<Inspection, 'header'>
type FramePosition = Pick<EventFrame, 'n' | 't' | 'server' | 'conn'>

function directedFrameJson(
  frame: FramePosition & { readonly dir: Direction },
  inspection: TapeClock,
): JsonMembers {
  return { ...framePositionJson(frame, inspection), direction: jsonValue(frame.dir) }
}

function framePositionJson({ n, t, server, conn }: FramePosition, inspection: TapeClock): JsonMembers {
  return {
    frame: jsonValue(n),
    timestamp: jsonValue(frameTimestamp(inspection, t)),
    server: jsonValue(server ?? null),
    connection: jsonValue(conn ?? null),
  }
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
    isShown,
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
