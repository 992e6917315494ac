import { type Request, type Id, idToJson } from '../../protocol/message.ts'
import type { ReplayController } from '../control/controller.ts'
import { type PendingEdit, withEdit } from '../control/message-edit.ts'
import { answerTimeout } from '../session/deadlines.ts'
import { callKey, cancelledKey, isCancellation, isNeverAnswered, type PlannedMessage } from '../plan/plan.ts'
import type { InputRounds } from '../session/input-rounds.ts'
import { movedRequests } from '../session/live-notifications.ts'
import type { CallEnd, InterimMessage, LiveCall, LiveSession } from '../session/live-session.ts'
import type { Peer } from '../session/peer.ts'
import { type ReplayStep, RUN_STOPPED } from '../steps/step.ts'
import type { TransformRule } from '../transform/rule.ts'
import {
  applyAnswerRules,
  applyRules,
  shiftTimestamps,
  timestampsIn,
  type TransformedMessage,
} from '../transform/transform.ts'
import type { CarriedValues, UnboundValue } from '../values/carried-values.ts'
import type { BatchMember, Batches } from './batches.ts'
import type { EarlyRequests } from './early-requests.ts'
import type { RequestFaults } from './request-faults.ts'
import { keptId, withFreshIds } from './request-ids.ts'
import { replaceValue } from '../../json/find-replace.ts'
import { member } from '../../json/parse.ts'
import type { Turn } from '../../tape/turns.ts'

/** Everything that sending a message of a run needs. */
export interface SendContext {
  readonly peer: Peer
  readonly values: CarriedValues
  /** The rounds of input of the tape; `undefined` if it has none. */
  readonly rounds: InputRounds | undefined
  readonly cancellations: Cancellations
  readonly early: EarlyRequests
  readonly batches: Batches
  readonly rules: readonly TransformRule[]
  readonly faults: RequestFaults | undefined
  /** Returns the milliseconds to add to timestamps of a message that was sent at this time of the tape. */
  readonly timeShift: ((at: number) => number) | undefined
  /** Milliseconds that an answer may take; `undefined` for the default, which depends on how long it took on the tape. */
  readonly timeout: number | undefined
  /** True if requests are sent with their recorded ids. */
  readonly keepsIds: boolean
  /** How often a request is sent again at most, and the milliseconds between two attempts. */
  readonly maxRetries: number
  readonly retryDelay: number
  /** True if a request without an answer is sent again. */
  readonly retriesLost: boolean
  readonly controller: ReplayController
  readonly now: () => number
}

/** A message of the plan after it was sent, or after it was decided that it is not. */
export type SentMessage = UnsentMessage | SentNotification | SentRequest

interface UnsentMessage {
  readonly kind: 'unsent'
  readonly planned: PlannedMessage
  readonly state: 'skipped' | 'held' | 'unbound'
  readonly why: string
  /** The values that are missing. */
  readonly unbound: readonly UnboundValue[]
}

interface SentNotification {
  readonly kind: 'notified'
  readonly planned: PlannedMessage
  readonly text: string
  readonly sentAt: number
  readonly transformedBy: readonly string[]
}

export interface SentRequest {
  readonly kind: 'requested'
  readonly planned: PlannedMessage
  /** The message before it got its id. */
  readonly message: TransformedMessage
  readonly id: Id
  /** The text that was sent. */
  readonly text: string
  readonly sentAt: number
  readonly end: CallEnd
  readonly endedAt: number | undefined
  /** When the first bytes of the response arrived, if that was asked for. */
  readonly firstByteAt?: number | undefined
  /** Messages that the server sent before its answer. */
  readonly asides: readonly InterimMessage[]
  /** Methods of requests that the server sent at another time than recorded. */
  readonly moved: ReadonlySet<string>
  readonly retries: number
  /** Nothing was sent: the request was made to fail. */
  readonly isInjected?: true
  /** The run waited for an answer, although none was recorded. */
  readonly isAwaited?: boolean
}

