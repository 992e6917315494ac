import { replaceValue } from '../../json/find-replace.ts'
import { formatPath } from '../../json/path.ts'
import { describeRequest, describeValue } from '../../match/describe-request.ts'
import { diffFields, type FieldDifference } from '../../match/field-diff.ts'
import { type Id, idKey, type Request, type Response } from '../../protocol/message.ts'
import type { Clock, Pace } from './clock.ts'
import {
  ClientSubscriptions,
  downgradedVersion,
  LiveIds,
  liveNotification,
  liveResponse,
} from './live-messages.ts'
import type { RecordedServer } from './recorded-server.ts'
import type { ReplyChannel } from './reply-channel.ts'
import { TurnOrder } from './turn-order.ts'
import { type TriggeredTurn, type TurnContext, TurnPlayer } from './turn-player.ts'
import { turnLabel, type RecordedMessage, type Turn } from '../../tape/turns.ts'

interface PlaybackOptions {
  readonly recordedServer: RecordedServer
  readonly note: (note: string) => void
  readonly afterClientReads: (resume: () => void) => void
  readonly clock: Clock
  readonly pace: Pace | undefined
  readonly keepsAnswerOrder: boolean
  readonly answerPolicy: ClientAnswerPolicy
  /** True if server requests with this method get the recorded answer and are not sent to the client. */
  readonly isAnsweredByTape: (method: string) => boolean
}

/** A request of the recorded server that the live client has not answered yet. */
interface OpenServerRequest {
  readonly player: TurnPlayer
  readonly request: RecordedMessage
  /** The recorded answer. */
  readonly answer: RecordedMessage | undefined
}

/** The turns of one session that are being played. */
export class Playback {
  readonly #options: PlaybackOptions
  readonly #context: TurnContext
  readonly #liveIds = new LiveIds()
  readonly #subscriptions: ClientSubscriptions
  readonly #serverRequests = new Map<string, OpenServerRequest>()
  #serverRequestCount = 0
  /** The turns of open requests, by the scope and id of the live request. */
  readonly #open = new Map<string, TurnPlayer>()
  /** Turns that may continue when something happens in another turn. */
  readonly #waiting = new Set<TurnPlayer>()

  constructor(options: PlaybackOptions) {
    const { recordedServer, clock, pace, afterClientReads, keepsAnswerOrder } = options
    this.#options = options
    this.#subscriptions = new ClientSubscriptions(recordedServer.turnsOfMethod('resources/subscribe'))
    const order = new TurnOrder({
      turns: recordedServer.turns,
      cancellations: recordedServer.turnsOfMethod('notifications/cancelled'),
      clock,
      keepsAnswerOrder,
      onGiveUp: (turn, first) => this.#giveUpOrder(turn, first),
    })
    this.#context = { order, clock, pace, afterClientReads, resume: (player) => this.#advance(player) }
  }

  play(triggered: TriggeredTurn): void {
    const player = new TurnPlayer(triggered, this.#context)
    this.#register(player)
    this.#context.order.markStarted(player.turn)
    this.#resumeWaiting()
    this.#advance(player)
  }

  /** Stops the turn of a cancelled request, unless the recorded server answered it nevertheless. */
  cancel(id: Id, { scope }: ReplyChannel): void {
    const player = this.#open.get(scope + idKey(id))
    if (player === undefined) return
    const cancellation = this.#context.order.ignoredCancellationOf(player.turn)
    if (cancellation !== undefined) {
      player.receivedFromClient(cancellation)
      return this.#advance(player)
    }
    this.#stop(player)
    if (player.turn.response !== undefined) player.channel.reply(undefined)
  }

  /** Takes a request that may subscribe to something, and is answered without a turn. */
  noteSubscription(request: Request): void {
    this.#subscriptions.observe(request)
  }

  /**
   * Takes the live client's answer to a server request. If it differs from the recorded one and the policy is `fail`, the turn
   * ends and is returned with the reason.
   */
  receiveAnswer({ id, outcome }: Response): { player: TurnPlayer; why: string } | undefined {
    const { answerPolicy, note } = this.#options
    const key = id === null ? '' : idKey(id)
    const open = this.#serverRequests.get(key)
    if (open === undefined) {
      note(`the client answered a request that it was not sent: id ${describeValue(id)}`)
      return undefined
    }
    this.#serverRequests.delete(key)
    const { player, answer } = open
    const drift = answerPolicy === 'ignore' ? undefined : describeAnswerDrift(open, outcome)
    if (drift !== undefined && answerPolicy === 'fail') {
      this.#stop(player)
      return { player, why: drift }
    }
    if (drift !== undefined) note(drift)
    if (answer !== undefined) player.receivedFromClient(answer)
    this.#advance(player)
    return undefined
  }

  /** Describes what the client did on the tape and not in this session, although the playback waits for it. */
  missingClientActions(): readonly string[] {
    const unanswered = [...this.#serverRequests.values()]
      .filter(({ answer }) => answer !== undefined)
      .map((open) => `the client never answered ${describeServerRequest(open)}`)
    const uncancelled = [...this.#open.values()].flatMap(({ turn, live, isOver }) => {
      const cancellation = isOver ? undefined : this.#context.order.ignoredCancellationOf(turn)
      if (cancellation === undefined || live === undefined) return []
      return `${describeRequest(live.message)} was cancelled on the tape (${turnLabel(turn)}) before its response, and was not cancelled now`
    })
    return [...unanswered, ...uncancelled]
  }

  #advance(player: TurnPlayer): void {
    for (let step = player.takeStep(); step !== undefined; step = player.takeStep()) {
      if (step.kind === 'respond') this.#respond(player, step.message)
      else if (step.kind === 'notify') this.#notify(player, step.message)
      else this.#sendServerRequest(player, step.request, step.answer)
    }
  }

