import { ReelayError } from '../../errors.ts'
import { parseFilter, type FilterExpression, type FilterSubject } from '../../filter/filter.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { replaceValue } from '../../json/find-replace.ts'
import { compactJson, parseJson } from '../../json/parse.ts'
import { monotonicNow } from '../../link/process/monotonic-clock.ts'
import { replaceId } from '../../protocol/find-id.ts'
import {
  classifyMessage,
  META_KEYS,
  idKey,
  idToJson,
  requestTarget,
  responseText,
  type Direction,
  type Message,
  type ResponsePayload,
} from '../../protocol/message.ts'
import {
  LinkInterceptor,
  receiverOf,
  type HoldDecider,
  type MessageRoute,
  type ObservedMessage,
} from './link-interceptor.ts'
import type { OpenCall } from './unread-messages.ts'
import type { RecordedTape } from '../tape-log.ts'

export interface InterceptOptions {
  readonly filter: FilterExpression
  /** How long a call may be held before it is released. */
  readonly holdLimitMs: number
  /** What happens to a message at the limit: it is forwarded, or its request fails. */
  /** Called with what the user should know, each text once. */
  readonly onNotice?: ((text: string) => void) | undefined
  readonly onLimit: 'forward' | 'error'
  /** Whether a request is on the tape; by default all are. Others have no number there. */
  readonly isRecorded?: ((text: string) => boolean) | undefined
}

/** Hears of everything that happens to held messages. */
export type InterceptListener = (event: InterceptEvent) => void

export type InterceptEvent =
  | { readonly event: 'held'; readonly message: HeldFacts }
  | ({
      readonly event: 'settled'
      readonly key: string
      readonly action: HeldAction
      readonly ms: number
    } & HoldDecider)
  | { readonly event: 'extended'; readonly key: string; readonly leftMs: number }
  | { readonly event: 'filter'; readonly filter: string }
  | { readonly event: 'tape'; readonly tape: string }
  | {
      readonly event: 'passed'
      readonly dir: Direction
      readonly server: string
      readonly conn: number
      readonly why: string
    }
  | {
      readonly event: 'repeated'
      readonly id: string
      readonly exchange: number
      readonly response: string
    }

export type HeldAction = 'forward' | 'edit' | 'drop' | 'answer' | 'error'

/** A held message, for whoever decides about it. */
export interface HeldFacts {
  readonly key: string
  readonly dir: Direction
  readonly kind: Message['kind']
  readonly method: string | undefined
  readonly target: string | undefined
  readonly server: string
  readonly conn: number
  /** The number of the exchange, if it is one of the client's. */
  readonly exchange: number | undefined
  readonly text: string
  readonly heldMs: number
  readonly leftMs: number
  /** Whether the client is sent progress while it waits. */
  readonly hasProgress: boolean
}

/**
 * Holds the messages of a recording that match a filter until a user decides about them. Nothing is held without a user: once
 * one has been attached, messages pass while nobody is. Before the first one, they are held, so that there is time to attach.
 */
