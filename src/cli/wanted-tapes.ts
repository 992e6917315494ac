import type { Listen } from '../transport/listen.ts'

/** Where to listen, as the command line says it; true without an address. */
export interface HttpFlags {
  readonly http?: Listen | true
  readonly sse?: Listen | true
}

/** Where one tape is served over HTTP; nowhere means on stdin and stdout. */
export interface Places {
  readonly http?: Partial<Listen>
  readonly sse?: Partial<Listen>
}

/** A tape that is to be served, which of its servers, and where. */
export interface WantedTape extends Places {
  /** Its name, or its path. */
  readonly name: string
  readonly server?: string
}

/** The tapes of the command line. Each has its own port: the given one, the next one, and so on. */
export function wantedTapes(
  names: readonly string[],
  { server, http, sse }: HttpFlags & Pick<WantedTape, 'server'>,
): readonly WantedTape[] {
  return names.map((name, at) => ({
    name,
    ...(server !== undefined && { server }),
    ...(http && { http: placeOf(http, at) }),
    ...(sse && { sse: placeOf(sse, at) }),
  }))
}

function placeOf(given: Listen | true, at: number): Partial<Listen> {
  if (given === true) return {}
  return { ...given, port: given.port === 0 ? 0 : given.port + at }
}
