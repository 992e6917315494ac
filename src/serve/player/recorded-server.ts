import { canonicalJson } from '../../json/canonical.ts'
import { describeRequest } from '../../match/describe-request.ts'
import { Matcher, type MatchOutcome } from '../../match/matcher.ts'
import { type Miss, MissExplainer } from '../../match/miss/miss.ts'
import type { MatchOptions, SuggestedMatchOptions } from '../../match/options.ts'
import type { RecordedRequest } from '../../match/request-groups.ts'
import { isListMethod, isTaskPoll } from '../../match/request-key.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import type { DetectedRevision } from '../../protocol/revisions/index.ts'
import { encodedForms } from '../../redact/secret-values.ts'
import {
  turnLabel,
  type Turn,
  turnStoreOf,
  type ClientCall,
  type Turns,
  type TurnStore,
  type TurnSummary,
} from '../../tape/turns.ts'
import { servedRevision } from '../playable-tape.ts'
import { explainRedactedMiss, type ClientRedaction } from '../redaction/client-redaction.ts'
import { createReportRedactor, redactMiss, type ReportRedactor } from '../redaction/report-redactor.ts'
import { syntheticAnswer, type SyntheticAnswer } from './synthetic-answers.ts'
import { TASK_CHANGE_METHODS, TaskStates } from './task-states.ts'

/** How a live request is answered. */
export type RequestMatch =
  | {
      readonly kind: 'turn'
      readonly turn: Turn
      /** True if the turn was played before. */
      readonly repeated: boolean
      /** The rule or strategy that accepted a request which is not equal to the recorded one. */
      readonly loose?: string
    }
  | ({ readonly kind: 'synthetic'; readonly request: ClientCall } & SyntheticAnswer)
  | { readonly kind: 'miss'; readonly miss: Miss }

export interface RecordedServerOptions extends MatchOptions {
  readonly turns: readonly Turn[] | Turns
  /** The name of the server on the tape. */
  readonly server: string
  /** The tape as the user named it. */
  readonly tape: string
  /** The start of the recording, as in the header of the tape. */
  readonly started?: string
  readonly now?: () => number
  /** Answers a list again with its last recorded page when all are used. */
  readonly repeatsLists?: boolean
  /** The match options that the user gave for this run. */
  readonly given?: MatchOptions
  /** Formats the command with the options that would accept a miss. */
  readonly commandFor: (options: SuggestedMatchOptions) => string | undefined
  /** Returns the command that made the tape, if the tape contains it. */
  readonly recordCommand?: () => string | undefined
  /** Hides the secrets of the client. Only a redacted tape needs it. */
  readonly redaction?: ClientRedaction | undefined
}

/** What all sessions of a recorded server share. */
interface RecordedServerData extends Pick<
  RecordedServerOptions,
  'server' | 'tape' | 'started' | 'now' | 'given' | 'commandFor' | 'recordCommand' | 'redaction'
> {
  readonly turns: TurnStore
  readonly opening: readonly Turn[]
  readonly matcher: Matcher
  readonly revision: DetectedRevision
  readonly redactor: ReportRedactor | undefined
  readonly turnsByMethod: Map<string, readonly Turn[]>
}

/** One server of a tape and what one session has used of it. All recorded connections count as one, in recorded order. */
export class RecordedServer {
  readonly turns: TurnStore
  readonly #data: RecordedServerData
  readonly #matcher: Matcher
  readonly #misses: MissExplainer
  readonly #taskStates: TaskStates

  constructor(from: RecordedServerOptions | RecordedServerData) {
    this.#data = 'matcher' in from ? from : loadRecordedServer(from)
    this.turns = this.#data.turns
    this.#matcher = this.#data.matcher.forNewConnection()
    this.#misses = new MissExplainer({ ...this.#data, matcher: this.#matcher })
    this.#taskStates = new TaskStates((method) => this.turnsOfMethod(method))
  }

