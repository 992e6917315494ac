import { ReelayError } from '../../errors.ts'
import { parseJson, member } from '../../json/parse.ts'
import { endOfDigits, hasTextAt, isDigit } from '../../json/scan.ts'
import type { FilterSubject, MessageKind } from '../../filter/filter.ts'
import { monotonicNow } from '../../link/process/monotonic-clock.ts'
import { guessResponseId, parseIdBytes } from '../../protocol/find-id.ts'
import {
  cancelledId,
  classifyMessage,
  idKey,
  isId,
  META_KEYS,
  metaValue,
  requestTarget,
  type Direction,
  type Id,
  type Message,
  type Notification,
  type Request,
} from '../../protocol/message.ts'
import { exchangeOutcome, type OutcomeKind } from '../../protocol/outcome.ts'
import type { LinkSide } from '../../tape/frame.ts'
import type { InjectedHttpResponse } from '../../faults/fault.ts'
import type { WirePort } from '../../faults/wire.ts'
import type { RecordedTape } from '../tape-log.ts'

/** How the frame of a message that was held is marked. */
export interface HeldMarks {
  readonly side: LinkSide
  /** The frame in which the message arrived. */
  readonly of?: number
  /** The message before it was changed. */
  readonly original?: string
}

/** Writes the bytes of a message to the client, not in one piece. */
export type WireDelivery = (bytes: Uint8Array, port: WirePort) => void

/** Follows the messages of one connection, and may take them over. */
export interface InterceptedLink {
  /** Sends a request to the server that is not the client's. */
  repeatRoute: Pick<MessageRoute, 'deliver' | 'record'> | undefined
  /** Whether heads of responses wait until the first message of the body is decided. */
  readonly defersHeads: boolean
  /** Returns true if no line of a range can be taken over, without reading the lines. */
  passes(chunk: Buffer, start: number, end: number, dir: Direction): boolean
  /** Returns true if the line that begins at an index, and is not complete, cannot be taken over. */
  passesBeginning(chunk: Buffer, start: number, dir: Direction): boolean
  /** Says that a message cannot be taken over. */
  passUnseen(unseen: UnseenMessage): void
  /** Counts the requests among lines that were not looked at. */
  countRequests(lines: Buffer): void
  /** Counts a long line of which only the beginning and the end are known, if it is a request. */
  countLongLine(beginning: Buffer, end: Buffer): void
  /** Returns true if the message was taken over. Otherwise the transport forwards it now. */
  takes(passing: PassingMessage): boolean
  /** Whether messages of this direction are still to be delivered. */
  isHolding(dir: Direction): boolean
  /** The connection is over: nothing can be delivered any more, or the rest has to go now. */
  end(dir: Direction, why: string, isDeliverable: boolean): void
  /** The transport of one message is gone. */
  abandon(route: MessageRoute, why: string): void
}

/** Decides about the messages of a recording. */
export interface MessageInterceptor {
  /** Follows a further connection. */
  link(facts: { readonly server: string; readonly conn: () => number }): InterceptedLink
  /** Follows the recording to another tape. */
  useTape?(tape: RecordedTape): void
}

/** What a transport does with a message that the interceptor has taken over. */
export interface MessageRoute {
  /** Sends the message, or a changed one in its place, to its receiver. */
  deliver(text: string, wire?: WireDelivery): void
  /** The message is never delivered. */
  drop(): void
  /** Sends a response to the sender of a request, in place of its receiver. Over HTTP this may be impossible. */
  answer?(text: string, wire?: WireDelivery): void
  /** Ends the HTTP exchange with this response. Only over HTTP. */
  respond?(response: InjectedHttpResponse): void
  /** Disconnects the client. */
  disconnect?(): void
  /** Sends a notification about the held call to the client. Over HTTP this may be impossible. */
  progress?(text: string): void
  /** Keeps a stream to the client open that has nothing to send. */
  keepAlive?(text: string): void
  /** Writes a message frame. Returns its number, or `undefined` if nothing is recorded. */
  record(dir: Direction, text: string, marks: HeldMarks): number | undefined
  /** Writes an event frame. */
  event(event: string, details: Readonly<Record<string, unknown>>): void
}

