import type { RequestContent } from '../../match/request-key.ts'
import type { Miss } from '../../match/miss/miss.ts'
import { isId, type Id } from '../../protocol/id.ts'
import { itemRanges } from '../../json/find.ts'
import {
  member,
  type Batch,
  type InvalidMessage,
  type Message,
  type Notification,
} from '../../protocol/message.ts'
import { DriftLog } from '../account.ts'
import { RequestHandler, type ReplyRoute } from '../answering.ts'
import { SystemClock } from './clock.ts'
import type { Drift } from '../drift.ts'
import type { UpstreamServer } from '../upstream/upstream.ts'
import { SessionFaults } from '../faults/session-faults.ts'
import type { LinkFaultActions } from '../faults/fault.ts'
import { MessageParser } from './message-parser.ts'
import { toLiveMessage } from '../live.ts'
import { singleReplyChannel, type ReplyChannel } from './reply-channel.ts'
import { responseText, type RpcError } from './synthetic-answers.ts'
import { Playback, type TriggeredTurn } from './playback.ts'
import type { PlayOptions } from '../play-options.ts'
import { DEFAULT_SEED } from '../../seeded-random.ts'
import { collectBatchReply, type SendReply } from '../reply.ts'
import type { RecordedServer } from './recorded-server.ts'

export interface SessionPlayerOptions extends PlayOptions {
  /** The part to play, of which nothing is played yet. */
  readonly script: RecordedServer
  readonly send: (text: string) => void
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
  /** Told at once of what the live server is to answer. */
  readonly onLive?: (asked: RequestContent) => void
  /** Calls back once the client had a chance to read what was sent; without it, at once. */
  readonly later?: (resume: () => void) => void
  /** What the link can do to its client, when a fault asks for it. */
  readonly link?: LinkFaultActions
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
    const { script, send, faults = [], seed = DEFAULT_SEED, link = {}, overrides = [], elsewhere } = options
    this.#options = options
    this.#mainChannel = singleReplyChannel(send)
    this.#log = new DriftLog({ ...options, shown: script.redaction ?? script.screen })
    this.#faults = new SessionFaults({ rules: faults, seed, link })
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

const NOT_JSON: RpcError = { code: -32700, message: 'Parse error: not JSON' }

function invalidRequest(message: Batch | InvalidMessage): RpcError {
  const why = message.kind === 'invalid' ? message.why : 'a batch inside a batch'
  return { code: -32600, message: `Invalid request: ${why}` }
}

function ignore(): void {}
