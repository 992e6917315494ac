import type { FilterExpression } from '../../filter/filter.ts'
import type { FilterGlance } from '../../filter/glance.ts'
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
  type BeginningSketch,
  type MessageSketch,
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

/** A request that has no response yet. It is parsed when its response, its progress or its cancellation is. */
export class FollowedCall {
  readonly arrivedAt: number
  readonly exchange: number | undefined
  /** Whether it was sent by the user and not by the client. */
  readonly isOfUser: boolean
  readonly #bytes: Buffer
  #text: GlancedBytes | undefined
  #call: OpenCall | undefined

  constructor(
    bytes: Uint8Array,
    { arrivedAt, exchange, call }: Pick<OpenCall, 'arrivedAt' | 'exchange'> & { readonly call?: OpenCall },
  ) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.isOfUser = call?.onResponse !== undefined
    this.arrivedAt = arrivedAt
    this.exchange = exchange
    this.#call = call
  }

  get text(): GlancedBytes {
    this.#text ??= new GlancedBytes(this.#bytes, true)
    return this.#text
  }

  /** Returns `undefined` if it is no valid request. */
  get call(): OpenCall | undefined {
    if (this.#call !== undefined) return this.#call
    const message = classifyMessage(parseJson(this.#bytes.toString('utf8')))
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

  add(dir: Direction, call: FollowedCall, { id, method }: Pick<Request, 'id' | 'method'>): void {
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
 * Goes through the messages of one direction without parsing them, and follows the requests whose responses may be held. One
 * object is used for all chunks, because creating one takes longer than looking at a short message.
 */
export class UnreadMessages {
  readonly #options: UnreadOptions
  /** The requests that responses of this direction belong to. */
  readonly #callers: Map<Id, FollowedCall>
  #arrivedAt = 0
  /** Whether one of the messages may be held. */
  #mayHold = false
  /** Whether the responses of the messages may be held, if they are requests. */
  #followed: 'none' | 'some' | 'all' = 'none'

  constructor(options: UnreadOptions) {
    this.#options = options
    this.#callers = options.open[opposite(options.dir)]
  }

  /** Begins with the next messages. */
  begin(messages: Buffer): void {
    const { decider, open } = this.#options
    const { filter, isArmed } = decider
    const content = new GlancedBytes(messages, false)
    const oldest = this.#callers.size === 0 ? undefined : this.#callers.values().next().value
    this.#arrivedAt = oldest === undefined ? NOT_READ : monotonicNow()
    // Without open requests, names and params are those of messages in this chunk.
    const own = oldest === undefined ? content : undefined
    const longestMs = oldest === undefined ? null : this.#arrivedAt - oldest.arrivedAt
    const glance = this.#glance({ content, call: own, names: own, openMethods: open.methods, longestMs })
    this.#mayHold = isArmed && filter.mayMatch(glance)
    if (!filter.mayMatch(this.#replyTo({ call: content, names: content }))) this.#followed = 'none'
    else this.#followed = filter.mayMatch(this.#replyTo({ call: null, names: null })) ? 'all' : 'some'
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
        return this.#passesRequest(bytes, start, end, sketch)
      case 'response':
        return this.#passesResponse(bytes, start, end, sketch)
      case 'notification':
        return this.#passesNotification(bytes, start, end, sketch)
      case 'unknown':
        return false
    }
  }

  /** Returns true if the message of a line that is not complete cannot be held, and neither its response. */
  passesBeginning(chunk: Buffer, start: number): boolean {
    const sketch = sketchBeginning(chunk, start)
    if (sketch === undefined) return false
    return sketch.kind === 'request' ? this.#requestPasses(sketch) : this.#responsePasses(sketch)
  }

  #requestPasses({ kind, id, names }: BeginningSketch): boolean {
    const { dir, open, decider } = this.#options
    const { filter, isArmed } = decider
    if (isArmed && filter.mayMatch(this.#glance({ kind, names }))) return false
    if (filter.mayMatch(this.#replyTo({ names }))) return false
    if (id !== undefined) open[dir].delete(id) // of an earlier request with the same id
    return id !== undefined || open[dir].size === 0
  }

  #responsePasses({ kind, id }: BeginningSketch): boolean {
    const { filter, isArmed } = this.#options.decider
    if (id === undefined && this.#callers.size > 0) return false
    const call = id === undefined ? undefined : this.#callers.get(id)
    // The response is not complete, so the time that it takes is not known.
    const request = call === undefined ? NO_REQUEST : { ...requestOf(call, 0), longestMs: undefined }
    if (call?.isOfUser === true) return false
    if (isArmed && filter.mayMatch(this.#glance({ kind, ...request }))) return false
    if (id !== undefined) this.#callers.delete(id)
    return true
  }

  #passesRequest(bytes: Buffer, start: number, end: number, { id, methodAt }: RequestSketch): boolean {
    const { dir, open, decider, count } = this.#options
    let isFollowed = this.#followed === 'all'
    if (this.#mayHold || this.#followed === 'some') {
      const text = new GlancedBytes(bytes.subarray(start, end), true)
      const exchange = dir === 'c2s' ? decider.nextNumber : null
      const own = { id, exchange, call: text, names: text }
      if (this.#mayMatch({ ...own, kind: 'request', content: text, longestMs: null })) return false
      isFollowed ||= this.#followed === 'some' && decider.filter.mayMatch(this.#replyTo(own))
    }
    const method = isFollowed ? open.methodAt(bytes, methodAt) : undefined
    if (isFollowed && method === undefined) return false
    const exchange = dir === 'c2s' ? count(bytes, start, end) : undefined
    open[dir].delete(id) // of an earlier request with the same id
    if (method === undefined) return true
    const message = bytes.subarray(start, end)
    const kept = open[dir].size < MAX_SHARED_CALLS ? message : Buffer.from(message)
    if (this.#arrivedAt === NOT_READ) this.#arrivedAt = monotonicNow()
    open.add(dir, new FollowedCall(kept, { arrivedAt: this.#arrivedAt, exchange }), { id, method })
    return true
  }

  #passesResponse(bytes: Buffer, start: number, end: number, { id }: ResponseSketch): boolean {
    const call = this.#callers.get(id)
    if (this.#mayHold) {
      const content = new GlancedBytes(bytes.subarray(start, end), true)
      if (this.#mayMatch({ kind: 'response', id, content, ...requestOf(call, this.#arrivedAt) })) return false
    }
    if (call === undefined) return true
    if (call.isOfUser) return false
    this.#callers.delete(id)
    return true
  }

  #passesNotification(bytes: Buffer, start: number, end: number, { methodAt }: NotificationSketch): boolean {
    const { open } = this.#options
    if (this.#mayHold) {
      const text = new GlancedBytes(bytes.subarray(start, end), true)
      const own = { call: text, names: text, content: text, longestMs: null, exchange: null }
      if (this.#mayMatch({ kind: 'notification', ...own })) return false
    }
    // Those that may concern an open request are parsed.
    return open.size === 0 || !CONCERNS_REQUEST.has(open.methodAt(bytes, methodAt))
  }

  #mayMatch(facts: MessageFacts): boolean {
    const { open, decider } = this.#options
    if (!this.#mayHold) return false
    return decider.filter.mayMatch(this.#glance({ ...facts, openMethods: open.methods }))
  }

  /** What is known of messages themselves. */
  #glance(facts: MessageFacts): FilterGlance {
    const { server, conn, dir } = this.#options
    return glanceOf(server, conn(), dir, facts.kind, facts)
  }

  /** What is known of the responses to requests before they come. */
  #replyTo(request: MessageFacts): FilterGlance {
    const { server, conn, dir } = this.#options
    return glanceOf(server, conn(), opposite(dir), 'response', request)
  }
}

/** Before any time that was read. */
const NOT_READ = -1

type RequestSketch = Extract<MessageSketch, { kind: 'request' }>
type ResponseSketch = Extract<MessageSketch, { kind: 'response' }>
type NotificationSketch = Extract<MessageSketch, { kind: 'notification' }>

const CONCERNS_REQUEST = new Set([undefined, 'notifications/cancelled', 'notifications/progress'])
/** What is known of a response that belongs to no open request. */
const NO_REQUEST = { call: null, names: null, exchange: null, longestMs: null }

/** What is known of messages, apart from their link. */
type MessageFacts = Omit<FilterGlance, 'server' | 'conn' | 'dir'>

/** All glances have their members in the same order, so that filters read them fast. */
function glanceOf(
  server: string,
  conn: number,
  dir: Direction,
  kind: FilterGlance['kind'],
  { id, exchange, content, call, names, openMethods, longestMs }: MessageFacts,
): FilterGlance {
  return { server, conn, dir, kind, id, exchange, content, call, names, openMethods, longestMs }
}

/** What is known of a response from its request. */
function requestOf(call: FollowedCall | undefined, arrivedAt: number): MessageFacts {
  if (call === undefined) return NO_REQUEST
  const { text, exchange = null } = call
  return { call: text, names: text, exchange, longestMs: arrivedAt - call.arrivedAt }
}

function opposite(dir: Direction): Direction {
  return dir === 'c2s' ? 's2c' : 'c2s'
}
