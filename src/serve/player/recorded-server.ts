import { canonicalJson } from '../../json/canonical.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { Matcher, type MatchOutcome } from '../../match/matcher.ts'
import type { RecordedRequest } from '../../match/request-groups.ts'
import { type Miss, MissExplainer } from '../../match/miss/miss.ts'
import type { SuggestedMatchOptions, MatchOptions } from '../../match/options.ts'
import { isTaskPoll } from '../../match/request-key.ts'
import type { DetectedRevision } from '../../protocol/revisions/index.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import { encodedForms } from '../../redact/secret-values.ts'
import { revisionOfServer } from '../playable-tape.ts'
import { syntheticAnswer, type SyntheticAnswer } from './synthetic-answers.ts'
import { TaskStates } from './task-states.ts'
import { type ClientRedaction, explainRedactedMiss } from '../redaction/client-redaction.ts'
import { type ReportRedactor, createReportRedactor, redactMiss } from '../redaction/report-redactor.ts'
import {
  turnStoreOf,
  type ClientCall,
  type Turns,
  type TurnStore,
  type TurnSummary,
} from '../../tape/turns.ts'
import type { Turn } from '../../tape/turn.ts'

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
  readonly #misses: MissReporter
  readonly #taskStates: TaskStates

  constructor(from: RecordedServerOptions | RecordedServerData) {
    this.#recorded = 'matcher' in from ? from : loadRecordedServer(from)
    const { turns, matcher } = this.#recorded
    this.turns = turns
    this.#matcher = matcher.forNewConnection()
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
      turnsMatching(turns, (summary) => summary.server === server && summary.method === method)
    byMethod.set(method, known)
    return known
  }

  get revision(): DetectedRevision {
    return this.#recorded.revision
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
    return this.#matcher.takeNotification(this.#redactedRequest(notification))
  }

  leftOver(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }

  /** A live message as it is compared and reported: without its secrets, when those of the tape have stand-ins. */
  #redactedRequest({ method, params }: Request | Notification): ClientCall {
    return { server: this.#recorded.server, method, params: this.redaction?.params(params) ?? params }
  }

  /** What came may hold no secret but a stand-in that has no room for a mark, so it is tried as it came, too. */
  #lookup(asked: ClientCall, { params }: Request): MatchOutcome {
    const outcome = this.#matcher.lookup(asked)
    if (outcome.kind === 'hit' || asked.params === params) return outcome
    const asItCame = this.#matcher.lookup({ ...asked, params })
    return asItCame.kind === 'hit' ? asItCame : outcome
  }
}

export interface RecordedServerOptions extends MatchOptions {
  readonly turns: readonly Turn[] | Turns
  /** Which of the tape's servers to be. */
  readonly server: string
  /** The tape as the user named it. */
  readonly tape: string
  /** When the recording began, as in the tape's header. */
  readonly started?: string
  readonly now?: () => number
  /** Those of the options that the user gave for this run. */
  readonly given?: MatchOptions
  /** How the user says the options that would accept a miss. */
  readonly commandFor: (loosening: SuggestedMatchOptions) => string
  /** How the tape was made, when it says. */
  readonly recordCommand?: () => string | undefined
  /** What is done with the secrets of the client, when those of the tape have stand-ins. */
  readonly redaction?: ClientRedaction | undefined
}

/** One server's part of a tape: what all connections that play it share. */
interface RecordedServerData extends Pick<
  RecordedServerOptions,
  'server' | 'tape' | 'started' | 'now' | 'given' | 'commandFor' | 'recordCommand' | 'redaction'
> {
  readonly turns: TurnStore
  readonly opening: readonly Turn[]
  readonly matcher: Matcher
  readonly revision: DetectedRevision
  readonly screen: ReportRedactor | undefined
  /** What was looked for already. */
  readonly byMethod: Map<string, readonly Turn[]>
}

function loadRecordedServer(options: RecordedServerOptions): RecordedServerData {
  const { server } = options
  const turns = turnStoreOf(options.turns)
  const matcher = new Matcher(turns, options)
  const opening = openingTurns(turns, server)
  const byMethod = new Map<string, readonly Turn[]>()
  return {
    given: options,
    ...options,
    turns,
    matcher,
    opening,
    byMethod,
    revision: revisionOfServer(turns, server),
    screen: options.redaction === undefined ? createReportRedactor() : undefined,
  }
}

function openingTurns(turns: TurnStore, server: string): readonly Turn[] {
  return turnsMatching(turns, (summary) => summary.server === server && summary.trigger === 'none')
}

/** The turns that look like that from outside. Where no kind of turn does, none is looked at. */
function turnsMatching(
  turns: TurnStore,
  isMeant: (summary: Pick<TurnSummary, 'server' | 'method' | 'trigger'>) => boolean,
): readonly Turn[] {
  const first = Math.min(
    turns.size,
    ...turns
      .kinds()
      .filter(isMeant)
      .map((kind) => kind.first),
  )
  const found: Turn[] = []
  for (let place = first; place < turns.size; place++) {
    const turn = isMeant(turns.summary(place)) ? turns.at(place) : undefined
    if (turn !== undefined) found.push(turn)
  }
  return found
}

/** What a live request is told that the tape does not answer, with no secret in it. */
class MissReporter {
  readonly #recorded: RecordedServerData
  readonly #matcher: Matcher
  readonly #explainer: MissExplainer

  constructor(recorded: RecordedServerData, matcher: Matcher) {
    this.#recorded = recorded
    this.#matcher = matcher
    this.#explainer = new MissExplainer({ ...recorded, index: matcher })
  }

  /** Of a request, as it is compared and as it came, that was looked for and not found. */
  explain(asked: ClientCall, outcome: Exclude<MatchOutcome, { kind: 'hit' }>, request: Request): Miss {
    const miss = this.#explainer.explain(asked, outcome)
    const { redaction } = this.#recorded
    if (redaction === undefined) return this.#redacted(miss)
    return explainRedactedMiss(miss, redaction, asked.params !== request.params)
  }

  /** One that no other way of matching would answer. */
  withReason(reason: Miss['reason'], why: string, asked: ClientCall): Miss {
    const { tape } = this.#recorded
    const next = this.#matcher.next()
    const nothing = { nearest: [], annotations: [], fixes: [] }
    return this.#redacted({ reason, why, asked, tape, ...nothing, ...(next && { next }) })
  }

  /** The secrets of a redacted tape, and of its live client, have stand-ins already. */
  #redacted(miss: Miss): Miss {
    const { screen } = this.#recorded
    return screen === undefined ? miss : redactMiss(miss, screen)
  }
}
