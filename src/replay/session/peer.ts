import type { OpenLink } from '../../link/client-link.ts'
import { type Request, envelopeVersion } from '../../protocol/message.ts'
import { newestSessionRevision, revisionProvenBy } from '../../protocol/revisions/index.ts'
import type { Turn } from '../../tape/turns.ts'
import type { ReplayController } from '../control/controller.ts'
import { ReplayNotes } from '../notes.ts'
import { linkNameOf } from '../plan/plan.ts'
import { type ServerPart, turnsAtPlaces } from '../plan/server-part.ts'
import type { EarlyRequests } from '../send/early-requests.ts'
import { fetchTools, requestEnvelope, type ToolDescriptions, toolsOnTape } from '../plan/tool-safety.ts'
import { type CarriedValues, NO_CARRIED_VALUES } from '../values/carried-values.ts'
import { performHandshake } from './handshake.ts'
import { type LiveCall, LiveSession } from './live-session.ts'
import { RecordedAnswers, type ServerRequestPolicy } from './recorded-answers.ts'

interface PeerOptions {
  readonly open: OpenLink
  readonly handshake: 'own' | 'recorded' | 'none'
  /** Reelay's own handshake names the recorded client. */
  readonly asRecordedClient?: boolean
  /** Milliseconds that an answer to a request of Reelay's own may take, and those until the first answer of a session. */
  readonly timeout: number
  readonly startTimeout: number
  /** Answers requests of the server that were not recorded. */
  readonly onAsk: ServerRequestPolicy
  /** Called with the results of a recorded handshake, if there is one, and of Reelay's own. */
  readonly onOpening: (recorded: unknown, live: unknown) => void
  /** Aborted if the run must end at once, even during the handshake. */
  readonly signal?: AbortSignal | undefined
  /** A session that is still being opened is given up when the run is stopped, or when the peer is closed. */
  readonly controller?: Pick<ReplayController, 'stopped'>
  readonly now: () => number
  readonly timesFirstByte?: boolean
}

/**
 * The live server. It has one session for each connection of the tape, opened when the first message for it is due. Requests of
 * the server are answered as recorded.
 */
export class Peer {
  readonly notes: ReplayNotes = new ReplayNotes()
  readonly revisions: ProtocolRevisions
  readonly #part: ServerPart
  readonly #options: PeerOptions
  readonly #opening = new Map<string, Promise<LiveSession>>()
  readonly #open = new Map<string, LiveSession>()
  /** The session that was asked for last. Thousands of virtual users ask for theirs all the time. */
  #latest: { readonly link: string; readonly session: LiveSession } | undefined
  readonly #sessions: LiveSession[] = []
  readonly #unrecorded = new WeakSet<Request>()
  readonly #giveUp = (): void => void this.close()
  #answers: RecordedAnswers | undefined
  #values: CarriedValues = NO_CARRIED_VALUES
  #isClosed: boolean

