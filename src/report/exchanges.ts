import { styleText } from 'node:util'
import {
  cancelledRequestId,
  idKey,
  requestTarget,
  type Id,
  type Request,
  type Response,
} from '../protocol/message.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import { describeValue } from '../match/describe-request.ts'
import { exchangeOutcome, type ExchangeOutcome, type NoResponseReason } from '../protocol/outcome.ts'
import {
  formatDuration,
  alignRow,
  columnTitle,
  ColumnWidths,
  type TableCell,
  type TextStyle,
} from './table.ts'
import type { FilterSubject, MessageKind } from '../filter/filter.ts'
import type { EventFrame, Frame, FrameOrigin, MessageFrame } from '../tape/frame.ts'
import type { RecordedMessage, TurnStep, Turn } from '../tape/turns.ts'
import { truncateText } from '../text.ts'

type ExchangeRequest = RecordedMessage & { readonly message: Request }
type ExchangeResponse = RecordedMessage & { readonly message: Response }

export interface ExchangeFacts {
  /** Counts from 1, in the order of the requests. */
  readonly sequence: number
  readonly request: ExchangeRequest
  /** The tool, prompt or resource of the call. */
  readonly target: string | undefined
  readonly steps: readonly TurnStep[]
  readonly response: ExchangeResponse | undefined
  /** From the request to its response. */
  readonly latencyMs: number | undefined
  readonly outcome: ExchangeOutcome
}

export function exchangesInTurns(turns: readonly Turn[]): readonly ExchangeFacts[] {
  const cancelled = cancelledRequests(turns)
  return turns
    .flatMap(({ trigger, ...rest }) => (isExchangeRequest(trigger) ? [{ trigger, ...rest }] : []))
    .map(({ trigger, steps, response, cut, exchange }, index) => {
      const answer = isExchangeResponse(response) ? response : undefined
      return {
        sequence: exchange ?? index + 1,
        request: trigger,
        target: requestTarget(trigger.message.params),
        steps,
        response: answer,
        latencyMs: answer && latencyBetween(trigger, answer),
        outcome: exchangeOutcome(answer?.message, noResponseReason(cut, cancelled.has(trigger))),
      }
    })
}

function noResponseReason(cut: number | undefined, isCancelled: boolean): NoResponseReason {
  if (cut !== undefined) return 'cut'
  return isCancelled ? 'cancelled' : 'unanswered'
}

/** An exchange as a filter sees it. It also has the methods of the messages that the server sent within it. */
export function exchangeSubject(exchange: ExchangeFacts): FilterSubject {
  const { sequence, request, target, steps, response, latencyMs, outcome } = exchange
  const within = steps.flatMap((step) => (step.kind === 'ask' ? [step.request] : [step.message]))
  const fromServer = within.filter(({ message }) => message.kind !== 'response')
  return {
    ...messageSubject(request),
    exchange: sequence,
    kinds: [...new Set([request, ...within].flatMap(kindOfMessage))],
    dirs: fromServer.length === 0 ? ['c2s'] : ['c2s', 's2c'],
    methods: [request, ...fromServer].flatMap(methodOfMessage),
    target,
    status: outcome.kind,
    durationMs: latencyMs,
    texts: () => [
      ...[request, ...steps.flatMap(messagesOfStep)].map(({ text }) => text),
      ...(outcome.kind === 'http-error' && outcome.body !== undefined ? [outcome.body] : []),
    ],
    value: (root) => (root === 'params' ? request.message.params : member(response?.message.outcome, root)),
  }
}

/** A message that belongs to no exchange, as a filter sees it. */
export function messageSubject(recorded: RecordedMessage): FilterSubject {
  const { n, server, conn, dir, message, text } = recorded
  return {
    frame: n,
    server,
    conn,
    id: 'id' in message ? message.id : undefined,
    kinds: kindOfMessage(recorded),
    dirs: [dir],
    methods: methodOfMessage(recorded),
    texts: () => [text],
    value: (root) => (message.kind === 'response' ? member(message.outcome, root) : member(message, root)),
  }
}

function kindOfMessage({ message }: RecordedMessage): readonly MessageKind[] {
  return message.kind === 'invalid' ? [] : [message.kind]
}

function methodOfMessage({ message }: RecordedMessage): readonly string[] {
  return 'method' in message ? [message.method] : []
}

/** The messages of a step, in recorded order. */
export function messagesOfStep(step: TurnStep): readonly RecordedMessage[] {
  if (step.kind !== 'ask') return [step.message]
  return step.answer === undefined ? [step.request] : [step.request, step.answer]
}

type TimedFrame = Pick<RecordedMessage, 't'>

