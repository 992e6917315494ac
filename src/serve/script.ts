import type { Loosening } from '../match/loosening.ts'
import { MissExplainer, type Miss } from '../match/miss.ts'
import type { Matcher, RecordedRequest } from '../match/matcher.ts'
import { NoticeIndex } from '../match/notice-index.ts'
import { RecordingIndex } from '../match/recording-index.ts'
import type { Turn } from '../tape/turn.ts'
import type { EraFound } from '../wire/era.ts'
import type { Notification, Request } from '../wire/message.ts'
import { ownAnswer, type OwnAnswer } from './own-answer.ts'
import { placeOf } from './recorded-sessions.ts'
import { tapeEra } from './tape-era.ts'

export interface ScriptOptions {
  readonly turns: readonly Turn[]
  /** Which of the tape's servers to be. */
  readonly server: string
  /** The tape as the user named it. */
  readonly tape: string
  readonly ignore?: readonly string[]
  readonly permissive?: boolean
  /** How the user says the options that would accept a miss. */
  readonly commandFor: (loosening: Loosening) => string
}

/** What there is to say to a live request. */
export type Cue =
  | { readonly kind: 'turn'; readonly turn: Turn; readonly repeated: boolean }
  | ({ readonly kind: 'own' } & OwnAnswer)
  | { readonly kind: 'miss'; readonly miss: Miss }

/** One server's part of a tape, as far as one connection has not played it; recorded connections are one, in order. */
export class Script {
  readonly turns: readonly Turn[]
  readonly #recorded: Recorded
  readonly #matcher: Matcher
  readonly #notices: NoticeIndex
  readonly #explainer: MissExplainer
  readonly #session: ReadonlySet<Turn> | undefined

  constructor(from: ScriptOptions | Recorded, session?: ReadonlySet<Turn>) {
    this.#session = session
    this.#recorded = 'matcher' in from ? from : recordedFor(from)
    const { turns, matcher, notices, tape, commandFor } = this.#recorded
    this.turns = turns
    this.#matcher = matcher.another(session)
    this.#notices = notices.another(session)
    this.#explainer = new MissExplainer({ index: this.#matcher, tape, commandFor })
  }

  /**
   * The same part for another connection: nothing of it is played yet. Of equal requests, those of the recorded `session`
   * are played before the others.
   */
  another(session?: ReadonlySet<Turn>): Script {
    return new Script(this.#recorded, session)
  }

  /** What the server said before the client spoke. */
  opening(): readonly Turn[] {
    const { opening } = this.#recorded
    return opening.filter((turn) => this.#session?.has(turn) ?? true)
  }

  cueFor(request: Request): Cue {
    const asked = { server: this.#recorded.server, method: request.method, params: request.params }
    const outcome = this.#matcher.lookup(asked)
    if (outcome.kind === 'hit') return { kind: 'turn', turn: outcome.turn, repeated: outcome.repeated }
    const own = ownAnswer(request, this.#recorded.era, this.turns)
    if (own !== undefined) return { kind: 'own', ...own }
    return { kind: 'miss', miss: this.#explainer.explain(asked, outcome) }
  }

  /** What a notification of the client sets off; none when it is not on the tape. */
  effectOf({ method, params }: Notification): Turn | undefined {
    return this.#notices.take({ server: this.#recorded.server, method, params })
  }

  leftOver(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }
}

/** What all connections share. */
interface Recorded extends Pick<ScriptOptions, 'turns' | 'server' | 'tape' | 'commandFor'> {
  readonly matcher: Matcher
  readonly notices: NoticeIndex
  readonly era: EraFound
  readonly opening: readonly Turn[]
}

function recordedFor({ turns: all, server, tape, commandFor, ...options }: ScriptOptions): Recorded {
  const turns = all.filter((turn) => placeOf(turn)?.server === server)
  const matcher = new RecordingIndex(turns, options)
  const notices = new NoticeIndex(turns, matcher.ignore)
  const opening = turns.filter(({ trigger }) => trigger === undefined)
  return { turns, server, tape, commandFor, matcher, notices, era: tapeEra(turns), opening }
}
