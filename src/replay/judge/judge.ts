import type { ValueLocation } from '../../bindings/binding.ts'
import { withRecordedInputs } from '../../bindings/carry/input-names.ts'
import { writeLocation } from '../../bindings/location.ts'
import { createDiffer } from '../../diff/diff.ts'
import type { Difference } from '../../diff/difference.ts'
import { member, parseJson } from '../../json/parse.ts'
import type { JsonPath } from '../../json/path.ts'
import { classifyMessage, type Notification, type Request, type Response } from '../../protocol/message.ts'
import type { SentMessage, SentRequest } from '../send/send-message.ts'
import { callKey } from '../plan/plan.ts'
import type { CallEnd, InterimMessage } from '../session/live-session.ts'
import {
  type AcceptedAnswer,
  emptyStep,
  NO_FINDINGS,
  NO_NAMES,
  type ReplayStep,
  type StepFinding,
  type StepState,
  STOPPED_BEFORE_ANSWER,
} from '../steps/step.ts'
import { liveObservation, observationText } from '../steps/observed-notifications.ts'
import type { CarriedValues, UnboundValue } from '../values/carried-values.ts'
import { findRange, decodeLeaf, replaceValue } from '../../json/find-replace.ts'
import type { Turn, TurnStep } from '../../tape/turns.ts'

/** Checks one aspect of an answer. */
export interface Judge {
  judge(answer: JudgedAnswer): readonly StepFinding[]
  /** If this judge finds something, the answers are of different kinds and the judges after it have nothing to compare. */
  readonly isFinal?: true
}

/** A live answer and the recorded one. */
export interface JudgedAnswer {
  readonly turn: Turn
  readonly tool: string | undefined
  readonly end: CallEnd
  readonly live: Response | undefined
  readonly recorded: Response | undefined
  readonly asides: readonly InterimMessage[]
  /** Methods of requests that the server sent at another time than recorded. */
  readonly moved: ReadonlySet<string>
  /** Milliseconds, from the request to the answer. */
  readonly duration: number | undefined
  readonly recordedDuration: number | undefined
}

/** The judges of a run. */
export interface Judges {
  /** In the order in which they check an answer; empty if answers are not compared. */
  readonly list: readonly Judge[]
  /** True if warnings count as errors. */
  readonly isStrict: boolean
  readonly values: CarriedValues
  /** Index of the first message that is held back; `Infinity` if none is. The state of the server differs from there on. */
  readonly firstHeld?: number
  /** The requests that are cancelled anywhere on the tape, by `callKey`. */
  readonly cancelled?: ReadonlySet<string>
  readonly rules: {
    /** Names of the rules that compare the values of an answer. */
    namesFor(answer: JudgedAnswer): readonly string[]
    /** The differences between two values that are not noise. */
    differences(expected: unknown, actual: unknown): readonly Difference[]
  }
}

/** Makes the step of a message, with what the judges find in its answer. */
export function judgeMessage(sent: SentMessage, judges: Judges): ReplayStep {
  switch (sent.kind) {
    case 'unsent':
      return {
        ...emptyStep(sent.planned),
        state: sent.state,
        why: sent.why,
        findings: sent.unbound.map(unboundFinding),
      }
    case 'notified':
      return {
        ...emptyStep(sent.planned),
        sent: sent.text,
        sentAt: sent.sentAt,
        transformedBy: sent.transformedBy,
      }
    case 'requested':
      return judgeRequest(sent, judges)
  }
}

function unboundFinding({ path, recorded, why, isProducerMissing }: UnboundValue): StepFinding {
  const message = `UNBOUND_HANDLE: ${why}`
  return { layer: 'values', level: isProducerMissing ? 'warn' : 'error', message, path, expected: recorded }
}

