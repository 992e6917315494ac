import type { Fault, FaultActions } from '../../faults/fault.ts'
import { requireSupportedFaults, type FaultRule, SessionFaults } from '../../faults/fault-rules.ts'
import { matchesSelector } from '../../faults/request-rules.ts'
import { itemRanges } from '../../json/find-replace.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { missAsError } from '../../match/miss/report.ts'
import type { Miss } from '../../match/miss/miss.ts'
import { requestKey } from '../../match/request-key.ts'
import {
  idKey,
  isId,
  type Id,
  type Batch,
  type InvalidMessage,
  type Message,
  type Notification,
  type Request,
  INVALID_REQUEST,
  PARSE_ERROR,
  responseText,
  type ResponsePayload,
  type RpcError,
} from '../../protocol/message.ts'
import { isHandshakeMethod } from '../../protocol/revisions/index.ts'
import { member } from '../../json/parse.ts'
import { DEFAULT_SEED } from '../../seeded-random.ts'
import { turnLabel, type Turn, type ClientCall } from '../../tape/turns.ts'
import { DriftLog, type Drift } from '../drift.ts'
import { overrideResponse, patchedAnswer, type Override } from '../overrides.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import { SystemClock, type Clock, type Pace } from './clock.ts'
import { toLiveNotification, toLiveRequest, type LiveRequest } from './live-messages.ts'
import { MessageParser } from './message-parser.ts'
import { Playback, type ClientAnswerPolicy } from './playback.ts'
import type { RecordedServer, RequestMatch } from './recorded-server.ts'
import {
  batchReplyChannel,
  singleReplyChannel,
  withReply,
  type ReplyChannel,
  type ReplySource,
  type SendReply,
} from './reply-channel.ts'

/** How a tape is played. By default every request gets its recorded response immediately. */
export interface PlayOptions {
  /** Keeps the recorded times. By default nothing is delayed. */
  readonly pace?: Pace | undefined
  /** `recorded`: calls that overlapped on the tape are answered in the order in which they were answered there. */
  readonly order?: 'any' | 'recorded' | undefined
  /** How to treat an answer of the client that differs from the recorded one. */
  readonly onClientAnswer?: ClientAnswerPolicy | undefined
  readonly overrides?: readonly Override[]
  readonly faults?: readonly FaultRule[]
  /** Seed of everything random, including session ids. The same seed gives the same run. */
  readonly seed?: number | undefined
  /** The clock for every wait. The default is the system clock. */
  readonly clock?: Clock | undefined
}

export interface SessionPlayerOptions extends PlayOptions {
  /** The recorded server, with nothing played yet. */
  readonly recordedServer: RecordedServer
  readonly send: (text: string) => void
  readonly onMiss?: ((miss: Miss) => void) | undefined
  readonly onNote?: ((note: string) => void) | undefined
  /** Called immediately for each request that is forwarded to the upstream server. */
  readonly onLive?: ((request: ClientCall) => void) | undefined
  /** Calls back when the client has had time to read what was sent. By default it calls back immediately. */
  readonly afterClientReads?: (resume: () => void) => void
  /** What the transport can do to its client when a fault asks for it. */
  readonly faultActions?: (channel: ReplyChannel) => FaultActions
  /** Called for each request that is answered from the tape, except when its last response is repeated. */
  readonly onPlayed?: ((turn: Turn) => void) | undefined
  /** Answers requests that the tape cannot answer. */
  readonly upstream?: UpstreamServer | undefined
  /** True if server requests with this method get the recorded answer and are not sent to the client. */
  readonly isAnsweredByTape?: (method: string) => boolean
}

/** The options of a player except those that depend on its transport. */
export type SessionPlayerSetup = Omit<SessionPlayerOptions, 'send' | 'afterClientReads'>

/** Plays the recorded server to one live client. It does no I/O: messages come in by `handle` and leave by a channel. */
export class SessionPlayer {
  readonly #options: SessionPlayerOptions
  readonly #playback: Playback
  readonly #parser = new MessageParser()
  readonly #log: DriftLog
  /** The latest rules come first. */
  #faults: readonly SessionFaults[] = []
  #overrides: readonly Override[]
  readonly #clock: Clock
  readonly #mainChannel: ReplyChannel
  /** Turns whose response a fault has hidden. The next equal request gets them. */
  readonly #hiddenTurns = new Map<string, Turn[]>()

