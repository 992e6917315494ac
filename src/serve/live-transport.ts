import { liveRedaction } from './live-redaction.ts'
import { appendEpisode, hasAnswered, type EpisodeMessage } from '../store/episode.ts'
import type { Tape } from '../store/read.ts'
import type { AnyTransport } from '../transport/any-transport.ts'
import { isCi } from './ci.ts'
import { Passthrough, type LiveListener, type LiveServer } from './passthrough.ts'

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
      start: (listener) => connect(live(), listener),
      onMessage: (dir, text) => this.#messages.push({ dir, text, at: Date.now() }),
    })
  }

  /** Ends the live server, and adds what it said to the tape if that is wanted. */
  async close({ path }: Pick<Tape, 'path'>, server: string): Promise<void> {
    await this.elsewhere.over(AbortSignal.abort())
    if (this.#learns && hasAnswered(this.#messages))
      await appendEpisode(path, { server, messages: this.#messages, redaction: liveRedaction })
  }
}

export function liveBehind({ live, mode }: LiveOptions): LiveBehindTransport | undefined {
  if (live === undefined || (mode ?? (isCi() ? 'none' : 'passthrough')) === 'none') return undefined
  if (isCi()) process.emitWarning(`CI is set, and mode ${mode} lets this run go live all the same`, 'reelay')
  return new LiveBehindTransport(live, mode === 'new-episodes')
}

async function connect(transport: AnyTransport, { heard, gone }: LiveListener): Promise<LiveServer> {
  Object.assign(transport, {
    onmessage: (message: unknown) => heard(JSON.stringify(message)),
    onclose: () => gone('it closed the connection'),
    onerror: () => {}, // not fatal, by the SDKs' contract
  } satisfies Partial<AnyTransport>)
  await transport.start()
  return {
    send: (text) => void transport.send(JSON.parse(text)).catch((error: Error) => gone(error.message)),
    end: () => transport.close(),
  }
}