// The members are listed because spreading an empty step costs time on every request.
function judgeRequest(sent: SentRequest, judges: Judges): ReplayStep {
  const { planned, end, asides, moved, sentAt, endedAt, isInjected } = sent
  const { turn, tool, message: recorded } = planned
  const duration = endedAt === undefined ? undefined : endedAt - sentAt
  const answer = toJudgedAnswer({ turn, tool, end, asides, moved, duration })
  const isJudged = judges.list.length > 0 && end.kind !== 'given-up'
  const found = isJudged ? findingsIn(answer, judges, sent.isAwaited) : NO_FINDINGS
  const isComparable = found.length === 0 || !dependsOnHeldCall(planned, judges)
  const findings = isComparable ? found : found.map(asNotComparable)
  // An answer that is not a response, or that was made by a fault, must not be written to the tape.
  const isReal = answer.live !== undefined && isInjected !== true
  const acceptable =
    end.kind === 'answered' && isReal && findings.length > 0
      ? acceptedAnswer(turn, end.text, judges.values)
      : undefined
  return {
    index: planned.index,
    frame: turn.trigger?.n ?? 0,
    exchange: turn.exchange,
    method: recorded.method,
    recordedId: recorded.kind === 'request' ? recorded.id : undefined,
    tool,
    state: STATES[end.kind],
    why: withInjectedPrefix(reasonOf(sent), isInjected),
    sent: sent.text,
    answer: end.kind === 'answered' ? end.text : undefined,
    recordedAnswer: turn.response?.text,
    ...(asides.length > 0 && { notifications: observationText(liveObservation(asides)) }),
    sentAt,
    duration,
    recordedDuration: answer.recordedDuration,
    retries: sent.retries,
    ...(isInjected && { isInjected }),
    ...(isErrorResponse(answer.live) && { isError: true }),
    ...(isUnrecorded(planned, judges) && { isUnrecorded: true }),
    findings: isInjected ? findings.map(asInjected) : findings,
    judgedBy: isJudged ? judges.rules.namesFor(answer) : NO_NAMES,
    transformedBy: sent.message.applied,
    ...(acceptable && { acceptable }),
  }
}

/** Cancelled requests and subscriptions get no response in any case. */
function isUnrecorded({ turn, message, link }: SentMessage['planned'], { cancelled }: Judges): boolean {
  if (turn.response !== undefined || message.kind !== 'request') return false
  return message.method !== 'subscriptions/listen' && cancelled?.has(callKey(link, message.id)) !== true
}

/** Returns true if a response may differ because an earlier call was not sent. Lists of tools and prompts do not depend on calls. */
function dependsOnHeldCall(
  { index, message }: SentMessage['planned'],
  { firstHeld = Infinity }: Judges,
): boolean {
  return (
    index > firstHeld && /^(tools\/call|resources\/(list|read)|completion\/complete)$/.test(message.method)
  )
}

function asNotComparable(finding: StepFinding): StepFinding {
  const isOfState = finding.layer === 'values' || finding.layer === 'json-rpc' || finding.layer === 'is-error'
  if (!isOfState || finding.level !== 'error') return finding
  return {
    ...finding,
    level: 'skip',
    message: `not comparable, because an earlier call was not sent: ${finding.message}`,
  }
}

export function toJudgedAnswer({
  turn,
  tool,
  end,
  asides,
  moved,
  duration,
}: Pick<JudgedAnswer, 'turn' | 'tool' | 'end' | 'asides' | 'moved' | 'duration'>): JudgedAnswer {
  const { trigger, response } = turn
  const recorded = response?.message.kind === 'response' ? response.message : undefined
  const live = liveAnswer(end, recorded)
  const recordedDuration =
    response === undefined || trigger === undefined ? undefined : response.t - trigger.t
  return { turn, tool, end, asides, moved, duration, live, recorded, recordedDuration }
}

// An answer with the recorded bytes has the recorded meaning, so it is not parsed again.
function liveAnswer(end: CallEnd, recorded: Response | undefined): Response | undefined {
  if (end.kind !== 'answered') return undefined
  if (end.asRecorded) return recorded
  const message = classifyMessage(parseJson(end.text))
  return message.kind === 'response' ? message : undefined
}

function findingsIn(
  answer: JudgedAnswer,
  { list, isStrict }: Judges,
  isAwaited: boolean | undefined,
): readonly StepFinding[] {
  let found = isAwaited === true ? unrecordedAnswer(answer) : NO_FINDINGS
  for (const judge of list) {
    const more = judge.judge(answer)
    if (more.length === 0) continue
    found = found.length === 0 ? more : [...found, ...more]
    if (judge.isFinal === true) break
  }
  return isStrict ? found.map(asError) : found
}

/** Only a run that waits for such an answer reports it: in other runs, it depends on the time whether the answer is seen. */
function unrecordedAnswer({ end, turn }: JudgedAnswer): readonly StepFinding[] {
  if (end.kind !== 'answered') return NO_FINDINGS
  const message =
    turn.cut === undefined ? 'no response was recorded' : 'only the beginning of the response was recorded'
  return [{ layer: 'transport', level: 'skip', message }]
}

