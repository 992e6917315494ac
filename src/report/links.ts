import { detached } from '../correlate/detached.ts'
import type { EventFrame } from '../tape/frame.ts'
import { eraProvedBy, eraUnproved, isProbe, type EraFound } from '../wire/era.ts'
import { isObject, member, type JsonObject, type Request, type Response } from '../wire/message.ts'
import { HANDSHAKE_METHODS, META, metaOf } from '../wire/methods.ts'
import type { ConnectionFacts } from './connection-facts.ts'

/** A connection, by the name of its server and its number. */
export interface Place {
  readonly server: string
  readonly conn: number
}

// Links are listed as their first exchange comes; behind those, links with nothing but events, and then all others.
const RANKS = { exchange: 0, event: 1, outside: 2, stderr: 3, raw: 4, other: 5 } as const
type Trace = keyof typeof RANKS

/** Learns who talked to whom from what crosses the wire, in any order. */
export class Links {
  readonly #links = new Map<string, Link>()

  /** A link was seen; `position` counts among traces of its kind. */
  trace({ server, conn }: Place, kind: Trace, position: number): Link {
    const key = `${conn} ${server}`
    const rank = RANKS[kind] * 2 ** 48 + position
    const link = this.#links.get(key) ?? new Link(server, conn, rank)
    link.rank = Math.min(link.rank, rank)
    this.#links.set(key, link)
    return link
  }

  asked(place: Place, request: Request, sequence: number): void {
    this.trace(place, 'exchange', sequence).asked(request, sequence)
  }

  answered(place: Place, exchange: Answered): void {
    this.trace(place, 'exchange', exchange.sequence).answered(exchange)
  }

  event(frame: EventFrame): void {
    if (!hasPlace(frame)) return
    const link = this.trace(frame, 'event', frame.n)
    if (frame.event === 'exit') link.exit ??= frame.details
  }

  facts(): readonly ConnectionFacts[] {
    return [...this.#links.values()].toSorted((a, b) => a.rank - b.rank).map((link) => link.facts())
  }
}

function hasPlace(event: EventFrame): event is EventFrame & Place {
  return event.server !== undefined && event.conn !== undefined
}

interface Answered {
  readonly request: Request
  readonly response: Response
  readonly sequence: number
}

/** Legacy peers introduce themselves once, in `initialize`; modern ones in every message. */
class Link {
  rank: number
  exit: JsonObject | undefined
  readonly #server: string
  readonly #conn: number
  readonly #introductions = new Map<string, First<JsonObject>>()
  #proof: First<EraFound> | undefined
  #probed = false

  constructor(server: string, conn: number, rank: number) {
    this.#server = detached(server)
    this.#conn = conn
    this.rank = rank
  }

  asked(request: Request, sequence: number): void {
    const { method, params } = request
    this.#probed ||= isProbe(request)
    if (HANDSHAKE_METHODS.has(method)) {
      this.#introduce('opening clientInfo', sequence, member(params, 'clientInfo'))
      this.#introduce('opening clientCapabilities', sequence, member(params, 'capabilities'))
    }
    this.#introduce('clientInfo', sequence, metaOf(params, META.clientInfo))
    this.#introduce('clientCapabilities', sequence, metaOf(params, META.clientCapabilities))
  }

  answered({ request, response, sequence }: Answered): void {
    const result = member(response.outcome, 'result')
    if (HANDSHAKE_METHODS.has(request.method)) {
      this.#introduce('opening serverInfo', sequence, member(result, 'serverInfo'))
      this.#introduce('opening serverCapabilities', sequence, member(result, 'capabilities'))
    }
    this.#introduce('serverInfo', sequence, metaOf(result, META.serverInfo))
    if (!isEarlier(sequence, this.#proof)) return
    const found = eraProvedBy({ request, response })
    if (found !== undefined) this.#proof = { sequence, value: found }
  }

  facts(): ConnectionFacts {
    const { era, version } = this.#proof?.value ?? eraUnproved(this.#probed)
    return {
      server: this.#server,
      conn: this.#conn,
      clientInfo: this.#said('opening clientInfo') ?? this.#said('clientInfo'),
      serverInfo: this.#said('opening serverInfo') ?? this.#said('serverInfo'),
      clientCapabilities: this.#said('opening clientCapabilities') ?? this.#said('clientCapabilities'),
      serverCapabilities: this.#said('opening serverCapabilities'),
      protocolVersion: version,
      era,
      exit: this.exit,
    }
  }

  #introduce(what: string, sequence: number, value: unknown): void {
    if (isObject(value) && isEarlier(sequence, this.#introductions.get(what)))
      this.#introductions.set(what, { sequence, value })
  }

  #said(what: string): JsonObject | undefined {
    return this.#introductions.get(what)?.value
  }
}

/** What was said in the earliest exchange that says it. */
interface First<Value> {
  readonly sequence: number
  readonly value: Value
}

function isEarlier(sequence: number, known: First<unknown> | undefined): boolean {
  return known === undefined || sequence < known.sequence
}
