import type { Fault, FaultActions, InjectedHttpResponse } from '../../faults/fault.ts'
import { requireSupportedFaults, type FaultRule, SessionFaults } from '../../faults/fault-rules.ts'
import { sendOnWire, type WirePlan, type WirePort } from '../../faults/wire.ts'
import { parseJson } from '../../json/parse.ts'
import {
  calledTool,
  cancelledId,
  classifyMessage,
  idKey,
  idToJson,
  type Direction,
  type Request,
} from '../../protocol/message.ts'
import { seededRandom } from '../../seeded-random.ts'
import { GlancedBytes } from './message-glance.ts'
import {
  receiverOf,
  senderOf,
  type InterceptedLink,
  type MessageInterceptor,
  type MessageRoute,
  type PassingMessage,
  type UnseenMessage,
} from './link-interceptor.ts'

interface FaultInjectorOptions {
  readonly rules: readonly FaultRule[]
  readonly seed: number
  readonly transport: 'stdio' | 'http'
  /** Called for each fault that is applied, with a sentence about it. */
  readonly onFault?: ((text: string) => void) | undefined
}

/**
 * Applies fault rules to the messages of a recording. The rules count the requests of all connections together, because over HTTP
 * a client without a session opens one for each request. Everything that no fault applies to is forwarded unchanged.
 */
export class FaultInjector implements MessageInterceptor {
  readonly faults: SessionFaults
  readonly random: () => number
  readonly #onFault: (text: string) => void
  #links = 0

  constructor({ rules, seed, transport, onFault = () => {} }: FaultInjectorOptions) {
    requireSupportedFaults(rules, SUPPORTED[transport], () => UNSUPPORTED_HINT)
    this.faults = new SessionFaults(rules, seed)
    this.random = seededRandom(seed)
    this.#onFault = onFault
  }

  link(): InterceptedLink {
    return new FaultyLink(this, `${++this.#links} `)
  }

  faultFor(request: Request, from: 'client' | 'server'): Fault | undefined {
    const fault = this.faults.faultFor(request, from)
    // Arguments may be secret, so only the name is printed.
    if (fault !== undefined) this.#onFault(`${calledTool(request) ?? request.method} ${fault.description}`)
    return fault
  }
}

const act = (): void => {}
const SUPPORTED: Readonly<Record<'stdio' | 'http', FaultActions>> = {
  stdio: { send: act, disconnect: act, wire: act },
  http: { send: act, disconnect: act, wire: act, drop: act, http: act },
}
const UNSUPPORTED_HINT = 'this fault needs a server over HTTP: use --url, or remove the fault'

/** One connection. A request that a fault applies to is taken over, and its response too. */
class FaultyLink implements InterceptedLink {
  readonly defersHeads = true
  repeatRoute: InterceptedLink['repeatRoute']
  readonly #injector: FaultInjector
  readonly #scope: string
  readonly #calls = new Map<string, FaultyCall>()
  /** What waits on its way to the receiver of a request, and what is being written to the client. */
  readonly #clocks = { c2s: new LinkClock(), s2c: new LinkClock() }

  constructor(injector: FaultInjector, scope: string) {
    this.#injector = injector
    this.#scope = scope
  }

  /** What the server sends is looked at only while a fault waits for it, and requests only if a rule may select them. */
  passes(message: Buffer, dir: Direction): boolean {
    if (this.#calls.size > 0) return false
    const { faults } = this.#injector
    if (dir === 's2c') return !faults.selectsServerRequests
    const glanced = new GlancedBytes(message, false)
    return !faults.mayApply((text) => glanced.mayContain(text))
  }

  passesBeginning(chunk: Buffer, _start: number, dir: Direction): boolean {
    return dir === 's2c' && this.passes(chunk, dir)
  }

  beginLines(): void {}

  nextLine(lines: Buffer, at: number, dir: Direction): number {
    return this.passes(lines, dir) ? lines.length : at
  }

  passUnseen({ dir, why, event }: UnseenMessage): void {
    if (dir === 'c2s') event('fault', { kind: 'none', effect: `cannot be damaged: ${why}` })
  }

  countRequests(): void {}

  countLongLine(): void {}

  takes(passing: PassingMessage): boolean {
    const { dir, bytes, route } = passing
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
    const message = classifyMessage(parseJson(text))
    const cancelled = cancelledId(message)
    if (cancelled !== undefined) this.#injector.faults.cancel(this.#key(dir, idKey(cancelled)))
    if (message.kind === 'response' && message.id !== null) {
      const key = this.#key(dir === 's2c' ? 'c2s' : 's2c', idKey(message.id))
      const call = this.#calls.get(key)
      this.#calls.delete(key)
      if (call?.isPlayed !== true) return false
      call.answered(text, route)
      return true
    }
    if (message.kind !== 'request') return false
    const fault = this.#injector.faultFor(message, dir === 'c2s' ? 'client' : 'server')
    if (fault === undefined) return false
    this.#apply(fault, message, text, passing)
    return true
  }

  isHolding(dir: Direction): boolean {
    return this.#clocks[dir].isWaiting
  }

  end(dir: Direction): void {
    this.#clocks[dir].stop()
  }

  /** The client has closed the stream of a request, which means the same as cancelling it. */
  abandon(route: MessageRoute): void {
    for (const [key, call] of this.#calls) {
      if (call.route !== route) continue
      this.#calls.delete(key)
      this.#injector.faults.cancel(key)
    }
  }

  #key(dir: Direction, id: string): string {
    return `${this.#scope}${dir} ${id}`
  }

