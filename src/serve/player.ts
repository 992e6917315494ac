import { briefRequest } from '../match/brief.ts'
import { missAsError } from '../match/miss-error.ts'
import type { Miss } from '../match/miss.ts'
import { isId, type Id } from '../wire/id.ts'
import { itemsOf } from '../wire/members.ts'
import {
  classify,
  member,
  type Batch,
  type Invalid,
  type Message,
  type Notification,
  type Request,
} from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Drift } from './drift.ts'
import { liveOf } from './live.ts'
import { singleOutlet, type Outlet } from './outlet.ts'
import { answerText, type OwnAnswer, type RpcError } from './own-answer.ts'
import { Performance } from './performance.ts'
import { batchReply, type Reply } from './reply.ts'
import type { Script } from './script.ts'

export interface PlayerOptions {
  /** The part to play, of which nothing is played yet. */
  readonly script: Script
  readonly send: (text: string) => void
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
  /** Calls back once the client had a chance to read what was sent; without it, at once. */
  readonly later?: (resume: () => void) => void
}

/** Plays the recorded server to one live client. It does no I/O: texts come in by `receive` and leave by `send`. */
export class Player {
  readonly #options: PlayerOptions
  readonly #script: Script
  readonly #performance: Performance
  readonly #main: Outlet
  readonly #misses: Miss[] = []
  readonly #notes: string[] = []
  #answered = 0

  constructor(options: PlayerOptions) {
    const { send, later = (resume) => resume() } = options
    this.#options = options
    this.#script = options.script
    this.#main = singleOutlet(send)
    const note = (text: string): void => this.#note(text)
    this.#performance = new Performance({ turns: this.#script.turns, note, later })
  }

  /** Says what the server said before the client spoke. */
  start(): void {
    for (const turn of this.#script.opening())
      this.#performance.play({ turn, live: undefined, reply: ignore, outlet: this.#main })
  }

  /** Takes one JSON text of the client: a message, or a batch of them. */
  receive(text: string): void {
    const value = parseJson(text)
    if (value === undefined) return this.refuse(NOT_JSON)
    this.take(text, classify(value))
  }

  /** The same for a text that was read already; what it sets off leaves by `outlet`, and else with all the rest. */
  take(text: string, message: Message, outlet: Outlet = this.#main): void {
    if (message.kind === 'batch') this.#takeBatch(text, message, outlet)
    else this.#take(text, message, { outlet, reply: outlet.reply })
  }

  /** The client no longer waits for the answer to a request of that outlet. */
  abandon(id: Id, outlet: Outlet): void {
    this.#performance.cancel(id, outlet)
  }

  /** Answers what cannot be read as a message. */
  refuse(error: RpcError, reply: Reply = this.#main.reply): void {
    this.#note(`the client sent what is no message: ${error.message}`)
    reply(answerText('null', { error }), { error })
  }

  /** The account of the run so far. */
  drift(): Drift {
    const open = this.#performance.unanswered().map((ask) => `the client never answered ${ask}`)
    return {
      answered: this.#answered,
      leftOver: this.#script.leftOver(),
      misses: [...this.#misses],
      notes: [...this.#notes, ...open],
    }
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
    switch (message.kind) {
      case 'request':
        return this.#answer(text, message, ways)
      case 'notification':
        return this.#hear(text, message, ways.outlet)
      case 'response':
        return this.#performance.settle(message)
      case 'batch':
      case 'invalid':
        return this.refuse(invalidRequest(message), ways.reply)
    }
  }

  #answer(text: string, request: Request, ways: Ways): void {
    const live = liveOf(text, request)
    const cue = this.#script.cueFor(request)
    if (cue.kind === 'own') return this.#answerOwn(cue, live.id, ways.reply)
    if (cue.kind === 'miss') return this.#miss(cue.miss, live.id, ways.reply)
    this.#answered++
    if (cue.repeated) this.#note(`answered again with its last recorded answer: ${briefRequest(request)}`)
    this.#performance.play({ turn: cue.turn, live, ...ways })
  }

  // A client may ask for it as often as it likes; once is enough to say.
  #answerOwn({ answer, note }: OwnAnswer, id: string, reply: Reply): void {
    if (note !== undefined && !this.#notes.includes(note)) this.#note(note)
    reply(answerText(id, answer), answer)
  }

  #miss(miss: Miss, id: string, reply: Reply): void {
    this.#misses.push(miss)
    this.#options.onMiss?.(miss)
    const answer = { error: missAsError(miss) }
    reply(answerText(id, answer), answer)
  }

  #hear(text: string, notification: Notification, outlet: Outlet): void {
    const { method, params } = notification
    const id = member(params, 'requestId')
    if (method === 'notifications/cancelled' && isId(id)) this.#performance.cancel(id, outlet)
    const turn = this.#script.effectOf(notification)
    if (turn === undefined) return this.#note(`the client sent ${method}, which is not on the tape`)
    this.#performance.play({ turn, live: liveOf(text, notification), reply: ignore, outlet })
  }

  #note(note: string): void {
    this.#notes.push(note)
    this.#options.onNote?.(note)
  }
}

/** How what a message sets off leaves: the answer apart, because that to one of a batch waits for the others. */
interface Ways {
  readonly outlet: Outlet
  readonly reply: Reply
}

const NOT_JSON: RpcError = { code: -32700, message: 'Parse error: not JSON' }

function invalidRequest(message: Batch | Invalid): RpcError {
  const why = message.kind === 'invalid' ? message.why : 'a batch inside a batch'
  return { code: -32600, message: `Invalid request: ${why}` }
}

function ignore(): void {}