/** Sends a message and judges it. A request is sent again while its judgement asks for that. */
export async function sendAndJudge(
  planned: PlannedMessage,
  run: SendContext,
  {
    judge,
    edit,
    isAwaited = false,
  }: {
    readonly judge: (sent: SentMessage) => ReplayStep
    readonly edit: PendingEdit | undefined
    readonly isAwaited?: boolean
  },
): Promise<{ readonly sent: SentMessage; readonly step: ReplayStep }> {
  let sent = withAwaited(await sendMessage(planned, run, edit), isAwaited)
  let step = judge(sent)
  while (sent.kind === 'requested' && shouldRetry(step, run)) {
    if (!(await run.controller.wait(run.retryDelay))) break
    const next = await sendRequest(planned, sent.message, run, { retries: sent.retries + 1 })
    if (next.kind === 'unsent') break // the run was stopped: the last attempt counts
    sent = withAwaited(next, isAwaited)
    step = judge(sent)
  }
  return { sent, step }
}

function withAwaited(sent: SentMessage, isAwaited: boolean): SentMessage {
  return isAwaited && sent.kind === 'requested' ? { ...sent, isAwaited } : sent
}

function shouldRetry(
  { state, findings, retries }: ReplayStep,
  { maxRetries, retriesLost }: SendContext,
): boolean {
  if (retries >= maxRetries) return false
  const isLost = state === 'timeout' || state === 'lost'
  return (retriesLost && isLost) || findings.some(({ retry }) => retry === true)
}

/**
 * Sends a message of the plan and waits for its answer. Rejects only if the server cannot be reached at all.
 *
 * Everything up to the wait for the session runs at once, so that messages of one session are sent in the order of the calls. A
 * message that has to wait for something else is overtaken by those behind it.
 */
export async function sendMessage(
  planned: PlannedMessage,
  run: SendContext,
  edit?: PendingEdit,
): Promise<SentMessage> {
  const { fate } = planned
  if (fate.kind !== 'send') return unsent(planned, fate.kind === 'skip' ? 'skipped' : 'held', fate.why)
  const { text, unbound } = run.values.fill(planned)
  if (edit !== undefined) return sendEdited(planned, run, { edit, unbound })
  if (unbound.length > 0) return unsent(planned, 'unbound', describeUnbound(unbound), unbound)
  const batch = run.batches.memberFor(planned)
  if (batch === undefined) return sendFilled(planned, text, undefined, run)
  try {
    return await sendFilled(planned, text, batch, run)
  } finally {
    batch?.leave(run.peer.openSessionOf(planned.link))
  }
}

/** Sends a message whose values are filled in. */
async function sendFilled(
  planned: PlannedMessage,
  text: string,
  batch: BatchMember | undefined,
  run: SendContext,
): Promise<SentMessage> {
  const completed = run.rounds?.complete(planned.turn, text) ?? text
  const made = applyRules(typeof completed === 'string' ? completed : await completed, planned, run.rules)
  if (made.delay > 0 && !(await run.controller.wait(made.delay))) return skippedByStop(planned)
  const message = withShiftedTimes(made, text, planned, run)
  return planned.message.kind === 'request'
    ? sendRequest(planned, message, run, { batch })
    : sendNotification(planned, message, run, batch)
}

/** Sends a message that the user has changed. It is sent alone, even if it was part of a batch. */
async function sendEdited(
  planned: PlannedMessage,
  run: SendContext,
  { edit, unbound }: { readonly edit: PendingEdit; readonly unbound: readonly UnboundValue[] },
): Promise<SentMessage> {
  if (unbound.length > 0 && edit.text === undefined)
    return unsent(planned, 'unbound', describeUnbound(unbound), unbound)
  const made = withEdit(previewMessage(planned, run), edit)
  if (made.delay > 0 && !(await run.controller.wait(made.delay))) return skippedByStop(planned)
  return planned.message.kind === 'request'
    ? sendRequest(planned, made, run, {})
    : sendNotification(planned, made, run, undefined)
}

