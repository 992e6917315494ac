import type { OpenLink } from '../../link/client-link.ts'
import type { Turn } from '../../tape/turn.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { performHandshake, type HandshakeResult } from './handshake.ts'
import { LiveSession, type LiveSessionOptions } from './live-session.ts'
import type { LinkTraffic } from '../controller.ts'

interface LiveSessionsOptions extends Pick<LiveSessionOptions, 'onAsk' | 'onOddity' | 'now'> {
  readonly open: OpenLink
  readonly handshake: 'own' | 'recorded' | 'none'
  /** The turns that opened the recorded conversations. */
  readonly handshakeTurns: readonly Turn[]
  readonly revision: Revision
  readonly timeout: number
  /** Whoever interrupts a run waits for no answer, that to the greeting included. */
  readonly signal?: AbortSignal | undefined
  /** Nothing more is sent: what is only being opened is given up. */
  readonly stopped: AbortSignal
  readonly onHandshake: (greeting: HandshakeResult, link: string) => void
}

/** The live sessions of a run: one for each connection of the tape, opened when the first message for it is due. */
export class LiveSessions {
  readonly #options: LiveSessionsOptions
  readonly #sessions = new Map<string, Promise<LiveSession>>()
  readonly #live: LiveSession[] = []
  readonly #connected = new Map<string, LiveSession>()

  readonly #giveUp = (): void => void this.close()
  #isClosed = false

  constructor(options: LiveSessionsOptions) {
    this.#options = options
    this.#isClosed = options.signal?.aborted === true
    options.signal?.addEventListener('abort', this.#giveUp, { once: true })
  }

  sessionOf(link: string): Promise<LiveSession> {
    const known = this.#sessions.get(link)
    if (known !== undefined) return known
    const session = this.#open(link)
    this.#sessions.set(link, session)
    session.then(
      (opened) => this.#connected.set(link, opened),
      () => {}, // whoever asked for it is told
    )
    return session
  }

  /** The session of a link whose hand was shaken already. */
  openSessionOf(link: string): LiveSession | undefined {
    return this.#connected.get(link)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.signal?.removeEventListener('abort', this.#giveUp)
    const closed = await Promise.allSettled(this.#live.map((session) => this.#end(session)))
    await Promise.allSettled(this.#sessions.values()) // one that was being opened is closed as soon as it is there
    for (const one of closed)
      if (one.status === 'rejected')
        this.#options.onOddity(`the link did not close well: ${String(one.reason)}`)
  }

  /** What went out and came in so far, and what is open. */
  traffic(): LinkTraffic {
    return {
      sent: this.#live.reduce((sum, { sent }) => sum + sent, 0),
      received: this.#live.reduce((sum, { received }) => sum + received, 0),
      open: this.#live.flatMap((session) => session.openCalls()),
    }
  }

  async #open(link: string): Promise<LiveSession> {
    const { open, onAsk, onOddity, now } = this.#options
    const session = new LiveSession({ open, onAsk, onOddity, now })
    this.#live.push(session)
    const giveUp = (): void => void this.#end(session)
    this.#options.stopped.addEventListener('abort', giveUp)
    try {
      if (!this.#isGivenUp) await this.#connect(session, link)
    } catch (error) {
      await this.#end(session)
      if (!this.#isGivenUp) throw error
    } finally {
      this.#options.stopped.removeEventListener('abort', giveUp)
    }
    if (this.#isGivenUp) await this.#end(session) // every call on it is given up at once
    return session
  }

  get #isGivenUp(): boolean {
    return this.#isClosed || this.#options.stopped.aborted
  }

  #end(session: LiveSession): Promise<void> {
    return session.close({ isHurried: this.#options.signal?.aborted === true })
  }

  async #connect(session: LiveSession, link: string): Promise<void> {
    const { handshake, revision, timeout, onHandshake } = this.#options
    await session.connect()
    if (handshake !== 'own') return
    onHandshake(
      await performHandshake(session, { turns: this.#handshakeTurnsOf(link), revision, timeout }),
      link,
    )
  }

  /** The recorded connection, whose capabilities are shown again; without one of its own, the whole tape. */
  #handshakeTurnsOf(link: string): readonly Turn[] {
    const { handshakeTurns } = this.#options
    const own = handshakeTurns.filter(({ trigger }) => String(trigger?.conn) === link)
    return own.length === 0 ? handshakeTurns : own
  }
}
