import type { EventFrame, RawFrame, StderrFrame } from '../../tape/frame.ts'
import type { RecordedMessage, TurnStep } from '../../tape/turns.ts'
import type { Direction } from '../../protocol/message.ts'
import type { ConnectionFacts } from '../connections.ts'
import { latencyBetween, type ExchangeFacts } from '../exchanges.ts'
import { missedRequests, frameTimestamp, type Inspection } from './inspect.ts'
import { jsonDocument, jsonList, jsonObject, jsonValue, type JsonMembers } from '../json-text.ts'

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
