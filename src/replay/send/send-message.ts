import { findRange, replaceValue } from '../../json/find-replace.ts'
import { type Id, idToJson, type Request, META_KEYS } from '../../protocol/message.ts'
import { replaceId } from '../../protocol/find-id.ts'
import type { ReplayController } from '../controller.ts'
import { movedRequests } from '../judge/order.ts'
import { isCancellation, isNeverAnswered, type PlannedMessage, RUN_STOPPED } from '../plan/plan.ts'
import type { InputRounds } from '../session/input-rounds.ts'
import type { CallEnd, InterimMessage, LiveCall } from '../session/live-calls.ts'
import { SERVER_GRACE } from '../session/live-notifications.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { TransformRule } from '../transform/rule.ts'
import {
  applyAnswerRules,
  applyRules,
  shiftTimestamps,
  type TransformedMessage,
} from '../transform/transform.ts'
import type { CarriedValues, UnboundValue } from '../values/carried-values.ts'
import type { Cancellations } from './cancellations.ts'
import type { RequestFaults } from './request-faults.ts'

/** Everything that sending a message of a run needs. */
export interface SendContext {
  /** Opens the session of a connection of the tape, or returns the open one. */
  readonly sessionOf: (link: string) => Promise<LiveSession>
  readonly values: CarriedValues
  readonly rounds: InputRounds
  readonly cancellations: Cancellations
  readonly rules: readonly TransformRule[]
  readonly faults?: RequestFaults | undefined
  /** Returns the milliseconds to add to timestamps of a message that was sent at this time of the tape. */
  readonly timeShift?: ((at: number) => number) | undefined
  /** Milliseconds that an answer may take. */
  readonly timeout: number
  /** Whether requests are sent with their recorded ids. */
  readonly keepsIds: boolean
  readonly controller: Pick<ReplayController, 'status' | 'wait'>
  readonly now: () => number
}

/** A message of the plan after it was sent, or after it was decided that it is not. */
export type SentMessage = UnsentMessage | SentNotification | SentRequest

export interface UnsentMessage {
  readonly kind: 'unsent'
  readonly planned: PlannedMessage
  readonly state: 'skipped' | 'held' | 'unbound'
  readonly why: string
  /** The values that are missing. */
  readonly unbound: readonly UnboundValue[]
}

export interface SentNotification {
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
  /** Messages that the server sent before its answer. */
  readonly asides: readonly InterimMessage[]
  /** Methods of requests that the server sent at another time than recorded. */
  readonly moved: ReadonlySet<string>
  readonly retries: number
  /** Nothing was sent: the request was made to fail. */
  readonly isInjected?: true
}

/** Sends a message of the plan and waits for its answer. Rejects only if the server cannot be reached at all. */
// Everything up to the wait for the session runs at once, so that messages of one session are sent in the order of the calls.
// A message that has to wait for something else is passed by those behind it.
export async function sendMessage(planned: PlannedMessage, run: SendContext): Promise<SentMessage> {
  const { fate, turn } = planned
  if (fate.kind !== 'send') return unsent(planned, fate.kind === 'skip' ? 'skipped' : 'held', fate.why)
  const { text, unbound } = run.values.fill(planned)
  if (unbound.length > 0) return unsent(planned, 'unbound', describeUnbound(unbound), unbound)
  const completed = run.rounds.complete(turn, text)
  const made = applyRules(typeof completed === 'string' ? completed : await completed, planned, run.rules)
  if (made.delay > 0 && !(await run.controller.wait(made.delay))) return skippedByStop(planned)
  const message = withShiftedTimes(made, planned, run)
  return planned.message.kind === 'request'
    ? sendRequest(planned, message, run)
    : sendNotification(planned, message, run)
}

/** Sends a request again: the same text with another id. */
export function resendRequest(
  { planned, message, retries }: SentRequest,
  run: SendContext,
): Promise<SentMessage> {
  return sendRequest(planned, message, run, retries + 1)
}

