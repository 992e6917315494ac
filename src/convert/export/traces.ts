import { createHash } from 'node:crypto'
import { isObject, member, type JsonObject } from '../../json/parse.ts'
import { calledTool, envelopeVersion } from '../../protocol/message.ts'
import { requestTarget } from '../../protocol/message.ts'
import type { Frame, HttpFrame } from '../../tape/frame.ts'
import type { TapeHeader } from '../../tape/header.ts'
import type { RecordedMessage, Turn } from '../../tape/turns.ts'
import { countHeader, type ExportFormat, type ExportedTape, type Losses } from './export-format.ts'

/* Formats of tracing: a span for each request, at the times of the tape. */

/** Chrome trace events, which Perfetto and the developer tools of Chrome open. Each server is a process, each connection a thread. */
export const traceExport: ExportFormat = {
  name: 'trace',
  description: 'Chrome trace events, for Perfetto and DevTools',
  extension: '.trace.json',
  write: (tape, losses) => {
    countLost(tape, losses)
    const pids = new Map(Object.keys(tape.header.servers).map((name, index) => [name, index + 1]))
    const names = [...pids].map(([name, pid]) => ({
      name: 'process_name',
      ph: 'M',
      pid,
      tid: 0,
      ts: 0,
      args: { name },
    }))
    const place = ({ server, conn }: RecordedMessage): JsonObject => ({
      pid: pids.get(server) ?? 0,
      tid: conn,
    })
    const events = tape.turns.flatMap((turn) => traceEvents(turn, place))
    const stderr = tape.frames.flatMap((frame) =>
      frame.kind === 'stderr'
        ? [
            {
              name: 'stderr',
              cat: 'stderr',
              ph: 'i',
              s: 't',
              ts: micros(frame.t),
              pid: pids.get(frame.server) ?? 0,
              tid: frame.conn,
              args: { text: frame.stderr },
            },
          ]
        : [],
    )
    const sorted = [...events, ...stderr].toSorted((a, b) => Number(a['ts']) - Number(b['ts']))
    const document = {
      traceEvents: [...names, ...sorted],
      displayTimeUnit: 'ms',
      otherData: { tape: tape.name, started: tape.header.started, by: tape.header.by },
    }
    return `${JSON.stringify(document)}\n`
  },
}

/** Calls overlap, so they are asynchronous events, which viewers draw one below the other. */
function traceEvents(turn: Turn, place: (message: RecordedMessage) => JsonObject): readonly JsonObject[] {
  const { trigger, response, steps } = turn
  const inner = steps.flatMap((step): readonly JsonObject[] => {
    if (step.kind === 'respond') return []
    const message = step.kind === 'notify' ? step.message : step.request
    return [
      {
        name: methodOf(message),
        cat: step.kind === 'notify' ? 'notification' : 'request of the server',
        ph: 'i',
        s: 't',
        ts: micros(message.t),
        ...place(message),
        args: { message: message.text },
      },
    ]
  })
  if (trigger === undefined) return inner
  const name = spanName(trigger)
  if (trigger.message.kind !== 'request')
    return [
      {
        name,
        cat: 'notification',
        ph: 'i',
        s: 't',
        ts: micros(trigger.t),
        ...place(trigger),
        args: { message: trigger.text },
      },
      ...inner,
    ]
  const id = `frame-${trigger.n}`
  const begin = {
    name,
    cat: 'mcp',
    ph: 'b',
    id,
    ts: micros(trigger.t),
    ...place(trigger),
    args: { request: trigger.text },
  }
  const end = {
    name,
    cat: 'mcp',
    ph: 'e',
    id,
    ts: micros((response ?? trigger).t),
    ...place(trigger),
    args: { response: response?.text ?? null },
  }
  return [begin, ...inner, end]
}

function countLost({ header, frames }: ExportedTape, losses: Losses): void {
  countHeader(header, losses, {})
  losses.count('HTTP heads', frames.filter(({ kind }) => kind === 'http').length)
  losses.count('raw frames', frames.filter(({ kind }) => kind === 'raw').length)
  losses.count('events', frames.filter((frame) => frame.kind === 'event' && frame.event !== 'end').length)
}