/** A message that is held, as its link sees it. */
interface HeldOnLink {
  readonly dir: Direction
  readonly route: MessageRoute
  /** The id and the direction of the request that it is, or responds to. */
  readonly callKey: string | undefined
  readonly requestDir: Direction
  forward(decider: HoldDecider): void
  drop(decider: HoldDecider): void
  onSettled(listener: () => void): void
}

/** Who decided about a held message, and why if it was not the user. */
export interface HoldDecider {
  readonly by: string
  readonly why?: string
}

/** Holds the messages of all links. */
interface MessageHolder {
  wants(subject: () => FilterSubject): boolean
  hold(link: LinkInterceptor, observed: ObservedMessage, of: number | undefined): HeldOnLink
  heldOf(link: LinkInterceptor, dir?: Direction): readonly HeldOnLink[]
  nextExchange(link: LinkInterceptor, bytes: Uint8Array | undefined): number | undefined
  /** Whether the number of a request depends on its content, so that every request has to be read whole. */
  readonly readsRequests: boolean
  readonly neededName: string | undefined
  readonly isArmed: boolean
  /** Tells the users that a message was forwarded which the filter may have matched. */
  reportPassed(link: LinkInterceptor, dir: Direction, why: string): void
}

/** A message that cannot be held. */
export interface UnseenMessage {
  readonly dir: Direction
  /** The message, or its beginning; `undefined` if it cannot be read. */
  readonly bytes: Uint8Array | undefined
  readonly why: string
  readonly event: MessageRoute['event']
}

/** A message on its way. Its text is decoded only if somebody needs it. */
export interface PassingMessage {
  readonly dir: Direction
  readonly bytes: Uint8Array
  readonly route: MessageRoute
}

/** A request that has no response yet. */
export interface OpenCall {
  readonly request: Request
  readonly arrivedAt: number
  /** The number of the request among those of the client. */
  readonly exchange: number | undefined
  readonly progressToken: unknown
  /** The last progress that the server reported. */
  progress: number
  /** How long the request was held, and how much longer than the limit the user allows. */
  heldMs?: number
  extendedMs?: number
  /** Set for a request that was sent by the user and not by the client. */
  readonly onResponse?: (text: string) => void
}

/** The message of the link that is being looked at, parsed as far as necessary. */
export interface ObservedMessage extends PassingMessage {
  readonly text: string
  readonly message: Message
  /** The request that this message responds to, or is. */
  readonly call: OpenCall | undefined
  readonly arrivedAt: number
}

/**
 * Follows the messages of one connection and finds those that are to be held. A held request or response lets others pass. A held
 * notification keeps all later messages of its direction waiting, because receivers rely on the order of notifications.
 */
export class LinkInterceptor implements InterceptedLink {
  readonly defersHeads = false
  readonly server: string
  readonly conn: () => number
  /** Sends a request to the server that is not the client's. */
  repeatRoute: Pick<MessageRoute, 'deliver' | 'record'> | undefined
  readonly #interceptor: MessageHolder
  readonly #calls: Record<Direction, Map<string, OpenCall>> = { c2s: new Map(), s2c: new Map() }
  readonly #waiting: Record<Direction, WaitingMessage[]> = { c2s: [], s2c: [] }
  readonly #blocking: Record<Direction, HeldOnLink | undefined> = { c2s: undefined, s2c: undefined }

  constructor(
    interceptor: MessageHolder,
    { server, conn }: { readonly server: string; readonly conn: () => number },
  ) {
    this.server = server
    this.conn = conn
    this.#interceptor = interceptor
  }

