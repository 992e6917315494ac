import { oneServer } from '../tape/server-filter.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import { storeOf, type PlayedTape } from './played-tape.ts'

/** Which of the tape's servers to be. */
export function whichServer(
  { path, ...tape }: Pick<PlayedTape, 'header' | 'path' | 'turns'>,
  wanted: string | undefined,
): string {
  return oneServer({ path, names: serverNames(tape) }, wanted)
}

/** The servers that a tape holds. */
export function serverNames({ header, turns }: Pick<PlayedTape, 'header' | 'turns'>): readonly string[] {
  const named = Object.keys(header.servers)
  return named.length > 0 ? named : askedServers(storeOf(turns))
}

/** The header of a forward proxy's tape was written before its servers were known. */
function askedServers(turns: TurnStore): readonly string[] {
  const asked = turns.kinds().filter(({ trigger }) => trigger === 'request')
  return [...new Set(asked.map(({ server }) => server))]
}
