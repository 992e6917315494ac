import type { Fault, FaultActions } from '../../faults/fault.ts'
import { requireSupportedFaults, type FaultRule } from '../../faults/fault-rules.ts'
import type { MethodCall } from '../../faults/request-selector.ts'
import { SessionFaults } from '../../faults/session-faults.ts'
import { itemRanges } from '../../json/find.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { missAsError } from '../../match/miss/error.ts'
import type { Miss } from '../../match/miss/miss.ts'
import { requestKey } from '../../match/request-key.ts'
import type { ClientCall } from '../../tape/turns.ts'
import { idKey, isId, type Id } from '../../protocol/id.ts'
import {
  member,
  type Batch,
  type InvalidMessage,
  type Message,
  type Notification,
  type Request,
} from '../../protocol/message.ts'
import { INVALID_REQUEST, PARSE_ERROR, responseText, type RpcError } from '../../protocol/response.ts'
import { DEFAULT_SEED } from '../../seeded-random.ts'
import { DriftLog, type Drift } from '../drift.ts'
import { type Override, patchedAnswer, findOverride, overrideResponse } from '../overrides.ts'
import { SystemClock, type Clock } from './clock.ts'
import { MessageParser } from './message-parser.ts'
import type { Pace } from './pace.ts'
import { Playback, type TriggeredTurn } from './playback.ts'
import type { RecordedServer, RequestMatch } from './recorded-server.ts'
import {
  singleReplyChannel,
  type ReplyChannel,
  type ReplySource,
  collectBatchReply,
  type SendReply,
} from './reply-channel.ts'
import { toLiveMessage, type LiveMessage } from './rewrite.ts'
import type { ClientAnswerPolicy } from './server-requests.ts'
import type { SyntheticAnswer } from './synthetic-answers.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import type { Turn } from '../../tape/turn.ts'

export interface SessionPlayerOptions extends PlayOptions {
  /** The part to play, of which nothing is played yet. */
  readonly script: RecordedServer
  readonly send: (text: string) => void
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
  /** Told at once of what the live server is to answer. */
  readonly onLive?: (asked: ClientCall) => void
  /** Calls back once the client had a chance to read what was sent; without it, at once. */
  readonly later?: (resume: () => void) => void
  /** What the transport can do to its client when a fault asks for it. */
  readonly faultActions?: (channel: ReplyChannel) => FaultActions
  /** Answers what the tape cannot. */
  readonly elsewhere?: UpstreamServer
  /** Whether what the server asks by this method is answered as recorded, and not sent. */
  readonly isAnsweredByTape?: (method: string) => boolean
}

/** Plays the recorded server to one live client. It does no I/O: texts come in by `receive` and leave by `send`. */
export class SessionPlayer {
  readonly #options: SessionPlayerOptions
  readonly #playback: Playback
  readonly #parser = new MessageParser()
  readonly #requests: RequestHandler
  readonly #log: DriftLog
  readonly #faults: SessionFaults
  readonly #mainChannel: ReplyChannel

  constructor(options: SessionPlayerOptions) {
    const { script, send, faults = [], seed = DEFAULT_SEED, overrides = [], elsewhere } = options
    this.#options = options
    this.#mainChannel = singleReplyChannel(send)
    this.#log = new DriftLog({ ...options, shown: script.redaction ?? script.screen })
    requireSupportedFaults(faults, this.#faultActions(this.#mainChannel), () => SERVE_OVER_HTTP)
    this.#faults = new SessionFaults(faults, seed)
    const clock = options.clock ?? new SystemClock()
    this.#playback = this.#createPlayback({ ...options, clock })
    const [performance, account, strikes] = [this.#playback, this.#log, this.#faults]
    this.#requests = new RequestHandler({
      script,
      performance,
      account,
      strikes,
      overrides,
      clock,
      elsewhere,
      faultActions: (channel) => this.#faultActions(channel),
    })
  }

