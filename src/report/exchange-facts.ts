import type { Spoken, Step, Turn } from '../tape/turn.ts'
import { idKey, isId, type Id } from '../wire/id.ts'
import { member, type Request, type Response } from '../wire/message.ts'
import { outcomeOf, type Outcome, type WithoutResponse } from './outcome.ts'

export type SpokenRequest = Spoken & { readonly message: Request }
type SpokenResponse = Spoken & { readonly message: Response }

export interface ExchangeFacts {
  /** Counts from 1, in the order of the requests. */
  readonly sequence: number
  readonly request: SpokenRequest
  /** What the call is aimed at: a tool, a prompt, a resource. */
  readonly target: string | undefined
  readonly steps: readonly Step[]
  readonly response: SpokenResponse | undefined
  /** From this request to its own answer, whatever else was under way. */
  readonly latencyMs: number | undefined
  readonly outcome: Outcome
}

export function exchangesOf(turns: readonly Turn[]): readonly ExchangeFacts[] {
  const cancelled = cancelledRequests(turns)
  return turns
    .flatMap(({ trigger, ...rest }) => (isRequest(trigger) ? [{ trigger, ...rest }] : []))
    .map(({ trigger, steps, response, cut }, index) => {
      const answer = isResponse(response) ? response : undefined
      return {
        sequence: index + 1,
        request: trigger,
        target: targetOf(trigger.message.params),
        steps,
        response: answer,
        latencyMs: answer && latencyBetween(trigger, answer),
        outcome: outcomeOf(answer?.message, withoutResponse(cut, cancelled.has(trigger))),
      }
    })
}

function withoutResponse(cut: number | undefined, isCancelled: boolean): WithoutResponse {
  if (cut !== undefined) return 'cut'
  return isCancelled ? 'cancelled' : 'unanswered'
}

type Moment = Pick<Spoken, 't'>

/** Milliseconds, to the microsecond that a tape keeps. */
export function latencyBetween(request: Moment, answer: Moment): number {
  return Math.round((answer.t - request.t) * 1000) / 1000
}

/** An id may be used again, so a cancellation means the latest request that had it. */
function cancelledRequests(turns: readonly Turn[]): ReadonlySet<Spoken> {
  const latest = new Map<string, Spoken>()
  const cancelled = new Set<Spoken>()
  for (const { trigger } of turns) {
    if (trigger === undefined) continue
    if (isRequest(trigger)) latest.set(callKey(trigger, trigger.message.id), trigger)
    const id = cancelledId(trigger)
    const request = id === undefined ? undefined : latest.get(callKey(trigger, id))
    if (request !== undefined) cancelled.add(request)
  }
  return cancelled
}

/** The request that a notification cancels. */
export function cancelledId({ message }: Spoken): Id | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const id = member(message.params, 'requestId')
  return isId(id) ? id : undefined
}

function callKey({ server, conn }: Spoken, id: Id): string {
  return JSON.stringify([server, conn, idKey(id)])
}

/** What a call is aimed at. */
export function targetOf(params: unknown): string | undefined {
  const target = member(params, 'name') ?? member(params, 'uri')
  return typeof target === 'string' ? target : undefined
}

export function isRequest(spoken: Spoken | undefined): spoken is SpokenRequest {
  return spoken?.message.kind === 'request'
}

function isResponse(spoken: Spoken | undefined): spoken is SpokenResponse {
  return spoken?.message.kind === 'response'
}
