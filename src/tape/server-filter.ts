import { ReelayError } from '../errors.ts'

export type ServerFilter = (server: string) => boolean

/** Parses names that are separated by commas, in which `*` matches anything. Without a text, all servers match. */
export function parseServerFilter(text: string | undefined): ServerFilter {
  if (text === undefined) return () => true
  const patterns = text.split(',').map((name) => namePattern(name.trim()))
  return (server) => patterns.some((pattern) => pattern.test(server))
}

/** The servers of a tape. */
interface TapeServerNames {
  readonly path: string
  readonly names: readonly string[]
}

/** Returns the servers that a filter matches, at least one. A full name matches only that server, even if it contains `*`. */
export function selectServers({ path, names }: TapeServerNames, filter: string): readonly string[] {
  const matching = names.includes(filter) ? [filter] : names.filter(parseServerFilter(filter))
  if (matching.length > 0) return matching
  throw new ReelayError('USAGE', `${path} has no server "${filter}"`, {
    hint: names.length === 0 ? 'it has no servers' : `choose with --server from: ${names.join(', ')}`,
  })
}

/** Returns the only server that a filter matches. It is never guessed: another server's response would be wrong. */
export function selectOneServer(tape: TapeServerNames, filter: string | undefined): string {
  const matching = filter === undefined ? tape.names : selectServers(tape, filter)
  if (matching.length < 2) return matching[0] ?? ''
  const which = filter === undefined ? '' : ` that match "${filter}"`
  throw new ReelayError('USAGE', `${tape.path} has ${matching.length} servers${which}`, {
    hint: `choose one with --server: ${matching.join(', ')}`,
  })
}

function namePattern(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`, 'su')
}
