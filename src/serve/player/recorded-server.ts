import { describeRequest } from '../../match/describe-request.ts'
import { isTaskPoll } from '../../match/freely-asked.ts'
import type { Miss } from '../../match/miss/miss.ts'
import type { RequestContent } from '../../match/request-key.ts'
import type { Matcher, MatchOutcome, RecordedRequest } from '../../match/matcher.ts'
import type { NotificationMatcher } from '../../match/notification-matcher.ts'
import { encodedForms } from '../../redact/known-values.ts'
import type { TurnStore } from '../../tape/turn-store.ts'
import type { Turn } from '../../tape/turn.ts'
import type { DetectedEra } from '../../protocol/era.ts'
import { canonicalJson } from '../../json/canonical.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import type { ClientRedaction } from '../redaction/client-redaction.ts'
import { syntheticAnswer, type SyntheticAnswer } from './synthetic-answers.ts'
import {
  loadRecordedServer,
  turnsMatching,
  type RecordedServerData,
  type RecordedServerOptions,
} from '../recorded-part.ts'
import type { ReportRedactor } from '../redaction/report-redactor.ts'
import { MissReporter } from '../script-misses.ts'
import { TaskStates } from './task-states.ts'

/** What there is to say to a live request. */
export type RequestMatch =
  | {
      readonly kind: 'turn'
      readonly turn: Turn
      readonly repeated: boolean
      /** What let it answer a request that is not the recorded one. */
      readonly loose?: string
    }
  | ({ readonly kind: 'own' } & SyntheticAnswer)
  | { readonly kind: 'miss'; readonly miss: Miss }

/** One server's part of a tape, as far as one connection has not played it; recorded connections are one, in order. */
export class RecordedServer {
  readonly turns: TurnStore
  readonly #recorded: RecordedServerData
  readonly #matcher: Matcher
  readonly #notices: NotificationMatcher
  readonly #misses: MissReporter
  readonly #taskStates: TaskStates

  constructor(from: RecordedServerOptions | RecordedServerData) {
    this.#recorded = 'matcher' in from ? from : loadRecordedServer(from)
    const { turns, matcher, notices } = this.#recorded
    this.turns = turns
    this.#matcher = matcher.forNewConnection()
    this.#notices = notices.forNewConnection()
    this.#misses = new MissReporter(this.#recorded, this.#matcher)
    this.#taskStates = new TaskStates((method) => this.turnsOfMethod(method))
  }

  /** The same part for another connection: nothing of it is played yet. */
  newSession(): RecordedServer {
    return new RecordedServer(this.#recorded)
  }

  /** What the server said before the client spoke. */
  openingTurns(): readonly Turn[] {
    return this.#recorded.opening
  }

  /** The turns that messages of that method set off. */
  turnsOfMethod(method: string): readonly Turn[] {
    const { turns, server, byMethod } = this.#recorded
    const known =
      byMethod.get(method) ??
      turnsMatching(turns, (outline) => outline.server === server && outline.method === method)
    byMethod.set(method, known)
    return known
  }

  get era(): DetectedEra {
    return this.#recorded.era
  }

  get redaction(): ClientRedaction | undefined {
    return this.#recorded.redaction
  }

  /** For reports of a tape that was never redacted. */
  get screen(): ReportRedactor | undefined {
    return this.#recorded.screen
  }

  findMatch(request: Request): RequestMatch {
    const outcome = this.#lookup(this.#redactedRequest(request), request)
    if (outcome.kind === 'hit') return this.#matchFromHit(outcome, request)
    const own = syntheticAnswer(request, this.#recorded)
    if (own !== undefined) return { kind: 'own', ...own }
    const second = this.#learnStandIns(request)
      ? this.#lookup(this.#redactedRequest(request), request)
      : outcome
    if (second.kind === 'hit') return this.#matchFromHit(second, request)
    return { kind: 'miss', miss: this.#misses.explain(this.#redactedRequest(request), second, request) }
  }

  #matchFromHit(hit: Extract<MatchOutcome, { kind: 'hit' }>, request: Request): RequestMatch {
    return isTaskPoll(request.method) ? this.#pollTask(hit, request) : { ...hit, kind: 'turn' }
  }

  /** Whether the request holds secrets that no rule knows, and the tape does: their very stand-ins are on it. */
  #learnStandIns({ method, params }: Request): boolean {
    let texts: readonly string[] | undefined
    const isOnTape = (standIn: string): boolean => {
      texts ??= this.#matcher
        .entries()
        .filter(({ request }) => request.method === method)
        .map(({ request }) => canonicalJson(request.params ?? null))
      const forms = encodedForms(standIn)
      return texts.some((text) => forms.some((form) => text.includes(form)))
    }
    return this.redaction?.standIns.learn(params, isOnTape) === true
  }

  /** The miss of a request whose turn cannot go on, because the client answered the server otherwise than on the tape. */
  answerDriftMiss(request: Request, why: string): Miss {
    return this.#misses.withReason('ANSWER_DRIFT', why, this.#redactedRequest(request))
  }

  /** A turn has been played to its answer. */
  markAnswered(turn: Turn): void {
    this.#taskStates.markAnswered(turn)
  }

  /** How a task is doing may be asked at any time: the answer is one that was true at this point of the tape. */
  #pollTask(hit: MatchOutcome & { kind: 'hit' }, request: Request): RequestMatch {
    const turn = this.#taskStates.nextState(hit.turn)
    if (turn !== undefined) return { ...hit, kind: 'turn', turn }
    const due = this.#taskStates.pendingChange(hit.turn)?.trigger
    const first =
      due?.message.kind === 'request' ? `only after #${due.n} ${describeRequest(due.message)}` : 'no more'
    const why = `the tape tells the state of this task ${first}`
    return {
      kind: 'miss',
      miss: this.#misses.withReason('OUT_OF_ORDER', why, this.#redactedRequest(request)),
    }
  }

  /** What a notification of the client sets off; none when it is not on the tape. */
  takeNotificationTurn(notification: Notification): Turn | undefined {
    return this.#notices.take(this.#redactedRequest(notification))
  }

  leftOver(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }

  /** A live message as it is compared and reported: without its secrets, when those of the tape have stand-ins. */
  #redactedRequest({ method, params }: Request | Notification): RequestContent {
    return { server: this.#recorded.server, method, params: this.redaction?.params(params) ?? params }
  }

  /** What came may hold no secret but a stand-in that has no room for a mark, so it is tried as it came, too. */
  #lookup(asked: RequestContent, { params }: Request): MatchOutcome {
    const outcome = this.#matcher.lookup(asked)
    if (outcome.kind === 'hit' || asked.params === params) return outcome
    const asItCame = this.#matcher.lookup({ ...asked, params })
    return asItCame.kind === 'hit' ? asItCame : outcome
  }
}
