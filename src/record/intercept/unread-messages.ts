import type { FilterExpression } from '../../filter/filter.ts'
import type { FilterGlance, GlancedText, NumberRange } from '../../filter/glance.ts'
import { parseJson } from '../../json/parse.ts'
import { endOfPlainString, hasTextAt, QUOTE } from '../../json/scan.ts'
import { monotonicNow } from '../../link/process/monotonic-clock.ts'
import {
  classifyMessage,
  META_KEYS,
  metaValue,
  type Direction,
  type Id,
  type Request,
} from '../../protocol/message.ts'
import {
  GlancedBytes,
  sketchBeginning,
  sketchMessage,
  targetOf,
  type BeginningSketch,
} from './message-glance.ts'

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

/** A request among the bytes of its chunk. */
interface RequestPlace {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly method: string
  readonly arrivedAt: number
  readonly exchange: number | undefined
}

/** A request that has no response yet. It is parsed when its response, its progress or its cancellation is. */
export class FollowedCall implements GlancedRequest {
  readonly #place: RequestPlace
  #text: GlancedBytes | undefined
  #target: { readonly name: string | undefined } | undefined
  #call: OpenCall | undefined

  constructor(place: RequestPlace, call?: OpenCall) {
    this.#place = place
    this.#call = call
  }

  /** A request that is parsed already. */
  static of(call: OpenCall, bytes: Uint8Array): FollowedCall {
    const own = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const { arrivedAt, exchange, request } = call
    const { method } = request
    return new FollowedCall({ bytes: own, start: 0, end: own.length, method, arrivedAt, exchange }, call)
  }

  get arrivedAt(): number {
    return this.#place.arrivedAt
  }

  get exchange(): number | undefined {
    return this.#place.exchange
  }

  get method(): string {
    return this.#place.method
  }

  /** Whether it was sent by the user and not by the client. */
  get isOfUser(): boolean {
    return this.#call?.onResponse !== undefined
  }

  get text(): GlancedText {
    const { bytes, start, end } = this.#place
    this.#text ??= new GlancedBytes(bytes.subarray(start, end), true)
    return this.#text
  }

  get names(): GlancedText {
    return this.text
  }

  /** The target, if it can be read without parsing the request. */
  get target(): string | undefined {
    const { bytes, start, end } = this.#place
    this.#target ??= { name: targetOf(bytes, start, end) }
    return this.#target.name
  }

  /** Returns `undefined` if it is no valid request. */
  get call(): OpenCall | undefined {
    if (this.#call !== undefined) return this.#call
    const { bytes, start, end } = this.#place
    const message = classifyMessage(parseJson(bytes.toString('utf8', start, end)))
    if (message.kind === 'request') this.#call = openCall(message, this)
    return this.#call
  }
}

export function openCall(
  request: Request,
  { arrivedAt, exchange }: Pick<OpenCall, 'arrivedAt' | 'exchange'>,
): OpenCall {
  const progressToken = metaValue(request.params, META_KEYS.progressToken)
  return { request, arrivedAt, exchange, progressToken, progress: 0 }
}

/** The requests of one connection that have no response yet, as far as their responses may be held, the oldest first. */
export class UnansweredCalls {
  readonly c2s: Map<Id, FollowedCall> = new Map()
  readonly s2c: Map<Id, FollowedCall> = new Map()
  readonly #methods = new Set<string>()
  #lastMethod = ''

  get size(): number {
    return this.c2s.size + this.s2c.size
  }

  /** The methods of all requests so far; `undefined` if there are too many. */
  get methods(): ReadonlySet<string> | undefined {
    return this.#methods.size > MAX_METHODS ? undefined : this.#methods
  }

