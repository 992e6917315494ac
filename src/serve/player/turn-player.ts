import type { RecordedMessage, Turn, TurnStep } from '../../tape/turns.ts'
import { type Clock, type Pace, Pacer } from './clock.ts'
import type { LiveMessage } from './live-messages.ts'
import type { ReplyChannel } from './reply-channel.ts'
import type { TurnOrder } from './turn-order.ts'

/** A recorded turn and the live message that triggered it, if there is one. */
export interface TriggeredTurn {
  readonly turn: Turn
  readonly live: LiveMessage | undefined
  readonly channel: ReplyChannel
}

/** What all turns of a session share. */
export interface TurnContext {
  readonly order: TurnOrder
  readonly clock: Clock
  readonly pace: Pace | undefined
  /** Calls back when the client has had time to read what was sent. */
  readonly afterClientReads: (resume: () => void) => void
  /** Continues a turn after a wait. */
  readonly resume: (player: TurnPlayer) => void
}

/** Plays one recorded turn: returns its steps in recorded order, each when it is due. */
export class TurnPlayer {
  readonly turn: Turn
  readonly live: LiveMessage | undefined
  readonly channel: ReplyChannel
  readonly #context: TurnContext
  readonly #pacer: Pacer | undefined
  /** Recorded messages of the client that the live client has not sent yet. */
  readonly #awaited = new Set<RecordedMessage>()
  #next = 0
  #state: 'playing' | 'paused' | 'stopped' = 'playing'
  #hasFreshProgress = false
  #wasHeldUp = false

  constructor({ turn, live, channel }: TriggeredTurn, context: TurnContext) {
    this.turn = turn
    this.live = live
    this.channel = channel
    this.#context = context
    const start = turn.trigger ?? (turn.steps[0] && messageOf(turn.steps[0]))
    if (context.pace && start) this.#pacer = new Pacer(context.pace, context.clock, start.t)
    const cancellation = context.order.ignoredCancellationOf(turn)
    if (cancellation !== undefined) this.#awaited.add(cancellation)
  }

  get isOver(): boolean {
    return this.#next >= this.turn.steps.length
  }

  /** Takes the next step. Returns `undefined` if the turn is over or must wait. */
  takeStep(): TurnStep | undefined {
    const step = this.turn.steps[this.#next]
    if (step === undefined || this.#state !== 'playing') return undefined
    const message = messageOf(step)
    if (!this.#isDue(message) || this.#mustWait(message)) return undefined
    // SDK clients lose progress that they read together with the response: they forget the token before they handle it.
    if (step.kind === 'respond' && this.#hasFreshProgress) {
      this.#hasFreshProgress = false
      this.#pause(this.#context.afterClientReads)
      return undefined
    }
    this.#next++
    this.#pacer?.advanceTo(message.t)
    return step
  }

  stop(): void {
    this.#state = 'stopped'
  }

  /** Lets later steps wait until the live client has sent this recorded message. */
  awaitFromClient(message: RecordedMessage): void {
    this.#awaited.add(message)
  }

  /** The live client has sent its version of a recorded message. */
  receivedFromClient(message: RecordedMessage): void {
    if (!this.#awaited.delete(message)) return
    this.#pacer?.restartAt(message.t)
    this.#hasFreshProgress = false
  }

  markNotificationSent({ message }: RecordedMessage): void {
    this.#hasFreshProgress ||= message.kind === 'notification' && message.method === 'notifications/progress'
  }

  #isDue(message: RecordedMessage): boolean {
    for (const awaited of this.#awaited) if (awaited.n < message.n) return false
    if (this.#context.order.maySend(this.turn, message)) return true
    this.#wasHeldUp = true
    return false
  }

  /** A message that waited for something else is due as soon as that has happened. */
  #mustWait(message: RecordedMessage): boolean {
    if (this.#pacer === undefined) return false
    if (this.#wasHeldUp) this.#pacer.restartAt(message.t)
    this.#wasHeldUp = false
    const wait = this.#pacer.waitFor(message.t)
    if (wait > 0) this.#pause((resume) => this.#context.clock.after(wait, resume))
    return wait > 0
  }

  #pause(wait: (resume: () => void) => void): void {
    this.#state = 'paused'
    wait(() => {
      if (this.#state === 'paused') this.#state = 'playing'
      this.#context.resume(this)
    })
  }
}

function messageOf(step: TurnStep): RecordedMessage {
  return step.kind === 'ask' ? step.request : step.message
}
