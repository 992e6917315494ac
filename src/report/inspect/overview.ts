import { cancelledRequestId, requestTarget, type Request } from '../../protocol/message.ts'
import { exchangeOutcome, type ExchangeOutcome } from '../../protocol/outcome.ts'
import { ConnectionTracker } from '../connections.ts'
import {
  exchangeTableLines,
  summarizeArguments,
  summarizeLatency,
  summarizeServerRequest,
  connectionLabel,
  exchangeTitle,
  summarizeOutcome,
  type ServerRequestSummary,
  type ExchangeSummary,
  type OutcomeSummary,
  exchangeRequestKey,
  httpExchangeKey,
  isExchangeRequest,
  latencyBetween,
  MissingResponses,
} from '../exchanges.ts'
import {
  decisionLine,
  formatTitleCounts,
  isDecision,
  MAX_NOTE_LINES,
  outsideMessageTitle,
  rawLine,
  sectionLines,
  type InspectionHeading,
  type InspectionNotes,
  type TruncatedLines,
} from './inspect-text.ts'
import type { MissedRequest } from './inspect.ts'
import type { TapeReader } from '../../store/file/read.ts'
import { NumberTable, ValueTable } from '../../store/columns.ts'
import type { TurnLog } from '../../tape/conversation.ts'
import {
  isSeenBy,
  type EventFrame,
  type Frame,
  type HttpFrame,
  type MessageFrame,
  type RawFrame,
  type StderrFrame,
} from '../../tape/frame.ts'
import { withLateServers } from '../../tape/header.ts'
import { countRequests, TapeConversations, messagesInFrame } from '../../tape/turn-builder.ts'
import type { RecordedMessage } from '../../tape/turns.ts'
import { escapeControlChars } from '../../text.ts'

/** A summary of a tape: a compact row for each exchange, and counts of the rest. */
export interface Overview extends InspectionHeading {
  readonly exchanges: ExchangeRows
  readonly notes: InspectionNotes
}

/** Reads a tape once. The memory that it needs does not depend on the length of the messages. */
export async function readOverview(reader: TapeReader): Promise<Overview> {
  const builder = new OverviewBuilder()
  for await (const batch of reader.batches())
    for (const frame of batch)
      if (reader.isShown?.(frame) === false) builder.skip(frame)
      else builder.add(frame)
  return builder.finish(reader)
}

/** Like `inspectAsText`, for a tape of any size, line by line. */
export function* overviewAsText({ exchanges, notes, ...heading }: Overview): Generator<string> {
  const table = exchanges.size === 0 ? [] : exchangeTableLines(exchanges, heading.connections.length > 1)
  for (const line of sectionLines(heading, table, notes)) yield `${line}\n`
}

class OverviewBuilder {
  readonly #log = new ExchangeLog((recorded) => this.#addOutside(recorded))
  readonly #conversations = new TapeConversations(this.#log)
  readonly #joined: EventFrame[] = []
  readonly #outsideCounts = new Map<string, number>()
  readonly #stderr = new Map<string, StderrPreview>()
  readonly #raw: string[] = []
  #rawCount = 0
  readonly #decisions: string[] = []
  #decisionCount = 0
  #unknownFrames = 0
  #frames = 0
  #durationMs = 0

  add(frame: Frame): void {
    this.#frames++
    if (frame.kind === 'message' && !isSeenBy(frame, 'client')) this.#passOtherSide(frame)
    else if (frame.kind === 'message')
      for (const recorded of messagesInFrame(frame)) this.#conversations.add(recorded)
    else this.#addOther(frame)
    this.#durationMs = Math.max(this.#durationMs, frame.t)
  }

