import type { PathPattern } from '../json/path.ts'
import type { RequestComparer } from './request-comparer.ts'
import { type RequestContent, requestEra, eraOfRequest } from './request-key.ts'
import type { Era } from '../protocol/revisions/revision.ts'
import { toolOrPromptName } from '../protocol/methods.ts'
import type { TurnSummary } from '../tape/turns.ts'
import type { Turn } from '../tape/turn.ts'

/** One connection's view of the recorded requests: what answers a live one, and what is left. */
export interface Matcher {
  /** Paths in requests that are not compared. */
  readonly ignore: readonly PathPattern[]
  /** Whether over-use repeats the last answer. */
  readonly permissive: boolean
  /** How requests are compared; without it, by method and params but for the ignored paths. */
  readonly matching?: RequestComparer
  /** The recorded turn that answers this request, which is then used, or why there is none. */
  lookup(asked: RequestContent): MatchOutcome
  /** What kinds of requests were recorded, in the order of the first of each. */
  kinds(): readonly RequestKind[]
  /** Every recorded request once, however often it was recorded; where there are too many, those that are most like one. */
  entries(wanted?: UsageFilter): readonly RequestUsage[]
  /** What was recorded and not asked for yet, in recorded order; the handshake and `ping` never count. */
  unconsumedKeys(): readonly RecordedRequest[]
  /** The first of those: what a client that repeats the recorded session would ask for now. */
  next(): RecordedRequest | undefined
  /** The same recording for another connection: nothing of it is used yet. */
  forNewConnection(): Matcher
}

/** What can be said of a request without a look at the rest of its params. */
export interface RequestKind {
  readonly server: string
  readonly method: string
  /** The tool or prompt that it names. */
  readonly name: string | undefined
  readonly era: Era | undefined
}

export interface UsageFilter {
  readonly isMeant: (kind: RequestKind) => boolean
  readonly like?: RequestContent
}

export type MatchOutcome =
  /** `repeated` when all recorded answers are used up and the last one is given again. */
  | {
      readonly kind: 'hit'
      readonly turn: Turn
      readonly repeated: boolean
      /** What made it a hit, when the recorded request is not the same as the live one. */
      readonly loose?: string
    }
  | { readonly kind: 'exhausted'; readonly entry: RequestUsage }
  /** The request is on the tape, but nobody answered it there. */
  | { readonly kind: 'unanswered'; readonly entry: RequestUsage }
  /** The request is on the tape, and others come before it there. */
  | { readonly kind: 'out-of-order'; readonly entry: RequestUsage }
  | { readonly kind: 'unknown' }

/** A request of the tape, by the frame that holds it. */
export interface RecordedRequest extends RequestContent {
  readonly frame: number
}

/** All recordings of one request, as one connection has used them. */
export interface RequestUsage {
  readonly request: RecordedRequest
  /** How many of them can be played. */
  readonly answers: number
  readonly used: number
  /** The frame of the one that would be used next, or was used last. */
  readonly frame: number
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
  /** Those of them that were answered, and the answer was cut when it was recorded. */
  readonly cut?: readonly number[]
}

export const ALL_REQUEST_KINDS: Pick<UsageFilter, 'isMeant'> = { isMeant: () => true }

export function requestKindOf(asked: RequestContent): RequestKind {
  const { server, method } = asked
  return { server, method, name: toolOrPromptName(asked), era: requestEra(asked) }
}

export function isOneOfKinds(kinds: readonly RequestKind[]): (kind: RequestKind) => boolean {
  return (kind) => kinds.some((one) => isSameKind(one, kind))
}

/** The kind of a recorded request that is not read. */
export function requestKindInSummary({ server, method, name, enveloped }: TurnSummary): RequestKind {
  return { server, method, name, era: eraOfRequest(method, enveloped) }
}

/** Each kind once, in the order of the first of it. */
export function distinctRequestKinds(kinds: Iterable<RequestKind>): readonly RequestKind[] {
  const found: RequestKind[] = []
  // To look up three texts takes less time than to join them, and on a long tape that counts.
  const known = new Map<string, Map<string | undefined, Map<string, Set<Era | undefined>>>>()
  for (const kind of kinds) {
    const ofMethod =
      known.get(kind.method) ?? new Map<string | undefined, Map<string, Set<Era | undefined>>>()
    const ofName = ofMethod.get(kind.name) ?? new Map<string, Set<Era | undefined>>()
    const eras = ofName.get(kind.server) ?? new Set<Era | undefined>()
    if (eras.has(kind.era)) continue
    known.set(kind.method, ofMethod.set(kind.name, ofName.set(kind.server, eras.add(kind.era))))
    found.push(kind)
  }
  return found
}

function isSameKind(one: RequestKind, other: RequestKind): boolean {
  const isAlike = one.server === other.server && one.method === other.method
  return isAlike && one.name === other.name && one.era === other.era
}
