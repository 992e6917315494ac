import { liveRedaction } from './live-redaction.ts'
import { appendEpisode, hasAnswered, type EpisodeMessage } from '../store/episode.ts'
import type { Tape } from '../store/read.ts'
import type { AnyTransport } from '../transport/any-transport.ts'
import { transportLink } from '../transport/transport-link.ts'
import { isCi } from './ci.ts'
import { Passthrough } from './passthrough.ts'

export interface LiveOptions {
  /** Makes the transport to a live server that misses are passed on to. */
  readonly live?: () => AnyTransport
  /** Whether they are: `none` passes nothing on, `new-episodes` adds what was learned to the tape at `close`. In CI, by default `none`. */
  readonly mode?: 'none' | 'passthrough' | 'new-episodes'
}

/** The live server behind a transport. */
export class LiveBehindTransport {
  readonly elsewhere: Passthrough
  readonly #learns: boolean
  readonly #messages: EpisodeMessage[] = []

  constructor(live: () => AnyTransport, learns: boolean) {
    this.#learns = learns
    this.elsewhere = new Passthrough({
      open: (handlers) => transportLink(live())(handlers),
      onMessage: (dir, text) => this.#messages.push({ dir, text, at: Date.now() }),
    })
  }

  /** Ends the live server, and adds what it said to the tape if that is wanted. */
  async close({ path }: Pick<Tape, 'path'>, server: string): Promise<void> {
    await this.elsewhere.over(AbortSignal.abort())
    if (this.#learns && hasAnswered(this.#messages))
      await appendEpisode(path, { server, links: [this.#messages], redaction: liveRedaction })
  }
}

export function liveBehind({ live, mode }: LiveOptions): LiveBehindTransport | undefined {
  if (live === undefined || (mode ?? (isCi() ? 'none' : 'passthrough')) === 'none') return undefined
  if (isCi()) process.emitWarning(`CI is set, and mode ${mode} lets this run go live all the same`, 'reelay')
  return new LiveBehindTransport(live, mode === 'new-episodes')
}
