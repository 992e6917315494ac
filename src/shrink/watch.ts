import { member, parseJson } from '../json/parse.ts'
import { requestTarget } from '../protocol/message.ts'
import { linkNameOf } from '../replay/plan/plan.ts'
import type { ReplayStep, StepFinding, StepState } from '../replay/steps/step.ts'
import type { Turn } from '../tape/turns.ts'

/** What is known about a session before it is run. */
export interface WatchedSession {
  /** Texts whose contents are no secret of the server: the messages on the tape and the words of the server command. */
  readonly known: Iterable<string>
}

/** Watches the calls of one run in the order in which they end. */
export interface Watch {
  /** Returns the failure that a call shows, if it shows one. */
  failureOf(call: ObservedCall): Failure | undefined
  /** Returns the failure that the notes of the run show when it is over. */
  failureIn?(notes: readonly string[]): Failure | undefined
}

/** A failure, in words that are equal whenever it is the same failure. */
export interface Failure {
  /** The call that failed, such as `tools/call get_order`. */
  readonly call: string
  /** What happened, without numbers, ids and quoted values, which change from run to run. */
  readonly signature: string
  /** What happened, for people. */
  readonly summary: string
  /** The condition that it meets, if the oracle has several. */
  readonly fails?: string
  /** The value that differs from the tape. It is the same in every run, or it is left out. */
  readonly value?: string | undefined
}

/** A call with its response, from the tape or from a live run. */
export interface ObservedCall {
  /** Such as `tools/call get_order`. */
  readonly name: string
  readonly exchange: number | undefined
  readonly method: string
  readonly request: string
  readonly response: string | undefined
  /** `undefined` for a call on a tape. */
  readonly state: StepState | undefined
  readonly why: string | undefined
  readonly duration: number | undefined
  readonly findings: readonly StepFinding[]
  /** The session that it belongs to. */
  readonly link: string
  /** What else the server sent to this session, as JSON text. */
  readonly notifications: string | undefined
}

export function observeStep(step: ReplayStep, link: string): ObservedCall {
  const { exchange, method, sent = '', answer, state, why, duration, findings, notifications } = step
  const request = sent
  const name = callName(method, request)
  return {
    name,
    exchange,
    method,
    request,
    response: answer,
    state,
    why,
    duration,
    findings,
    link,
    notifications,
  }
}

/** Returns `undefined` for a turn that is not an exchange. */
export function observeTurn(turn: Turn): ObservedCall | undefined {
  const { trigger, response, exchange } = turn
  if (trigger?.message.kind !== 'request') return undefined
  const { method } = trigger.message
  return {
    name: callName(method, trigger.text),
    link: linkNameOf(turn),
    notifications: undefined,
    exchange,
    method,
    request: trigger.text,
    response: response?.text,
    state: undefined,
    why: undefined,
    duration: response && response.t - trigger.t,
    findings: [],
  }
}

/** Whether two failures are the same one. A smaller session must not end in another failure. */
export function isSameFailure(one: Failure, other: Failure): boolean {
  const isOtherValue = one.value !== undefined && other.value !== undefined && one.value !== other.value
  return one.call === other.call && one.signature === other.signature && !isOtherValue
}

function callName(method: string, request: string): string {
  const target = requestTarget(member(parseJson(request), 'params'))
  return target === undefined ? method : `${method} ${target}`
}