function asError(finding: StepFinding): StepFinding {
  return finding.level === 'warn' ? { ...finding, level: 'error' } : finding
}

const STATES: Readonly<Record<CallEnd['kind'], StepState>> = {
  answered: 'done',
  open: 'done',
  timeout: 'timeout',
  lost: 'lost',
  'given-up': 'lost',
}

function reasonOf({ end, isAwaited }: SentRequest): string | undefined {
  if (end.kind === 'lost') return end.why
  if (end.kind === 'given-up') return STOPPED_BEFORE_ANSWER
  if (end.kind === 'open' && end.after !== undefined && isAwaited === true)
    return `no answer within ${end.after} ms; the tape has none either`
  return end.kind === 'timeout' ? `no answer within ${end.after} ms` : undefined
}

function asInjected(finding: StepFinding): StepFinding {
  return { ...finding, message: withInjectedPrefix(finding.message, true) }
}

function withInjectedPrefix<Text extends string | undefined>(
  text: Text,
  isInjected: true | undefined,
): Text | string {
  return isInjected && text !== undefined ? `injected: ${text}` : text
}

/** Makes the text that `verify --update` writes: the live answer with the recorded id and recorded handles. An item of a batch has no frame, so it cannot be accepted. */
function acceptedAnswer(
  { response }: Turn,
  answer: string,
  values: CarriedValues,
): AcceptedAnswer | undefined {
  if (response === undefined || response.item !== undefined) return undefined
  const id = findRange(response.text, ['id'])
  const named = withRecordedInputs(response.text, answer)
  const text = replaceValue(named, ['id'], response.text.slice(id?.start, id?.end))
  return { frame: response.n, text: values.recorded(withRecordedValues(text, response.text, values)) }
}

/** Restores the recorded values where the live ones are carried values. */
function withRecordedValues(live: string, recorded: string, values: CarriedValues): string {
  return DIFFER.texts(recorded, live).reduce((text, { kind, path, expected, actual }) => {
    const isCarried = kind === 'changed' && values.explains(expected, actual, path)
    return isCarried ? (writeLocation(text, locationOf(text, path), String(expected)) ?? text) : text
  }, live)
}

const DIFFER = createDiffer({ order: 'kept' })

/** Splits a path that leads into JSON inside of strings into its parts. */
function locationOf(text: string, path: JsonPath): ValueLocation {
  for (let end = path.length; end > 0; end--) {
    const range = findRange(text, path.slice(0, end))
    if (range === undefined) continue
    if (end === path.length) return { path, inside: [] }
    const inner = locationOf(decodeLeaf(text, range), path.slice(end))
    return { path: path.slice(0, end), inside: [{ kind: 'json', path: inner.path }, ...inner.inside] }
  }
  return { path, inside: [] }
}

/** Returns true if the answer has the recorded bytes, except for its id. */
export function isAsRecorded({ end, live }: JudgedAnswer): boolean {
  return end.kind === 'answered' && end.asRecorded && live !== undefined
}

/** The method of the request of a turn. */
export function methodOfTurn({ trigger }: Turn): string {
  return trigger !== undefined && 'method' in trigger.message ? trigger.message.method : 'undefined'
}

/** The result of a response; `undefined` if it is an error. */
export function resultOfResponse(response: Response | undefined): unknown {
  return response !== undefined && 'result' in response.outcome ? response.outcome.result : undefined
}

/** Returns true for a JSON-RPC error, and for the result of a tool that failed. */
function isErrorResponse(response: Response | undefined): boolean {
  if (response === undefined) return false
  return 'error' in response.outcome || member(response.outcome.result, 'isError') === true
}

export function errorOfResponse(response: Response | undefined): unknown {
  return response !== undefined && 'error' in response.outcome ? response.outcome.error : undefined
}

/** The result or error of an answer as an object with one member, so that paths begin with `result` or `error`. */
export function outcomeText(text: string): string | undefined {
  for (const name of ['result', 'error']) {
    const range = findRange(text, [name])
    if (range !== undefined) return `{"${name}":${text.slice(range.start, range.end)}}`
  }
  return undefined
}

/** The request or notification of the recorded server in a step; empty for its answer. */
export function serverMessagesIn(step: TurnStep): readonly (Request | Notification)[] {
  if (step.kind === 'respond') return []
  const { message } = step.kind === 'ask' ? step.request : step.message
  return message.kind === 'request' || message.kind === 'notification' ? [message] : []
}
