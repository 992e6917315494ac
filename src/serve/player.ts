import type { Asked } from '../match/key.ts'
import type { Miss } from '../match/miss.ts'
import { isId, type Id } from '../wire/id.ts'
import { itemsOf } from '../wire/members.ts'
import { member, type Batch, type Invalid, type Message, type Notification } from '../wire/message.ts'
import { Account } from './account.ts'
import { Answering, type Ways } from './answering.ts'
import { WallClock } from './clock.ts'
import type { Drift } from './drift.ts'
import type { Elsewhere } from './elsewhere.ts'
import { FaultStrikes } from './fault-strikes.ts'
import type { LinkFaults } from './faults/fault.ts'
import { HeardTexts } from './heard-texts.ts'
import { liveOf } from './live.ts'
import { singleOutlet, type Outlet } from './outlet.ts'
import { answerText, type RpcError } from './own-answer.ts'
import { Performance, type Part } from './performance.ts'
import type { PlayOptions } from './play-options.ts'
import { DEFAULT_SEED } from '../seeded-random.ts'
import { batchReply, type Reply } from './reply.ts'
import type { Script } from './script.ts'

export interface PlayerOptions extends PlayOptions {
  /** The part to play, of which nothing is played yet. */
  readonly script: Script
  readonly send: (text: string) => void
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
  /** Told at once of what the live server is to answer. */
  readonly onLive?: (asked: Asked) => void
  /** Calls back once the client had a chance to read what was sent; without it, at once. */
  readonly later?: (resume: () => void) => void
  /** What the link can do to its client, when a fault asks for it. */
  readonly link?: LinkFaults
  /** Answers what the tape cannot. */
  readonly elsewhere?: Elsewhere
  /** Whether what the server asks by this method is answered as recorded, and not sent. */
  readonly isAnsweredByTape?: (method: string) => boolean
}

/** Plays the recorded server to one live client. It does no I/O: texts come in by `receive` and leave by `send`. */
export class Player {
  readonly #options: PlayerOptions
  readonly #performance: Performance
  readonly #heard = new HeardTexts()
  readonly #answering: Answering
  readonly #account: Account
  readonly #strikes: FaultStrikes
  readonly #main: Outlet

  constructor(options: PlayerOptions) {
    const { script, send, faults = [], seed = DEFAULT_SEED, link = {}, overrides = [], elsewhere } = options
    this.#options = options
    this.#main = singleOutlet(send)
    this.#account = new Account({ ...options, shown: script.redaction ?? script.screen })
    this.#strikes = new FaultStrikes({ rules: faults, seed, link })
    const clock = options.clock ?? new WallClock()
    this.#performance = this.#perform({ ...options, clock })
    const [performance, account, strikes] = [this.#performance, this.#account, this.#strikes]
    this.#answering = new Answering({ script, performance, account, strikes, overrides, clock, elsewhere })
  }

  /** Says what the server said before the client spoke. */
  start(): void {
    for (const turn of this.#options.script.opening())
      this.#performance.play({ turn, live: undefined, reply: ignore, outlet: this.#main })
  }

  /** Takes one JSON text of the client: a message, or a batch of them. */
  receive(text: string): void {
    const message = this.#heard.read(text)
    if (message === undefined) return this.refuse(NOT_JSON)
    this.take(text, message)
  }

  /** The same for a text that was read already; what it sets off leaves by `outlet`, and else with all the rest. */
  take(text: string, message: Message, outlet: Outlet = this.#main): void {
    if (message.kind === 'batch') this.#takeBatch(text, message, outlet)
    else this.#take(text, message, { outlet, reply: outlet.reply })
  }

  /** The client no longer waits for the answer to a request of that outlet. */
  abandon(id: Id, outlet: Outlet): void {
    this.#answering.cancel(id, outlet)
  }

  /** Answers what cannot be read as a message. */
  refuse(error: RpcError, reply: Reply = this.#main.reply): void {
    this.#account.note(`the client sent what is no message: ${error.message}`)
    reply(answerText('null', { error }), { error })
  }

  /** The account of the run so far. */
  drift(): Drift {
    const { answered, misses, notes, wentLive } = this.#account
    const faults = this.#strikes.fired()
    return {
      answered,
      leftOver: this.#options.script.leftOver(),
      misses: [...misses],
      notes: [...notes, ...this.#performance.owed()],
      ...(faults.length > 0 && { faults: [...faults] }),
      ...(wentLive.length > 0 && { wentLive: [...wentLive] }),
    }
  }

  #perform(options: PlayerOptions & Required<Pick<PlayerOptions, 'clock'>>): Performance {
    const { script, clock, pace, order, onClientAnswer = 'note', later = (resume) => resume() } = options
    return new Performance({
      script,
      clock,
      pace,
      later,
      note: this.#account.note,
      keepsOrder: order === 'recorded',
      answerPolicy: onClientAnswer,
      refuse: (part, why) => this.#refuseTurn(part, why),
      isAnsweredByTape: options.isAnsweredByTape ?? (() => false),
    })
  }

  #takeBatch(text: string, { items }: Batch, outlet: Outlet): void {
    const ranges = itemsOf(text)
    const owed = items.filter(({ kind }) => kind === 'request' || kind === 'invalid').length
    const reply = batchReply(owed, outlet.reply)
    for (const [place, item] of items.entries()) {
      this.#take(text.slice(ranges[place]?.start, ranges[place]?.end), item, { outlet, reply })
    }
  }

  #take(text: string, message: Message, ways: Ways): void {
    if (this.#options.elsewhere?.hear(text, message) === true) return
    switch (message.kind) {
      case 'request':
        return this.#answering.answer(text, message, ways)
      case 'notification':
        return this.#hear(text, message, ways.outlet)
      case 'response':
        return this.#performance.settle(message)
      case 'batch':
      case 'invalid':
        return this.refuse(invalidRequest(message), ways.reply)
    }
  }

  #hear(text: string, notification: Notification, outlet: Outlet): void {
    const { method, params } = notification
    const id = member(params, 'requestId')
    if (method === 'notifications/cancelled' && isId(id)) this.#answering.cancel(id, outlet)
    const turn = this.#options.script.effectOf(notification)
    if (turn === undefined) return this.#account.note(`the client sent ${method}, which is not on the tape`)
    this.#performance.play({ turn, live: liveOf(text, notification), reply: ignore, outlet })
  }

  /** The client answered otherwise than on the tape: what the server said then is no answer to that. */
  #refuseTurn({ live, reply }: Part, why: string): void {
    if (live?.message.kind !== 'request') return this.#account.note(why)
    this.#answering.miss(this.#options.script.answerDrift(live.message, why), live.id, reply)
  }
}

const NOT_JSON: RpcError = { code: -32700, message: 'Parse error: not JSON' }

function invalidRequest(message: Batch | Invalid): RpcError {
  const why = message.kind === 'invalid' ? message.why : 'a batch inside a batch'
  return { code: -32600, message: `Invalid request: ${why}` }
}

function ignore(): void {}