/** What `sendMessage` would send now, except for its id; `undefined` if a value is missing. */
export function previewText(planned: PlannedMessage, run: SendContext): string | undefined {
  const { text, unbound } = run.values.fill(planned)
  if (unbound.length > 0) return undefined
  return withShiftedTimes(applyRules(text, planned, run.rules), planned, run).text
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

function withShiftedTimes(
  made: TransformedMessage,
  { at }: PlannedMessage,
  { timeShift }: SendContext,
): TransformedMessage {
  return timeShift === undefined ? made : { ...made, text: shiftTimestamps(made.text, timeShift(at)) }
}

async function sendNotification(
  planned: PlannedMessage,
  message: TransformedMessage,
  run: SendContext,
): Promise<SentMessage> {
  const session = await run.sessionOf(planned.link)
  if (run.controller.status === 'stopped') return skippedByStop(planned)
  if (isCancellation(planned)) return sendCancellation(planned, message, session, run)
  session.send(message.text)
  return notified(planned, message, run)
}

/** Cancels a live request: by closing its stream where it has one, and by a notification elsewhere. */
async function sendCancellation(
  planned: PlannedMessage,
  message: TransformedMessage,
  session: LiveSession,
  run: SendContext,
): Promise<SentMessage> {
  const cancelled = await run.cancellations.requestCancelledBy(planned)
  if (cancelled === 'over')
    return unsent(planned, 'skipped', 'the request that it cancels was already answered')
  if (cancelled === undefined) return unsent(planned, 'skipped', 'the request that it cancels was not sent')
  const { call, turn } = cancelled
  const text = replaceValue(message.text, ['params', 'requestId'], idToJson(call.id))
  if (!session.abort(call.id)) session.send(text)
  if (turn.response === undefined) call.release()
  return notified(planned, { ...message, text }, run)
}

function notified(
  planned: PlannedMessage,
  { text, applied }: TransformedMessage,
  { now }: SendContext,
): SentNotification {
  return { kind: 'notified', planned, text, sentAt: now(), transformedBy: applied }
}

async function sendRequest(
  planned: PlannedMessage,
  message: TransformedMessage,
  run: SendContext,
  retries = 0,
): Promise<SentMessage> {
  const starting = startRequest(planned, message, run, retries)
  run.cancellations.add(planned, starting)
  const started = await starting
  if (started === undefined) return skippedByStop(planned)
  if (started.kind === 'injected')
    return { ...started, kind: 'requested', planned, message, retries, isInjected: true }
  const { call, session } = started
  const end = withAnswerRules(planned, await call.ended, run)
  if (call.isOver) run.cancellations.finish(planned)
  const { id, text, sentAt, endedAt, asides } = call
  if (end.kind === 'answered') learnFromAnswer(planned, end.text, asides, run)
  const moved =
    asides.length === 0 && !planned.turn.steps.some(isServerRequest)
      ? NO_METHODS
      : await movedRequests(planned, asides, { heard: session.notifications, grace: SERVER_GRACE })
  return { kind: 'requested', planned, message, id, text, sentAt, end, endedAt, asides, moved, retries }
}

type StartedRequest =
  | { readonly kind: 'started'; readonly call: LiveCall; readonly session: LiveSession }
  | (Pick<SentRequest, 'id' | 'text' | 'sentAt' | 'end' | 'endedAt' | 'asides' | 'moved'> & {
      readonly kind: 'injected'
      readonly call?: undefined
    })

/** Gives a request its id and sends it, unless a fault takes its place; `undefined` if the run was stopped. */
async function startRequest(
  planned: PlannedMessage,
  made: TransformedMessage,
  run: SendContext,
  retries: number,
): Promise<StartedRequest | undefined> {
  const session = await run.sessionOf(planned.link)
  if (isStopped(run)) return undefined
  const { message, turn } = planned
  const recordedId = message.kind === 'request' ? message.id : 0
  const isAnother = retries > 0 || made.isRenewed === true
  const id = made.id ?? (run.keepsIds ? keptId(recordedId, session, isAnother) : session.nextId())
  const { text, token } = withFreshIds(made.text, id)
  const end =
    made.error === undefined
      ? run.faults && (await run.faults.endOf(planned, idToJson(id), (ms) => run.controller.wait(ms)))
      : errorAnswer(id, made.error)
  if (end !== undefined) return injected({ id, text, end, sentAt: run.now() })
  if (isStopped(run)) return undefined
  const expected = turn.response && { text: turn.response.text, id: idToJson(recordedId) }
  const timeout = isNeverAnswered(planned) ? Infinity : run.timeout
  const parsed = made.text === planned.text ? requestWithId(message, id) : undefined
  const call = session.request({ text, id, token, timeout, expected, message: parsed })
  return { kind: 'started', call, session }
}

function isStopped({ controller }: SendContext): boolean {
  return controller.status === 'stopped'
}

/** The recorded id, unless it is in use: connections of a tape may share a session. */
function keptId(recorded: Id, session: LiveSession, isAnother: boolean): Id {
  if (!isAnother && !session.hasOpen(recorded)) return recorded
  return `__again_${session.nextId()}__` // a number might be the recorded id of another request
}

// The members are listed because spreading the message costs more than everything else that is done for a request.
function requestWithId({ method, params }: PlannedMessage['message'], id: Id): Request {
  return { kind: 'request', id, method, params }
}

function errorAnswer(id: Id, error: NonNullable<TransformedMessage['error']>): CallEnd {
  return { kind: 'answered', text: JSON.stringify({ jsonrpc: '2.0', id, error }), asRecorded: false }
}

function injected(fault: Pick<SentRequest, 'id' | 'text' | 'end' | 'sentAt'>): StartedRequest {
  return { kind: 'injected', ...fault, endedAt: fault.sentAt, asides: [], moved: NO_METHODS }
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

function learnFromAnswer(
  planned: PlannedMessage,
  answer: string,
  asides: readonly InterimMessage[],
  { rounds, values }: SendContext,
): void {
  rounds.learn(planned.turn, answer)
  values.learn(planned, asides.length === 0 ? [answer] : [...asides.map(({ text }) => text), answer])
}

const NO_METHODS: ReadonlySet<string> = new Set()

function isServerRequest({ kind }: PlannedMessage['turn']['steps'][number]): boolean {
  return kind === 'ask'
}

/** Puts an id into a request, also in the place of its progress token: recorded ones may be in use. */
export function withFreshIds(
  text: string,
  id: Id,
): { readonly text: string; readonly token: Id | undefined } {
  const named = replaceId(text, idToJson(id))
  if (!text.includes(META_KEYS.progressToken) || findRange(named, PROGRESS_TOKEN_PATH) === undefined)
    return { text: named, token: undefined }
  return { text: replaceValue(named, PROGRESS_TOKEN_PATH, idToJson(id)), token: id }
}

const PROGRESS_TOKEN_PATH = ['params', '_meta', META_KEYS.progressToken]