  /** Says what the server said before the client spoke. */
  start(): void {
    for (const turn of this.#options.script.openingTurns())
      this.#playback.play({ turn, live: undefined, reply: ignore, outlet: this.#mainChannel })
  }

  /** Takes one JSON text of the client: a message, or a batch of them. */
  handleText(text: string): void {
    const message = this.#parser.parse(text)
    if (message === undefined) return this.rejectInvalid(NOT_JSON)
    this.handle(text, message)
  }

  /** The same for a text that was read already; what it sets off leaves by `outlet`, and else with all the rest. */
  handle(text: string, message: Message, outlet: ReplyChannel = this.#mainChannel): void {
    if (message.kind === 'batch') this.#handleBatch(text, message, outlet)
    else this.#handleOne(text, message, { outlet, reply: outlet.reply })
  }

  /** The client no longer waits for the answer to a request of that outlet. */
  abandon(id: Id, outlet: ReplyChannel): void {
    this.#requests.cancel(id, outlet)
  }

  /** Answers what cannot be read as a message. */
  rejectInvalid(error: RpcError, reply: SendReply = this.#mainChannel.reply): void {
    this.#log.note(`the client sent what is no message: ${error.message}`)
    reply(responseText('null', { error }), { error })
  }

  /** The account of the run so far. */
  drift(): Drift {
    const { answered, misses, notes, wentLive } = this.#log
    const faults = this.#faults.applied()
    return {
      answered,
      leftOver: this.#options.script.leftOver(),
      misses: [...misses],
      notes: [...notes, ...this.#playback.missingClientActions()],
      ...(faults.length > 0 && { faults: [...faults] }),
      ...(wentLive.length > 0 && { wentLive: [...wentLive] }),
    }
  }

  #faultActions(channel: ReplyChannel): FaultActions {
    return { send: channel.send, ...this.#options.faultActions?.(channel) }
  }

  #createPlayback(options: SessionPlayerOptions & Required<Pick<SessionPlayerOptions, 'clock'>>): Playback {
    const { script, clock, pace, order, onClientAnswer = 'note', later = (resume) => resume() } = options
    return new Playback({
      script,
      clock,
      pace,
      later,
      note: this.#log.note,
      keepsOrder: order === 'recorded',
      answerPolicy: onClientAnswer,
      refuse: (part, why) => this.#failTurn(part, why),
      isAnsweredByTape: options.isAnsweredByTape ?? (() => false),
    })
  }

  #handleBatch(text: string, { items }: Batch, outlet: ReplyChannel): void {
    const ranges = itemRanges(text)
    const owed = items.filter(({ kind }) => kind === 'request' || kind === 'invalid').length
    const reply = collectBatchReply(owed, outlet.reply)
    for (const [place, item] of items.entries()) {
      this.#handleOne(text.slice(ranges[place]?.start, ranges[place]?.end), item, { outlet, reply })
    }
  }

  #handleOne(text: string, message: Message, ways: ReplyRoute): void {
    if (this.#options.elsewhere?.observe(text, message) === true) return
    switch (message.kind) {
      case 'request':
        return this.#requests.handle(text, message, ways)
      case 'notification':
        return this.#handleNotification(text, message, ways.outlet)
      case 'response':
        return this.#playback.receiveAnswer(message)
      case 'batch':
      case 'invalid':
        return this.rejectInvalid(invalidRequest(message), ways.reply)
    }
  }

  #handleNotification(text: string, notification: Notification, outlet: ReplyChannel): void {
    const { method, params } = notification
    const id = member(params, 'requestId')
    if (method === 'notifications/cancelled' && isId(id)) this.#requests.cancel(id, outlet)
    const turn = this.#options.script.takeNotificationTurn(notification)
    if (turn === undefined) return this.#log.note(`the client sent ${method}, which is not on the tape`)
    this.#playback.play({ turn, live: toLiveMessage(text, notification), reply: ignore, outlet })
  }

  /** The client answered otherwise than on the tape: what the server said then is no answer to that. */
  #failTurn({ live, reply }: TriggeredTurn, why: string): void {
    if (live?.message.kind !== 'request') return this.#log.note(why)
    this.#requests.sendMiss(this.#options.script.answerDriftMiss(live.message, why), live.id, reply)
  }
}

const SERVE_OVER_HTTP = 'serve the tape over HTTP, or remove the fault'

const NOT_JSON: RpcError = { code: PARSE_ERROR, message: 'Parse error: not JSON' }

function invalidRequest(message: Batch | InvalidMessage): RpcError {
  const why = message.kind === 'invalid' ? message.why : 'a batch inside a batch'
  return { code: INVALID_REQUEST, message: `Invalid request: ${why}` }
}

function ignore(): void {}

/** How a tape is played. By default each request gets what was recorded, and gets it at once. */
export interface PlayOptions {
  /** Keeps the recorded times; without it nothing is waited for. */
  readonly pace?: Pace
  /** `recorded`: calls that overlapped on the tape are answered in the order in which they were answered there. */
  readonly order?: 'any' | 'recorded'
  /** What an answer of the client means that is not the recorded one. */
  readonly onClientAnswer?: ClientAnswerPolicy
  readonly overrides?: readonly Override[]
  readonly faults?: readonly FaultRule[]
  /** For everything that happens by chance, also the ids of sessions: the same seed, the same run. */
  readonly seed?: number
  /** The clock for every wait; by default the one on the wall. */
  readonly clock?: Clock
}

/** Whether a run gives each request its recorded answer, at once and as it stands: then there are shorter ways to do so. */
export function isPlainRun({ pace, order = 'any', overrides = [], faults = [] }: PlayOptions): boolean {
  return pace === undefined && order === 'any' && overrides.length === 0 && faults.length === 0
}

interface RequestHandlerOptions {
  readonly script: RecordedServer
  readonly performance: Playback
  readonly account: DriftLog
  readonly strikes: SessionFaults
  readonly overrides: readonly Override[]
  readonly clock: Clock
  readonly elsewhere: UpstreamServer | undefined
  readonly faultActions: (channel: ReplyChannel) => FaultActions
}