  constructor(part: ServerPart, options: PeerOptions) {
    this.revisions = new ProtocolRevisions(turnsAtPlaces(part.turns, part.landmarks.handshakes))
    this.#part = part
    this.#options = options
    this.#isClosed = options.signal?.aborted === true
    options.signal?.addEventListener('abort', this.#giveUp, { once: true })
  }

  /** Sets the live values that recorded answers to the server are filled with. */
  use(values: CarriedValues): void {
    this.#values = values
  }

  /** Returns the session of a link; rejects if the server refuses it. */
  sessionOf(link: string): Promise<LiveSession> {
    const known = this.#opening.get(link)
    if (known !== undefined) return known
    const session = this.#openSession(link)
    this.#opening.set(link, session)
    session.then(
      (opened) => this.#open.set(link, opened),
      () => {}, // the callers of sessionOf get the error
    )
    return session
  }

  /** Returns the session of a link if it is open. */
  openSessionOf(link: string): LiveSession | undefined {
    if (this.#latest?.link === link) return this.#latest.session
    const session = this.#open.get(link)
    if (session !== undefined) this.#latest = { link, session }
    return session
  }

  /**
   * Returns the tools of the live server; if it lists none, those on the tape. `recorded` are requests for tools that the run
   * sends anyway, and that are sent now instead of Reelay's own.
   */
  async tools(recorded: readonly Turn[], early: EarlyRequests): Promise<ToolDescriptions> {
    const { turns, landmarks } = this.#part
    const [call] = turnsAtPlaces(turns, [landmarks.firstCall])
    if (call?.trigger === undefined || this.#options.handshake !== 'own') return toolsOnTape(this.#part)
    const params = 'params' in call.trigger.message ? call.trigger.message.params : undefined
    const [first] = turnsAtPlaces(turns, [landmarks.first])
    const opening = recorded[0] ?? first
    const session = await this.sessionOf(opening === undefined ? '0' : linkNameOf(opening))
    const { timeout } = this.#options
    const tools = await fetchTools(session, {
      envelope: requestEnvelope(params),
      timeout,
      recorded,
      sendRecorded: (turn, text) => early.send(session, turn, text),
      onUnlisted: (why) => this.notes.push(`the server ${why}${UNKNOWN_TOOLS}`),
    })
    return tools.size === 0 ? toolsOnTape(this.#part) : tools
  }

  /** Returns the answer to a request of the server as JSON members, such as `"result":{}`. */
  async answer(request: Request): Promise<string> {
    return (await this.#answerTo(request)).outcome
  }

  /** Returns true if a request of the server is not on the tape as it is. */
  isUnrecorded(request: Request): boolean {
    return this.#unrecorded.has(request)
  }

  /** Stops waiting for requests that are never answered. */
  release(): void {
    for (const session of this.#sessions) session.release()
  }

  /** Counts the messages so far, and lists the requests that are open. */
  traffic(): LinkTraffic {
    return {
      sent: this.#sessions.reduce((sum, { sent }) => sum + sent, 0),
      received: this.#sessions.reduce((sum, { received }) => sum + received, 0),
      open: this.#sessions.flatMap((session) => session.openCalls()),
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.signal?.removeEventListener('abort', this.#giveUp)
    const closed = await Promise.allSettled(this.#sessions.map((session) => this.#end(session)))
    await Promise.allSettled(this.#opening.values()) // a session that is still being opened closes itself
    for (const one of closed)
      if (one.status === 'rejected') this.notes.push(`the link did not close cleanly: ${String(one.reason)}`)
  }

  get #isGivenUp(): boolean {
    return this.#isClosed || this.#options.controller?.stopped.aborted === true
  }

  async #openSession(link: string): Promise<LiveSession> {
    const { open, startTimeout, now, controller, timesFirstByte } = this.#options
    const session = new LiveSession({
      open,
      startTimeout,
      now,
      timesFirstByte,
      onRequest: (request) => this.#reply(request),
      onNote: (note) => this.notes.push(note),
    })
    this.#sessions.push(session)
    const giveUp = (): void => void this.#end(session)
    controller?.stopped.addEventListener('abort', giveUp)
    try {
      if (!this.#isGivenUp) await this.#connect(session, link)
    } catch (error) {
      await this.#end(session)
      if (!this.#isGivenUp) throw error
    } finally {
      controller?.stopped.removeEventListener('abort', giveUp)
    }
    if (this.#isGivenUp) await this.#end(session) // requests on it end at once
    return session
  }

  #end(session: LiveSession): Promise<void> {
    return session.close({ isHurried: this.#options.signal?.aborted === true })
  }

  async #connect(session: LiveSession, link: string): Promise<void> {
    const { handshake, asRecordedClient = false, timeout, onOpening } = this.#options
    const { turns, landmarks, revision } = this.#part
    await session.connect()
    if (handshake !== 'own') return
    const greeting = await performHandshake(session, {
      turns: this.#handshakeTurnsOf(link),
      revision: revision.revision ?? newestSessionRevision(),
      asRecordedClient,
      timeout,
    })
    const openings = turnsAtPlaces(turns, landmarks.handshakes).map(recordedResult)
    onOpening(
      openings.find((result) => result !== undefined),
      greeting.result,
    )
    if (greeting.version !== undefined) this.revisions.setLive(link, greeting.version)
  }

  /** The turns that opened the recorded connection; if it has none, those of the whole tape. */
  #handshakeTurnsOf(link: string): readonly Turn[] {
    const { turns, landmarks } = this.#part
    const all = turnsAtPlaces(turns, [...landmarks.handshakes, landmarks.firstEnveloped])
    const own = all.filter(({ trigger }) => String(trigger?.conn) === link)
    return own.length === 0 ? all : own
  }

  async #reply(request: Request): Promise<string> {
    const { outcome, report } = await this.#answerTo(request)
    if (report.by !== 'recorded') this.#unrecorded.add(request)
    if (report.by === 'own') {
      this.notes.push(
        `the server sent the request ${report.method}, which was not recorded: answered by policy`,
      )
    }
    return outcome
  }

  // Most servers ask nothing, so the tape is searched for answers only when the first request comes.
  #answerTo(request: Request): ReturnType<RecordedAnswers['answer']> {
    this.#answers ??= new RecordedAnswers(this.#part.turns, {
      policy: this.#options.onAsk,
      values: () => this.#values,
    })
    return this.#answers.answer(request)
  }
}

const UNKNOWN_TOOLS = '; which tools only read is taken from the tape'

function recordedResult({ response }: Turn): unknown {
  return response?.message.kind === 'response' && 'result' in response.message.outcome
    ? response.message.outcome.result
    : undefined
}

/** Counts of messages, and the open calls. */
export interface LinkTraffic {
  readonly sent: number
  readonly received: number
  readonly open: readonly LiveCall[]
}

/** The protocol revision of each message: it is agreed in the handshake of a link, or stated in each stateless request. */
export class ProtocolRevisions {
  readonly #recorded: ReadonlyMap<string, string>
  readonly #live = new Map<string, string>()

  /** Takes the turns that opened the recorded sessions. */
  constructor(openings: readonly Turn[]) {
    this.#recorded = new Map(openings.flatMap(recordedRevision))
  }

  /** Sets the revision that the live server agreed to. */
  setLive(link: string, revision: string): void {
    this.#live.set(link, revision)
  }

  /** The revision of the live session; the recorded one until the live server has agreed to another. */
  live(turn: Turn): string | undefined {
    return envelopeRevision(turn) ?? this.#live.get(linkNameOf(turn)) ?? this.recorded(turn)
  }

  recorded(turn: Turn): string | undefined {
    const [first] = this.#recorded.values()
    return envelopeRevision(turn) ?? this.#recorded.get(linkNameOf(turn)) ?? first
  }
}

function recordedRevision(turn: Turn): readonly (readonly [string, string])[] {
  const [request, response] = [turn.trigger?.message, turn.response?.message]
  if (request?.kind !== 'request' || response?.kind !== 'response') return []
  const { revision, version } = revisionProvenBy({ request, response }) ?? {}
  return version === undefined || revision?.isStateless === true ? [] : [[linkNameOf(turn), version]]
}

function envelopeRevision({ trigger }: Turn): string | undefined {
  const params = trigger !== undefined && 'params' in trigger.message ? trigger.message.params : undefined
  return envelopeVersion(params)
}