/** Sends a message again that was sent before. */
export async function sendAgain(
  planned: PlannedMessage,
  run: SendContext,
  edit: PendingEdit | undefined,
): Promise<SentMessage> {
  const { unbound } = run.values.fill(planned)
  if (unbound.length > 0 && edit?.text === undefined)
    return unsent(planned, 'unbound', describeUnbound(unbound), unbound)
  const made = withEdit(previewMessage(planned, run), edit)
  return planned.message.kind === 'request'
    ? withAwaited(
        await sendRequest(planned, made, run, { retries: 1, isExtra: true }),
        isNeverAnswered(planned),
      )
    : sendNotification(planned, made, run, undefined)
}

/** Returns the text that `sendAndJudge` would send now, except for its id; `undefined` if a value is missing. */
export function previewText(planned: PlannedMessage, run: SendContext): string | undefined {
  const { text, unbound } = run.values.fill(planned)
  return unbound.length > 0 ? undefined : previewMessage(planned, run, text).text
}

/** The message that would be sent now. Values that are not known are the recorded ones. */
function previewMessage(
  planned: PlannedMessage,
  run: SendContext,
  text: string = run.values.fill(planned).text,
): TransformedMessage {
  return withShiftedTimes(applyRules(text, planned, run.rules), text, planned, run)
}

/** A message that is not sent. */
export function unsent(
  planned: PlannedMessage,
  state: UnsentMessage['state'],
  why: string,
  unbound: readonly UnboundValue[] = [],
): UnsentMessage {
  return { kind: 'unsent', planned, state, why, unbound }
}

function skippedByStop(planned: PlannedMessage): UnsentMessage {
  return unsent(planned, 'skipped', RUN_STOPPED)
}

function describeUnbound(unbound: readonly UnboundValue[]): string {
  return unbound.map(({ path, recorded, why }) => `${path} = ${JSON.stringify(recorded)}: ${why}`).join('; ')
}

/** Shifts the timestamps of the recording. Those that were carried into `filled` or set by a rule are current already. */
function withShiftedTimes(
  made: TransformedMessage,
  filled: string,
  { at, text: recorded }: PlannedMessage,
  { timeShift }: SendContext,
): TransformedMessage {
  if (timeShift === undefined) return made
  const current = new Set(made.setTimes)
  if (filled !== recorded) {
    const before = timestampsIn(recorded)
    for (const time of timestampsIn(filled)) if (!before.has(time)) current.add(time)
  }
  return { ...made, text: shiftTimestamps(made.text, timeShift(at), current) }
}

async function sendNotification(
  planned: PlannedMessage,
  { text, applied: transformedBy }: TransformedMessage,
  run: SendContext,
  batch: BatchMember | undefined,
): Promise<SentMessage> {
  const session = await run.peer.sessionOf(planned.link)
  if (isStopped(run)) return skippedByStop(planned)
  if (!isCancellation(planned)) {
    if (batch === undefined) session.send(text)
    else batch.send(session, text)
    return { kind: 'notified', planned, text, sentAt: run.now(), transformedBy }
  }
  const cancelled = await run.cancellations.requestCancelledBy(planned)
  if (cancelled === 'over')
    return unsent(planned, 'skipped', 'the request that it cancels was already answered')
  if (cancelled === undefined) return unsent(planned, 'skipped', 'the request that it cancels was not sent')
  const { call, turn } = cancelled
  const renamed = replaceValue(text, ['params', 'requestId'], idToJson(call.id))
  if (!session.abort(call.id)) session.send(renamed) // closing its stream, where it has one, cancels a request
  if (turn.response === undefined) call.release()
  return { kind: 'notified', planned, text: renamed, sentAt: run.now(), transformedBy }
}

/** The number of earlier attempts to send a request, whether the user asked for it, and the batch that it is a part of. */
interface Attempt {
  readonly retries?: number
  readonly isExtra?: boolean
  readonly batch?: BatchMember | undefined
}