  /** The same server for another session, which has used nothing yet. */
  newSession(): RecordedServer {
    return new RecordedServer(this.#data)
  }

  /** The turns that the server began before the first message of the client. */
  openingTurns(): readonly Turn[] {
    return this.#data.opening
  }

  /** The turns whose trigger has this method. */
  turnsOfMethod(method: string): readonly Turn[] {
    const { turns, server, turnsByMethod } = this.#data
    const known =
      turnsByMethod.get(method) ??
      turnsMatching(turns, (summary) => summary.server === server && summary.method === method)
    turnsByMethod.set(method, known)
    return known
  }

  get revision(): DetectedRevision {
    return this.#data.revision
  }

  get redaction(): ClientRedaction | undefined {
    return this.#data.redaction
  }

  /** Hides secrets in reports about a tape that is not redacted. */
  get redactor(): ReportRedactor | undefined {
    return this.#data.redactor
  }

  findMatch(request: Request): RequestMatch {
    const outcome = this.#lookup(request)
    if (outcome.kind === 'hit') return this.#matchFromHit(outcome, request)
    const synthetic = syntheticAnswer(request, this.#data)
    if (synthetic !== undefined)
      return { kind: 'synthetic', request: this.#comparableCall(request), ...synthetic }
    const second = this.#learnSecrets(request) ? this.#lookup(request) : outcome
    if (second.kind === 'hit') return this.#matchFromHit(second, request)
    return { kind: 'miss', miss: this.#explainMiss(request, second) }
  }

  /** Returns the turn that a notification of the client triggers, if it is on the tape. */
  takeNotificationTurn(notification: Notification): Turn | undefined {
    return this.#matcher.takeNotification(this.#comparableCall(notification))
  }

  /** Called when the response of a turn has been sent. */
  markAnswered(turn: Turn): void {
    const trigger = turn.trigger?.message
    if (trigger?.kind === 'request' && TASK_CHANGE_METHODS.includes(trigger.method))
      this.#taskStates.markChanged(turn)
  }

  /** The miss for a request whose turn cannot continue, because the client answered the server differently than on the tape. */
  answerDriftMiss(request: Request, why: string): Miss {
    return this.#missWithReason('ANSWER_DRIFT', why, request)
  }

  leftOver(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }

  /** A placeholder that the client sends back looks like a secret, so the original params are tried as well. */
  #lookup(request: Request): MatchOutcome {
    const call = this.#comparableCall(request)
    const outcome = this.#matcher.lookup(call)
    if (outcome.kind === 'hit' || call.params === request.params) return outcome
    const unredacted = this.#matcher.lookup({ ...call, params: request.params })
    return unredacted.kind === 'hit' ? unredacted : outcome
  }

  /** The form in which a live message is compared and reported: with placeholders if the tape has them. */
  #comparableCall({ method, params }: Request | Notification): ClientCall {
    return { server: this.#data.server, method, params: this.redaction?.params(params) ?? params }
  }

  #matchFromHit(hit: MatchOutcome & { kind: 'hit' }, request: Request): RequestMatch {
    if (isTaskPoll(request.method)) return this.#pollTask(hit, request)
    const isRepeatedList = hit.repeated && isListMethod(request.method)
    return { ...hit, kind: 'turn', turn: isRepeatedList ? responseOnly(hit.turn) : hit.turn }
  }

  /** A client may poll a task at any time. It gets a state that was true at this point of the tape. */
  #pollTask(hit: MatchOutcome & { kind: 'hit' }, request: Request): RequestMatch {
    const turn = this.#taskStates.nextState(hit.turn)
    if (turn !== undefined) return { ...hit, kind: 'turn', turn }
    const change = this.#taskStates.pendingChange(hit.turn)
    const why =
      change?.trigger?.message.kind === 'request'
        ? `the tape has the state of this task only after ${turnLabel(change)} ${describeRequest(change.trigger.message)}`
        : 'the tape has no further state of this task'
    return { kind: 'miss', miss: this.#missWithReason('OUT_OF_ORDER', why, request) }
  }

  /** Learns values as secrets whose placeholders are on the tape although no rule recognizes them. */
  #learnSecrets({ method, params }: Request): boolean {
    let texts: readonly string[] | undefined
    const isOnTape = (placeholder: string): boolean => {
      texts ??= this.#matcher
        .entries()
        .filter(({ request }) => request.method === method)
        .map(({ request }) => canonicalJson(request.params ?? null))
      const forms = encodedForms(placeholder)
      return texts.some((text) => forms.some((form) => text.includes(form)))
    }
    return this.redaction?.placeholders.learn(params, isOnTape) === true
  }

  #explainMiss(request: Request, outcome: Exclude<MatchOutcome, { kind: 'hit' }>): Miss {
    const { redaction } = this.#data
    const call = this.#comparableCall(request)
    const miss = this.#misses.explain(call, outcome)
    if (redaction === undefined) return this.#redactMiss(miss)
    return explainRedactedMiss(miss, redaction, call.params !== request.params)
  }

  /** A miss that no other match options would avoid. */
  #missWithReason(reason: Miss['reason'], why: string, request: Request): Miss {
    const next = this.#matcher.next()
    return this.#redactMiss({
      reason,
      why,
      request: this.#comparableCall(request),
      tape: this.#data.tape,
      nearest: [],
      annotations: [],
      fixes: [],
      ...(next && { next }),
    })
  }

  #redactMiss(miss: Miss): Miss {
    const { redactor } = this.#data
    return redactor === undefined ? miss : redactMiss(miss, redactor)
  }
}

/** A list that is repeated must not announce a change again: the client would list once more, without end. */
function responseOnly(turn: Turn): Turn {
  return { ...turn, steps: turn.steps.filter(({ kind }) => kind === 'respond') }
}

function loadRecordedServer(options: RecordedServerOptions): RecordedServerData {
  const { server } = options
  const turns = turnStoreOf(options.turns)
  return {
    given: options,
    ...options,
    turns,
    matcher: new Matcher(turns, options),
    opening: turnsMatching(turns, (summary) => summary.server === server && summary.trigger === 'none'),
    revision: servedRevision(turns, server),
    redactor: options.redaction === undefined ? createReportRedactor() : undefined,
    turnsByMethod: new Map(),
  }
}

/** If no kind of turn matches, which is the usual case, no turn is read. */
function turnsMatching(
  turns: TurnStore,
  isMatch: (summary: Pick<TurnSummary, 'server' | 'method' | 'trigger'>) => boolean,
): readonly Turn[] {
  const firsts = turns
    .kinds()
    .filter(isMatch)
    .map(({ first }) => first)
  const found: Turn[] = []
  for (let index = Math.min(turns.size, ...firsts); index < turns.size; index++) {
    const turn = isMatch(turns.summary(index)) ? turns.at(index) : undefined
    if (turn !== undefined) found.push(turn)
  }
  return found
}
