import { member } from '../../json/parse.ts'
import { revisionOfPost } from '../../protocol/revisions/index.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import type { ReplySource } from '../player/reply-channel.ts'
import type { Tape } from '../../store/file/read.ts'
import type { HeaderList, HttpFrame } from '../../tape/frame.ts'
import {
  FilteredTurns,
  type TurnStore,
  type TurnSummary,
  type RecordedMessage,
  type Turn,
} from '../../tape/turns.ts'

/** The parts of a recorded HTTP exchange that matter when its messages are played. */
export interface RecordedHead {
  /** The protocol version in the header of the request. */
  readonly version?: string
  /** True if the request resumed a stream that had broken off. */
  readonly isResumed?: boolean
  readonly status?: number
  /** True if the response was an event stream. */
  readonly isStream?: boolean
  /** Frame numbers of the two heads. The request itself is recorded between them. */
  readonly requestFrame?: number
  readonly responseFrame?: number
}

/** The heads of a tape's HTTP exchanges. The tape of a stdio server has none. */
export class RecordedHeads {
  /** The time that the recorded server told clients to wait before they resume a stream, in milliseconds. */
  readonly retry: number | undefined
  /** True if the recorded server named the path for messages, as in HTTP+SSE; `undefined` if the tape has no HTTP exchange. */
  readonly namesMessagePath: boolean | undefined
  readonly #byExchange = new Map<number, RecordedHead>()

  constructor(rest: Tape['rest'] = []) {
    for (const frame of rest) {
      if (frame.kind !== 'http' || frame.x === undefined) continue
      this.#byExchange.set(frame.x, { ...this.#byExchange.get(frame.x), ...headIn(frame) })
    }
    this.namesMessagePath = this.#byExchange.size === 0 ? undefined : rest.some(isEndpointEvent)
    this.retry = rest.map(retryIn).find((retry) => retry !== undefined)
  }

  /** The exchanges that the recorded server answered with an error status. */
  refused(): readonly RecordedHead[] {
    return [...this.#byExchange.values()].filter(({ status = 200 }) => status >= 400)
  }

  of(message: RecordedMessage | undefined): RecordedHead | undefined {
    return message?.x === undefined ? undefined : this.#byExchange.get(message.x)
  }
}

function headIn({ http, n }: HttpFrame): RecordedHead {
  if ('status' in http) {
    const isStream = headerOf(http.headers, 'content-type')?.startsWith('text/event-stream') === true
    return { status: http.status, isStream, responseFrame: n }
  }
  const version = headerOf(http.headers, 'mcp-protocol-version')
  const isResumed = headerOf(http.headers, 'last-event-id') !== undefined
  return { isResumed, requestFrame: n, ...(version === undefined ? {} : { version }) }
}

function headerOf(headers: HeaderList, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

function isEndpointEvent(frame: Tape['rest'][number]): boolean {
  return frame.kind === 'event' && member(frame.details['sse'], 'event') === 'endpoint'
}

function retryIn(frame: Tape['rest'][number]): number | undefined {
  const retry = frame.kind === 'event' ? member(frame.details['sse'], 'retry') : undefined
  return typeof retry === 'number' ? retry : undefined
}

/** Returns the recorded status of a response. For a response that was not recorded over HTTP, the revision decides. */
export function httpStatusOf(
  source: ReplySource | undefined,
  revision: Pick<Revision, 'httpStatus'>,
  heads: RecordedHeads,
): number {
  const recorded = source !== undefined && 'message' in source ? heads.of(source)?.status : undefined
  if (recorded !== undefined && isResponseStatus(recorded)) return recorded
  const errorCode = errorCodeOf(source)
  return errorCode === undefined ? 200 : revision.httpStatus(errorCode)
}

/** True if a response with a body can have this status. A tape may contain any number. */
function isResponseStatus(status: number): boolean {
  return status >= 200 && status <= 599 && status !== 204 && status !== 205 && status !== 304
}

function errorCodeOf(source: ReplySource | undefined): unknown {
  if (source === undefined) return undefined
  const outcome = 'message' in source ? outcomeOf(source) : source
  return member(member(outcome, 'error'), 'code')
}

function outcomeOf({ message }: RecordedMessage): unknown {
  return message.kind === 'response' ? message.outcome : undefined
}

/**
 * Takes away the errors with which the recorded server rejected the HTTP request around a message: its headers, its version or
 * its envelope. A live request with the same params may have valid ones, and must not get that response. If they are invalid,
 * the endpoint rejects the request itself. Every other error that answers a request by its id is part of the session, whatever
 * its HTTP status.
 */
export function withoutTransportErrors(turns: TurnStore, heads: RecordedHeads): TurnStore {
  const refused = heads.refused()
  if (refused.length === 0) return turns
  const rejected = new Set<number>()
  for (let index = 0; index < turns.size; index++) {
    const { frame, trigger } = turns.summary(index)
    const isRefused = trigger === 'request' && refused.some((head) => isWithin(frame, head))
    const turn = isRefused ? turns.at(index) : undefined
    if (turn !== undefined && isTransportError(turn, heads)) rejected.add(index)
  }
  return rejected.size === 0 ? turns : new UnansweredTurns(turns, rejected)
}

function isWithin(frame: number, { requestFrame = 0, responseFrame = Infinity }: RecordedHead): boolean {
  return frame > requestFrame && frame < responseFrame
}

function isTransportError({ trigger, response }: Turn, heads: RecordedHeads): boolean {
  if (trigger?.message.kind !== 'request' || response === undefined) return false
  const { status = 200, version } = heads.of(response) ?? {}
  if (status < 400) return false
  return revisionOfPost(trigger.message, { 'mcp-protocol-version': version }).isTransportError({
    method: trigger.message.method,
    params: trigger.message.params,
    errorCode: errorCodeOf(response),
    headerVersion: version,
  })
}

/** Turns of which some count as unanswered. They stay on the tape, so that a miss can name them. */
class UnansweredTurns extends FilteredTurns {
  readonly #unanswered: ReadonlySet<number>

  constructor(turns: TurnStore, unanswered: ReadonlySet<number>) {
    super(turns, () => true)
    this.#unanswered = unanswered
  }

  override at(index: number): Turn | undefined {
    const turn = super.at(index)
    if (turn === undefined || !this.#unanswered.has(index)) return turn
    return { ...turn, response: undefined, steps: turn.steps.filter(({ kind }) => kind !== 'respond') }
  }

  override summary(index: number): TurnSummary {
    const summary = super.summary(index)
    if (!this.#unanswered.has(index)) return summary
    const { trigger, server, method, frame, enveloped, hasSteps, name } = summary
    return { trigger, server, method, frame, enveloped, hasSteps, name, answered: false }
  }
}
