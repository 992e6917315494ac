import type { PathPattern } from '../../json/path.ts'
import type { RequestTimes } from '../comparisons/comparison.ts'
import type { ComparableRequest } from '../comparable-request.ts'
import type { ClientCall } from '../../tape/turns.ts'

/** Decides which recorded request answers a live one. */
export interface Strategy {
  readonly name: string
  readonly alias?: string
  /** Describes which requests match, for help texts. */
  readonly about: string
  /** True if requests are answered only in recorded order. */
  readonly inOrder?: true
  /** True if not even the methods of requests are compared. The handshake and `ping` are answered by method all the same. */
  readonly ignoresRequest?: true
  /** True if a request may be answered by a recorded one that differs from it. The report mentions such answers. */
  readonly isLoose?: true
  /** The maximum number of candidates among which the nearest is searched. */
  readonly nearestAmong?: number
  /** The params that are compared. */
  paramsOf(request: ClientCall, ignore: readonly PathPattern[]): unknown
  /** Only requests with equal groups are compared. Server, method and era must be equal anyway. */
  groupOf(comparable: ComparableRequest): unknown
  /** Returns the distance of two requests of one group, and `undefined` if the recorded one does not answer the live one. */
  distance(recorded: ComparableRequest, live: ComparableRequest, times: RequestTimes): number | undefined
}