/** Milliseconds, rounded to microseconds, the precision of a tape. */
export function latencyBetween(request: TimedFrame, answer: TimedFrame): number {
  return Math.round((answer.t - request.t) * 1000) / 1000
}

/** Clients may use an id again, so a cancellation belongs to the latest request with its id. */
function cancelledRequests(turns: readonly Turn[]): ReadonlySet<RecordedMessage> {
  const latest = new Map<string, RecordedMessage>()
  const cancelled = new Set<RecordedMessage>()
  for (const { trigger } of turns) {
    if (trigger === undefined) continue
    if (isExchangeRequest(trigger)) latest.set(exchangeRequestKey(trigger, trigger.message.id), trigger)
    const id = cancelledRequestId(trigger.message)
    const request = id === undefined ? undefined : latest.get(exchangeRequestKey(trigger, id))
    if (request !== undefined) cancelled.add(request)
  }
  return cancelled
}

/** Identifies an open request. */
export function exchangeRequestKey(
  { server, conn }: Pick<RecordedMessage, 'server' | 'conn'>,
  id: Id,
): string {
  return JSON.stringify([server, conn, idKey(id)])
}

export function isExchangeRequest(recorded: RecordedMessage | undefined): recorded is ExchangeRequest {
  return recorded?.message.kind === 'request'
}

function isExchangeResponse(recorded: RecordedMessage | undefined): recorded is ExchangeResponse {
  return recorded?.message.kind === 'response'
}

/** Finds out why requests got no response: the server answered with an HTTP error, could not be reached, disconnected or ended. */
export class MissingResponses {
  /** By HTTP exchange. */
  readonly #errors = new Map<string, { readonly status: number; readonly frame: number }>()
  readonly #bodies = new Map<string, string>()
  readonly #lost = new Map<string, string>()
  /** By connection: why the server ended, and which connections the client was closing. */
  readonly #ended = new Map<string, string>()
  readonly #closing = new Set<string>()

  /** Returns true if the frame is the body of an HTTP error. */
  add(frame: Frame): boolean {
    if (frame.kind === 'http' && 'status' in frame.http && frame.http.status >= 400)
      this.#errors.set(httpExchangeKey(frame), { status: frame.http.status, frame: frame.n })
    if (frame.kind === 'event') this.#addEvent(frame)
    if (frame.kind === 'raw') return this.addBody(frame, frame.raw)
    return frame.kind === 'message' && this.addMessage(frame)
  }

  /** Returns true for the body of an HTTP error: JSON that is not a message, or an error without the id of a request. */
  addMessage(
    recorded: Pick<FrameOrigin, 'n' | 'server' | 'x' | 'dir'> & Pick<MessageFrame, 'text' | 'message'>,
  ): boolean {
    const { message, text } = recorded
    const namesNoRequest = message.kind === 'invalid' || (message.kind === 'response' && message.id === null)
    return namesNoRequest && this.addBody(recorded, text)
  }

  /** Keeps a text that is not a JSON-RPC message if it is the body of an HTTP error. Returns true if it is. */
  addBody(place: Pick<FrameOrigin, 'n' | 'server' | 'x' | 'dir'>, text: string): boolean {
    const key = httpExchangeKey(place)
    const { frame = Infinity } = this.#errors.get(key) ?? {}
    if (place.dir === 'c2s' || place.x === undefined || place.n < frame) return false
    const before = this.#bodies.get(key)
    this.#bodies.set(key, before === undefined ? text : `${before}\n${text}`)
    return true
  }

  /** Returns `undefined` if the tape has no reason for the missing response. */
  outcomeOf(request: Pick<FrameOrigin, 'server' | 'conn' | 'x'>): ExchangeOutcome | undefined {
    const key = httpExchangeKey(request)
    const error = request.x === undefined ? undefined : this.#errors.get(key)
    const body = this.#bodies.get(key)
    if (error !== undefined)
      return { kind: 'http-error', status: error.status, ...(body !== undefined && { body }) }
    const why = request.x === undefined ? this.#ended.get(connectionLabel(request)) : this.#lost.get(key)
    return why === undefined ? undefined : { kind: 'lost', why }
  }

  #addEvent({ server, conn, x, event, details }: EventFrame): void {
    if (server === undefined || conn === undefined) return
    const link = connectionLabel({ server, conn })
    const { why, by, dir, code, signal } = details
    const isLost = event === 'unreachable' || (event === 'abort' && by === 'server')
    if (x !== undefined && isLost)
      this.#lost.set(
        httpExchangeKey({ server, x }),
        typeof why === 'string' ? why : 'the server closed the connection',
      )
    if ((event === 'eof' && dir === 'c2s') || event === 'signal') this.#closing.add(link)
    if (event !== 'exit' || code === 0 || this.#closing.has(link)) return
    const how = typeof signal === 'string' ? `by ${signal}` : `with exit code ${String(code)}`
    this.#ended.set(link, `the server ended ${how}`)
  }
}

