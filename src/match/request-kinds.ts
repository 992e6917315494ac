import type { TurnOutline } from '../tape/turn-store.ts'
import type { Era } from '../protocol/era.ts'
import { toolOrPromptName } from '../wire/name.ts'
import { requestEra, eraOfRequest, type RequestContent } from './request-key.ts'
import type { RequestKind, UsageFilter } from './matcher.ts'

export const ALL_REQUEST_KINDS: Pick<UsageFilter, 'isMeant'> = { isMeant: () => true }

export function requestKindOf(asked: RequestContent): RequestKind {
  const { server, method } = asked
  return { server, method, name: toolOrPromptName(asked), era: requestEra(asked) }
}

export function isOneOfKinds(kinds: readonly RequestKind[]): (kind: RequestKind) => boolean {
  return (kind) => kinds.some((one) => isSameKind(one, kind))
}

/** The kind of a recorded request that is not read. */
export function requestKindInOutline({ server, method, name, enveloped }: TurnOutline): RequestKind {
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