  /**
   * Returns true if no line of a range can be held, without reading the lines: the filter needs a name that does not occur, and no
   * response belongs to a call that it may match.
   */
  passes(chunk: Buffer, start: number, end: number): boolean {
    const { neededName } = this.#interceptor
    if (neededName === undefined || this.#isWaiting) return false
    if (start === end) return true
    const lines = start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end)
    const isOneLine = lines.indexOf(LINE_FEED) === lines.length - 1
    if (isOneLine && passesByBeginning(lines, 0, neededName)) return true
    return !lines.includes(neededName) && !lines.includes(UNICODE_ESCAPE)
  }

  /** Returns true if the line that begins at an index, and is not complete, cannot be held. */
  passesBeginning(chunk: Buffer, start: number): boolean {
    const { neededName, readsRequests } = this.#interceptor
    if (neededName === undefined || readsRequests || this.#isWaiting) return false
    return passesByBeginning(chunk, start, neededName)
  }

  /** Says that a message cannot be held, unless the filter certainly does not match it. */
  passUnseen({ dir, bytes, why, event }: UnseenMessage): void {
    const { neededName, isArmed } = this.#interceptor
    const isOther =
      bytes !== undefined &&
      neededName !== undefined &&
      !this.#isWaiting &&
      !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(neededName)
    if (!isArmed || isOther) return
    event('intercept', { action: 'pass', dir, by: 'recorder', why })
    this.#interceptor.reportPassed(this, dir, why)
  }

  /** Counts the requests among lines that were not looked at. */
  countRequests(lines: Buffer): void {
    let start = 0
    for (let end = lines.indexOf(LINE_FEED); end >= 0; end = lines.indexOf(LINE_FEED, start)) {
      const line = lines.subarray(start, end)
      if (isRequestLine(line)) this.#interceptor.nextExchange(this, line)
      start = end + 1
    }
  }

  /** Counts a long line of which only the beginning and the end are known, if it is a request. It cannot be repeated. */
  countLongLine(beginning: Buffer, end: Buffer): void {
    if (isLongRequest(beginning, end)) this.#interceptor.nextExchange(this, undefined)
  }

  get #isWaiting(): boolean {
    const { c2s, s2c } = this.#calls
    const isBlocked = this.#blocking.c2s !== undefined || this.#blocking.s2c !== undefined
    return c2s.size > 0 || s2c.size > 0 || isBlocked
  }

