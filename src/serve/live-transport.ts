import type { AnyTransport } from '../transport/any-transport.ts'
import { sdkTransportLink } from '../link/sdk-transport.ts'
import { isCi } from './ci.ts'
import { PassthroughServer } from './upstream/passthrough-server.ts'
import type { ServeOptions } from './serve-options.ts'

export interface LiveUpstreamOptions {
  /** Makes the transport to a live server that misses are passed on to: one for each client. */
  readonly live?: () => AnyTransport
  /** Whether they are: `none` passes nothing on, `new-episodes` adds what was learned to the tape at `close`. In CI, by default `none`. */
  readonly mode?: 'none' | 'passthrough' | 'new-episodes'
}

/** The live server behind a transport; undefined when nothing is to go live. */
export function passthroughServerFor({
  live,
  mode,
  secrets,
}: LiveUpstreamOptions & Pick<ServeOptions, 'secrets'>): PassthroughServer | undefined {
  if (live === undefined || (mode ?? (isCi() ? 'none' : 'passthrough')) === 'none') return undefined
  if (isCi()) process.emitWarning(`CI is set, and mode ${mode} lets this run go live all the same`, 'reelay')
  return new PassthroughServer({
    open: (handlers) => sdkTransportLink(live())(handlers),
    learns: mode === 'new-episodes',
    secrets,
  })
}