/** Adds the HTTP status, such as 401, to requests without a response. */
export function withHttpStatuses(
  exchanges: readonly ExchangeFacts[],
  frames: readonly Frame[],
): readonly ExchangeFacts[] {
  const statuses = new Map<string, number>()
  for (const frame of frames)
    if (frame.kind === 'http' && 'status' in frame.http)
      statuses.set(httpExchangeKey(frame), frame.http.status)
  return exchanges.map((exchange) => {
    const status = statuses.get(httpExchangeKey(exchange.request))
    if (exchange.outcome.kind !== 'unanswered' || status === undefined) return exchange
    return { ...exchange, outcome: { kind: 'unanswered', status } }
  })
}

/** Replaces the outcome of requests without a response by the reason, if the tape says it. */
export function withMissingResponses(
  exchanges: readonly ExchangeFacts[],
  missing: MissingResponses,
): readonly ExchangeFacts[] {
  return exchanges.map((exchange) => {
    const outcome = exchange.outcome.kind === 'unanswered' ? missing.outcomeOf(exchange.request) : undefined
    return outcome === undefined ? exchange : { ...exchange, outcome }
  })
}

export function httpExchangeKey({
  server,
  x,
}: {
  readonly server: string
  readonly x?: number | undefined
}): string {
  return JSON.stringify([server, x])
}

export interface LatencySummary {
  readonly answered: number
  readonly minMs: number
  readonly medianMs: number
  readonly p95Ms: number
  readonly maxMs: number
}

/** Returns `undefined` if there are no latencies. Percentiles are measured values (nearest rank), not interpolated ones. */
export function summarizeLatency(latencies: readonly number[] | Float64Array): LatencySummary | undefined {
  const sorted = new Float64Array(latencies).toSorted()
  const rank = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  if (sorted.length === 0) return undefined
  return { answered: sorted.length, minMs: rank(0), medianMs: rank(0.5), p95Ms: rank(0.95), maxMs: rank(1) }
}

/** A line of headings and one line for each exchange. Returns no lines if there are no exchanges. */
export function exchangeTable(exchanges: readonly ExchangeFacts[], manyLinks: boolean): readonly string[] {
  const lines = exchanges.map(summarizeExchange)
  return lines.length === 0 ? [] : [...exchangeTableLines(lines, manyLinks)]
}

/** Like `exchangeTable`, for exchanges that are not in memory. It reads them twice. */
export function* exchangeTableLines(lines: Iterable<ExchangeSummary>, manyLinks: boolean): Generator<string> {
  const titles = exchangeTitles(manyLinks)
  const widths = new ColumnWidths(titles)
  for (const line of lines) widths.add(exchangeRow(line, manyLinks))
  yield alignRow(titles, widths)
  for (const line of lines) yield alignRow(exchangeRow(line, manyLinks), widths) + exchangeExtras(line)
}

export function exchangeTitles(manyLinks: boolean): readonly TableCell[] {
  const links = manyLinks ? [columnTitle('link')] : []
  return [
    columnTitle('#', 'right'),
    columnTitle('at', 'right'),
    ...links,
    columnTitle('request'),
    columnTitle('latency', 'right'),
    columnTitle('outcome'),
  ]
}

export function exchangeRow(line: ExchangeSummary, manyLinks: boolean): readonly TableCell[] {
  const { sequence, at, link, title, latencyMs, outcome } = line
  return [
    { text: String(sequence), align: 'right' },
    { text: `+${formatDuration(at)}`, align: 'right', style: 'dim' },
    ...(manyLinks ? [{ text: truncateText(link, 24) }] : []),
    { text: truncateText(title, 48) },
    { text: latencyMs === undefined ? '' : formatDuration(latencyMs), align: 'right' },
    { text: outcome.text, style: OUTCOME_STYLES[outcome.kind] },
  ]
}

const OUTCOME_STYLES: Readonly<Record<ExchangeOutcome['kind'], TextStyle>> = {
  ok: 'green',
  error: 'red',
  miss: 'red',
  'tool-error': 'red',
  'input-required': 'yellow',
  cancelled: 'yellow',
  unanswered: 'yellow',
  'http-error': 'red',
  lost: 'red',
  cut: 'yellow',
}

/** The arguments of the request and the messages between request and response, after the columns. */
export function exchangeExtras({
  arguments: given,
  notificationCount,
  serverRequests,
}: ExchangeSummary): string {
  const counted =
    notificationCount === 0
      ? []
      : [notificationCount === 1 ? '1 notification' : `${notificationCount} notifications`]
  const messages = [...counted, ...serverRequests.map(serverRequestText)].join(', ')
  const extras = [given, messages].filter((text) => text !== '').join('  ')
  return extras === '' ? '' : `  ${styleText('dim', extras)}`
}