/** Microseconds since the start of the tape. */
function micros(t: number): number {
  return Math.round(t * 1000)
}

function methodOf({ message }: RecordedMessage): string {
  return message.kind === 'request' || message.kind === 'notification' ? message.method : ''
}

function spanName(trigger: RecordedMessage): string {
  const { message } = trigger
  const target =
    message.kind === 'request' && /^(tools\/call|prompts\/get)$/.test(message.method)
      ? requestTarget(message.params)
      : undefined
  return `${methodOf(trigger)}${target === undefined ? '' : ` ${target}`}`
}

/** OpenTelemetry, as JSON of OTLP/HTTP, by the semantic conventions for MCP. */
export const otlpExport: ExportFormat = {
  name: 'otlp',
  description: 'OpenTelemetry spans as OTLP JSON, by the conventions for MCP',
  extension: '.otlp.json',
  write: (tape, losses) => {
    countLost(tape, losses)
    losses.count('stderr frames', tape.frames.filter(({ kind }) => kind === 'stderr').length)
    const session = { ...tape, openings: tape.turns.filter(isOpening) }
    return `${JSON.stringify({ resourceSpans: resourceSpans(session, tape.turns) })}\n`
  },
}

/** A request, what the server sent until its response, and the response. */
export type SpanTurn = Pick<Turn, 'trigger' | 'steps' | 'response'>

/** The parts of a tape that say something about all its spans. */
interface SpanSession extends Pick<ExportedTape, 'header' | 'frames'> {
  readonly openings: readonly SpanTurn[]
}

/** Makes spans of a session that goes on. */
export class LiveSpans {
  readonly #header: TapeHeader
  readonly #sessionHeads = new Map<string, Frame>()
  readonly #openings: SpanTurn[] = []

  constructor(header: TapeHeader) {
    this.#header = header
  }

  /** Learns the ids of HTTP sessions. */
  add(frame: Frame): void {
    if (frame.kind === 'http' && sessionIdOf(frame) !== undefined)
      this.#sessionHeads.set(`${frame.server} ${frame.conn}`, frame)
  }

  /** OTLP JSON with a span for each of these requests. */
  write(turns: readonly SpanTurn[]): string {
    this.#openings.push(...turns.filter(isOpening))
    const session = {
      header: this.#header,
      frames: [...this.#sessionHeads.values()],
      openings: this.#openings,
    }
    return JSON.stringify({ resourceSpans: resourceSpans(session, turns) })
  }
}

function isOpening({ trigger }: SpanTurn): boolean {
  return trigger !== undefined && methodOf(trigger) === 'initialize'
}

function sessionIdOf({ http: { headers } }: HttpFrame): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === 'mcp-session-id')?.[1]
}

/** The spans, by server. */
function resourceSpans(tape: SpanSession, turns: readonly SpanTurn[]): readonly JsonObject[] {
  const servers = new Map<string, SpanTurn[]>()
  for (const turn of turns) {
    if (turn.trigger?.message.kind !== 'request') continue
    const known = servers.get(turn.trigger.server) ?? []
    servers.set(turn.trigger.server, known)
    known.push(turn)
  }
  return [...servers].map(([server, own]) => {
    const facts = sessionFacts(tape, server)
    return {
      resource: { attributes: attributes({ 'service.name': server }) },
      scopeSpans: [
        {
          scope: { name: 'reelay', version: tape.header.by.replace(/^reelay /, '') },
          spans: own.map((turn) => spanOf(tape.header, turn, facts)),
        },
      ],
    }
  })
}

interface SessionFacts {
  readonly version: unknown
  readonly transport: 'pipe' | 'tcp'
  readonly address: URL | undefined
  readonly sessionIds: ReadonlyMap<number, string>
}

function sessionFacts({ header, frames, openings }: SpanSession, server: string): SessionFacts {
  const { transport, url } = header.servers[server] ?? { transport: 'stdio', url: undefined }
  const opening = openings.find(({ trigger }) => trigger?.server === server)
  const outcome =
    opening?.response?.message.kind === 'response' ? opening.response.message.outcome : undefined
  const sessionIds = new Map<number, string>()
  for (const frame of frames)
    if (frame.kind === 'http' && frame.server === server) {
      const id = sessionIdOf(frame)
      if (id !== undefined) sessionIds.set(frame.conn, id)
    }
  return {
    version: member(member(outcome, 'result'), 'protocolVersion'),
    transport: transport === 'http' || transport === 'sse' ? 'tcp' : 'pipe',
    address: url !== undefined && URL.canParse(url) ? new URL(url) : undefined,
    sessionIds,
  }
}

