import type { OpenLink } from '../../link/client-link.ts'
import { type AnyTransport, sdkTransportLink } from '../../link/sdk-transport.ts'
import { createClientRedaction } from '../redaction/client-redaction.ts'
import type { ServeOptions } from '../serve-options.ts'
import { Passthrough } from './passthrough.ts'
import { isCi } from './upstream.ts'
import { appendEpisode, hasServerMessages, type EpisodeMessage } from '../../store/file/rewrite.ts'

interface PassthroughServerOptions {
  /** The way to the live server, gone once for each client. */
  readonly open: OpenLink
  /** Whether what it says joins the tape. */
  readonly learns: boolean
  /** What is sent to it with everything: the server may repeat it, and it is to stay off the tape. */
  readonly headers?: Readonly<Record<string, string>>
  /** Values that are secret because somebody says so. */
  readonly secrets?: readonly string[] | undefined
}

/** What was learned: how many messages, from how many clients. */
interface LearnedCounts {
  readonly messages: number
  readonly clients: number
}

/** The live server behind a tape, for any number of clients. */
export class PassthroughServer {
  readonly #options: PassthroughServerOptions
  /** What crossed each link, kept until the run is over: until then the tape is being played. */
  readonly #links: EpisodeMessage[][] = []

  constructor(options: PassthroughServerOptions) {
    this.#options = options
  }

  /** The live server of one more client. */
  connectClient(): Passthrough {
    const { open, learns } = this.#options
    if (!learns) return new Passthrough({ open })
    const messages: EpisodeMessage[] = []
    this.#links.push(messages)
    return new Passthrough({ open, onMessage: (dir, text) => messages.push({ dir, text, at: Date.now() }) })
  }

  /** Adds what was learned to the tape, each client as a connection of its own; called when all of them are gone. */
  async appendToTape({ path }: { readonly path: string }, server: string): Promise<LearnedCounts> {
    const links = this.#links.splice(0).filter(hasServerMessages)
    const { headers = {}, secrets: values } = this.#options
    if (links.length > 0)
      await appendEpisode(path, {
        server,
        links,
        redaction: (header) => createClientRedaction(header, { headers, values }),
      })
    return { clients: links.length, messages: links.reduce((sum, { length }) => sum + length, 0) }
  }
}

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