function serverRequestText({ method, isAnswered }: ServerRequestSummary): string {
  return isAnswered ? `asked ${method}` : `asked ${method} (unanswered)`
}

/** The facts about an exchange that one line of a table shows. */
export interface ExchangeSummary {
  readonly sequence: number
  /** Milliseconds from the start of the tape. */
  readonly at: number
  /** Server and connection. */
  readonly link: string
  /** The arguments of the request, shortened: `query=milk limit=5`. */
  readonly arguments: string
  /** The method, and the tool, prompt or resource. */
  readonly title: string
  readonly latencyMs: number | undefined
  readonly outcome: OutcomeSummary
  /** The number of notifications before the response. */
  readonly notificationCount: number
  readonly serverRequests: readonly ServerRequestSummary[]
}

/** The outcome of an exchange and a short text for it. */
export interface OutcomeSummary {
  readonly kind: ExchangeOutcome['kind']
  readonly text: string
}

/** A request of the server to the client. */
export interface ServerRequestSummary {
  readonly method: string
  readonly isAnswered: boolean
}

export function summarizeExchange({
  sequence,
  request,
  target,
  steps,
  latencyMs,
  outcome,
}: ExchangeFacts): ExchangeSummary {
  return {
    sequence,
    at: request.t,
    link: connectionLabel(request),
    title: exchangeTitle(request.message.method, target),
    arguments: summarizeArguments(request.message.params),
    latencyMs,
    outcome: summarizeOutcome(outcome),
    notificationCount: steps.filter(({ kind }) => kind === 'notify').length,
    serverRequests: steps.flatMap((step) =>
      step.kind === 'ask' ? [summarizeServerRequest(step.request, step.answer)] : [],
    ),
  }
}

/** The arguments of a tool or prompt on one line. */
export function summarizeArguments(params: unknown): string {
  const given = member(params, 'arguments')
  if (!isObject(given)) return ''
  let text = ''
  for (const [name, value] of Object.entries(given)) {
    if (text.length > LONGEST_ARGUMENTS) break
    const isWord = typeof value === 'string' && /^[^\s"'{}[\]]{1,40}$/u.test(value)
    text += `${text === '' ? '' : ' '}${name}=${isWord ? value : describeValue(value, 40)}`
  }
  return truncateText(text, LONGEST_ARGUMENTS)
}

const LONGEST_ARGUMENTS = 72

export function exchangeTitle(method: string, target: string | undefined): string {
  return target === undefined ? method : `${method} ${target}`
}

export function connectionLabel({ server, conn }: Pick<RecordedMessage, 'server' | 'conn'>): string {
  return `${server}/${conn}`
}

export function summarizeServerRequest(
  { message }: RecordedMessage,
  answer: RecordedMessage | undefined,
): ServerRequestSummary {
  const method = message.kind === 'request' ? truncateText(message.method, 32) : 'something'
  return { method, isAnswered: answer !== undefined }
}

/** Truncates the text, because error messages of a server may be long. */
export function summarizeOutcome(outcome: ExchangeOutcome): OutcomeSummary {
  return { kind: outcome.kind, text: truncateText(outcomeText(outcome), 60) }
}

function outcomeText(outcome: ExchangeOutcome): string {
  switch (outcome.kind) {
    case 'error':
      return `error ${outcome.code ?? 'without a code'}: ${outcome.message}`
    case 'miss':
      return `miss: ${outcome.message}`
    case 'tool-error':
      return `tool error: ${outcome.message}`
    case 'input-required':
      return 'input required'
    case 'cut':
      return 'answer cut'
    case 'ok':
    case 'cancelled':
      return outcome.kind
    case 'unanswered':
      return outcome.status === undefined ? 'unanswered' : `unanswered, HTTP ${outcome.status}`
    case 'http-error':
      return outcome.body === undefined
        ? `HTTP ${outcome.status}`
        : `HTTP ${outcome.status}: ${plainText(outcome.body)}`
    case 'lost':
      return `lost: ${outcome.why}`
  }
}

/** The words of a body: the message of an error in JSON, or the text without the tags of HTML. */
function plainText(body: string): string {
  const error = member(parseJson(body), 'error')
  const message = member(error, 'message') ?? error
  if (typeof message === 'string') return message
  const head = body.slice(0, LONGEST_BODY)
  const text = /^\s*</.test(head)
    ? head.replaceAll(/<(style|script|title)\b[^]*?<\/\1>|<[^>]*>/gi, ' ')
    : head
  return text.replaceAll(/\s+/g, ' ').trim()
}

const LONGEST_BODY = 4096