  /** Passes over a message as the server saw it. A request that only the server saw has a number. */
  #passOtherSide(frame: MessageFrame): void {
    if (frame.of === undefined) this.skip(frame)
  }

  /** Passes over a frame of another server. Its requests keep their numbers. */
  skip(frame: Frame): void {
    this.#log.rows.hidden += countRequests(frame)
  }

  finish({ path, header, state: { ended, problems } }: TapeReader): Overview {
    this.#log.explainMissing()
    const { rows, connections, misses } = this.#log
    const notes = {
      latency: summarizeLatency(rows.latencies()),
      misses: misses.toSorted((a, b) => a.sequence - b.sequence),
      held: { lines: this.#decisions, count: this.#decisionCount },
      outside: formatTitleCounts(this.#outsideCounts),
      stderr: joinTruncated([...this.#stderr.values()].map((head) => head.lines())),
      raw: { lines: this.#raw, count: this.#rawCount },
      events: [],
      problems,
      ended,
      unknownFrames: this.#unknownFrames,
    }
    return {
      path,
      header: withLateServers(header, this.#joined),
      frames: this.#frames,
      durationMs: this.#durationMs,
      connections: connections.facts(),
      exchanges: rows,
      notes,
    }
  }

  #addOther(frame: Exclude<Frame, { kind: 'message' }>): void {
    switch (frame.kind) {
      case 'http':
        return this.#log.addHttpStatus(frame)
      case 'event':
        return this.#addEvent(frame)
      case 'stderr':
        return this.#addStderr(frame)
      case 'raw':
        return this.#addRaw(frame)
      case 'other':
        this.#unknownFrames++
    }
  }

  #addEvent(frame: EventFrame): void {
    this.#log.connections.addEvent(frame)
    this.#log.missing.add(frame)
    if (frame.event === 'server') this.#joined.push(frame)
    if (isDecision(frame) && ++this.#decisionCount <= MAX_NOTE_LINES)
      this.#decisions.push(decisionLine(frame))
  }

  #addStderr(frame: StderrFrame): void {
    this.#log.connections.track(frame, 'stderr', frame.n)
    const key = JSON.stringify([frame.server, frame.conn])
    const head = this.#stderr.get(key) ?? new StderrPreview(MAX_NOTE_LINES)
    this.#stderr.set(key, head)
    head.add(frame.stderr)
  }

  #addRaw(frame: RawFrame): void {
    this.#log.connections.track(frame, 'raw', frame.n)
    if (frame.cut !== undefined) this.#conversations.addCut(frame)
    if (this.#log.missing.add(frame)) return
    if (++this.#rawCount <= MAX_NOTE_LINES) this.#raw.push(rawLine(frame))
  }

  #addOutside(recorded: RecordedMessage): void {
    this.#log.connections.track(recorded, 'outside', recorded.n)
    if (this.#log.missing.addMessage(recorded)) return
    const title = outsideMessageTitle(recorded)
    this.#outsideCounts.set(title, (this.#outsideCounts.get(title) ?? 0) + 1)
  }
}

function joinTruncated(parts: readonly TruncatedLines[]): TruncatedLines {
  const count = parts.reduce((sum, part) => sum + part.count, 0)
  return { lines: parts.flatMap(({ lines }) => lines).slice(0, MAX_NOTE_LINES), count }
}

/** The first lines of stderr and the number of all lines. Chunks do not end at line breaks. */
class StderrPreview {
  readonly #most: number
  #head = ''
  #breaks = 0
  #isAtBreak = false

  constructor(most: number) {
    this.#most = most
  }

  add(text: string): void {
    if (text === '') return
    if (this.#breaks < this.#most) this.#head += text
    this.#breaks += text.split('\n').length - 1
    this.#isAtBreak = text.endsWith('\n')
  }

  lines(): TruncatedLines {
    const lines = this.#head
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .slice(0, this.#most)
    return { lines: lines.map(escapeControlChars), count: this.#breaks + (this.#isAtBreak ? 0 : 1) }
  }
}

/** Called with each message that belongs to no exchange. */
type OnOutsideMessage = (recorded: RecordedMessage) => void

/** Collects the exchanges of a tape, one row of numbers for each. A turn is identified by its row. */
class ExchangeLog implements TurnLog<number, OpenServerRequest> {
  readonly rows: ExchangeRows = new ExchangeRows()
  readonly connections: ConnectionTracker = new ConnectionTracker()
  readonly misses: MissedRequest[] = []
  readonly missing: MissingResponses = new MissingResponses()
  readonly #onOutside: OnOutsideMessage
  /** The requests without a response, by their rows. */
  readonly #open = new Map<number, OpenRequest>()
  /** The rows of these requests: the latest one with each id, and all of each HTTP exchange. */
  readonly #byId = new Map<string, number>()
  readonly #byHttpExchange = new Map<string, number[]>()

  constructor(onOutside: OnOutsideMessage) {
    this.#onOutside = onOutside
  }

  begin(trigger: RecordedMessage | undefined): number {
    if (trigger !== undefined && isExchangeRequest(trigger))
      return this.#openRequest(trigger, trigger.message)
    if (trigger !== undefined) this.#addNotification(trigger)
    return OUTSIDE
  }

  notify(row: number, message: RecordedMessage): void {
    if (row === OUTSIDE) this.#onOutside(message)
    else this.rows.countNotification(row)
  }

  ask(row: number, request: RecordedMessage): OpenServerRequest {
    if (row !== OUTSIDE)
      return {
        row,
        request,
        place: this.rows.setServerRequest(row, summarizeServerRequest(request, undefined)),
      }
    this.#onOutside(request)
    return { row, request, place: 0 }
  }

  answer({ row, request, place }: OpenServerRequest, message: RecordedMessage): void {
    if (row === OUTSIDE) this.#onOutside(message)
    else this.rows.setServerRequest(row, summarizeServerRequest(request, message), place)
  }

  respond(row: number, { t, message }: RecordedMessage): void {
    const open = this.#close(row)
    if (open === undefined || message.kind !== 'response') return
    const outcome = exchangeOutcome(message, 'unanswered')
    this.rows.setAnswered(row, latencyBetween(open.place, { t }), outcome)
    const sequence = this.rows.sequenceOf(row)
    this.connections.addResponse(open.place, { request: open.request, response: message, sequence })
    if (outcome.kind === 'miss') this.misses.push({ sequence, message: outcome.message })
  }

  cut(row: number): void {
    this.rows.setOutcome(row, { kind: 'cut' })
    this.#close(row)
  }

  stray(message: RecordedMessage): void {
    this.#onOutside(message)
  }

  /** Adds the HTTP status of a request that got no JSON-RPC response. */
  addHttpStatus(frame: HttpFrame): void {
    const { server, x, http } = frame
    if (!('status' in http)) return
    this.missing.add(frame)
    for (const row of this.#byHttpExchange.get(httpExchangeKey({ server, x })) ?? [])
      if (this.rows.outcomeKind(row) === 'unanswered')
        this.rows.setOutcome(row, { kind: 'unanswered', status: http.status })
  }

  /** Called at the end of the tape: replaces the outcomes of requests without a response by the reasons. */
  explainMissing(): void {
    for (const [row, { place }] of this.#open) {
      const outcome = this.rows.outcomeKind(row) === 'unanswered' ? this.missing.outcomeOf(place) : undefined
      if (outcome !== undefined) this.rows.setOutcome(row, outcome)
    }
  }

  #openRequest(place: RecordedMessage, request: Request): number {
    const title = exchangeTitle(request.method, requestTarget(request.params))
    const row = this.rows.begin({
      at: place.t,
      link: connectionLabel(place),
      title,
      arguments: summarizeArguments(request.params),
    })
    this.connections.addRequest(place, request, this.rows.sequenceOf(row))
    const { t, server, conn, x } = place
    this.#open.set(row, { request, place: { t, server, conn, ...(x !== undefined && { x }) } })
    this.#byId.set(exchangeRequestKey(place, request.id), row)
    const inExchange = x === undefined ? undefined : httpExchangeKey({ server, x })
    if (inExchange !== undefined)
      this.#byHttpExchange.set(inExchange, [...(this.#byHttpExchange.get(inExchange) ?? []), row])
    return row
  }

  #addNotification(notification: RecordedMessage): void {
    this.#onOutside(notification)
    const id = cancelledRequestId(notification.message)
    const row = id === undefined ? undefined : this.#byId.get(exchangeRequestKey(notification, id))
    if (row !== undefined) this.rows.setOutcome(row, { kind: 'cancelled' })
  }

  #close(row: number): OpenRequest | undefined {
    const open = this.#open.get(row)
    if (open === undefined) return undefined
    const { request, place } = open
    this.#open.delete(row)
    const key = exchangeRequestKey(place, request.id)
    if (this.#byId.get(key) === row) this.#byId.delete(key)
    if (place.x !== undefined) this.#removeFromHttpExchange(httpExchangeKey(place), row)
    return open
  }

  #removeFromHttpExchange(exchange: string, row: number): void {
    const rest = (this.#byHttpExchange.get(exchange) ?? []).filter((other) => other !== row)
    if (rest.length === 0) this.#byHttpExchange.delete(exchange)
    else this.#byHttpExchange.set(exchange, rest)
  }
}

const OUTSIDE = -1

interface OpenRequest {
  readonly request: Request
  readonly place: Pick<RecordedMessage, 't' | 'server' | 'conn' | 'x'>
}

interface OpenServerRequest {
  readonly row: number
  readonly request: RecordedMessage
  /** Its position among the server requests of its exchange. */
  readonly place: number
}

/** The exchanges of a tape in the order of their requests. Each takes only a few numbers, so that a long tape fits into memory. */
class ExchangeRows implements Iterable<ExchangeSummary> {
  readonly #rows = new NumberTable({
    /** The number of the exchange on the tape. */
    sequence: 'uint32',
    at: 'float64',
    /** NaN until the request is answered. */
    latency: 'float64',
    link: 'uint32',
    title: 'uint32',
    arguments: 'uint32',
    outcome: 'uint32',
    notifications: 'uint32',
  })
  readonly #serverRequests = new Map<number, readonly ServerRequestSummary[]>()
  readonly #links = new ValueTable<string>()
  readonly #titles = new ValueTable<string>()
  readonly #arguments = new ValueTable<string>()
  readonly #outcomes = new ValueTable<OutcomeSummary>()

  /** The number of exchanges so far that are not shown. */
  hidden = 0

  get size(): number {
    return this.#rows.size
  }

  sequenceOf(row: number): number {
    return this.#rows.columns.sequence.at(row)
  }

  /** Adds a request without an answer and returns its row. */
  begin({
    at,
    link,
    title,
    arguments: given,
  }: Pick<ExchangeSummary, 'at' | 'link' | 'title' | 'arguments'>): number {
    return this.#rows.add({
      sequence: this.size + this.hidden + 1,
      at,
      latency: Number.NaN,
      link: this.#links.numberOf(link, link),
      title: this.#titles.numberOf(title, title),
      arguments: this.#arguments.numberOf(given, given),
      outcome: this.#numberOf({ kind: 'unanswered' }),
      notifications: 0,
    })
  }

  setAnswered(row: number, latencyMs: number, outcome: ExchangeOutcome): void {
    this.#rows.columns.latency.set(row, latencyMs)
    this.#rows.columns.outcome.set(row, this.#numberOf(outcome))
  }

  setOutcome(row: number, outcome: ExchangeOutcome): void {
    this.#rows.columns.outcome.set(row, this.#numberOf(outcome))
  }

  countNotification(row: number): void {
    const { notifications } = this.#rows.columns
    notifications.set(row, notifications.at(row) + 1)
  }

  /** Adds a server request, or replaces the one at `place` when it is answered. Returns its place. */
  setServerRequest(
    row: number,
    request: ServerRequestSummary,
    place: number = this.#serverRequestsIn(row).length,
  ): number {
    const list = [...this.#serverRequestsIn(row)]
    list[place] = request
    this.#serverRequests.set(row, list)
    return place
  }

  outcomeKind(row: number): ExchangeOutcome['kind'] {
    return this.#short(row).kind
  }

  /** The latencies of the answered requests, in milliseconds. */
  latencies(): Float64Array {
    const latencies = new Float64Array(this.#rows.columns.latency.toArray())
    return latencies.filter((latency) => !Number.isNaN(latency))
  }

  *[Symbol.iterator](): Generator<ExchangeSummary> {
    for (let row = 0; row < this.size; row++) yield this.#summaryOf(row)
  }

  #summaryOf(row: number): ExchangeSummary {
    const { at, latency, link, title, arguments: given, notifications } = this.#rows.columns
    const latencyMs = latency.at(row)
    return {
      sequence: this.sequenceOf(row),
      at: at.at(row),
      link: this.#links.list[link.at(row)] ?? '',
      title: this.#titles.list[title.at(row)] ?? '',
      arguments: this.#arguments.list[given.at(row)] ?? '',
      latencyMs: Number.isNaN(latencyMs) ? undefined : latencyMs,
      outcome: this.#short(row),
      notificationCount: notifications.at(row),
      serverRequests: this.#serverRequestsIn(row),
    }
  }

  #serverRequestsIn(row: number): readonly ServerRequestSummary[] {
    return this.#serverRequests.get(row) ?? NO_SERVER_REQUESTS
  }

  #short(row: number): OutcomeSummary {
    return this.#outcomes.list[this.#rows.columns.outcome.at(row)] ?? { kind: 'unanswered', text: '' }
  }

  #numberOf(outcome: ExchangeOutcome): number {
    const short = summarizeOutcome(outcome)
    return this.#outcomes.numberOf(`${short.kind} ${short.text}`, short)
  }
}

const NO_SERVER_REQUESTS: readonly ServerRequestSummary[] = []
