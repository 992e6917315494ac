import { describeRequest } from '../match/describe-request.ts'
import { missAsError } from '../match/miss/error.ts'
import type { Miss } from '../match/miss/miss.ts'
import type { Id } from '../protocol/id.ts'
import type { Request } from '../protocol/message.ts'
import type { DriftLog } from './account.ts'
import type { Clock } from './player/clock.ts'
import type { UpstreamServer } from './upstream/upstream.ts'
import type { SessionFaults } from './faults/session-faults.ts'
import type { Fault } from './faults/fault.ts'
import { WithheldTurns } from './kept-turns.ts'
import { toLiveMessage, type LiveMessage } from './live.ts'
import type { ReplyChannel } from './player/reply-channel.ts'
import { patchedAnswer, findOverride, overrideResponse, type Override } from './overrides.ts'
import { responseText, type SyntheticAnswer } from './player/synthetic-answers.ts'
import type { Playback } from './player/playback.ts'
import type { SendReply } from './reply.ts'
import type { RequestMatch, RecordedServer } from './player/recorded-server.ts'

export interface RequestHandlerOptions {
  readonly script: RecordedServer
  readonly performance: Playback
  readonly account: DriftLog
  readonly strikes: SessionFaults
  readonly overrides: readonly Override[]
  readonly clock: Clock
  readonly elsewhere: UpstreamServer | undefined
}

/** How what a message sets off leaves: the answer apart, because that to one of a batch waits for the others. */
export interface ReplyRoute {
  readonly outlet: ReplyChannel
  readonly reply: SendReply
}

/** A live request and its ways out. */
interface HandledRequest extends ReplyRoute {
  readonly text: string
  readonly request: Request
  readonly live: LiveMessage
}

/** Answers the requests of one connection: an override comes first, then a fault, then the tape, then whatever a miss means. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions
  readonly #withheld = new WithheldTurns()

  constructor(options: RequestHandlerOptions) {
    this.#options = options
  }

  handle(text: string, request: Request, ways: ReplyRoute): void {
    if (this.#options.elsewhere?.isAlone) return this.#options.elsewhere.forward(text, request, ways)
    const { outlet, reply } = ways
    const asking = { text, request, live: toLiveMessage(text, request), outlet, reply }
    const override = findOverride(this.#options.overrides, request)
    if (override !== undefined) return this.#applyOverride(override, asking)
    const fault = this.#options.strikes.faultFor(request)
    const cue = this.#findMatch(request)
    if (fault === undefined) this.#playMatch(cue, asking)
    else this.#applyFault(fault, cue, asking)
  }

  cancel(id: Id, outlet: ReplyChannel): void {
    this.#options.performance.cancel(id, outlet)
    this.#options.strikes.cancel(id, outlet)
    this.#options.elsewhere?.cancel(id, outlet)
  }

  /** Tells a miss to everyone who should know. */
  sendMiss(miss: Miss, id: string, reply: SendReply): void {
    this.#options.account.addMiss(miss)
    const answer = { error: missAsError(miss) }
    reply(responseText(id, answer), answer)
  }

  #findMatch(request: Request): RequestMatch {
    const turn = this.#withheld.take(request)
    return turn === undefined
      ? this.#options.script.findMatch(request)
      : { kind: 'turn', turn, repeated: false }
  }

  /** The recorded turn is used up all the same: the client did ask for it. */
  #applyOverride(override: Override, asking: HandledRequest): void {
    const { request, live, reply } = asking
    const cue = this.#findMatch(request)
    const own = overrideResponse(override, request)
    if (own === undefined) {
      const changed: SendReply = (text, source) =>
        reply(text === undefined ? undefined : patchedAnswer(override, text, live.id), source)
      return this.#playMatch(cue, { ...asking, reply: changed })
    }
    this.#options.account.answered++
    reply(responseText(live.id, own), own)
  }

  #applyFault(fault: Fault, cue: RequestMatch, asking: HandledRequest): void {
    const { request, live, reply, outlet } = asking
    if (fault.hidesAnswer && cue.kind === 'turn') this.#withheld.add(request, cue.turn)
    const play = (own: SendReply): void => this.#playMatch(cue, { ...asking, reply: own })
    const { strikes, clock } = this.#options
    strikes.apply(fault, request, { id: live.id, outlet, clock, reply, play })
  }

  #playMatch(cue: RequestMatch, asking: HandledRequest): void {
    if (cue.kind === 'own') return this.#sendSyntheticAnswer(cue, asking)
    if (cue.kind === 'miss') return this.#handleMiss(cue.miss, asking)
    const { request, live, outlet, reply } = asking
    const { account, performance } = this.#options
    account.answered++
    if (cue.loose !== undefined)
      account.note(
        `answered loosely, by ${cue.loose}: ${describeRequest(request)}, with #${cue.turn.trigger?.n}`,
      )
    if (cue.repeated)
      account.note(`answered again with its last recorded answer: ${describeRequest(request)}`)
    performance.play({ turn: cue.turn, live, outlet, reply })
  }

  #sendSyntheticAnswer({ answer, note }: SyntheticAnswer, { request, live, reply }: HandledRequest): void {
    const { account, performance } = this.#options
    if (note !== undefined) account.noteOnce(note)
    performance.noteSubscription(request)
    reply(responseText(live.id, answer), answer)
  }

  #handleMiss(miss: Miss, { text, request, live, outlet, reply }: HandledRequest): void {
    const { account, elsewhere } = this.#options
    if (elsewhere === undefined) return this.sendMiss(miss, live.id, reply)
    account.addUpstreamRequest(miss.asked)
    elsewhere.forward(text, request, { outlet, reply })
  }
}