  add(dir: Direction, id: Id, call: FollowedCall): void {
    const { method } = call
    if (method !== this.#lastMethod && this.#methods.size <= MAX_METHODS) this.#methods.add(method)
    this.#lastMethod = method
    this[dir].set(id, call)
  }

  /** The method that begins at an index. Most requests have the same one as the request before. */
  methodAt(bytes: Buffer, start: number): string | undefined {
    const last = this.#lastMethod
    if (hasTextAt(bytes, start, last) && bytes[start + last.length] === QUOTE) return last
    const end = endOfPlainString(bytes, start - 1, bytes.length)
    return end < 0 ? undefined : bytes.toString('utf8', start, end - 1)
  }
}

const MAX_METHODS = 100
/** No request is shorter. */
const MIN_REQUEST_BYTES = '{"id":1,"method":""}'.length
/** A chunk is kept in memory as long as one of its requests has no response. With more of them, the requests are copied. */
const MAX_SHARED_CALLS = 256

/** What decides about the messages of a link. */
export interface UnreadDecider {
  readonly filter: FilterExpression
  /** Whether messages that match the filter are held. */
  readonly isArmed: boolean
  /** The number that the next request of the client will have. */
  readonly nextNumber: number
}

interface UnreadOptions {
  readonly server: string
  readonly conn: () => number
  readonly dir: Direction
  readonly open: UnansweredCalls
  readonly decider: UnreadDecider
  /** Counts the request of the client in a range of bytes. Returns its number. */
  readonly count: (bytes: Buffer, start: number, end: number) => number | undefined
}

/**
 * Goes through the messages of one direction without parsing them, and follows the requests whose responses may be held. The same
 * few objects are used for all messages, because creating one takes longer than looking at a short message.
 */
export class UnreadMessages {
  readonly #options: UnreadOptions
  /** The requests that responses of this direction belong to. */
  readonly #callers: Map<Id, FollowedCall>
  /** The message that is looked at. */
  readonly #message: UnreadMessage
  /** What is known of messages themselves. */
  readonly #own: LinkGlance
  /** What is known of the responses to requests before they come. */
  readonly #reply: LinkGlance
  #arrivedAt = 0
  /** Whether one of the messages may be held. */
  #mayHold = false
  /** Whether the responses of the messages may be held, if they are requests. */
  #followed: 'none' | 'some' | 'all' = 'none'

  constructor(options: UnreadOptions) {
    const { server, dir, open } = options
    this.#options = options
    this.#callers = open[opposite(dir)]
    this.#message = new UnreadMessage(open)
    this.#own = new LinkGlance(server, dir)
    this.#reply = new LinkGlance(server, opposite(dir))
    this.#reply.kind = 'response'
  }

  /** Begins with the next messages. */
  begin(messages: Buffer): void {
    const { decider, open, conn } = this.#options
    const { filter, isArmed } = decider
    const oldest = this.#callers.size === 0 ? undefined : this.#callers.values().next().value
    this.#arrivedAt = oldest === undefined ? NOT_READ : monotonicNow()
    const all = this.#message
    all.takeAll(messages)
    const [own, reply] = [this.#own, this.#reply]
    own.conn = conn()
    reply.conn = own.conn
    own.kind = undefined
    own.id = undefined
    own.exchanges = this.#exchangesIn(messages, oldest)
    own.messages = all
    // Without open requests, names and params are those of messages in this chunk.
    own.request = oldest === undefined ? all : undefined
    own.openMethods = open.methods
    own.longestMs = oldest === undefined ? null : this.#arrivedAt - oldest.arrivedAt
    this.#mayHold = isArmed && filter.mayMatch(own)
    reply.id = undefined
    reply.exchanges = own.exchanges
    reply.request = all
    if (!filter.mayMatch(reply)) this.#followed = 'none'
    else {
      reply.request = null
      reply.exchanges = undefined
      this.#followed = filter.mayMatch(reply) ? 'all' : 'some'
    }
  }

  /** The numbers that requests among these messages can have, or those that they respond to. */
  #exchangesIn({ length }: Buffer, oldest: FollowedCall | undefined): NumberRange | null {
    const { dir, decider } = this.#options
    const next = decider.nextNumber
    if (dir === 'c2s') return { min: next, max: next + Math.ceil(length / MIN_REQUEST_BYTES) }
    return oldest === undefined ? null : { min: oldest.exchange ?? 0, max: next }
  }

  /** True if no message can be held, and no request has to be followed. */
  get isIrrelevant(): boolean {
    return !this.#mayHold && this.#followed === 'none' && this.#options.open.size === 0
  }

