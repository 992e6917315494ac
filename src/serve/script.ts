import { briefRequest } from '../match/brief.ts'
import { isPoll } from '../match/freely-asked.ts'
import type { Miss } from '../match/miss.ts'
import type { Asked } from '../match/key.ts'
import type { Matcher, MatchOutcome, RecordedRequest } from '../match/matcher.ts'
import type { NoticeIndex } from '../match/notice-index.ts'
import { formsOf } from '../redact/known-values.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { EraFound } from '../wire/era.ts'
import { canonicalJson } from '../wire/canonical.ts'
import type { Notification, Request } from '../wire/message.ts'
import type { LiveRedaction } from './live-redaction.ts'
import { ownAnswer, type OwnAnswer } from './own-answer.ts'
import { recordedPart, turnsAt, type RecordedPart, type ScriptOptions } from './recorded-part.ts'
import type { Screen } from './screen.ts'
import { ScriptMisses } from './script-misses.ts'
import { TaskPolls } from './task-polls.ts'

/** What there is to say to a live request. */
export type Cue =
  | {
      readonly kind: 'turn'
      readonly turn: Turn
      readonly repeated: boolean
      /** What let it answer a request that is not the recorded one. */
      readonly loose?: string
    }
  | ({ readonly kind: 'own' } & OwnAnswer)
  | { readonly kind: 'miss'; readonly miss: Miss }

/** One server's part of a tape, as far as one connection has not played it; recorded connections are one, in order. */
export class Script {
  readonly turns: TurnStore
  readonly #recorded: RecordedPart
  readonly #matcher: Matcher
  readonly #notices: NoticeIndex
  readonly #misses: ScriptMisses
  readonly #polls: TaskPolls

  constructor(from: ScriptOptions | RecordedPart) {
    this.#recorded = 'matcher' in from ? from : recordedPart(from)
    const { turns, matcher, notices } = this.#recorded
    this.turns = turns
    this.#matcher = matcher.another()
    this.#notices = notices.another()
    this.#misses = new ScriptMisses(this.#recorded, this.#matcher)
    this.#polls = new TaskPolls((method) => this.turnsOf(method))
  }

  /** The same part for another connection: nothing of it is played yet. */
  another(): Script {
    return new Script(this.#recorded)
  }

  /** What the server said before the client spoke. */
  opening(): readonly Turn[] {
    return this.#recorded.opening
  }

  /** The turns that messages of that method set off. */
  turnsOf(method: string): readonly Turn[] {
    const { turns, server, byMethod } = this.#recorded
    const known =
      byMethod.get(method) ??
      turnsAt(turns, (outline) => outline.server === server && outline.method === method)
    byMethod.set(method, known)
    return known
  }

  get era(): EraFound {
    return this.#recorded.era
  }

  get redaction(): LiveRedaction | undefined {
    return this.#recorded.redaction
  }

  /** For reports of a tape that was never redacted. */
  get screen(): Screen | undefined {
    return this.#recorded.screen
  }

  cueFor(request: Request): Cue {
    const outcome = this.#lookup(this.#asked(request), request)
    if (outcome.kind === 'hit') return this.#turnOf(outcome, request)
    const own = ownAnswer(request, this.#recorded)
    if (own !== undefined) return { kind: 'own', ...own }
    const second = this.#hasLearned(request) ? this.#lookup(this.#asked(request), request) : outcome
    if (second.kind === 'hit') return this.#turnOf(second, request)
    return { kind: 'miss', miss: this.#misses.of(this.#asked(request), second, request) }
  }

  #turnOf(hit: Extract<MatchOutcome, { kind: 'hit' }>, request: Request): Cue {
    return isPoll(request.method) ? this.#poll(hit, request) : { ...hit, kind: 'turn' }
  }

  /** Whether the request holds secrets that no rule knows, and the tape does: their very stand-ins are on it. */
  #hasLearned({ method, params }: Request): boolean {
    let texts: readonly string[] | undefined
    const isOnTape = (standIn: string): boolean => {
      texts ??= this.#matcher
        .entries()
        .filter(({ request }) => request.method === method)
        .map(({ request }) => canonicalJson(request.params ?? null))
      const forms = formsOf(standIn)
      return texts.some((text) => forms.some((form) => text.includes(form)))
    }
    return this.redaction?.standIns.learn(params, isOnTape) === true
  }

  /** The miss of a request whose turn cannot go on, because the client answered the server otherwise than on the tape. */
  answerDrift(request: Request, why: string): Miss {
    return this.#misses.because('ANSWER_DRIFT', why, this.#asked(request))
  }

  /** A turn has been played to its answer. */
  answered(turn: Turn): void {
    this.#polls.answered(turn)
  }

  /** How a task is doing may be asked at any time: the answer is one that was true at this point of the tape. */
  #poll(hit: MatchOutcome & { kind: 'hit' }, request: Request): Cue {
    const turn = this.#polls.next(hit.turn)
    if (turn !== undefined) return { ...hit, kind: 'turn', turn }
    const due = this.#polls.dueChange(hit.turn)?.trigger
    const first =
      due?.message.kind === 'request' ? `only after #${due.n} ${briefRequest(due.message)}` : 'no more'
    const why = `the tape tells the state of this task ${first}`
    return { kind: 'miss', miss: this.#misses.because('OUT_OF_ORDER', why, this.#asked(request)) }
  }

  /** What a notification of the client sets off; none when it is not on the tape. */
  effectOf(notification: Notification): Turn | undefined {
    return this.#notices.take(this.#asked(notification))
  }

  leftOver(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }

  /** A live message as it is compared and reported: without its secrets, when those of the tape have stand-ins. */
  #asked({ method, params }: Request | Notification): Asked {
    return { server: this.#recorded.server, method, params: this.redaction?.params(params) ?? params }
  }

  /** What came may hold no secret but a stand-in that has no room for a mark, so it is tried as it came, too. */
  #lookup(asked: Asked, { params }: Request): MatchOutcome {
    const outcome = this.#matcher.lookup(asked)
    if (outcome.kind === 'hit' || asked.params === params) return outcome
    const asItCame = this.#matcher.lookup({ ...asked, params })
    return asItCame.kind === 'hit' ? asItCame : outcome
  }
}