async function sendRequest(
  planned: PlannedMessage,
  message: TransformedMessage,
  run: SendContext,
  attempt: Attempt,
): Promise<SentMessage> {
  const { retries = 0 } = attempt
  const starting = startRequest(planned, message, run, attempt)
  if (attempt.isExtra !== true) run.cancellations.add(planned, starting)
  const started = await starting
  if (started === undefined) return skippedByStop(planned)
  if (started.kind === 'injected') {
    const { id, text, sentAt, end } = started
    const [asides, moved] = [NO_ASIDES, NO_METHODS]
    return {
      kind: 'requested',
      planned,
      message,
      id,
      text,
      sentAt,
      end,
      endedAt: sentAt,
      asides,
      moved,
      retries,
      isInjected: true,
    }
  }
  const { call, session } = started
  const ended = await call.ended
  // A request that was never answered on the tape may stay without an answer.
  const isOpen = ended.kind === 'timeout' && isNeverAnswered(planned)
  const end: CallEnd = isOpen ? { kind: 'open', after: ended.after } : withAnswerRules(planned, ended, run)
  if (call.isOver && attempt.isExtra !== true) run.cancellations.finish(planned)
  const { id, text, sentAt, firstByteAt, asides } = call
  const endedAt = isOpen ? undefined : call.endedAt
  if (end.kind === 'answered') {
    run.rounds?.learn(planned.turn, end.text)
    run.values.learn(
      planned,
      asides.length === 0 ? [end.text] : [...asides.map((aside) => aside.text), end.text],
    )
  }
  const isQuiet = asides.length === 0 && !planned.turn.steps.some(isServerRequest)
  const moved = isQuiet ? NO_METHODS : await movedRequests(planned, asides, session.notifications)
  return {
    kind: 'requested',
    planned,
    message,
    id,
    text,
    sentAt,
    end,
    endedAt,
    firstByteAt,
    asides,
    moved,
    retries,
  }
}

const NO_ASIDES: readonly InterimMessage[] = []
const NO_METHODS: ReadonlySet<string> = new Set()

function isServerRequest({ kind }: Turn['steps'][number]): boolean {
  return kind === 'ask'
}

type StartedRequest =
  | { readonly kind: 'started'; readonly call: LiveCall; readonly session: LiveSession }
  | (Pick<SentRequest, 'id' | 'text' | 'sentAt' | 'end'> & {
      readonly kind: 'injected'
      readonly call?: undefined
    })

/** Gives a request its id and sends it, unless a fault takes its place. Returns `undefined` if the run was stopped. */
async function startRequest(
  planned: PlannedMessage,
  made: TransformedMessage,
  run: SendContext,
  { retries = 0, isExtra, batch }: Attempt,
): Promise<StartedRequest | undefined> {
  const session = await run.peer.sessionOf(planned.link)
  if (isStopped(run)) return undefined
  const { message, turn } = planned
  const recordedId = message.kind === 'request' ? message.id : 0
  const isAnother = retries > 0 || made.isRenewed === true
  const early = isAnother || made.id !== undefined ? undefined : run.early.take(turn, made.text)
  if (early !== undefined) return { kind: 'started', call: early, session }
  const id = made.id ?? (run.keepsIds ? keptId(recordedId, session, isAnother) : session.nextId())
  const { text, token } = withFreshIds(made.text, id)
  const end =
    made.error === undefined
      ? run.faults && (await run.faults.endOf(planned, idToJson(id), (ms) => run.controller.wait(ms)))
      : errorAnswer(id, made.error)
  if (end !== undefined) return { kind: 'injected', id, text, end, sentAt: run.now() }
  if (isStopped(run)) return undefined
  const expected = turn.response && { text: turn.response.text, id: idToJson(recordedId) }
  const isCancelled = isExtra !== true && run.cancellations.has(planned)
  const timeout = isCancelled ? Infinity : answerTimeout(run.timeout, turn)
  const parsed = made.text === planned.text ? requestWithId(message, id) : undefined
  const call = session.request({ text, id, token, timeout, expected, message: parsed, batch, isExtra })
  return { kind: 'started', call, session }
}

