import type { RecordedMessage, TurnStep, Turn } from '../../tape/turn.ts'
import { idKey, isId, type Id } from '../../protocol/id.ts'
import { member, type Request, type Response } from '../../protocol/message.ts'
import { exchangeOutcome, type ExchangeOutcome, type NoResponseReason } from '../outcome.ts'

export type ExchangeRequest = RecordedMessage & { readonly message: Request }
type ExchangeResponse = RecordedMessage & { readonly message: Response }

export interface ExchangeFacts {
  /** Counts from 1, in the order of the requests. */
  readonly sequence: number
  readonly request: ExchangeRequest
  /** What the call is aimed at: a tool, a prompt, a resource. */
  readonly target: string | undefined
  readonly steps: readonly TurnStep[]
  readonly response: ExchangeResponse | undefined
  /** From this request to its own answer, whatever else was under way. */
  readonly latencyMs: number | undefined
  readonly outcome: ExchangeOutcome
}

export function exchangesInTurns(turns: readonly Turn[]): readonly ExchangeFacts[] {
  const cancelled = cancelledRequests(turns)
  return turns
    .flatMap(({ trigger, ...rest }) => (isExchangeRequest(trigger) ? [{ trigger, ...rest }] : []))
    .map(({ trigger, steps, response, cut }, index) => {
      const answer = isExchangeResponse(response) ? response : undefined
      return {
        sequence: index + 1,
        request: trigger,
        target: requestTarget(trigger.message.params),
        steps,
        response: answer,
        latencyMs: answer && latencyBetween(trigger, answer),
        outcome: exchangeOutcome(answer?.message, noResponseReason(cut, cancelled.has(trigger))),
      }
    })
}

function noResponseReason(cut: number | undefined, isCancelled: boolean): NoResponseReason {
  if (cut !== undefined) return 'cut'
  return isCancelled ? 'cancelled' : 'unanswered'
}

type TimedFrame = Pick<RecordedMessage, 't'>

/** Milliseconds, to the microsecond that a tape keeps. */
export function latencyBetween(request: TimedFrame, answer: TimedFrame): number {
  return Math.round((answer.t - request.t) * 1000) / 1000
}

/** An id may be used again, so a cancellation means the latest request that had it. */
function cancelledRequests(turns: readonly Turn[]): ReadonlySet<RecordedMessage> {
  const latest = new Map<string, RecordedMessage>()
  const cancelled = new Set<RecordedMessage>()
  for (const { trigger } of turns) {
    if (trigger === undefined) continue
    if (isExchangeRequest(trigger)) latest.set(exchangeRequestKey(trigger, trigger.message.id), trigger)
    const id = cancelledRequestId(trigger)
    const request = id === undefined ? undefined : latest.get(exchangeRequestKey(trigger, id))
    if (request !== undefined) cancelled.add(request)
  }
  return cancelled
}

/** The request that a notification cancels. */
export function cancelledRequestId({ message }: RecordedMessage): Id | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const id = member(message.params, 'requestId')
  return isId(id) ? id : undefined
}

function exchangeRequestKey({ server, conn }: RecordedMessage, id: Id): string {
  return JSON.stringify([server, conn, idKey(id)])
}

/** What a call is aimed at. */
export function requestTarget(params: unknown): string | undefined {
  const target = member(params, 'name') ?? member(params, 'uri')
  return typeof target === 'string' ? target : undefined
}

export function isExchangeRequest(spoken: RecordedMessage | undefined): spoken is ExchangeRequest {
  return spoken?.message.kind === 'request'
}

function isExchangeResponse(spoken: RecordedMessage | undefined): spoken is ExchangeResponse {
  return spoken?.message.kind === 'response'
}