  #respond(player: TurnPlayer, response: RecordedMessage): void {
    const { turn, live, channel } = player
    if (live?.message.kind !== 'request') return
    this.#unregister(player)
    const isInitialize = live.message.method === 'initialize'
    const version = isInitialize ? downgradedVersion(response, turn.trigger, live) : undefined
    if (version !== undefined)
      this.#options.note(
        `initialize was answered with the requested version ${version}, not with the recorded one`,
      )
    channel.reply(liveResponse(response, turn.trigger, live), response)
    this.#context.order.markAnswered(turn)
    this.#options.recordedServer.markAnswered(turn)
    this.#resumeWaiting()
  }

  #notify(player: TurnPlayer, notification: RecordedMessage): void {
    const { turn, live, channel } = player
    if (!this.#subscriptions.wants(notification, turn.trigger, live)) return
    const text = liveNotification(notification, turn.trigger, live, this.#liveIds)
    if (text === undefined) return
    channel.send(text)
    player.markNotificationSent(notification)
  }

  #sendServerRequest(
    player: TurnPlayer,
    request: RecordedMessage,
    answer: RecordedMessage | undefined,
  ): void {
    const { message } = request
    if (answer !== undefined) player.awaitFromClient(answer)
    if (message.kind === 'request' && this.#options.isAnsweredByTape(message.method)) {
      if (answer !== undefined) player.receivedFromClient(answer)
      return
    }
    // The recorded id may be in use for another request of this session.
    const id = `reelay-${++this.#serverRequestCount}`
    this.#serverRequests.set(idKey(id), { player, request, answer })
    this.#liveIds.setServerRequest(request, JSON.stringify(id))
    player.channel.send(replaceValue(request.text, ['id'], JSON.stringify(id)))
  }

  #register(player: TurnPlayer): void {
    const { turn, live, channel } = player
    if (live?.message.kind !== 'request' || turn.trigger === undefined) return
    const key = openKey(player)
    if (this.#open.has(key))
      this.#options.note(`the client used the id ${live.id} for two requests at the same time`)
    this.#open.set(key, player)
    this.#subscriptions.observe(live.message)
    if (turn.response === undefined) channel.reply(undefined)
    if (live.message.method === 'subscriptions/listen') this.#liveIds.setSubscription(turn.trigger, live.id)
    if (this.#context.order.mayHaveToWait(turn)) this.#waiting.add(player)
  }

  #unregister(player: TurnPlayer): void {
    this.#waiting.delete(player)
    const key = openKey(player)
    if (this.#open.get(key) === player) this.#open.delete(key)
  }

  #stop(player: TurnPlayer): void {
    player.stop()
    this.#unregister(player)
  }

  #giveUpOrder(turn: Turn, first: Turn): void {
    this.#options.note(
      `${turnLabel(turn)} was answered before ${turnLabel(first)}, not in recorded order: the client did not send both requests at once`,
    )
    this.#resumeWaiting()
  }

  #resumeWaiting(): void {
    for (const player of this.#waiting) this.#advance(player)
  }
}

function openKey({ live, channel }: TurnPlayer): string {
  return live?.message.kind === 'request' ? channel.scope + idKey(live.message.id) : ''
}

/** How to treat an answer of the live client that differs from the recorded one: note it, end the turn, or ignore it. */
export type ClientAnswerPolicy = 'note' | 'fail' | 'ignore'

export const CLIENT_ANSWER_POLICIES: readonly ClientAnswerPolicy[] = ['note', 'fail', 'ignore']

/** Describes how the client's answer to a server request differs from the recorded one. */
function describeAnswerDrift(open: OpenServerRequest, outcome: Response['outcome']): string | undefined {
  const recorded = open.answer
  const answered = `the client answered ${describeServerRequest(open)}`
  if (recorded?.message.kind !== 'response') return `${answered}, which it did not do on the tape`
  const { differences } = diffFields(recorded.message.outcome, outcome, [])
  if (differences.length === 0) return undefined
  const shown = differences.slice(0, MAX_DIFFERENCES).map(describeDifference).join(', ')
  const more =
    differences.length > MAX_DIFFERENCES ? `, and ${differences.length - MAX_DIFFERENCES} more` : ''
  return `${answered} differently than on the tape: ${shown}${more}`
}

const MAX_DIFFERENCES = 3

function describeDifference(difference: FieldDifference): string {
  const recorded = 'recorded' in difference ? describeValue(difference.recorded) : 'nothing'
  const got = 'got' in difference ? describeValue(difference.got) : 'nothing'
  return `${formatPath(difference.path)} recorded ${recorded}, got ${got}`
}

function describeServerRequest({ player, request: { message } }: OpenServerRequest): string {
  return `${message.kind === 'request' ? message.method : message.kind} (${turnLabel(player.turn)})`
}