/** How what a message sets off leaves: the answer apart, because that to one of a batch waits for the others. */
export interface ReplyRoute {
  readonly outlet: ReplyChannel
  readonly reply: SendReply
}

/** A live request and its ways out. */
interface HandledRequest extends ReplyRoute {
  readonly text: string
  readonly request: Request
  readonly live: LiveMessage
}

/** Answers the requests of one connection: an override comes first, then a fault, then the tape, then whatever a miss means. */
class RequestHandler {
  readonly #options: RequestHandlerOptions
  readonly #withheld = new WithheldTurns()

  constructor(options: RequestHandlerOptions) {
    this.#options = options
  }

  handle(text: string, request: Request, ways: ReplyRoute): void {
    if (this.#options.elsewhere?.isAlone) return this.#options.elsewhere.forward(text, request, ways)
    const { outlet, reply } = ways
    const asking = { text, request, live: toLiveMessage(text, request), outlet, reply }
    const override = findOverride(this.#options.overrides, request)
    if (override !== undefined) return this.#applyOverride(override, asking)
    const fault = this.#options.strikes.faultFor(request)
    const cue = this.#findMatch(request)
    if (fault === undefined) this.#playMatch(cue, asking)
    else this.#applyFault(fault, cue, asking)
  }

  cancel(id: Id, outlet: ReplyChannel): void {
    this.#options.performance.cancel(id, outlet)
    this.#options.strikes.cancel(outlet.scope + idKey(id))
    this.#options.elsewhere?.cancel(id, outlet)
  }

  /** Tells a miss to everyone who should know. */
  sendMiss(miss: Miss, id: string, reply: SendReply): void {
    this.#options.account.addMiss(miss)
    const answer = { error: missAsError(miss) }
    reply(responseText(id, answer), answer)
  }

  #findMatch(request: Request): RequestMatch {
    const turn = this.#withheld.take(request)
    return turn === undefined
      ? this.#options.script.findMatch(request)
      : { kind: 'turn', turn, repeated: false }
  }

  /** The recorded turn is used up all the same: the client did ask for it. */
  #applyOverride(override: Override, asking: HandledRequest): void {
    const { request, live, reply } = asking
    const cue = this.#findMatch(request)
    const own = overrideResponse(override, request)
    if (own === undefined) {
      const changed: SendReply = (text, source) =>
        reply(text === undefined ? undefined : patchedAnswer(override, text, live.id), source)
      return this.#playMatch(cue, { ...asking, reply: changed })
    }
    this.#options.account.answered++
    reply(responseText(live.id, own), own)
  }

  #applyFault(fault: Fault, cue: RequestMatch, asking: HandledRequest): void {
    const { request, live, reply, outlet } = asking
    if (fault.hidesResponse && cue.kind === 'turn') this.#withheld.add(request, cue.turn)
    const play = (own: SendReply): void => this.#playMatch(cue, { ...asking, reply: own })
    const { strikes, clock, faultActions } = this.#options
    const key = outlet.scope + idKey(request.id)
    strikes.apply<ReplySource>(fault, key, {
      id: live.id,
      clock,
      reply,
      play,
      connection: faultActions(outlet),
    })
  }

  #playMatch(cue: RequestMatch, asking: HandledRequest): void {
    if (cue.kind === 'own') return this.#sendSyntheticAnswer(cue, asking)
    if (cue.kind === 'miss') return this.#handleMiss(cue.miss, asking)
    const { request, live, outlet, reply } = asking
    const { account, performance } = this.#options
    account.answered++
    if (cue.loose !== undefined)
      account.note(
        `answered loosely, by ${cue.loose}: ${describeRequest(request)}, with #${cue.turn.trigger?.n}`,
      )
    if (cue.repeated)
      account.note(`answered again with its last recorded answer: ${describeRequest(request)}`)
    performance.play({ turn: cue.turn, live, outlet, reply })
  }

  #sendSyntheticAnswer({ answer, note }: SyntheticAnswer, { request, live, reply }: HandledRequest): void {
    const { account, performance } = this.#options
    if (note !== undefined) account.noteOnce(note)
    performance.noteSubscription(request)
    reply(responseText(live.id, answer), answer)
  }

  #handleMiss(miss: Miss, { text, request, live, outlet, reply }: HandledRequest): void {
    const { account, elsewhere } = this.#options
    if (elsewhere === undefined) return this.sendMiss(miss, live.id, reply)
    account.addUpstreamRequest(miss.asked)
    elsewhere.forward(text, request, { outlet, reply })
  }
}

/** The turns whose answers a fault kept from the client: when it asks again, it gets them. */
class WithheldTurns {
  readonly #byKey = new Map<string, Turn[]>()

  add(call: MethodCall, turn: Turn): void {
    const key = withheldKey(call)
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), turn])
  }

  take(call: MethodCall): Turn | undefined {
    return this.#byKey.size === 0 ? undefined : this.#byKey.get(withheldKey(call))?.shift()
  }
}

function withheldKey({ method, params }: MethodCall): string {
  return requestKey({ server: '', method, params })
}