  /** Returns true if the message was taken over. Otherwise the transport forwards it now. */
  takes(passing: PassingMessage): boolean {
    const { dir, route } = passing
    const observed = new Observation(passing)
    if (observed.message.kind === 'invalid') return false
    this.#track(observed)
    observed.call = this.#callOf(dir, observed.message)
    if (this.#cancels(observed)) return true
    if (this.#answersUser(observed)) return true
    if (this.#blocking[dir] !== undefined) {
      const of = route.record(dir, observed.text, { side: senderOf(dir) })
      this.#waiting[dir].push({ observed, of })
      return true
    }
    if (!this.#interceptor.wants(() => messageSubjectOf(observed, this))) return false
    this.#hold(observed, route.record(dir, observed.text, { side: senderOf(dir) }))
    return true
  }

  /** The messages of this link that are held, or that wait behind one. */
  isHolding(dir: Direction): boolean {
    return this.#waiting[dir].length > 0 || this.#interceptor.heldOf(this, dir).length > 0
  }

  /** The connection is over: nothing can be delivered any more, or the rest has to go now. */
  end(dir: Direction, why: string, isDeliverable: boolean): void {
    for (const held of this.#interceptor.heldOf(this, dir))
      if (isDeliverable) held.forward({ by: 'recorder', why })
      else held.drop({ by: 'recorder', why })
    for (const { observed, of } of this.#waiting[dir].splice(0))
      if (isDeliverable) deliverWaiting(observed, of)
      else observed.route.drop()
  }

  /** The transport of one message is gone. */
  abandon(route: MessageRoute, why: string): void {
    for (const held of this.#interceptor.heldOf(this))
      if (held.route === route) held.drop({ by: 'recorder', why })
    for (const waiting of [this.#waiting.c2s, this.#waiting.s2c]) {
      const at = waiting.findIndex(({ observed }) => observed.route === route)
      if (at >= 0) waiting.splice(at, 1)
    }
  }

  /** Sends a request of the user to the server. */
  repeat(text: string, onResponse: (text: string) => void): void {
    const request = classifyMessage(parseJson(text))
    if (request.kind !== 'request') return
    if (this.repeatRoute === undefined)
      throw new ReelayError('USAGE', 'requests of this connection cannot be repeated', {
        hint: 'the connection has ended, or its transport does not allow it',
      })
    const { id } = request
    this.#calls.c2s.set(idKey(id), {
      request,
      arrivedAt: monotonicNow(),
      exchange: undefined,
      progressToken: id,
      progress: 0,
      onResponse,
    })
    this.repeatRoute.record('c2s', text, { side: 'server' })
    this.repeatRoute.deliver(text)
  }

  #hold(observed: ObservedMessage, of: number | undefined): void {
    const { dir, message } = observed
    const held = this.#interceptor.hold(this, observed, of)
    if (message.kind !== 'notification') return
    this.#blocking[dir] = held
    held.onSettled(() => {
      this.#blocking[dir] = undefined
      this.#continue(dir)
    })
  }

  /** Delivers what waited behind a notification, up to the next one that is held. */
  #continue(dir: Direction): void {
    for (let next = this.#waiting[dir].shift(); next !== undefined; next = this.#waiting[dir].shift()) {
      const { observed, of } = next
      if (!this.#interceptor.wants(() => messageSubjectOf(observed, this))) {
        deliverWaiting(observed, of)
        continue
      }
      this.#hold(observed, of)
      if (this.#blocking[dir] !== undefined) return
    }
  }

  #track(observed: Observation): void {
    const { dir, message } = observed
    if (dir === 's2c' && message.kind === 'notification')
      return this.#trackProgress(message.params, message.method)
    for (const item of message.kind === 'batch' ? message.items : [message])
      if (item.kind === 'request') this.#calls[dir].set(idKey(item.id), this.#openCall(dir, item, observed))
  }

  #openCall(dir: Direction, request: Request, { bytes, arrivedAt }: Observation): OpenCall {
    const exchange = dir === 'c2s' ? this.#interceptor.nextExchange(this, bytes) : undefined
    const progressToken = metaValue(request.params, META_KEYS.progressToken)
    return { request, arrivedAt, exchange, progressToken, progress: 0 }
  }

  #trackProgress(params: unknown, method: string): void {
    if (method !== 'notifications/progress') return
    const [token, progress] = [member(params, 'progressToken'), member(params, 'progress')]
    for (const call of this.#calls.c2s.values())
      if (call.progressToken === token && typeof progress === 'number') call.progress = progress
  }

  /** The request that a response belongs to. It is open no longer. */
  #callOf(dir: Direction, message: Message): OpenCall | undefined {
    if (message.kind === 'request') return this.#calls[dir].get(idKey(message.id))
    if (message.kind !== 'response' || message.id === null) return undefined
    const open = this.#calls[dir === 's2c' ? 'c2s' : 's2c']
    const call = open.get(idKey(message.id))
    open.delete(idKey(message.id))
    return call
  }

  /** A client that gives up a held call needs no answer any more. Returns true if its notification is not for the server either. */
  #cancels(observed: Observation): boolean {
    const id = cancelledId(observed.message)
    if (id === undefined) return false
    const key = idKey(id)
    const held = this.#interceptor
      .heldOf(this)
      .find((each) => each.callKey === key && each.requestDir === observed.dir)
    this.#calls[observed.dir].delete(key)
    if (held === undefined) return false
    held.drop({ by: senderOf(observed.dir), why: 'cancelled' })
    if (held.dir !== observed.dir) return false // the receiver knows the request, and hears that it is given up
    observed.route.record(observed.dir, observed.text, { side: senderOf(observed.dir) })
    observed.route.drop()
    return true
  }

