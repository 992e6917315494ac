import type { OpenLink } from '../transport/client-link.ts'
import type { Turn } from '../tape/turn.ts'
import type { Era } from '../wire/era.ts'
import { greet, type Greeting } from './handshake.ts'
import { LiveSession, type LiveSessionOptions } from './live-session.ts'
import type { Traffic } from './run-state.ts'

export interface LinksOptions extends Pick<LiveSessionOptions, 'onAsk' | 'onOddity' | 'now'> {
  readonly open: OpenLink
  readonly handshake: 'own' | 'recorded' | 'none'
  /** The turns that opened the recorded conversations. */
  readonly openings: readonly Turn[]
  readonly era: Era
  readonly timeout: number
  readonly onGreeting: (greeting: Greeting, link: string) => void
}

/** The live sessions of a run: one for each connection of the tape, opened when the first message for it is due. */
export class Links {
  readonly #options: LinksOptions
  readonly #sessions = new Map<string, Promise<LiveSession>>()
  readonly #live: LiveSession[] = []
  readonly #ready = new Map<string, LiveSession>()

  constructor(options: LinksOptions) {
    this.#options = options
  }

  sessionOf(link: string): Promise<LiveSession> {
    const known = this.#sessions.get(link)
    if (known !== undefined) return known
    const session = this.#open(link)
    this.#sessions.set(link, session)
    session.then(
      (opened) => this.#ready.set(link, opened),
      () => {}, // whoever asked for it is told
    )
    return session
  }

  /** The session of a link whose hand was shaken already. */
  openSessionOf(link: string): LiveSession | undefined {
    return this.#ready.get(link)
  }

  async close(): Promise<void> {
    const open = await this.#opened()
    const closed = await Promise.allSettled(open.map((session) => session.close()))
    for (const one of closed)
      if (one.status === 'rejected')
        this.#options.onOddity(`the link did not close well: ${String(one.reason)}`)
  }

  /** What went out and came in so far, and what is open. */
  traffic(): Traffic {
    return {
      sent: this.#live.reduce((sum, { sent }) => sum + sent, 0),
      received: this.#live.reduce((sum, { received }) => sum + received, 0),
      open: this.#live.flatMap((session) => session.openCalls()),
    }
  }

  async #opened(): Promise<readonly LiveSession[]> {
    const sessions = await Promise.allSettled(this.#sessions.values())
    return sessions.flatMap((session) => (session.status === 'fulfilled' ? [session.value] : []))
  }

  async #open(link: string): Promise<LiveSession> {
    const { open, onAsk, onOddity, now, handshake, era, timeout } = this.#options
    const session = new LiveSession({ open, onAsk, onOddity, now })
    this.#live.push(session)
    await session.connect()
    if (handshake !== 'own') return session
    try {
      this.#options.onGreeting(await greet(session, { turns: this.#openingsOf(link), era, timeout }), link)
    } catch (error) {
      await session.close()
      throw error
    }
    return session
  }

  /** The recorded connection, whose capabilities are shown again; without one of its own, the whole tape. */
  #openingsOf(link: string): readonly Turn[] {
    const { openings } = this.#options
    const own = openings.filter(({ trigger }) => String(trigger?.conn) === link)
    return own.length === 0 ? openings : own
  }
}
