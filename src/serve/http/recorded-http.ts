import { revisionOfPost } from '../../protocol/revisions/index.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { member } from '../../protocol/message.ts'
import type { ReplySource } from '../player/reply-channel.ts'
import type { Tape } from '../../store/file/read.ts'
import type { HeaderList, HttpFrame } from '../../tape/frame.ts'
import { filterTurns, type TurnStore } from '../../tape/turns.ts'
import type { RecordedMessage, Turn } from '../../tape/turn.ts'

/** What HTTP carried around a message, as far as it matters when the message is played. */
export interface RecordedHead {
  /** The protocol version that the request named in its header. */
  readonly version?: string
  /** Whether the request went on with a stream that had ended too early. */
  readonly isResumed?: boolean
  readonly status?: number
  /** Whether the answer was a stream. */
  readonly isStream?: boolean
  /** The frames of both heads: the request itself stands between them. */
  readonly asked?: number
  readonly answered?: number
}

/** The heads of a tape's HTTP exchanges; a tape of a stdio server has none. */
export class RecordedHeads {
  /** How long the recorded server wanted a client to wait before it went on with a stream, in milliseconds. */
  readonly retry: number | undefined
  readonly #byExchange = new Map<number, RecordedHead>()

  constructor(rest: Tape['rest'] = []) {
    for (const frame of rest) {
      if (frame.kind !== 'http' || frame.x === undefined) continue
      this.#byExchange.set(frame.x, { ...this.#byExchange.get(frame.x), ...headIn(frame) })
    }
    this.retry = rest.map(retryIn).find((retry) => retry !== undefined)
  }

  /** The exchanges that the recorded server refused. */
  refused(): readonly RecordedHead[] {
    return [...this.#byExchange.values()].filter(({ status = 200 }) => status >= 400)
  }

  of(spoken: RecordedMessage | undefined): RecordedHead | undefined {
    return spoken?.x === undefined ? undefined : this.#byExchange.get(spoken.x)
  }
}

function headIn({ http, n }: HttpFrame): RecordedHead {
  if ('status' in http) {
    const isStream = headerOf(http.headers, 'content-type')?.startsWith('text/event-stream') === true
    return { status: http.status, isStream, answered: n }
  }
  const version = headerOf(http.headers, 'mcp-protocol-version')
  const isResumed = headerOf(http.headers, 'last-event-id') !== undefined
  return { isResumed, asked: n, ...(version === undefined ? {} : { version }) }
}

function headerOf(headers: HeaderList, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

function retryIn(frame: Tape['rest'][number]): number | undefined {
  const retry = frame.kind === 'event' ? member(frame.details['sse'], 'retry') : undefined
  return typeof retry === 'number' ? retry : undefined
}

/** The HTTP status of an answer: as recorded; for what was not recorded over HTTP, as the revision defines it. */
export function httpStatusOf(
  source: ReplySource | undefined,
  revision: Pick<Revision, 'httpStatus'>,
  heads: RecordedHeads,
): number {
  const recorded = source !== undefined && 'message' in source ? heads.of(source)?.status : undefined
  if (recorded !== undefined && isAnswerStatus(recorded)) return recorded
  return revision.httpStatus(errorCodeOf(source))
}

/** Whether an answer with a body can have this status: a tape may say anything. */
function isAnswerStatus(status: number): boolean {
  return status >= 200 && status <= 599 && status !== 204 && status !== 205 && status !== 304
}

/** The code of a JSON-RPC error, if it is one. */
function errorCodeOf(source: ReplySource | undefined): unknown {
  if (source === undefined) return undefined
  const outcome = 'message' in source ? outcomeOf(source) : source
  return member(member(outcome, 'error'), 'code')
}

function outcomeOf({ message }: RecordedMessage): unknown {
  return message.kind === 'response' ? message.outcome : undefined
}

/**
 * The turns without those that the recorded server refused for what HTTP carried around them: headers, the session, a missing
 * envelope. A live request with the same params may carry all of that rightly, and must not be refused for another's fault;
 * one that does not is refused by our own checks.
 */
export function withoutTransportErrors(turns: TurnStore, heads: RecordedHeads): TurnStore {
  const refused = heads.refused()
  if (refused.length === 0) return turns
  const places = new Set<number>()
  for (let place = 0; place < turns.size; place++) {
    const { frame, trigger } = turns.summary(place)
    const isNear = trigger === 'request' && refused.some((head) => isBetween(frame, head))
    const turn = isNear ? turns.at(place) : undefined
    if (turn !== undefined && isTransportError(turn, heads)) places.add(place)
  }
  return filterTurns(turns, (place) => !places.has(place))
}

function isBetween(frame: number, { asked = 0, answered = Infinity }: RecordedHead): boolean {
  return frame > asked && frame < answered
}

function isTransportError({ trigger, response }: Turn, heads: RecordedHeads): boolean {
  if (trigger?.message.kind !== 'request') return false
  const { status = 200, version } = heads.of(response ?? trigger) ?? {}
  if (status < 400) return false
  return revisionOfPost(trigger.message, { 'mcp-protocol-version': version }).isTransportError({
    params: trigger.message.params,
    errorCode: errorCodeOf(response),
    hasResponse: response !== undefined,
    headerVersion: version,
  })
}
