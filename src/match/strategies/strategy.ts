import type { PathPattern } from '../../json/path.ts'
import type { RequestTimes } from '../comparisons/comparison.ts'
import type { ComparableRequest } from '../comparable-request.ts'
import type { ClientCall } from '../../tape/turns.ts'

/** One way to say which recorded request answers a live one. */
export interface Strategy {
  readonly name: string
  /** Another name that users know it by. */
  readonly alias?: string
  /** What a request must have in common with the recorded one, in a few words. */
  readonly about: string
  /** Requests are answered only in the order in which they were recorded. */
  readonly inOrder?: true
  /** Other requests than the recorded one are answered too: whoever reads the report is to know when. */
  readonly isLoose?: true
  /** When so much answers a request that not all of it can be looked at: among how many the nearest is found. */
  readonly nearestAmong?: number
  /** The params as far as they are compared. */
  paramsOf(asked: ClientCall, ignore: readonly PathPattern[]): unknown
  /** Beyond server, method and era: what requests must share to be compared at all. */
  groupOf(form: ComparableRequest): unknown
  /** How far a recorded request of the group is from the live one that it answers; undefined when it does not answer it. */
  distance(recorded: ComparableRequest, live: ComparableRequest, times: RequestTimes): number | undefined
}
