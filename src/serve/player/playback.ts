import { replaceValue } from '../../json/splice.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { type Id, idKey } from '../../protocol/id.ts'
import type { Request, Response } from '../../protocol/message.ts'
import { ClientSubscriptions } from './client-subscriptions.ts'
import type { Clock } from './clock.ts'
import type { Pace } from './pace.ts'
import type { RecordedServer } from './recorded-server.ts'
import type { ReplyChannel, SendReply } from './reply-channel.ts'
import { LiveIds, type LiveMessage, liveNotification, liveResponse, downgradedVersion } from './rewrite.ts'
import { ServerRequests, type ClientAnswerPolicy } from './server-requests.ts'
import { AnswerOrder, RecordedCancellations, SubscriptionOrder } from './turn-order.ts'
import { TurnPlayer, type ServerRequestStep, type TurnContext } from './turn-player.ts'
import type { RecordedMessage, Turn } from '../../tape/turn.ts'

interface PlaybackOptions {
  readonly script: RecordedServer
  readonly note: (note: string) => void
  readonly later: (resume: () => void) => void
  readonly clock: Clock
  readonly pace: Pace | undefined
  readonly keepsOrder: boolean
  readonly answerPolicy: ClientAnswerPolicy
  /** What a request is answered when the turn cannot go on as recorded. */
  readonly refuse: (part: TriggeredTurn, why: string) => void
  /** Whether what the server asks by this method is answered as recorded, and not sent. */
  readonly isAnsweredByTape: (method: string) => boolean
}

/** A turn and the live message that set it off, if any did. */
export interface TriggeredTurn {
  readonly turn: Turn
  readonly live: LiveMessage | undefined
  readonly reply: SendReply
  readonly outlet: ReplyChannel
}

/** The turns that are being played on one link, and what they share: names, open questions, what has happened so far. */
export class Playback {
  readonly #options: PlaybackOptions
  readonly #liveIds = new LiveIds()
  readonly #serverRequests: ServerRequests
  readonly #subscriptionOrder: SubscriptionOrder
  readonly #answerOrder: AnswerOrder | undefined
  readonly #cancellations: RecordedCancellations
  readonly #subscriptions: ClientSubscriptions
  readonly #inFlight = new InFlightTurns()
  /** Those that something else of this run may set going again. */
  readonly #waiting = new Set<TurnPlayer>()

  constructor(options: PlaybackOptions) {
    const { script, clock, note, answerPolicy, keepsOrder } = options
    this.#options = options
    this.#serverRequests = new ServerRequests(note, answerPolicy)
    this.#subscriptionOrder = new SubscriptionOrder(script.turns)
    this.#cancellations = new RecordedCancellations(script.turnsOfMethod('notifications/cancelled'))
    this.#subscriptions = new ClientSubscriptions(script.turnsOfMethod('resources/subscribe'))
    const onGiveUp = (turn: Turn, first: Turn): void => this.#giveUpOrder(turn, first)
    if (keepsOrder) this.#answerOrder = new AnswerOrder({ turns: script.turns, clock, onGiveUp })
  }

  play(part: TriggeredTurn): void {
    const playing = new TurnPlayer(
      part.turn,
      this.#contextFor(part),
      this.#cancellations.ignoredCancellationOf(part.turn),
    )
    this.#register(playing, part)
    this.#subscriptionOrder.markStarted(part.turn)
    this.#resumeWaiting()
    playing.advance()
  }

  /** Nothing more is sent for a request that the client no longer wants, unless the recorded server went on too. */
  cancel(id: Id, outlet: ReplyChannel): void {
    const entry = this.#inFlight.get(id, outlet)
    if (entry === undefined) return
    const { playing, part } = entry
    const cancel = this.#cancellations.ignoredCancellationOf(part.turn)
    if (cancel !== undefined) {
      playing.receivedFromClient(cancel)
      return playing.advance()
    }
    playing.stop()
    this.#unregister(part, playing)
    if (part.turn.response !== undefined) part.reply(undefined)
  }

  /** A request of the client may say what it wants to hear. */
  noteSubscription(request: Request): void {
    this.#subscriptions.observe(request)
  }

  receiveAnswer(response: Response): void {
    this.#serverRequests.receiveAnswer(response)
  }