function isStopped({ controller }: SendContext): boolean {
  return controller.status === 'stopped'
}

// The members are listed because spreading the message costs more than everything else that is done for a request.
function requestWithId({ method, params }: PlannedMessage['message'], id: Id): Request {
  return { kind: 'request', id, method, params }
}

function errorAnswer(id: Id, error: NonNullable<TransformedMessage['error']>): CallEnd {
  return { kind: 'answered', text: JSON.stringify({ jsonrpc: '2.0', id, error }), asRecorded: false }
}

function withAnswerRules(
  { index, tool, message }: PlannedMessage,
  end: CallEnd,
  { rules }: SendContext,
): CallEnd {
  if (end.kind !== 'answered' || rules.length === 0) return end
  const text = applyAnswerRules(end.text, { index, tool, message }, rules)
  return text === end.text ? end : { kind: 'answered', text, asRecorded: false }
}

/** A request that was sent, or is about to be sent. */
interface CancellableRequest {
  readonly turn: Turn
  /** Has no call if the request was not sent. */
  readonly started: Promise<{ readonly call?: LiveCall | undefined } | undefined>
}

/** The live calls of requests that the tape cancels: a cancellation names them by their recorded ids. */
export class Cancellations {
  readonly #cancelled: ReadonlySet<string>
  readonly #requests = new Map<string, CancellableRequest | 'over'>()

  /** `cancelled` are the requests that are cancelled anywhere on the tape, by `cancelledKey`. Most tapes have none. */
  constructor(cancelled: ReadonlySet<string>) {
    this.#cancelled = cancelled
  }

  add(planned: PlannedMessage, started: CancellableRequest['started']): void {
    const key = this.#keyOf(planned)
    if (key !== undefined) this.#requests.set(key, { turn: planned.turn, started })
  }

  /** Returns true if the tape cancels this request. */
  has(planned: PlannedMessage): boolean {
    return this.#keyOf(planned) !== undefined
  }

  /** Forgets the texts of a request that has ended, but not that it was sent. */
  finish(planned: PlannedMessage): void {
    const key = this.#keyOf(planned)
    if (key !== undefined) this.#requests.set(key, 'over')
  }

  /** Returns the request that a message cancels; `undefined` if that was not sent. */
  async requestCancelledBy(
    planned: PlannedMessage,
  ): Promise<{ readonly call: LiveCall; readonly turn: Turn } | 'over' | undefined> {
    const request = this.#cancelledBy(planned)
    if (request === undefined || request === 'over') return request
    const call = (await request.started)?.call
    if (call === undefined) return undefined
    return call.isOver ? 'over' : { call, turn: request.turn }
  }

  /** Waits until a request has reported as much progress as it had on the tape when it was cancelled. */
  async waitForProgress(planned: PlannedMessage, milliseconds: number): Promise<void> {
    const request = this.#cancelledBy(planned)
    if (request === undefined || request === 'over') return
    const count = recordedProgressBefore(request.turn, planned.turn.trigger?.n ?? 0)
    await (await request.started)?.call?.waitForProgress(count, milliseconds)
  }

  #keyOf({ message, link }: PlannedMessage): string | undefined {
    if (this.#cancelled.size === 0 || message.kind !== 'request') return undefined
    const key = callKey(link, message.id)
    return this.#cancelled.has(key) ? key : undefined
  }

  #cancelledBy({ message, link }: PlannedMessage): CancellableRequest | 'over' | undefined {
    const key = cancelledKey(link, message)
    return key === undefined ? undefined : this.#requests.get(key)
  }
}

function recordedProgressBefore({ steps }: Turn, n: number): number {
  return steps.filter(
    (step) =>
      step.kind === 'notify' &&
      step.message.n < n &&
      member(step.message.message, 'method') === 'notifications/progress',
  ).length
}