export class Interceptor {
  readonly #options: InterceptOptions
  readonly #held = new Map<string, HeldMessage>()
  readonly #listeners = new Set<InterceptListener>()
  /** The users that can decide. Others only watch. */
  readonly #deciders = new Set<InterceptListener>()
  readonly #recentCalls: RecentCall[] = []
  readonly #notices = new Set<string>()
  readonly #counts: Record<HeldAction | 'held', number> = {
    held: 0,
    forward: 0,
    edit: 0,
    drop: 0,
    answer: 0,
    error: 0,
  }
  #filter: FilterExpression
  #hasBeenAttached = false
  #exchanges = 0
  #repeats = 0
  #isClosed = false
  #tape: string | undefined

  constructor(options: InterceptOptions) {
    this.#options = options
    this.#filter = options.filter
  }

  /** Follows a further connection. */
  link(facts: { readonly server: string; readonly conn: () => number }): LinkInterceptor {
    return new LinkInterceptor(this, facts)
  }

  /** Adds a user. Returns a function that removes it. Without the last one, everything that is held is released. */
  attach(listener: InterceptListener, { decides }: { readonly decides: boolean }): () => void {
    this.#listeners.add(listener)
    if (decides) this.#deciders.add(listener)
    this.#hasBeenAttached ||= decides
    return () => {
      this.#listeners.delete(listener)
      if (this.#deciders.delete(listener) && this.#deciders.size === 0)
        this.#releaseAll({ by: 'recorder', why: 'nobody is attached any more' })
    }
  }

  get filter(): FilterExpression {
    return this.#filter
  }

  get holdLimitMs(): number {
    return this.#options.holdLimitMs
  }

  get stats(): Readonly<Record<string, number>> {
    return {
      ...this.#counts,
      holding: this.#held.size,
      requests: this.#exchanges,
      users: this.#deciders.size,
    }
  }

  setFilter(text: string): void {
    this.#filter = parseFilter(text)
    this.#emit({ event: 'filter', filter: text })
  }

  list(): readonly HeldMessage[] {
    return [...this.#held.values()]
  }

  /** Throws if the message is not held, or not any more. */
  get(key: string): HeldMessage {
    const held = this.#held.get(key)
    if (held !== undefined) return held
    throw new ReelayError('USAGE', `no message ${JSON.stringify(key)} is held`, {
      hint: 'it was decided already, or released at the limit; "list" shows what is held',
    })
  }

  heldOf(link: LinkInterceptor, dir?: Direction): readonly HeldMessage[] {
    if (this.#held.size === 0) return NOTHING_HELD
    return this.list().filter((held) => held.link === link && (dir === undefined || held.dir === dir))
  }

  wants(subject: () => FilterSubject): boolean {
    return this.isArmed && this.#filter.matches(subject())
  }

  /** Whether messages that match the filter are held. */
  get isArmed(): boolean {
    const hasUser = this.#deciders.size > 0 || !this.#hasBeenAttached
    return !this.#isClosed && hasUser && this.#filter.text !== ''
  }

  reportPassed({ server, conn }: LinkInterceptor, dir: Direction, why: string): void {
    this.#emit({ event: 'passed', dir, server, conn: conn(), why })
  }

  hold(link: LinkInterceptor, observed: ObservedMessage, of: number | undefined): HeldMessage {
    const key = `m${++this.#counts.held}`
    const held = new HeldMessage({
      key,
      link,
      observed,
      of,
      limits: this.#options,
      emit: (event) => this.#emit(event),
    })
    this.#held.set(key, held)
    held.onSettled((action) => {
      this.#held.delete(key)
      this.#counts[action]++
    })
    held.start()
    return held
  }

  /** Follows the recording to another tape, on which requests are numbered from the beginning. */
  useTape({ path, requests }: RecordedTape): void {
    this.#exchanges = requests
    if (this.#tape !== undefined) this.#emit({ event: 'tape', tape: path })
    this.#tape = path
  }

  /**
   * The number of a further request of the client on the tape; `undefined` if it is not recorded. Its bytes are kept for a while, so
   * that it can be repeated.
   */
  nextExchange(
    link: LinkInterceptor,
    bytes: Uint8Array | undefined,
    start = 0,
    end: number = bytes?.length ?? 0,
  ): number | undefined {
    const { isRecorded } = this.#options
    if (bytes !== undefined && isRecorded?.(textIn(bytes, start, end)) === false) return undefined
    const exchange = ++this.#exchanges
    const call = (this.#recentCalls[exchange % MAX_RECENT_CALLS] ??= new RecentCall(link))
    call.exchange = exchange
    call.link = link
    call.keep(bytes, start, end)
    return exchange
  }

  get readsRequests(): boolean {
    return this.#options.isRecorded !== undefined
  }

  get isHolding(): boolean {
    return this.#held.size > 0
  }

  /** The number that the next request of the client will have, if it is recorded. */
  get nextNumber(): number {
    return this.#exchanges + 1
  }

  /** Sends a request of the client once more, under a new id. Its response is for the users only. Returns the id. */
  repeat(exchange: number, edited?: string): string {
    const call = this.#recentCalls[exchange % MAX_RECENT_CALLS]
    const recorded = call?.exchange === exchange ? call.text : undefined
    if (call === undefined || recorded === undefined)
      throw new ReelayError('USAGE', `request #${exchange} cannot be repeated`, {
        hint: `only the last ${MAX_RECENT_CALLS} requests of a recording with --intercept can be, and no long ones or batches`,
      })
    const id = `reelay-repeat-${++this.#repeats}`
    const text = checkRepeatedRequest(edited ?? recorded, id)
    this.#exchanges++ // it has a number of its own on the tape
    call.link.repeat(text, (response) => this.#emit({ event: 'repeated', id, exchange, response }))
    return id
  }

  notice(text: string): void {
    if (this.#notices.has(text)) return
    this.#notices.add(text)
    this.#options.onNotice?.(text)
  }

  /** Ends the recording: nothing is held any more. */
  close(): void {
    this.#isClosed = true
    this.#releaseAll({ by: 'recorder', why: 'the recording ended' })
  }

  #releaseAll(decider: HoldDecider): void {
    for (const held of this.list()) held.forward(decider)
  }

  #emit(event: InterceptEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

/**
 * A request that can be repeated. Later ones use the same objects, and the same memory: chunks that stay in memory until two hundred
 * requests later make every garbage collection slower.
 */
class RecentCall {
  exchange = 0
  link: LinkInterceptor
  #bytes: Buffer = Buffer.alloc(0)
  /** The length of the request; `undefined` if it is long. */
  #length: number | undefined

  constructor(link: LinkInterceptor) {
    this.link = link
  }

  get text(): string | undefined {
    return this.#length === undefined ? undefined : this.#bytes.toString('utf8', 0, this.#length)
  }

  keep(bytes: Uint8Array | undefined, start: number, end: number): void {
    const length = end - start
    this.#length = bytes === undefined || length > MAX_REPEATED_BYTES ? undefined : length
    if (bytes === undefined || this.#length === undefined) return
    if (length > this.#bytes.length)
      this.#bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(Math.max(length, MIN_KEPT_BYTES))))
    this.#bytes.set(bytes.subarray(start, end), 0)
  }
}

function textIn(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}

const MAX_RECENT_CALLS = 200
const MAX_REPEATED_BYTES = 64 * 1024
const MIN_KEPT_BYTES = 256

/** Gives a request a new id, and its progress a new token, so that nothing that follows reaches the client. */
function checkRepeatedRequest(text: string, id: string): string {
  if (classifyMessage(parseJson(text)).kind !== 'request') throw editError('it is not a request')
  const json = JSON.stringify(id)
  return replaceValue(replaceId(compactJson(text), json), ['params', '_meta', META_KEYS.progressToken], json)
}

const NOTHING_HELD: readonly HeldMessage[] = []

interface HeldMessageOptions {
  readonly key: string
  readonly link: LinkInterceptor
  readonly observed: ObservedMessage
  /** The frame in which the message arrived. */
  readonly of: number | undefined
  readonly limits: Pick<InterceptOptions, 'holdLimitMs' | 'onLimit'>
  readonly emit: InterceptListener
}

/** A message that waits for a decision. It is decided once, at the latest at its limit. */
export class HeldMessage {
  readonly key: string
  readonly link: LinkInterceptor
  readonly dir: Direction
  readonly #options: HeldMessageOptions
  readonly #heldAt = monotonicNow()
  readonly #settled: ((action: HeldAction) => void)[] = []
  readonly #firstProgress: number | undefined
  #deadline: number
  #timer: NodeJS.Timeout | undefined
  #ticks: NodeJS.Timeout | undefined
  #isSettled = false

  constructor(options: HeldMessageOptions) {
    const { key, link, observed, limits } = options
    this.#options = options
    this.key = key
    this.link = link
    this.dir = observed.dir
    this.#deadline = deadlineOf(observed, limits.holdLimitMs)
    this.#firstProgress = observed.call?.progress
  }

  get route(): MessageRoute {
    return this.#options.observed.route
  }

  /** The id of the request that this message is, or responds to. */
  get callKey(): string | undefined {
    const { call } = this.#options.observed
    return call === undefined ? undefined : idKey(call.request.id)
  }

  /** The direction of the request that this message is, or responds to. */
  get requestDir(): Direction {
    return this.#message.kind === 'response' ? opposite(this.dir) : this.dir
  }

  get facts(): HeldFacts {
    const { observed } = this.#options
    const { call } = observed
    const message = this.#message
    const named = call?.request ?? ('method' in message ? message : undefined)
    return {
      key: this.key,
      dir: this.dir,
      kind: message.kind,
      method: named?.method,
      target: requestTarget(named?.params),
      server: this.link.server,
      conn: this.link.conn(),
      exchange: call?.exchange,
      text: observed.text,
      heldMs: Math.round(monotonicNow() - this.#heldAt),
      leftMs: Math.max(0, Math.round(this.#deadline - monotonicNow())),
      hasProgress: this.#progressCall !== undefined,
    }
  }

  onSettled(listener: (action: HeldAction) => void): void {
    this.#settled.push(listener)
  }

  /** Starts the limit and the progress, and tells the users. */
  start(): void {
    this.#startTimer()
    const { holdLimitMs } = this.#options.limits
    const every = Math.min(MAX_TICK_MS, holdLimitMs / TICKS_PER_LIMIT)
    this.#ticks = setInterval(() => this.#tick(), every)
    this.#options.emit({ event: 'held', message: this.facts })
  }

  /** Delivers the message as it arrived. */
  forward(decider: HoldDecider): void {
    this.#settle('forward', decider, () => this.#deliver(this.#options.observed.text))
  }

  /** Delivers another message in its place. Throws if that is not a message of the same kind with the same id. */
  edit(text: string, decider: HoldDecider): void {
    const edited = checkEditedMessage(this.#message, text)
    const isSame = edited === compactJson(this.#options.observed.text)
    if (isSame) return this.forward(decider)
    this.#settle('edit', decider, () => this.#deliver(edited))
  }

  drop(decider: HoldDecider): void {
    this.#settle('drop', decider, () => this.#options.observed.route.drop())
  }

  /** Answers a request in place of its receiver. Throws for other messages. */
  answer(payload: ResponsePayload, decider: HoldDecider): void {
    this.#settle('answer', decider, () => this.#answer(payload))
  }

  /** Gives the user more time. */
  extend(ms: number): void {
    const { call } = this.#options.observed
    if (call !== undefined) call.extendedMs = (call.extendedMs ?? 0) + ms
    this.#deadline += ms
    this.#startTimer()
    this.#options.emit({ event: 'extended', key: this.key, leftMs: this.facts.leftMs })
  }

  get #message(): Message {
    return this.#options.observed.message
  }

  /** The call of the client that waits, if it wants progress. */
  get #progressCall(): OpenCall | undefined {
    const { call, route } = this.#options.observed
    const wants =
      call?.progressToken !== undefined && this.requestDir === 'c2s' && route.progress !== undefined
    return wants ? call : undefined
  }

  #settle(action: HeldAction, { by, why }: HoldDecider, work: () => void): void {
    if (this.#isSettled) return
    if (action === 'answer' && this.#message.kind !== 'request')
      throw new ReelayError('USAGE', `only a request can be answered, and this is a ${this.#message.kind}`, {
        hint: 'edit it, forward it or drop it',
      })
    if (action === 'answer' && this.route.answer === undefined)
      throw new ReelayError('USAGE', 'this request cannot be answered in place of the client', {
        hint: 'edit it, forward it or drop it',
      })
    this.#isSettled = true
    clearTimeout(this.#timer)
    clearInterval(this.#ticks)
    const ms = Math.round(monotonicNow() - this.#heldAt)
    const { observed, of, emit } = this.#options
    if (observed.call !== undefined) observed.call.heldMs = ms
    const reason = { by, ...(why !== undefined && { why }) }
    observed.route.event('intercept', { action, dir: this.dir, of, ms, ...reason })
    work()
    for (const listener of this.#settled) listener(action)
    emit({ event: 'settled', key: this.key, action, ms, ...reason })
  }

  #deliver(text: string): void {
    const { observed, of } = this.#options
    const original = text === observed.text ? {} : { original: observed.text }
    // A message whose arrival was left out of the tape is left out altogether.
    if (of !== undefined)
      observed.route.record(this.dir, text, { side: receiverOf(this.dir), of, ...original })
    observed.route.deliver(text)
  }

  #answer(payload: ResponsePayload): void {
    const { observed } = this.#options
    if (this.#message.kind !== 'request') return
    const text = responseText(idToJson(this.#message.id), payload)
    observed.route.record(opposite(this.dir), text, { side: this.dir === 'c2s' ? 'client' : 'server' })
    observed.route.answer?.(text)
  }

  /** At the limit, a request fails or goes on its way. A response fails by being replaced. */
  #onLimit(): void {
    const decider = {
      by: 'recorder',
      why: `nobody decided within ${formatSeconds(this.#options.limits.holdLimitMs)}`,
    }
    const { kind } = this.#message
    if (
      this.#options.limits.onLimit === 'forward' ||
      kind === 'notification' ||
      kind === 'batch' ||
      kind === 'invalid' ||
      (kind === 'request' && this.route.answer === undefined)
    )
      return this.forward(decider)
    const error = {
      code: HELD_TOO_LONG,
      message: `reelay: the message was held by --intercept, and ${decider.why}`,
      data: { by: 'reelay' },
    }
    this.#settle('error', decider, () => {
      if (kind === 'request') this.#answer({ error })
      else if ('id' in this.#message && this.#message.id !== null)
        this.#deliver(responseText(idToJson(this.#message.id), { error }))
    })
  }

  #startTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#onLimit(), Math.max(0, this.#deadline - monotonicNow()))
  }

  /** Tells a waiting client that its call is alive. Progress has to grow, and the server may have reported some. */
  #tick(): void {
    const { route } = this.#options.observed
    const left = Math.ceil((this.#deadline - monotonicNow()) / 1000)
    const note = `held by reelay record --intercept, ${left} s left`
    const call = this.#progressCall
    if (call === undefined) return route.keepAlive?.(note)
    if (call.progress === this.#firstProgress)
      route.event('intercept', { action: 'progress', of: this.#options.of })
    call.progress += SMALL_STEP
    const params = { progressToken: call.progressToken, progress: call.progress, message: note }
    route.progress?.(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
  }
}

/** Most clients wait 60 s. Progress at a tenth of the limit, and every 5 s at most, is in time for shorter ones too. */
const MAX_TICK_MS = 5_000
const TICKS_PER_LIMIT = 10
/** Leaves room for the progress that the server will report itself. A power of two, so that sums are exact. */
const SMALL_STEP = 2 ** -20
/** Outside of the ranges that JSON-RPC and MCP reserve. */
const HELD_TOO_LONG = -39_408

/**
 * The patience of a client begins with its request, so a response has what is left of it. That can be nothing, if its request was
 * held. If a server takes longer than the limit, its client waits longer than most.
 */
function deadlineOf({ message, call, arrivedAt }: ObservedMessage, limit: number): number {
  if (message.kind !== 'response' || call === undefined) return arrivedAt + limit
  const deadline = call.arrivedAt + limit + (call.extendedMs ?? 0)
  if (deadline > arrivedAt) return deadline
  return call.heldMs === undefined ? arrivedAt + limit : arrivedAt
}

function formatSeconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`
}

function opposite(dir: Direction): Direction {
  return dir === 'c2s' ? 's2c' : 'c2s'
}

/** Returns the message on one line. Numbers and escapes keep their spelling. */
function checkEditedMessage(held: Message, text: string): string {
  const value = parseJson(text)
  if (value === undefined) throw editError('it is not JSON')
  const edited = classifyMessage(value)
  if (edited.kind === 'invalid') throw editError(`it is not a JSON-RPC message: ${edited.why}`)
  if (edited.kind !== held.kind)
    throw editError(`it is a ${edited.kind}, and the held message is a ${held.kind}`)
  if (canonicalJson(idsOf(edited)) !== canonicalJson(idsOf(held)))
    throw editError('its id is another one, so that the response could not be matched')
  return compactJson(text)
}

function idsOf(message: Message): unknown {
  if (message.kind === 'batch') return message.items.map(idsOf)
  return 'id' in message ? message.id : null
}

function editError(why: string): ReelayError {
  return new ReelayError('USAGE', `the edited message cannot be sent: ${why}`, {
    hint: 'keep jsonrpc, the id and the kind of the message; everything else may change',
  })
}
