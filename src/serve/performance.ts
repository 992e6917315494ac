import type { TurnStore } from '../tape/turn-store.ts'
import type { Spoken, Turn } from '../tape/turn.ts'
import { idKey, type Id } from '../wire/id.ts'
import { replaceAt } from '../wire/members.ts'
import type { Response } from '../wire/message.ts'
import { Asks } from './asks.ts'
import { LiveNames } from './live-names.ts'
import type { Live } from './live.ts'
import { Playing, type Stage } from './playing.ts'
import type { Reply } from './reply.ts'
import { liveNotification, liveResponse, liveVersion } from './rewrite.ts'
import { SubscriptionGate } from './subscription-gate.ts'

export interface PerformanceOptions {
  readonly turns: TurnStore
  readonly send: (text: string) => void
  readonly note: (note: string) => void
  readonly later: (resume: () => void) => void
}

/** A turn and the live message that set it off, if any did. */
export interface Part {
  readonly turn: Turn
  readonly live: Live | undefined
  readonly reply: Reply
}

/** The turns that are being played on one link, and what they share: names, open questions, what has happened so far. */
export class Performance {
  readonly #options: PerformanceOptions
  readonly #names = new LiveNames()
  readonly #asks: Asks
  readonly #gate: SubscriptionGate
  readonly #inFlight = new Map<string, { readonly playing: Playing; readonly part: Part }>()
  readonly #subscriptions = new Set<Playing>()

  constructor(options: PerformanceOptions) {
    this.#options = options
    this.#asks = new Asks(options.note)
    this.#gate = new SubscriptionGate(options.turns)
  }

  play(part: Part): void {
    const playing = new Playing(part.turn, this.#stageFor(part))
    this.#enter(playing, part)
    this.#gate.started(part.turn)
    this.#wakeSubscriptions()
    playing.go()
  }

  /** Nothing more is sent for a request that the client no longer wants. */
  cancel(id: Id): void {
    const entry = this.#inFlight.get(idKey(id))
    if (entry === undefined) return
    entry.playing.stop()
    this.#leave(id)
    if (entry.part.turn.response !== undefined) entry.part.reply(undefined)
  }

  settle(response: Response): void {
    this.#asks.settle(response)
  }

  /** The server's requests that the client never answered, though it did on the tape. */
  unanswered(): readonly string[] {
    return this.#asks.unanswered()
  }

  #enter(playing: Playing, part: Part): void {
    const { turn, live, reply } = part
    if (live?.message.kind !== 'request' || turn.trigger === undefined) return
    this.#inFlight.set(idKey(live.message.id), { playing, part })
    if (turn.response === undefined) reply(undefined)
    if (live.message.method !== 'subscriptions/listen') return
    this.#names.nameSubscription(turn.trigger, live.id)
    this.#subscriptions.add(playing)
  }

  #leave(id: Id): void {
    const entry = this.#inFlight.get(idKey(id))
    if (entry !== undefined) this.#subscriptions.delete(entry.playing)
    this.#inFlight.delete(idKey(id))
  }

  #stageFor(part: Part): Stage {
    return {
      notify: (notification) => this.#notify(notification, part),
      ask: (request, recorded, answered) => this.#ask(request, recorded, answered),
      respond: (response) => this.#respond(response, part),
      isDue: (message) => this.#gate.isOpen(part.turn, message),
      later: this.#options.later,
    }
  }

  #notify(notification: Spoken, { turn: { trigger }, live }: Part): boolean {
    const text = liveNotification(notification, { trigger, live, names: this.#names })
    if (text !== undefined) this.#options.send(text)
    return text !== undefined
  }

  #ask(request: Spoken, recorded: Spoken | undefined, answered: () => void): void {
    const id = JSON.stringify(this.#asks.open(request, recorded, answered))
    this.#names.nameAsk(request, id)
    this.#options.send(replaceAt(request.text, ['id'], id))
  }

  #respond(response: Spoken, { turn, live, reply }: Part): void {
    if (live?.message.kind !== 'request') return
    this.#leave(live.message.id)
    const version =
      live.message.method === 'initialize' ? liveVersion(response, turn.trigger, live) : undefined
    if (version !== undefined)
      this.#options.note(`initialize was answered in version ${version}, as asked, not in the recorded one`)
    reply(liveResponse(response, turn.trigger, live))
    this.#gate.answered(turn)
    this.#wakeSubscriptions()
  }

  #wakeSubscriptions(): void {
    for (const subscription of this.#subscriptions) subscription.go()
  }
}
