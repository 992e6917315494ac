import { ReelayError } from '../errors.ts'

/** Whether a server of this name is meant. */
export type ServerFilter = (server: string) => boolean

/** Reads names that are separated by commas; `*` in a name stands for anything. Without a text every server is meant. */
export function parseServerFilter(text: string | undefined): ServerFilter {
  if (text === undefined) return () => true
  const patterns = text.split(',').map((name) => namePattern(name.trim()))
  return (server) => patterns.some((pattern) => pattern.test(server))
}

/** What a choice among the servers of a tape is about. */
interface TapeServerNames {
  readonly path: string
  readonly names: readonly string[]
}

/** The servers that a filter means, at least one. A name in full means that server, whatever else it could be read as. */
export function selectServers({ path, names }: TapeServerNames, filter: string): readonly string[] {
  const meant = names.includes(filter) ? [filter] : names.filter(parseServerFilter(filter))
  if (meant.length > 0) return meant
  throw new ReelayError('USAGE', `${path} holds no server "${filter}"`, {
    hint: names.length === 0 ? 'it holds no server at all' : `choose with --server from: ${names.join(', ')}`,
  })
}

/** The one server to be. It is never guessed: one server's answer to another's request would be a wrong one. */
export function selectOneServer(tape: TapeServerNames, filter: string | undefined): string {
  const meant = filter === undefined ? tape.names : selectServers(tape, filter)
  if (meant.length < 2) return meant[0] ?? ''
  const which = filter === undefined ? '' : ` that "${filter}" means`
  throw new ReelayError('USAGE', `${tape.path} holds ${meant.length} servers${which}`, {
    hint: `choose one with --server: ${meant.join(', ')}`,
  })
}

function namePattern(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`, 'su')
}