  /** Returns true if the message in a range cannot be held. Then it is followed or counted, if it is a request. */
  passes(bytes: Buffer, start: number, end: number): boolean {
    const sketch = sketchMessage(bytes, start, end)
    switch (sketch.kind) {
      case 'request':
        this.#message.take(bytes, start, end, sketch.methodAt)
        return this.#passesRequest(sketch.id)
      case 'response':
        this.#message.take(bytes, start, end)
        return this.#passesResponse(sketch.id)
      case 'notification':
        this.#message.take(bytes, start, end, sketch.methodAt)
        return this.#passesNotification()
      case 'unknown':
        return false
    }
  }

  /** Returns true if the message of a line that is not complete cannot be held, and neither its response. */
  passesBeginning(chunk: Buffer, start: number): boolean {
    const sketch = sketchBeginning(chunk, start)
    if (sketch === undefined) return false
    const conn = this.#options.conn()
    this.#own.conn = conn
    this.#reply.conn = conn
    return sketch.kind === 'request' ? this.#requestPasses(sketch) : this.#responsePasses(sketch.id)
  }

  #requestPasses({ id, request }: Extract<BeginningSketch, { kind: 'request' }>): boolean {
    const { dir, open, decider } = this.#options
    const exchanges = dir === 'c2s' ? rangeOf(decider.nextNumber) : null
    this.#know('request', { id, messages: undefined, request, exchanges, longestMs: null })
    if (this.#mayMatch()) return false
    // Its response will seem to belong to no request.
    if (this.#replyMayMatch(id, exchanges, request) || this.#replyMayMatch(id, null, null)) return false
    if (id !== undefined) open[dir].delete(id) // of an earlier request with the same id
    return id !== undefined || open[dir].size === 0
  }

  #responsePasses(id: Id | undefined): boolean {
    if (id === undefined && this.#callers.size > 0) return false
    const call = id === undefined ? undefined : this.#callers.get(id)
    if (call?.isOfUser === true) return false
    const exchanges = exchangesOf(call)
    // The response is not complete, so the time that it takes is not known.
    const longestMs = call === undefined ? null : undefined
    this.#know('response', { id, messages: undefined, request: call ?? null, exchanges, longestMs })
    if (this.#mayMatch()) return false
    if (id !== undefined) this.#callers.delete(id)
    return true
  }

  #passesRequest(id: Id): boolean {
    const { dir, open, decider, count } = this.#options
    const request = this.#message
    const { bytes, start, end } = request
    let isFollowed = this.#followed === 'all'
    if (this.#mayHold || this.#followed === 'some') {
      const exchanges = dir === 'c2s' ? rangeOf(decider.nextNumber) : null
      if (this.#mayHold) {
        this.#know('request', { id, messages: request, request, exchanges, longestMs: null })
        if (this.#mayMatch()) return false
      }
      isFollowed ||= this.#replyMayMatch(id, exchanges, request)
    }
    const method = isFollowed ? request.method : undefined
    if (isFollowed && method === undefined) return false
    const exchange = dir === 'c2s' ? count(bytes, start, end) : undefined
    open[dir].delete(id) // of an earlier request with the same id
    if (method !== undefined) this.#follow(id, method, exchange)
    return true
  }

  #follow(id: Id, method: string, exchange: number | undefined): void {
    const { dir, open } = this.#options
    const { bytes, start, end } = this.#message
    if (this.#arrivedAt === NOT_READ) this.#arrivedAt = monotonicNow()
    const arrivedAt = this.#arrivedAt
    const isShared = open[dir].size < MAX_SHARED_CALLS
    const place = isShared
      ? { bytes, start, end, method, arrivedAt, exchange }
      : {
          bytes: Buffer.from(bytes.subarray(start, end)),
          start: 0,
          end: end - start,
          method,
          arrivedAt,
          exchange,
        }
    open.add(dir, id, new FollowedCall(place))
  }

  #passesResponse(id: Id): boolean {
    const call = this.#callers.get(id)
    if (this.#mayHold) {
      const longestMs = call === undefined ? null : this.#arrivedAt - call.arrivedAt
      const exchanges = exchangesOf(call)
      this.#know('response', { id, messages: this.#message, request: call ?? null, exchanges, longestMs })
      if (this.#mayMatch()) return false
    }
    if (call === undefined) return true
    if (call.isOfUser) return false
    this.#callers.delete(id)
    return true
  }

  #passesNotification(): boolean {
    const { open } = this.#options
    const message = this.#message
    if (this.#mayHold) {
      const facts = { messages: message, request: message, exchanges: null, longestMs: null }
      this.#know('notification', { id: undefined, ...facts })
      if (this.#mayMatch()) return false
    }
    // Those that may concern an open request are parsed.
    return open.size === 0 || !CONCERNS_REQUEST.has(message.method)
  }

  #know(kind: LinkGlance['kind'], { id, messages, request, exchanges, longestMs }: KnownFacts): void {
    const own = this.#own
    own.kind = kind
    own.id = id
    own.messages = messages
    own.request = request
    own.exchanges = exchanges
    own.longestMs = longestMs
    own.openMethods = messages === undefined ? undefined : this.#options.open.methods
  }

  #mayMatch(): boolean {
    const { filter, isArmed } = this.#options.decider
    return isArmed && filter.mayMatch(this.#own)
  }

  #replyMayMatch(
    id: Id | undefined,
    exchanges: NumberRange | null | undefined,
    request: GlancedRequest | null,
  ): boolean {
    this.#reply.id = id
    this.#reply.exchanges = exchanges
    this.#reply.request = request
    return this.#options.decider.filter.mayMatch(this.#reply)
  }
}

type KnownFacts = Pick<LinkGlance, 'id' | 'messages' | 'request' | 'exchanges' | 'longestMs'>

/** Before any time that was read. */
const NOT_READ = -1

const CONCERNS_REQUEST = new Set([undefined, 'notifications/cancelled', 'notifications/progress'])

/** A request, as far as it is known. */
interface GlancedRequest {
  readonly text: GlancedText | undefined
  readonly names: GlancedText | undefined
  readonly method: string | undefined
  readonly target: string | undefined
}

/** The bytes of the message, or messages, that are looked at. */
class UnreadMessage implements GlancedRequest {
  bytes: Buffer = NO_BYTES
  start = 0
  end = 0
  readonly #open: UnansweredCalls
  #methodAt: number | undefined
  #isOne = false
  #text: GlancedBytes | undefined