  constructor(options: SessionPlayerOptions) {
    const { recordedServer, send, faults = [], seed = DEFAULT_SEED, clock = new SystemClock() } = options
    this.#options = options
    this.#clock = clock
    this.#mainChannel = singleReplyChannel(send)
    this.#log = new DriftLog({ ...options, redactor: recordedServer.redaction ?? recordedServer.redactor })
    this.#overrides = options.overrides ?? []
    this.#injectFaults(faults, seed)
    this.#playback = new Playback({
      recordedServer,
      clock,
      pace: options.pace,
      note: this.#log.note,
      afterClientReads: options.afterClientReads ?? ((resume) => resume()),
      keepsAnswerOrder: options.order === 'recorded',
      answerPolicy: options.onClientAnswer ?? 'note',
      isAnsweredByTape: options.isAnsweredByTape ?? (() => false),
    })
  }

  /** Sends what the recorded server sent before the first message of the client. */
  start(): void {
    for (const turn of this.#options.recordedServer.openingTurns())
      this.#playback.play({ turn, live: undefined, channel: this.#mainChannel })
  }

  /** Faults for requests from now on. They come before the earlier ones. */
  injectFaults(faults: readonly FaultRule[]): void {
    this.#injectFaults(faults, this.#options.seed ?? DEFAULT_SEED)
  }

  #injectFaults(faults: readonly FaultRule[], seed: number): void {
    requireSupportedFaults(faults, this.#faultActions(this.#mainChannel), unsupportedFaultHint)
    if (faults.length > 0) this.#faults = [new SessionFaults(faults, seed), ...this.#faults]
  }

  /** Overrides responses from now on. They come before the earlier ones. */
  override(overrides: readonly Override[]): void {
    this.#overrides = [...overrides, ...this.#overrides]
  }

  /** Handles one JSON text of the client: a message or a batch. */
  handleText(text: string): void {
    const message = this.#parser.parse(text)
    if (message === undefined) return this.rejectInvalid(NOT_JSON)
    this.handle(text, message)
  }

  /** Handles a parsed message. Everything that it causes leaves by `channel`. */
  handle(text: string, message: Message, channel: ReplyChannel = this.#mainChannel): void {
    if (message.kind === 'batch') this.#handleBatch(text, message, channel)
    else this.#handleOne(text, message, channel)
  }

  /** The client no longer waits for the response to a request of this channel. */
  cancel(id: Id, channel: ReplyChannel): void {
    this.#playback.cancel(id, channel)
    for (const faults of this.#faults) faults.cancel(channel.scope + idKey(id))
    this.#options.upstream?.cancel(id, channel)
  }

  /** Responds to a text that is not a valid message. */
  rejectInvalid(error: RpcError, reply: SendReply = this.#mainChannel.reply): void {
    this.#log.note(`the client sent an invalid message: ${error.message}`)
    reply(responseText('null', { error }), { error })
  }

  /** Reports how this session differs from the tape so far. */
  drift(): Drift {
    const { answered, misses, notes, wentLive } = this.#log
    const faults = this.#faults.flatMap((each) => each.applied())
    return {
      answered,
      leftOver: this.#options.recordedServer.leftOver(),
      misses: [...misses],
      notes: [...notes, ...this.#playback.missingClientActions()],
      ...(faults.length > 0 && { faults: [...faults] }),
      ...(wentLive.length > 0 && { wentLive: [...wentLive] }),
      ...this.#log.unlisted(),
    }
  }

  #handleBatch(text: string, { items }: Batch, channel: ReplyChannel): void {
    const ranges = itemRanges(text)
    const requests = items.filter(({ kind }) => kind === 'request' || kind === 'invalid').length
    const batchChannel = batchReplyChannel(channel, requests)
    for (const [index, item] of items.entries())
      this.#handleOne(text.slice(ranges[index]?.start, ranges[index]?.end), item, batchChannel)
  }

  #handleOne(text: string, message: Message, channel: ReplyChannel): void {
    if (this.#options.upstream?.observe(text, message) === true) return
    switch (message.kind) {
      case 'request':
        return this.#handleRequest(toLiveRequest(text, message), channel)
      case 'notification':
        return this.#handleNotification(text, message, channel)
      case 'response':
        return this.#handleResponse(message)
      case 'batch':
      case 'invalid':
        return this.rejectInvalid(invalidRequest(message), channel.reply)
    }
  }

  /** An override comes first, then a fault, then the tape, then the upstream server. */
  #handleRequest(live: LiveRequest, channel: ReplyChannel): void {
    const { upstream } = this.#options
    if (upstream?.isAlone) return upstream.forward(live, channel)
    const override = this.#overrides.find((each) => matchesSelector(each, live.message))
    if (override !== undefined) return this.#applyOverride(override, live, channel)
    const [injected] = this.#faults.flatMap((faults) => {
      const fault = faults.faultFor(live.message)
      return fault === undefined ? [] : [{ faults, fault }]
    })
    const match = this.#findMatch(live.message)
    if (injected === undefined) this.#playMatch(match, live, channel)
    else this.#applyFault(injected, match, live, channel)
  }

  #handleNotification(text: string, notification: Notification, channel: ReplyChannel): void {
    const { method, params } = notification
    const id = member(params, 'requestId')
    if (method === 'notifications/cancelled' && isId(id)) this.cancel(id, channel)
    const turn = this.#options.recordedServer.takeNotificationTurn(notification)
    if (turn === undefined) {
      if (!isHandshakeMethod(method)) this.#log.note(`the client sent ${method}, which is not on the tape`)
      return
    }
    this.#playback.play({
      turn,
      live: toLiveNotification(text, notification),
      channel: withReply(channel, ignore),
    })
  }

  #handleResponse(response: Message & { readonly kind: 'response' }): void {
    const failed = this.#playback.receiveAnswer(response)
    if (failed === undefined) return
    const { player, why } = failed
    if (player.live?.message.kind !== 'request') return this.#log.note(why)
    const miss = this.#options.recordedServer.answerDriftMiss(player.live.message, why)
    this.#sendMiss(miss, player.live.id, player.channel)
  }

  #findMatch(request: Request): RequestMatch {
    const hidden =
      this.#hiddenTurns.size === 0 ? undefined : this.#hiddenTurns.get(contentKey(request))?.shift()
    if (hidden !== undefined) return { kind: 'turn', turn: hidden, repeated: false }
    return this.#options.recordedServer.findMatch(request)
  }

  #playMatch(match: RequestMatch, live: LiveRequest, channel: ReplyChannel): void {
    const { upstream } = this.#options
    if (match.kind === 'synthetic' && match.isAssumed === true && upstream !== undefined)
      return this.#askUpstream(upstream, match.request, live, channel)
    if (match.kind === 'synthetic') {
      if (match.note !== undefined) this.#log.noteOnce(match.note)
      this.#playback.noteSubscription(live.message)
      return sendResponse(live.id, match.answer, channel)
    }
    if (match.kind === 'miss') return this.#handleMiss(match.miss, live, channel)
    const { turn, loose, repeated } = match
    this.#log.answered++
    if (loose !== undefined)
      this.#log.note(
        `answered loosely, by ${loose}: ${describeRequest(live.message)}, with ${turnLabel(turn)}`,
      )
    if (repeated)
      this.#log.noteOnce(`answered again with its last recorded response: ${describeRequest(live.message)}`)
    else this.#options.onPlayed?.(turn)
    this.#playback.play({ turn, live, channel })
  }

  #handleMiss(miss: Miss, live: LiveRequest, channel: ReplyChannel): void {
    const { upstream } = this.#options
    if (upstream === undefined) return this.#sendMiss(miss, live.id, channel)
    this.#askUpstream(upstream, miss.request, live, channel)
  }

  #askUpstream(
    upstream: UpstreamServer,
    request: ClientCall,
    live: LiveRequest,
    channel: ReplyChannel,
  ): void {
    this.#log.addUpstreamRequest(request)
    upstream.forward(live, channel)
  }

  #sendMiss(miss: Miss, id: string, channel: ReplyChannel): void {
    this.#log.addMiss(miss)
    sendResponse(id, { error: missAsError(miss) }, channel)
  }

  /** The recorded turn counts as used, because the client did send the request. */
  #applyOverride(override: Override, live: LiveRequest, channel: ReplyChannel): void {
    const match = this.#findMatch(live.message)
    const response = overrideResponse(override, live.message)
    if (response !== undefined) {
      this.#log.answered++
      return sendResponse(live.id, response, channel)
    }
    const patched = withReply(channel, (text, source) =>
      channel.reply(text === undefined ? undefined : patchedAnswer(override, text, live.id), source),
    )
    this.#playMatch(match, live, patched)
  }

  #applyFault(
    { faults, fault }: { readonly faults: SessionFaults; readonly fault: Fault },
    match: RequestMatch,
    live: LiveRequest,
    channel: ReplyChannel,
  ): void {
    const { id, message: request } = live
    if (fault.hidesResponse && match.kind === 'turn') {
      const key = contentKey(request)
      this.#hiddenTurns.set(key, [...(this.#hiddenTurns.get(key) ?? []), match.turn])
    }
    faults.apply<ReplySource>(fault, channel.scope + idKey(request.id), {
      id,
      request,
      clock: this.#clock,
      reply: channel.reply,
      play: (reply) => this.#playMatch(match, live, withReply(channel, reply)),
      connection: this.#faultActions(channel),
    })
  }

  #faultActions(channel: ReplyChannel): FaultActions {
    return { send: channel.send, ...this.#options.faultActions?.(channel) }
  }
}

function unsupportedFaultHint({ needs }: Fault): string {
  if (needs === 'wire') return 'serve the tape over stdio, or put reelay chaos in front of the served tape'
  return 'serve the tape over HTTP, or remove the fault'
}

const NOT_JSON: RpcError = { code: PARSE_ERROR, message: 'Parse error: not JSON' }

function invalidRequest(message: Batch | InvalidMessage): RpcError {
  const why = message.kind === 'invalid' ? message.why : 'a batch inside a batch'
  return { code: INVALID_REQUEST, message: `Invalid request: ${why}` }
}

function sendResponse(id: string, payload: ResponsePayload, { reply }: ReplyChannel): void {
  reply(responseText(id, payload), payload)
}

function contentKey({ method, params }: Request): string {
  return requestKey({ server: '', method, params })
}

function ignore(): void {}
