import { selectOneServer } from '../tape/server-filter.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import { turnStoreOf, type PlayableTape } from './playable-tape.ts'

/** Which of the tape's servers to be. */
export function resolveServer(
  { path, ...tape }: Pick<PlayableTape, 'header' | 'path' | 'turns'>,
  wanted: string | undefined,
): string {
  return selectOneServer({ path, names: serverNamesOf(tape) }, wanted)
}

/** The servers that a tape holds. */
export function serverNamesOf({ header, turns }: Pick<PlayableTape, 'header' | 'turns'>): readonly string[] {
  const named = Object.keys(header.servers)
  return named.length > 0 ? named : requestedServers(turnStoreOf(turns))
}

/** The header of a forward proxy's tape was written before its servers were known. */
function requestedServers(turns: TurnStore): readonly string[] {
  const asked = turns.kinds().filter(({ trigger }) => trigger === 'request')
  return [...new Set(asked.map(({ server }) => server))]
}