  #apply(fault: Fault, request: Request, text: string, { dir, route }: PassingMessage): void {
    const of = route.record(dir, text, { side: senderOf(dir) })
    route.event('fault', { kind: fault.kind, effect: fault.description, ...(of !== undefined && { of }) })
    const key = this.#key(dir, idKey(request.id))
    const { faults, random } = this.#injector
    const call = new FaultyCall({ fault, text, dir, route, of, clock: this.#clocks.s2c, random })
    this.#calls.set(key, call)
    faults.apply(fault, key, {
      id: idToJson(request.id),
      request,
      clock: this.#clocks.c2s,
      play: (reply) => call.play(reply),
      reply: (response) => call.reply(response),
      connection: dir === 'c2s' ? call.actions : {},
    })
  }
}

interface FaultyCallOptions {
  readonly fault: Fault
  /** The request. */
  readonly text: string
  readonly dir: Direction
  readonly route: MessageRoute
  /** The frame in which it arrived. */
  readonly of: number | undefined
  readonly clock: LinkClock
  readonly random: () => number
}

/** A request that a fault applies to. */
class FaultyCall {
  readonly #options: FaultyCallOptions
  #onResponse: ((text: string | undefined) => void) | undefined
  #response:
    | { readonly text: string; readonly route: MessageRoute; readonly of: number | undefined }
    | undefined
  /** What is sent to the requester in this tick, in order. */
  readonly #outbox: { readonly text: string; readonly isReply: boolean }[] = []
  #plan: WirePlan | undefined

  constructor(options: FaultyCallOptions) {
    this.#options = options
  }

  get route(): MessageRoute {
    return this.#options.route
  }

  /** Whether the request was delivered. */
  get isPlayed(): boolean {
    return this.#onResponse !== undefined
  }

  readonly actions: FaultActions = {
    send: (text) => this.#add(text, false),
    drop: () => this.route.respond && this.route.disconnect?.(), // over stdio there is no stream to drop
    disconnect: () => this.route.disconnect?.(),
    http: (response) => this.#respond(response),
    wire: (plan) => void (this.#plan = plan),
  }

  play(onResponse: (text: string | undefined) => void): void {
    const { dir, text, route, of } = this.#options
    this.#onResponse = onResponse
    route.record(dir, text, { side: receiverOf(dir), ...(of !== undefined && { of }) })
    route.deliver(text)
  }

  answered(text: string, route: MessageRoute): void {
    const dir = this.#options.dir === 'c2s' ? 's2c' : 'c2s'
    this.#response = { text, route, of: route.record(dir, text, { side: senderOf(dir) }) }
    this.#onResponse?.(text)
  }

  reply(text: string | undefined): void {
    if (text !== undefined) this.#add(text, true)
  }

  #respond(response: InjectedHttpResponse): void {
    if (response.body !== '') this.#record(response.body)
    this.route.respond?.(response)
  }

  /** Over HTTP the last message ends the response, so it has to be known before anything is sent. */
  #add(text: string, isReply: boolean): void {
    this.#outbox.push({ text, isReply })
    if (this.#outbox.length === 1) queueMicrotask(() => this.#flush())
  }

  #flush(): void {
    const messages = this.#outbox.splice(0)
    const hasReply = messages.some(({ isReply }) => isReply)
    for (const [place, { text }] of messages.entries()) {
      const isLast = hasReply && place === messages.length - 1
      if (isLast) this.#deliver(text)
      else this.#sendBefore(text)
    }
  }

  #sendBefore(text: string): void {
    this.#record(text)
    this.route.progress?.(text)
  }

  #deliver(text: string): void {
    const { clock, random, fault } = this.#options
    const plan = this.#plan
    // Of a response that does not arrive as a whole, there is no second frame.
    if (plan === undefined || !fault.hidesResponse) this.#record(text)
    const wire =
      plan && ((bytes: Uint8Array, port: WirePort) => sendOnWire(bytes, plan, port, { clock, random }))
    if (this.#response === undefined) this.route.answer?.(text, wire)
    else this.#response.route.deliver(text, wire)
  }

  #record(text: string): void {
    const { route, text: own, of } = this.#response ?? { ...this.#options, text: undefined, of: undefined }
    const dir = this.#options.dir === 'c2s' ? 's2c' : 'c2s'
    route.record(dir, text, {
      side: receiverOf(dir),
      ...(of !== undefined && { of }),
      ...(own !== undefined && own !== text && { original: own }),
    })
  }
}

/** The timers of one connection. */
class LinkClock {
  readonly #timers = new Set<NodeJS.Timeout>()

  get isWaiting(): boolean {
    return this.#timers.size > 0
  }

  after(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      action()
    }, ms)
    this.#timers.add(timer)
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }
}