  /** What the client never did, though it did on the tape, and the play waits for. */
  missingClientActions(): readonly string[] {
    const asks = this.#serverRequests.unanswered().map((ask) => `the client never answered ${ask}`)
    const late = this.#inFlight.all().flatMap(({ playing, part: { turn, live } }) => {
      const cancel = playing.remaining > 0 ? this.#cancellations.ignoredCancellationOf(turn) : undefined
      if (cancel === undefined || live === undefined) return []
      return `${describeRequest(live.message)} was cancelled on the tape (#${cancel.n}) before its answer came, and was not cancelled now`
    })
    return [...asks, ...late]
  }

  #register(playing: TurnPlayer, part: TriggeredTurn): void {
    const { turn, live, reply } = part
    if (live?.message.kind !== 'request' || turn.trigger === undefined) return
    if (!this.#inFlight.add(playing, part))
      this.#options.note(`the client used the id ${live.id} for two requests at once`)
    this.noteSubscription(live.message)
    if (turn.response === undefined) reply(undefined)
    const isSubscription = live.message.method === 'subscriptions/listen'
    if (isSubscription) this.#liveIds.setSubscription(turn.trigger, live.id)
    if (isSubscription || this.#answerOrder !== undefined) this.#waiting.add(playing)
  }

  #unregister(part: TriggeredTurn, playing: TurnPlayer): void {
    this.#waiting.delete(playing)
    this.#inFlight.remove(playing, part)
  }

  #contextFor(part: TriggeredTurn): TurnContext {
    const { later, clock, pace } = this.#options
    return {
      notify: (notification) => this.#notify(notification, part),
      sendRequest: (playing, ask) => this.#sendServerRequest(playing, part, ask),
      respond: (playing, response) => this.#respond(response, part, playing),
      isDue: (message) => this.#isDue(part.turn, message),
      later,
      clock,
      pace,
    }
  }

  #isDue(turn: Turn, message: RecordedMessage): boolean {
    if (!this.#subscriptionOrder.maySend(turn, message)) return false
    return message !== turn.response || this.#answerOrder === undefined || this.#answerOrder.mayAnswer(turn)
  }

  #notify(notification: RecordedMessage, { turn: { trigger }, live, outlet }: TriggeredTurn): boolean {
    if (!this.#subscriptions.wants(notification, trigger, live)) return false
    const text = liveNotification(notification, { trigger, live, names: this.#liveIds })
    if (text !== undefined) outlet.send(text)
    return text !== undefined
  }

  #sendServerRequest(
    playing: TurnPlayer,
    part: TriggeredTurn,
    { request, answer, answered }: ServerRequestStep,
  ): void {
    const { message } = request
    if (message.kind === 'request' && this.#options.isAnsweredByTape(message.method)) return answered()
    const refused = (why: string): void => {
      playing.stop()
      this.#unregister(part, playing)
      this.#options.refuse(part, why)
    }
    const id = JSON.stringify(this.#serverRequests.add({ request, recorded: answer, answered, refused }))
    this.#liveIds.setServerRequest(request, id)
    part.outlet.send(replaceValue(request.text, ['id'], id))
  }

  #respond(response: RecordedMessage, part: TriggeredTurn, playing: TurnPlayer): void {
    const { turn, live, reply } = part
    if (live?.message.kind !== 'request') return
    this.#unregister(part, playing)
    const version =
      live.message.method === 'initialize' ? downgradedVersion(response, turn.trigger, live) : undefined
    if (version !== undefined)
      this.#options.note(`initialize was answered in version ${version}, as asked, not in the recorded one`)
    reply(liveResponse(response, turn.trigger, live), response)
    this.#subscriptionOrder.markAnswered(turn)
    this.#options.script.markAnswered(turn)
    this.#answerOrder?.markAnswered(turn)
    this.#resumeWaiting()
  }

  #giveUpOrder({ trigger }: Turn, { trigger: first }: Turn): void {
    this.#options.note(
      `#${trigger?.n} was answered before #${first?.n}, not in the recorded order: the client did not ask for both at once`,
    )
    this.#resumeWaiting()
  }

  #resumeWaiting(): void {
    for (const playing of this.#waiting) playing.advance()
  }
}

interface InFlightTurn {
  readonly playing: TurnPlayer
  readonly part: TriggeredTurn
}

/** The live requests that are being answered, by their ids. */
class InFlightTurns {
  readonly #entries = new Map<string, InFlightTurn>()

  /** False when the id was in use already; the newer request then has it. */
  add(playing: TurnPlayer, part: TriggeredTurn): boolean {
    const key = inFlightKey(part)
    const isFree = !this.#entries.has(key)
    this.#entries.set(key, { playing, part })
    return isFree
  }

  remove(playing: TurnPlayer, part: TriggeredTurn): void {
    const key = inFlightKey(part)
    if (this.#entries.get(key)?.playing === playing) this.#entries.delete(key)
  }

  get(id: Id, { scope }: ReplyChannel): InFlightTurn | undefined {
    return this.#entries.get(scope + idKey(id))
  }

  all(): readonly InFlightTurn[] {
    return [...this.#entries.values()]
  }
}

function inFlightKey({ live, outlet }: TriggeredTurn): string {
  return live?.message.kind === 'request' ? outlet.scope + idKey(live.message.id) : ''
}
