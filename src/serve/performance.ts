import { briefRequest } from '../match/brief.ts'
import type { Spoken, Turn } from '../tape/turn.ts'
import type { Id } from '../wire/id.ts'
import { replaceAt } from '../wire/members.ts'
import type { Request, Response } from '../wire/message.ts'
import { AnswerOrder } from './answer-order.ts'
import { Asks, type AnswerPolicy } from './asks.ts'
import type { Clock } from './clock.ts'
import { InFlight } from './in-flight.ts'
import { LiveNames } from './live-names.ts'
import type { Live } from './live.ts'
import type { Outlet } from './outlet.ts'
import type { Pace } from './pace.ts'
import { Playing, type AskStep, type Stage } from './playing.ts'
import { RecordedCancels } from './recorded-cancels.ts'
import type { Reply } from './reply.ts'
import { liveNotification, liveResponse, liveVersion } from './rewrite.ts'
import type { Script } from './script.ts'
import { SubscriptionGate } from './subscription-gate.ts'
import { Wishes } from './wishes.ts'

export interface PerformanceOptions {
  readonly script: Script
  readonly note: (note: string) => void
  readonly later: (resume: () => void) => void
  readonly clock: Clock
  readonly pace: Pace | undefined
  readonly keepsOrder: boolean
  readonly answerPolicy: AnswerPolicy
  /** What a request is answered when the turn cannot go on as recorded. */
  readonly refuse: (part: Part, why: string) => void
  /** Whether what the server asks by this method is answered as recorded, and not sent. */
  readonly isAnsweredByTape: (method: string) => boolean
}

/** A turn and the live message that set it off, if any did. */
export interface Part {
  readonly turn: Turn
  readonly live: Live | undefined
  readonly reply: Reply
  readonly outlet: Outlet
}

/** The turns that are being played on one link, and what they share: names, open questions, what has happened so far. */
export class Performance {
  readonly #options: PerformanceOptions
  readonly #names = new LiveNames()
  readonly #asks: Asks
  readonly #gate: SubscriptionGate
  readonly #order: AnswerOrder | undefined
  readonly #cancels: RecordedCancels
  readonly #wishes: Wishes
  readonly #inFlight = new InFlight()
  /** Those that something else of this run may set going again. */
  readonly #waiting = new Set<Playing>()

  constructor(options: PerformanceOptions) {
    const { script, clock, note, answerPolicy, keepsOrder } = options
    this.#options = options
    this.#asks = new Asks(note, answerPolicy)
    this.#gate = new SubscriptionGate(script.turns)
    this.#cancels = new RecordedCancels(script.turnsOf('notifications/cancelled'))
    this.#wishes = new Wishes(script.turnsOf('resources/subscribe'))
    const onGiveUp = (turn: Turn, first: Turn): void => this.#giveUpOrder(turn, first)
    if (keepsOrder) this.#order = new AnswerOrder({ turns: script.turns, clock, onGiveUp })
  }

  play(part: Part): void {
    const playing = new Playing(part.turn, this.#stageFor(part), this.#cancels.outlivedBy(part.turn))
    this.#enter(playing, part)
    this.#gate.started(part.turn)
    this.#wake()
    playing.go()
  }

  /** Nothing more is sent for a request that the client no longer wants, unless the recorded server went on too. */
  cancel(id: Id, outlet: Outlet): void {
    const entry = this.#inFlight.get(id, outlet)
    if (entry === undefined) return
    const { playing, part } = entry
    const cancel = this.#cancels.outlivedBy(part.turn)
    if (cancel !== undefined) {
      playing.heard(cancel)
      return playing.go()
    }
    playing.stop()
    this.#leave(part, playing)
    if (part.turn.response !== undefined) part.reply(undefined)
  }

  /** A request of the client may say what it wants to hear. */
  hearWish(request: Request): void {
    this.#wishes.note(request)
  }

  settle(response: Response): void {
    this.#asks.settle(response)
  }

  /** What the client never did, though it did on the tape, and the play waits for. */
  owed(): readonly string[] {
    const asks = this.#asks.unanswered().map((ask) => `the client never answered ${ask}`)
    const late = this.#inFlight.all().flatMap(({ playing, part: { turn, live } }) => {
      const cancel = playing.left > 0 ? this.#cancels.outlivedBy(turn) : undefined
      if (cancel === undefined || live === undefined) return []
      return `${briefRequest(live.message)} was cancelled on the tape (#${cancel.n}) before its answer came, and was not cancelled now`
    })
    return [...asks, ...late]
  }

  #enter(playing: Playing, part: Part): void {
    const { turn, live, reply } = part
    if (live?.message.kind !== 'request' || turn.trigger === undefined) return
    if (!this.#inFlight.enter(playing, part))
      this.#options.note(`the client used the id ${live.id} for two requests at once`)
    this.hearWish(live.message)
    if (turn.response === undefined) reply(undefined)
    const isSubscription = live.message.method === 'subscriptions/listen'
    if (isSubscription) this.#names.nameSubscription(turn.trigger, live.id)
    if (isSubscription || this.#order !== undefined) this.#waiting.add(playing)
  }

  #leave(part: Part, playing: Playing): void {
    this.#waiting.delete(playing)
    this.#inFlight.leave(playing, part)
  }

  #stageFor(part: Part): Stage {
    const { later, clock, pace } = this.#options
    return {
      notify: (notification) => this.#notify(notification, part),
      ask: (playing, ask) => this.#ask(playing, part, ask),
      respond: (playing, response) => this.#respond(response, part, playing),
      isDue: (message) => this.#isDue(part.turn, message),
      later,
      clock,
      pace,
    }
  }

  #isDue(turn: Turn, message: Spoken): boolean {
    if (!this.#gate.isOpen(turn, message)) return false
    return message !== turn.response || this.#order === undefined || this.#order.isOpen(turn)
  }

  #notify(notification: Spoken, { turn: { trigger }, live, outlet }: Part): boolean {
    if (!this.#wishes.includes(notification, trigger, live)) return false
    const text = liveNotification(notification, { trigger, live, names: this.#names })
    if (text !== undefined) outlet.send(text)
    return text !== undefined
  }

  #ask(playing: Playing, part: Part, { request, answer, answered }: AskStep): void {
    const { message } = request
    if (message.kind === 'request' && this.#options.isAnsweredByTape(message.method)) return answered()
    const refused = (why: string): void => {
      playing.stop()
      this.#leave(part, playing)
      this.#options.refuse(part, why)
    }
    const id = JSON.stringify(this.#asks.open({ request, recorded: answer, answered, refused }))
    this.#names.nameAsk(request, id)
    part.outlet.send(replaceAt(request.text, ['id'], id))
  }

  #respond(response: Spoken, part: Part, playing: Playing): void {
    const { turn, live, reply } = part
    if (live?.message.kind !== 'request') return
    this.#leave(part, playing)
    const version =
      live.message.method === 'initialize' ? liveVersion(response, turn.trigger, live) : undefined
    if (version !== undefined)
      this.#options.note(`initialize was answered in version ${version}, as asked, not in the recorded one`)
    reply(liveResponse(response, turn.trigger, live), response)
    this.#gate.answered(turn)
    this.#options.script.answered(turn)
    this.#order?.given(turn)
    this.#wake()
  }

  #giveUpOrder({ trigger }: Turn, { trigger: first }: Turn): void {
    this.#options.note(
      `#${trigger?.n} was answered before #${first?.n}, not in the recorded order: the client did not ask for both at once`,
    )
    this.#wake()
  }

  #wake(): void {
    for (const playing of this.#waiting) playing.go()
  }
}