  constructor(open: UnansweredCalls) {
    this.#open = open
  }

  /** A response has no method. */
  take(bytes: Buffer, start: number, end: number, methodAt?: number): void {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.#methodAt = methodAt
    this.#isOne = true
    this.#text = undefined
  }

  /** Several messages. */
  takeAll(bytes: Buffer): void {
    this.take(bytes, 0, bytes.length)
    this.#isOne = false
  }

  get text(): GlancedText {
    this.#text ??= new GlancedBytes(this.bytes.subarray(this.start, this.end), this.#isOne)
    return this.#text
  }

  get names(): GlancedText {
    return this.text
  }

  get method(): string | undefined {
    return this.#methodAt === undefined ? undefined : this.#open.methodAt(this.bytes, this.#methodAt)
  }

  get target(): string | undefined {
    return this.#methodAt === undefined ? undefined : targetOf(this.bytes, this.start, this.end)
  }
}

const NO_BYTES = Buffer.alloc(0)

/** What is known of messages. Their texts are searched only if a filter asks for them. */
class LinkGlance implements FilterGlance {
  readonly server: string
  readonly dir: Direction
  conn = 0
  kind: FilterGlance['kind']
  id: Id | undefined
  exchanges: NumberRange | null | undefined
  openMethods: ReadonlySet<string> | undefined
  longestMs: number | null | undefined
  request: GlancedRequest | null | undefined
  /** The messages themselves. */
  messages: UnreadMessage | undefined

  constructor(server: string, dir: Direction) {
    this.server = server
    this.dir = dir
  }

  get content(): GlancedText | undefined {
    return this.messages?.text
  }

  get call(): GlancedText | null | undefined {
    return this.request === null ? null : this.request?.text
  }

  get names(): GlancedText | null | undefined {
    return this.request === null ? null : this.request?.names
  }

  get method(): string | undefined {
    return this.request?.method
  }

  get target(): string | undefined {
    return this.request?.target
  }
}

function exchangesOf(call: FollowedCall | undefined): NumberRange | null {
  return call?.exchange === undefined ? null : rangeOf(call.exchange)
}

function rangeOf(number: number): NumberRange {
  return { min: number, max: number }
}

function opposite(dir: Direction): Direction {
  return dir === 'c2s' ? 's2c' : 'c2s'
}
