import type { EventFrame, RawFrame, StderrFrame } from '../tape/frame.ts'
import type { Spoken, Step } from '../tape/turn.ts'
import type { Direction } from '../wire/direction.ts'
import type { ConnectionFacts } from './connection-facts.ts'
import { latencyBetween, type ExchangeFacts } from './exchange-facts.ts'
import { missesOf, timestamp, type Inspection } from './inspect.ts'
import { jsonDocument, list, object, plain, type JsonMembers } from './json-text.ts'

/** A tape for programs, as `docs/inspect.md` describes it. Messages are spliced in as they were spelled on the wire. */
export function inspectAsJson(inspection: Inspection): string {
  const { connections, exchanges, outside, stderr, raw, events } = inspection
  const { latency, problems, unknownFrames } = inspection
  return jsonDocument({
    tape: tapeJson(inspection),
    servers: serversJson(inspection),
    connections: connections.map(connectionJson),
    exchanges: exchanges.map((exchange) => exchangeJson(exchange, inspection)),
    outside: outside.map((spoken) => spokenJson(spoken, inspection)),
    stderr: stderr.map((frame) => stderrJson(frame, inspection)),
    raw: raw.map((frame) => rawJson(frame, inspection)),
    events: events.map((frame) => eventJson(frame, inspection)),
    misses: plain(missesOf(inspection).map(({ sequence }) => sequence)),
    latency: plain(latency ?? null),
    unknownFrames: plain(unknownFrames),
    problems: plain(problems),
  })
}

function tapeJson({ path, header, frames, durationMs, ended }: Inspection): string {
  const { reelay: version, id, started, by, redaction, tags } = header
  return object({
    path: plain(path),
    version: plain(version),
    id: plain(id),
    recordedAt: plain(started),
    recordedBy: plain(by),
    redaction: plain(redaction ?? null),
    session: plain(header.session ?? null),
    endpoint: plain(header.endpoint ?? null),
    agent: plain(header.agent ?? null),
    note: plain(header.note ?? null),
    tags: plain(tags),
    frames: plain(frames),
    durationMs: plain(durationMs),
    ended: plain(ended),
  })
}

function serversJson({ header }: Inspection): string {
  const servers = Object.entries(header.servers).map(([name, { transport, command, url, env }]) =>
    object({
      name: plain(name),
      transport: plain(transport),
      command: plain(command?.[0] ?? null),
      args: plain(command?.slice(1) ?? []),
      url: plain(url ?? null),
      env: plain(env ?? []),
    }),
  )
  return list(servers)
}

function connectionJson(facts: ConnectionFacts): string {
  return object({
    server: plain(facts.server),
    connection: plain(facts.conn),
    protocolVersion: plain(facts.protocolVersion ?? null),
    era: plain(facts.era ?? null),
    clientInfo: plain(facts.clientInfo ?? null),
    serverInfo: plain(facts.serverInfo ?? null),
    clientCapabilities: plain(facts.clientCapabilities ?? null),
    serverCapabilities: plain(facts.serverCapabilities ?? null),
    exit: plain(facts.exit ?? null),
  })
}

/** One exchange, on one line. */
export function exchangeJson(exchange: ExchangeFacts, inspection: Clock): string {
  const { sequence, request, target, steps, response, latencyMs, outcome } = exchange
  return object({
    sequence: plain(sequence),
    ...placeJson(request, inspection),
    method: plain(request.message.method),
    target: plain(target ?? null),
    outcome: plain(outcome),
    latencyMs: plain(latencyMs ?? null),
    request: request.text,
    notifications: list(steps.flatMap((step) => notificationJson(step, inspection))),
    asks: list(steps.flatMap((step) => askJson(step, inspection))),
    response: response?.text ?? 'null',
  })
}

function notificationJson(step: Step, inspection: Clock): readonly string[] {
  return step.kind === 'notify' ? [spokenJson(step.message, inspection)] : []
}

/** A request of the server inside an exchange, with the client's answer. */
function askJson(step: Step, inspection: Clock): readonly string[] {
  if (step.kind !== 'ask') return []
  const { request, answer } = step
  const ask = {
    ...placeJson(request, inspection),
    latencyMs: plain(answer ? latencyBetween(request, answer) : null),
    request: request.text,
    response: answer?.text ?? 'null',
  }
  return [object(ask)]
}

function spokenJson(spoken: Spoken, inspection: Clock): string {
  return object({ ...placeJson(spoken, inspection), message: spoken.text })
}

function stderrJson(frame: StderrFrame, inspection: Inspection): string {
  return object({ ...placeJson(frame, inspection), text: plain(frame.stderr) })
}

function rawJson(frame: RawFrame, inspection: Inspection): string {
  return object({
    ...placeJson(frame, inspection),
    text: plain(frame.raw),
    why: plain(frame.why),
    base64: plain(frame.base64 ?? null),
  })
}

function eventJson(frame: EventFrame, inspection: Inspection): string {
  return object({
    ...momentJson(frame, inspection),
    event: plain(frame.event),
    details: plain(frame.details),
  })
}

/** What it takes to say when something happened. */
type Clock = Pick<Inspection, 'header'>
type Moment = Pick<EventFrame, 'n' | 't' | 'server' | 'conn'>

function placeJson(frame: Moment & { readonly dir: Direction }, inspection: Clock): JsonMembers {
  return { ...momentJson(frame, inspection), direction: plain(frame.dir) }
}

function momentJson({ n, t, server, conn }: Moment, inspection: Clock): JsonMembers {
  return {
    frame: plain(n),
    timestamp: plain(timestamp(inspection, t)),
    server: plain(server ?? null),
    connection: plain(conn ?? null),
  }
}