  /** Keeps the response to a repeated request, and its progress, from the client. */
  #answersUser(observed: Observation): boolean {
    const { message } = observed
    const call = message.kind === 'notification' ? this.#repeatedCall(message) : observed.call
    if (call?.onResponse === undefined || message.kind === 'request') return false
    observed.route.record(observed.dir, observed.text, { side: 'server' })
    observed.route.drop()
    if (message.kind === 'response') call.onResponse(observed.text)
    return true
  }

  #repeatedCall({ method, params }: Notification): OpenCall | undefined {
    if (method !== 'notifications/progress') return undefined
    const token = member(params, 'progressToken')
    return typeof token === 'string' ? this.#calls.c2s.get(idKey(token)) : undefined
  }
}

interface WaitingMessage {
  readonly observed: ObservedMessage
  readonly of: number | undefined
}

function deliverWaiting({ dir, text, route }: ObservedMessage, of: number | undefined): void {
  if (of !== undefined) route.record(dir, text, { side: receiverOf(dir), of })
  route.deliver(text)
}

export function senderOf(dir: Direction): LinkSide {
  return dir === 'c2s' ? 'client' : 'server'
}

export function receiverOf(dir: Direction): LinkSide {
  return dir === 'c2s' ? 'server' : 'client'
}

/** Parses a message when its content is first needed. Most responses are long, and only their ids are needed. */
class Observation implements ObservedMessage {
  readonly dir: Direction
  readonly bytes: Uint8Array
  readonly route: MessageRoute
  readonly arrivedAt: number = monotonicNow()
  call: OpenCall | undefined
  #text: string | undefined
  #message: Message | undefined

  constructor({ dir, bytes, route }: PassingMessage) {
    this.dir = dir
    this.bytes = bytes
    this.route = route
  }

  get text(): string {
    this.#text ??= Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length).toString('utf8')
    return this.#text
  }

  get message(): Message {
    this.#message ??= unreadResponse(this) ?? classifyMessage(parseJson(this.text))
    return this.#message
  }
}

/** A response whose result is parsed only when it is read. Returns `undefined` for all other messages. */
function unreadResponse(observed: Observation): Message | undefined {
  const { bytes } = observed
  if (bytes.length < LONG_BYTES) return undefined
  const range = guessResponseId(bytes, 0, bytes.length)
  const id = range === undefined ? undefined : parseIdBytes(bytes, range.start, range.end)
  if (!isId(id)) return undefined
  let outcome: { readonly result: unknown } | { readonly error: unknown } | undefined
  return {
    kind: 'response',
    id,
    get outcome() {
      outcome ??= outcomeOf(classifyMessage(parseJson(observed.text)))
      return outcome
    },
  }
}

/** Shorter responses are parsed at once. */
const LONG_BYTES = 2048

function outcomeOf(message: Message): { readonly result: unknown } | { readonly error: unknown } {
  return message.kind === 'response' ? message.outcome : { result: undefined }
}

/** A message as a filter sees it. A response has the method, the target and the params of its request. */
function messageSubjectOf(observed: ObservedMessage, { server, conn }: LinkInterceptor): FilterSubject {
  const { dir, message, call, arrivedAt } = observed
  const items = message.kind === 'batch' ? message.items : [message]
  const calls = call === undefined ? items.filter((item) => 'method' in item) : [call.request]
  return {
    exchange: call?.exchange,
    server,
    conn: conn(),
    id: idOf(message),
    kinds: items.flatMap(kindOf),
    dirs: [dir],
    methods: calls.map(({ method }) => method),
    target: calls.map(({ params }) => requestTarget(params)).find((target) => target !== undefined),
    get status(): OutcomeKind | undefined {
      if (message.kind === 'response') return exchangeOutcome(message, 'unanswered').kind
      return message.kind === 'request' ? 'unanswered' : undefined
    },
    durationMs: message.kind === 'response' && call !== undefined ? arrivedAt - call.arrivedAt : undefined,
    texts: () => [observed.text],
    value: (root) => {
      if (root === 'params') return calls[0]?.params
      return message.kind === 'response' ? member(message.outcome, root) : undefined
    },
  }
}

