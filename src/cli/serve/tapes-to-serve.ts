import type { ListenAddress } from '../../http/server/listen.ts'

/** Where to listen, as the command line says it; true without an address. */
export interface ServeHttpFlags {
  readonly http?: ListenAddress | true
  readonly sse?: ListenAddress | true
}

/** Where one tape is served over HTTP; nowhere means on stdin and stdout. */
export interface ServeAddresses {
  readonly http?: Partial<ListenAddress>
  readonly sse?: Partial<ListenAddress>
}

/** A tape that is to be served, which of its servers, and where. */
export interface RequestedTape extends ServeAddresses {
  /** Its name, or its path. */
  readonly name: string
  readonly server?: string
}

/** The tapes of the command line. Each has its own port: the given one, the next one, and so on. */
export function requestedTapes(
  names: readonly string[],
  { server, http, sse }: ServeHttpFlags & Pick<RequestedTape, 'server'>,
): readonly RequestedTape[] {
  return names.map((name, at) => ({
    name,
    ...(server !== undefined && { server }),
    ...(http && { http: addressFor(http, at) }),
    ...(sse && { sse: addressFor(sse, at) }),
  }))
}

function addressFor(given: ListenAddress | true, at: number): Partial<ListenAddress> {
  if (given === true) return {}
  return { ...given, port: given.port === 0 ? 0 : given.port + at }
}
