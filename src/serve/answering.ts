import { briefRequest } from '../match/brief.ts'
import { missAsError } from '../match/miss-error.ts'
import type { Miss } from '../match/miss.ts'
import type { Id } from '../wire/id.ts'
import type { Request } from '../wire/message.ts'
import type { Account } from './account.ts'
import type { Clock } from './clock.ts'
import type { Elsewhere } from './elsewhere.ts'
import type { FaultStrikes } from './fault-strikes.ts'
import type { Fault } from './faults/fault.ts'
import { KeptTurns } from './kept-turns.ts'
import { liveOf, type Live } from './live.ts'
import type { Outlet } from './outlet.ts'
import { changedAnswer, overrideFor, ownAnswerOf, type Override } from './overrides.ts'
import { answerText, type OwnAnswer } from './own-answer.ts'
import type { Performance } from './performance.ts'
import type { Reply } from './reply.ts'
import type { Cue, Script } from './script.ts'

export interface AnsweringOptions {
  readonly script: Script
  readonly performance: Performance
  readonly account: Account
  readonly strikes: FaultStrikes
  readonly overrides: readonly Override[]
  readonly clock: Clock
  readonly elsewhere: Elsewhere | undefined
}

/** How what a message sets off leaves: the answer apart, because that to one of a batch waits for the others. */
export interface Ways {
  readonly outlet: Outlet
  readonly reply: Reply
}

/** A live request and its ways out. */
interface Asking extends Ways {
  readonly text: string
  readonly request: Request
  readonly live: Live
}

/** Answers the requests of one connection: an override comes first, then a fault, then the tape, then whatever a miss means. */
export class Answering {
  readonly #options: AnsweringOptions
  readonly #kept = new KeptTurns()

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  answer(text: string, request: Request, ways: Ways): void {
    if (this.#options.elsewhere?.isAlone) return this.#options.elsewhere.answer(text, request, ways)
    const { outlet, reply } = ways
    const asking = { text, request, live: liveOf(text, request), outlet, reply }
    const override = overrideFor(this.#options.overrides, request)
    if (override !== undefined) return this.#answerInstead(override, asking)
    const fault = this.#options.strikes.on(request)
    const cue = this.#cueFor(request)
    if (fault === undefined) this.#follow(cue, asking)
    else this.#strike(fault, cue, asking)
  }

  cancel(id: Id, outlet: Outlet): void {
    this.#options.performance.cancel(id, outlet)
    this.#options.strikes.cancel(id, outlet)
    this.#options.elsewhere?.cancel(id, outlet)
  }

  /** Tells a miss to everyone who should know. */
  miss(miss: Miss, id: string, reply: Reply): void {
    this.#options.account.miss(miss)
    const answer = { error: missAsError(miss) }
    reply(answerText(id, answer), answer)
  }

  #cueFor(request: Request): Cue {
    const turn = this.#kept.take(request)
    return turn === undefined ? this.#options.script.cueFor(request) : { kind: 'turn', turn, repeated: false }
  }

  /** The recorded turn is used up all the same: the client did ask for it. */
  #answerInstead(override: Override, asking: Asking): void {
    const { request, live, reply } = asking
    const cue = this.#cueFor(request)
    const own = ownAnswerOf(override, request)
    if (own === undefined) {
      const changed: Reply = (text, source) =>
        reply(text === undefined ? undefined : changedAnswer(override, text, live.id), source)
      return this.#follow(cue, { ...asking, reply: changed })
    }
    this.#options.account.answered++
    reply(answerText(live.id, own), own)
  }

  #strike(fault: Fault, cue: Cue, asking: Asking): void {
    const { request, live, reply, outlet } = asking
    if (fault.hidesAnswer && cue.kind === 'turn') this.#kept.keep(request, cue.turn)
    const play = (own: Reply): void => this.#follow(cue, { ...asking, reply: own })
    const { strikes, clock } = this.#options
    strikes.strike(fault, request, { id: live.id, outlet, clock, reply, play })
  }

  #follow(cue: Cue, asking: Asking): void {
    if (cue.kind === 'own') return this.#answerOwn(cue, asking)
    if (cue.kind === 'miss') return this.#followMiss(cue.miss, asking)
    const { request, live, outlet, reply } = asking
    const { account, performance } = this.#options
    account.answered++
    if (cue.loose !== undefined)
      account.note(
        `answered loosely, by ${cue.loose}: ${briefRequest(request)}, with #${cue.turn.trigger?.n}`,
      )
    if (cue.repeated) account.note(`answered again with its last recorded answer: ${briefRequest(request)}`)
    performance.play({ turn: cue.turn, live, outlet, reply })
  }

  #answerOwn({ answer, note }: OwnAnswer, { request, live, reply }: Asking): void {
    const { account, performance } = this.#options
    if (note !== undefined) account.noteOnce(note)
    performance.hearWish(request)
    reply(answerText(live.id, answer), answer)
  }

  #followMiss(miss: Miss, { text, request, live, outlet, reply }: Asking): void {
    const { account, elsewhere } = this.#options
    if (elsewhere === undefined) return this.miss(miss, live.id, reply)
    account.goLive(miss.asked)
    elsewhere.answer(text, request, { outlet, reply })
  }
}
