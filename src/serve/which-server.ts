import { ReelayError } from '../errors.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import { storeOf, type PlayedTape } from './played-tape.ts'

/** Which of the tape's servers to be. It is never guessed: one server's answer to another's request would be a wrong one. */
export function whichServer(
  { header, path, turns }: Pick<PlayedTape, 'header' | 'path' | 'turns'>,
  wanted: string | undefined,
): string {
  const names = serverNames({ header, turns })
  const [only = ''] = names
  if (wanted === undefined && names.length < 2) return only
  if (wanted !== undefined && names.includes(wanted)) return wanted
  const problem =
    wanted === undefined ? `${path} holds ${names.length} servers` : `${path} holds no server "${wanted}"`
  throw new ReelayError('USAGE', problem, { hint: `choose one with --server: ${names.join(', ')}` })
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
