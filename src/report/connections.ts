import { detachedCopy } from '../bindings/values.ts'
import { type JsonObject, isObject, member } from '../json/parse.ts'
import { type Request, type Response, META_KEYS, metaValue } from '../protocol/message.ts'
import {
  isOpeningMethod,
  isRevisionProbe,
  revisionProvenBy,
  revisionWithoutProof,
  type DetectedRevision,
} from '../protocol/revisions/index.ts'
import type { Era } from '../protocol/revisions/revision.ts'
import type { ExchangeFacts } from './exchanges.ts'
import type { EventFrame } from '../tape/frame.ts'

/** Facts about one connection, taken from its handshake and messages. */
export interface ConnectionFacts {
  readonly server: string
  readonly conn: number
  readonly clientInfo: JsonObject | undefined
  readonly serverInfo: JsonObject | undefined
  readonly clientCapabilities: JsonObject | undefined
  readonly serverCapabilities: JsonObject | undefined
  readonly protocolVersion: string | undefined
  readonly era: Era | undefined
  /** How the server's process ended: `code`, or `signal`. */
  readonly exit: JsonObject | undefined
}

/** One entry for each connection on the tape, in the order of their first messages. */
export function connectionsInTape(
  exchanges: readonly ExchangeFacts[],
  events: readonly EventFrame[],
  others: readonly ConnectionKey[],
): readonly ConnectionFacts[] {
  const tracker = new ConnectionTracker()
  for (const { request, response, sequence } of exchanges) {
    tracker.addRequest(request, request.message, sequence)
    if (response !== undefined)
      tracker.addResponse(request, { request: request.message, response: response.message, sequence })
  }
  for (const event of events) tracker.addEvent(event)
  for (const [position, frame] of others.entries()) tracker.track(frame, 'other', position)
  return tracker.facts()
}

/** A connection, by the name of its server and its number. */
interface ConnectionKey {
  readonly server: string
  readonly conn: number
}

// Connections are listed in the order of their first exchange. Those without exchanges come after them, by kind of trace.
const TRACE_RANKS = { exchange: 0, event: 1, outside: 2, stderr: 3, raw: 4, other: 5 } as const
type Trace = keyof typeof TRACE_RANKS

/** Collects facts about connections from messages, in any order. */
export class ConnectionTracker {
  readonly #connections = new Map<string, TrackedConnection>()

  /** Notes that a connection exists. `position` orders traces of the same kind. */
  track({ server, conn }: ConnectionKey, kind: Trace, position: number): TrackedConnection {
    const key = `${conn} ${server}`
    const rank = TRACE_RANKS[kind] * 2 ** 48 + position
    const connection = this.#connections.get(key) ?? new TrackedConnection(server, conn, rank)
    connection.rank = Math.min(connection.rank, rank)
    this.#connections.set(key, connection)
    return connection
  }

  addRequest(place: ConnectionKey, request: Request, sequence: number): void {
    this.track(place, 'exchange', sequence).addRequest(request, sequence)
  }

  addResponse(place: ConnectionKey, exchange: AnsweredRequest): void {
    this.track(place, 'exchange', exchange.sequence).addResponse(exchange)
  }

  addEvent(frame: EventFrame): void {
    if (!hasConnection(frame)) return
    const connection = this.track(frame, 'event', frame.n)
    if (frame.event === 'exit') connection.exit ??= frame.details
  }

  facts(): readonly ConnectionFacts[] {
    return [...this.#connections.values()]
      .toSorted((a, b) => a.rank - b.rank)
      .map((connection) => connection.facts())
  }
}

function hasConnection(event: EventFrame): event is EventFrame & ConnectionKey {
  return event.server !== undefined && event.conn !== undefined
}

interface AnsweredRequest {
  readonly request: Request
  readonly response: Response
  readonly sequence: number
}

/** Legacy peers send their information once, in `initialize`. Modern peers send it with every message. */
class TrackedConnection {
  rank: number
  exit: JsonObject | undefined
  readonly #server: string
  readonly #conn: number
  readonly #introductions = new Map<string, EarliestValue<JsonObject>>()
  #proof: EarliestValue<DetectedRevision> | undefined
  #probed = false

  constructor(server: string, conn: number, rank: number) {
    this.#server = detachedCopy(server)
    this.#conn = conn
    this.rank = rank
  }

  addRequest(request: Request, sequence: number): void {
    const { method, params } = request
    this.#probed ||= isRevisionProbe(request)
    if (isOpeningMethod(method)) {
      this.#introduce('opening clientInfo', sequence, member(params, 'clientInfo'))
      this.#introduce('opening clientCapabilities', sequence, member(params, 'capabilities'))
    }
    this.#introduce('clientInfo', sequence, metaValue(params, META_KEYS.clientInfo))
    this.#introduce('clientCapabilities', sequence, metaValue(params, META_KEYS.clientCapabilities))
  }

  addResponse({ request, response, sequence }: AnsweredRequest): void {
    const result = member(response.outcome, 'result')
    if (isOpeningMethod(request.method)) {
      this.#introduce('opening serverInfo', sequence, member(result, 'serverInfo'))
      this.#introduce('opening serverCapabilities', sequence, member(result, 'capabilities'))
    }
    this.#introduce('serverInfo', sequence, metaValue(result, META_KEYS.serverInfo))
    if (!isEarlier(sequence, this.#proof)) return
    const found = revisionProvenBy({ request, response })
    if (found !== undefined) this.#proof = { sequence, value: found }
  }

  facts(): ConnectionFacts {
    const { revision, version } = this.#proof?.value ?? revisionWithoutProof(this.#probed)
    return {
      server: this.#server,
      conn: this.#conn,
      clientInfo: this.#introduction('opening clientInfo') ?? this.#introduction('clientInfo'),
      serverInfo: this.#introduction('opening serverInfo') ?? this.#introduction('serverInfo'),
      clientCapabilities:
        this.#introduction('opening clientCapabilities') ?? this.#introduction('clientCapabilities'),
      serverCapabilities: this.#introduction('opening serverCapabilities'),
      protocolVersion: version,
      era: revision?.era,
      exit: this.exit,
    }
  }

  #introduce(key: string, sequence: number, value: unknown): void {
    if (isObject(value) && isEarlier(sequence, this.#introductions.get(key)))
      this.#introductions.set(key, { sequence, value })
  }

  #introduction(key: string): JsonObject | undefined {
    return this.#introductions.get(key)?.value
  }
}

/** A value with the earliest exchange that contains it. */
interface EarliestValue<Value> {
  readonly sequence: number
  readonly value: Value
}

function isEarlier(sequence: number, known: EarliestValue<unknown> | undefined): boolean {
  return known === undefined || sequence < known.sequence
}
