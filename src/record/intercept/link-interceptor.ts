import { ReelayError } from '../../errors.ts'
import { parseJson, member } from '../../json/parse.ts'
import type { FilterSubject, MessageKind } from '../../filter/filter.ts'
import { monotonicNow } from '../../link/process/monotonic-clock.ts'
import { guessResponseId, parseIdBytes } from '../../protocol/find-id.ts'
import {
  cancelledId,
  classifyMessage,
  idKey,
  isId,
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
import { isLongRequest, isUsualRequest, sketchMessage } from './message-glance.ts'
import {
  FollowedCall,
  UnansweredCalls,
  openCall,
  UnreadMessages,
  type OpenCall,
  type UnreadDecider,
} from './unread-messages.ts'

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
  /** Begins to go through whole lines without parsing them. */
  beginLines(lines: Buffer, dir: Direction): void
  /** Returns the index of the first of these lines, from an index on, that may be taken over; their length if there is none. */
  nextLine(lines: Buffer, at: number, dir: Direction): number
  /** Returns true if one message cannot be taken over, without parsing it. */
  passes(message: Buffer, dir: Direction): boolean
  /** Returns true if the line that begins at an index, and is not complete, cannot be taken over. */
  passesBeginning(chunk: Buffer, start: number, dir: Direction): boolean
  /** Says that a message cannot be taken over. */
  passUnseen(unseen: UnseenMessage): void
  /** Tells the user once how interception changes what is forwarded. */
  notice?(text: string): void
  /** Counts the requests among lines that were forwarded as they arrived. */
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
interface MessageHolder extends UnreadDecider {
  wants(subject: () => FilterSubject): boolean
  hold(link: LinkInterceptor, observed: ObservedMessage, of: number | undefined): HeldOnLink
  heldOf(link: LinkInterceptor, dir?: Direction): readonly HeldOnLink[]
  /** Counts the request in a range of bytes. Without bytes, it is too long to be repeated. */
  nextExchange(
    link: LinkInterceptor,
    bytes: Uint8Array | undefined,
    start?: number,
    end?: number,
  ): number | undefined
  /** Whether the number of a request depends on its content, so that every request has to be read whole. */
  readonly readsRequests: boolean
  /** Whether something is held, so that every message has to be parsed. */
  readonly isHolding: boolean
  /** Tells the users that a message was forwarded which the filter may have matched. */
  reportPassed(link: LinkInterceptor, dir: Direction, why: string): void
  /** Tells the user something, but only once. */
  notice(text: string): void
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
  readonly #calls = new UnansweredCalls()
  readonly #unread: Partial<Record<Direction, UnreadMessages>> = {}
  readonly #waiting: Record<Direction, WaitingMessage[]> = { c2s: [], s2c: [] }
  readonly #blocking: Record<Direction, HeldOnLink | undefined> = { c2s: undefined, s2c: undefined }
  /** The directions that have ended. What still comes is not taken over. */
  readonly #over = new Set<Direction>()

  constructor(
    interceptor: MessageHolder,
    { server, conn }: { readonly server: string; readonly conn: () => number },
  ) {
    this.server = server
    this.conn = conn
    this.#interceptor = interceptor
  }

  beginLines(lines: Buffer, dir: Direction): void {
    this.#unreadOf(dir).begin(lines)
  }

  nextLine(lines: Buffer, at: number, dir: Direction): number {
    if (this.#isBusy) return at
    const unread = this.#unreadOf(dir)
    if (!unread.isIrrelevant) return endOfPassing(lines, at, unread)
    if (dir === 'c2s') this.#countRequests(lines, at)
    return lines.length
  }

  passes(message: Buffer, dir: Direction): boolean {
    if (this.#isBusy) return false
    const unread = this.#unreadOf(dir)
    unread.begin(message)
    return unread.passes(message, 0, message.length)
  }

  passesBeginning(chunk: Buffer, start: number, dir: Direction): boolean {
    if (this.#isBusy || this.#interceptor.readsRequests) return false
    return this.#unreadOf(dir).passesBeginning(chunk, start)
  }

  #unreadOf(dir: Direction): UnreadMessages {
    this.#unread[dir] ??= new UnreadMessages({
      server: this.server,
      conn: this.conn,
      dir,
      open: this.#calls,
      decider: this.#interceptor,
      count: (bytes, start, end) => this.#interceptor.nextExchange(this, bytes, start, end),
    })
    return this.#unread[dir]
  }

  /** Says that a message cannot be held, unless the filter certainly does not match it. */
  passUnseen({ dir, bytes, why, event }: UnseenMessage): void {
    if (!this.#interceptor.isArmed || (bytes !== undefined && this.passesBeginning(toBuffer(bytes), 0, dir)))
      return
    event('intercept', { action: 'pass', dir, by: 'recorder', why })
    this.#interceptor.reportPassed(this, dir, why)
  }

  notice(text: string): void {
    this.#interceptor.notice(text)
  }

  countRequests(lines: Buffer): void {
    this.#countRequests(lines, 0)
  }

  /** Counts the requests among lines that were not looked at. */
  #countRequests(lines: Buffer, from: number): void {
    let start = from
    for (let end = lines.indexOf(LINE_FEED, start); end >= 0; end = lines.indexOf(LINE_FEED, start)) {
      if (isRequestLine(lines, start, end)) this.#interceptor.nextExchange(this, lines, start, end)
      start = end + 1
    }
  }

  /** Counts a long line of which only the beginning and the end are known, if it is a request. It cannot be repeated. */
  countLongLine(beginning: Buffer, end: Buffer): void {
    if (isLongRequest(beginning, end)) this.#interceptor.nextExchange(this, undefined)
  }

  /** Whether every message has to be parsed, because one that is held may concern it. */
  get #isBusy(): boolean {
    const { c2s, s2c } = this.#blocking
    return this.#interceptor.isHolding || c2s !== undefined || s2c !== undefined
  }

  /** Returns true if the message was taken over. Otherwise the transport forwards it now. */
  takes(passing: PassingMessage): boolean {
    const { dir, route } = passing
    const observed = new Observation(passing)
    if (observed.message.kind === 'invalid' || this.#over.has(dir)) return false
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
    this.#over.add(dir)
    // Taken out first, because what waits behind a held message would be held next, when nobody can decide about it any more.
    const waiting = this.#waiting[dir].splice(0)
    for (const held of this.#interceptor.heldOf(this, dir))
      if (isDeliverable) held.forward({ by: 'recorder', why })
      else held.drop({ by: 'recorder', why })
    for (const { observed, of } of waiting)
      if (isDeliverable) deliverWaiting(observed, of)
      else dropWaiting(observed, of, why)
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
    const at = { arrivedAt: monotonicNow(), exchange: undefined }
    const call = { ...openCall(request, at), progressToken: id, onResponse }
    this.#calls.add('c2s', id, FollowedCall.of(call, Buffer.from(text)))
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
      if (item.kind === 'request') this.#open(dir, item, observed)
  }

  #open(dir: Direction, request: Request, { bytes, arrivedAt }: Observation): void {
    const exchange = dir === 'c2s' ? this.#interceptor.nextExchange(this, bytes) : undefined
    const at = { arrivedAt, exchange }
    this.#calls[dir].delete(request.id) // of an earlier request with the same id
    this.#calls.add(dir, request.id, FollowedCall.of(openCall(request, at), bytes))
  }

  #trackProgress(params: unknown, method: string): void {
    if (method !== 'notifications/progress') return
    const [token, progress] = [member(params, 'progressToken'), member(params, 'progress')]
    if (typeof progress !== 'number') return
    for (const { call } of this.#calls.c2s.values())
      if (call !== undefined && call.progressToken === token) call.progress = progress
  }

  /** The request that a response belongs to. It is open no longer. */
  #callOf(dir: Direction, message: Message): OpenCall | undefined {
    if (message.kind === 'request') return this.#calls[dir].get(message.id)?.call
    if (message.kind !== 'response' || message.id === null) return undefined
    const open = this.#calls[dir === 's2c' ? 'c2s' : 's2c']
    const call = open.get(message.id)?.call
    open.delete(message.id)
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
    this.#calls[observed.dir].delete(id)
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
    return typeof token === 'string' ? this.#calls.c2s.get(token)?.call : undefined
  }
}