function idOf(message: Message): Id | null | undefined {
  return 'id' in message ? message.id : undefined
}

function kindOf({ kind }: Message): readonly MessageKind[] {
  return kind === 'batch' || kind === 'invalid' ? [] : [kind]
}

const LINE_FEED = 10
const UNICODE_ESCAPE = String.raw`\u`
const BEFORE_ID = '{"jsonrpc":"2.0","id":'

/**
 * Returns true if the beginning of a line shows that it cannot match. A response of a call that cannot match does not either, and
 * a message with a result is no call. Of two members with the same name, the first one counts here.
 */
function passesByBeginning(bytes: Buffer, start: number, neededName: string): boolean {
  const first = endOfId(bytes, start) ?? start + 1
  if (hasTextAt(bytes, first, RESULT_KEY)) return true
  if (bytes[start] !== OPEN_BRACE || !hasTextAt(bytes, first, METHOD_KEY)) return false
  const method = plainText(bytes, first + METHOD_KEY.length)
  if (method === undefined || method.includes(neededName)) return false
  const params = first + METHOD_KEY.length + method.length + 1
  if (!hasTextAt(bytes, params, NAME_KEY)) return false
  return plainText(bytes, params + NAME_KEY.length)?.includes(neededName) === false
}

const OPEN_BRACE = 123
const RESULT_KEY = '"result":'
const METHOD_KEY = '"method":"'
const NAME_KEY = ',"params":{"name":"'
const MAX_NAME_BYTES = 256

/** Index after the id of a message that begins with it, and after the comma. */
function endOfId(bytes: Uint8Array, start: number): number | undefined {
  if (!hasTextAt(bytes, start, BEFORE_ID)) return undefined
  const first = start + BEFORE_ID.length
  const end = endOfDigits(bytes, first, bytes.length)
  return end > first && bytes[end] === COMMA ? end + 1 : undefined
}

const COMMA = 44

/** The text of a string that has no escapes. Returns `undefined` if it is long, or not complete. */
function plainText(bytes: Buffer, start: number): string | undefined {
  const text = bytes.toString('latin1', start, start + MAX_NAME_BYTES)
  const end = text.search(/["\\]/)
  return end >= 0 && text[end] === '"' ? text.slice(0, end) : undefined
}

/** Whether a line is a request, of which only the first and the last bytes are known. */
function isLongRequest(beginning: Buffer, end: Buffer): boolean {
  const first = endOfId(beginning, 0)
  if (first !== undefined) return hasTextAt(beginning, first, '"method":')
  return ID_AT_END.test(end.toString('latin1')) && !hasTextAt(beginning, 0, `{${RESULT_KEY}`)
}

const ID_AT_END = /,\s*"id"\s*:\s*(?:-?\d+|"(?:[^"\\]|\\.)*")\s*\}\s*$/

/** Peers write the id first or last. All other lines are parsed. */
function isRequestLine(line: Buffer): boolean {
  if (line.length === 0) return false
  const first = endOfId(line, 0)
  if (first !== undefined && hasTextAt(line, first, '"method":')) return true
  if (hasTextAt(line, 0, '{"method":') && hasIdAtEnd(line)) return true
  if (!line.includes('"id"')) return false
  return classifyMessage(parseJson(line.toString('utf8'))).kind === 'request'
}

function hasIdAtEnd(line: Buffer): boolean {
  let start = line.length - 1
  while (isDigit(line[start - 1])) start--
  return start < line.length - 1 && hasTextAt(line, start - BEFORE_LAST_ID.length, BEFORE_LAST_ID)
}

const BEFORE_LAST_ID = ',"id":'