const SPAN_KIND_CLIENT = 3
const STATUS_ERROR = 2

function spanOf(header: TapeHeader, { trigger, response, steps }: SpanTurn, facts: SessionFacts): JsonObject {
  if (trigger?.message.kind !== 'request') return {}
  const { id, method, params } = trigger.message
  const parent = parentOf(params)
  const failure = failureOf(response)
  const end = response ?? trigger
  return {
    traceId: parent?.traceId ?? hexOf(`${header.id} trace ${trigger.server} ${trigger.conn}`, 32),
    spanId: hexOf(`${header.id} span ${trigger.n} ${trigger.item ?? 0}`, 16),
    ...(parent !== undefined && { parentSpanId: parent.spanId }),
    name: spanName(trigger),
    kind: SPAN_KIND_CLIENT,
    startTimeUnixNano: nanos(header, trigger.t),
    endTimeUnixNano: nanos(header, end.t),
    attributes: attributes({
      'mcp.method.name': method,
      'mcp.protocol.version': envelopeVersion(params) ?? facts.version,
      'mcp.session.id': facts.sessionIds.get(trigger.conn),
      'mcp.resource.uri': method.startsWith('resources/') ? member(params, 'uri') : undefined,
      'jsonrpc.request.id': String(id),
      'jsonrpc.protocol.version': '2.0',
      'rpc.response.status_code': failure?.code,
      'error.type': failure?.type,
      'gen_ai.operation.name': method === 'tools/call' ? 'execute_tool' : undefined,
      'gen_ai.tool.name': calledTool({ method, params }),
      'gen_ai.prompt.name': method === 'prompts/get' ? member(params, 'name') : undefined,
      'network.transport': facts.transport,
      'server.address': facts.address?.hostname,
      'server.port':
        facts.address?.port === undefined || facts.address.port === ''
          ? undefined
          : Number(facts.address.port),
    }),
    events: steps.flatMap((step) =>
      step.kind === 'respond'
        ? []
        : [
            {
              timeUnixNano: nanos(header, (step.kind === 'notify' ? step.message : step.request).t),
              name: methodOf(step.kind === 'notify' ? step.message : step.request),
              attributes: [],
            },
          ],
    ),
    status: failure === undefined ? {} : { code: STATUS_ERROR, message: failure.message },
  }
}

/** The span of the caller, from \`_meta.traceparent\` of the request. */
function parentOf(params: unknown): { readonly traceId: string; readonly spanId: string } | undefined {
  const given = member(member(params, '_meta'), 'traceparent')
  const [, traceId, spanId] =
    typeof given === 'string' ? (/^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(given) ?? []) : []
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId }
}

interface Failure {
  readonly type: string
  readonly code: string | undefined
  readonly message: string
}

function failureOf(response: RecordedMessage | undefined): Failure | undefined {
  if (response?.message.kind !== 'response')
    return { type: 'no_response', code: undefined, message: 'no response was recorded' }
  const { outcome } = response.message
  if ('error' in outcome) {
    const code = String(member(outcome.error, 'code'))
    return { type: code, code, message: String(member(outcome.error, 'message')) }
  }
  const isToolError = isObject(outcome.result) && outcome.result['isError'] === true
  return isToolError
    ? { type: 'tool_error', code: undefined, message: 'the tool reported an error' }
    : undefined
}

function attributes(values: JsonObject): readonly JsonObject[] {
  return Object.entries(values).flatMap(([key, value]): readonly JsonObject[] => {
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }]
    return typeof value === 'number' ? [{ key, value: { intValue: String(value) } }] : []
  })
}

function nanos({ started }: TapeHeader, t: number): string {
  return String(BigInt(Date.parse(started)) * 1_000_000n + BigInt(Math.round(t * 1_000_000)))
}

/** Ids that are the same in every export of a tape. */
function hexOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