interface WaitingMessage {
  readonly observed: ObservedMessage
  readonly of: number | undefined
}

function dropWaiting({ dir, arrivedAt, route }: ObservedMessage, of: number | undefined, why: string): void {
  const ms = Math.round(monotonicNow() - arrivedAt)
  if (of !== undefined) route.event('intercept', { action: 'drop', dir, ms, by: 'recorder', why, of })
  route.drop()
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

/** Index after the last line, from an index on, of those that pass. */
function endOfPassing(lines: Buffer, from: number, unread: UnreadMessages): number {
  let start = from
  for (let end = lines.indexOf(LINE_FEED, start); end >= 0; end = lines.indexOf(LINE_FEED, start)) {
    const lineEnd = lines[end - 1] === CARRIAGE_RETURN ? end - 1 : end
    if (lineEnd > start && !unread.passes(lines, start, lineEnd)) return start
    start = end + 1
  }
  return lines.length
}

const CARRIAGE_RETURN = 13

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Lines that show nothing by their first and last bytes are parsed. */
function isRequestLine(lines: Buffer, start: number, end: number): boolean {
  if (end === start) return false
  if (isUsualRequest(lines, start, end)) return true
  const { kind } = sketchMessage(lines, start, end)
  if (kind !== 'unknown') return kind === 'request'
  const line = lines.subarray(start, end)
  return line.includes('"id"') && classifyMessage(parseJson(line.toString('utf8'))).kind === 'request'
}
