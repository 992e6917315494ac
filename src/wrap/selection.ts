import { ReelayError } from '../errors.ts'
import type { ConfigOpenResult, LocatedConfigEntry } from './open-config.ts'

/** The servers that the user named, or all. */
export type ServerSelection = readonly string[] | 'all'

export function selectEntries(
  entries: readonly LocatedConfigEntry[],
  servers: ServerSelection,
): readonly LocatedConfigEntry[] {
  return servers === 'all' ? entries : entries.filter(({ server }) => servers.includes(server))
}

/** Refuses a name that no config holds, before anything is written. */
export function requireServers(
  servers: ServerSelection,
  looked: readonly ConfigOpenResult[],
  alsoKnown: readonly string[] = [],
): void {
  const found = looked
    .flatMap((each) => (each.kind === 'open' ? each.entries : []))
    .map(({ server }) => server)
  const missing =
    servers === 'all' ? [] : servers.filter((name) => !found.includes(name) && !alsoKnown.includes(name))
  if (missing.length === 0) return
  const files = looked.map(({ target }) => target.file)
  const names = missing.map((name) => JSON.stringify(name)).join(', ')
  const places =
    files.length === 0 ? 'no config file of a known client exists here' : `looked in ${files.join(', ')}`
  throw new ReelayError('SERVER_NOT_FOUND', `no config holds a server ${names}: ${places}`, {
    hint:
      found.length === 0
        ? 'use --file for a config elsewhere'
        : `there are ${[...new Set(found)].join(', ')}`,
  })
}
