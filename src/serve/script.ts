import type { Loosening } from '../match/loosening.ts'
import { MissExplainer, type Miss } from '../match/miss.ts'
import type { MatchOptions } from '../match/match-options.ts'
import { matcherFor } from '../match/matcher-for.ts'
import type { Matcher, RecordedRequest } from '../match/matcher.ts'
import { NoticeIndex } from '../match/notice-index.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { EraFound } from '../wire/era.ts'
import type { Notification, Request } from '../wire/message.ts'
import { ownAnswer, type OwnAnswer } from './own-answer.ts'
import { storeOf } from './played-tape.ts'
import { tapeEra } from './tape-era.ts'

export interface ScriptOptions extends MatchOptions {
  readonly turns: readonly Turn[] | TurnStore
  /** Which of the tape's servers to be. */
  readonly server: string
  /** The tape as the user named it. */
  readonly tape: string
  /** When the recording began, as in the tape's header. */
  readonly started?: string
  readonly now?: () => number
  /** Those of the options that the user gave for this run. */
  readonly given?: MatchOptions
  /** How the user says the options that would accept a miss. */
  readonly commandFor: (loosening: Loosening) => string
  /** How the tape was made, when it says. */
  readonly recordCommand?: string
}

/** What there is to say to a live request. */
export type Cue =
  | {
      readonly kind: 'turn'
      readonly turn: Turn
      readonly repeated: boolean
      /** What let it answer a request that is not the recorded one. */
      readonly loose?: string
    }
  | ({ readonly kind: 'own' } & OwnAnswer)
  | { readonly kind: 'miss'; readonly miss: Miss }

/** One server's part of a tape, as far as one connection has not played it; recorded connections are one, in order. */
export class Script {
  readonly turns: TurnStore
  readonly #recorded: Recorded
  readonly #matcher: Matcher
  readonly #notices: NoticeIndex
  readonly #explainer: MissExplainer

  constructor(from: ScriptOptions | Recorded) {
    this.#recorded = 'matcher' in from ? from : recordedFor(from)
    const { turns, matcher, notices } = this.#recorded
    this.turns = turns
    this.#matcher = matcher.another()
    this.#notices = notices.another()
    this.#explainer = new MissExplainer({ ...this.#recorded, index: this.#matcher })
  }

  /** The same part for another connection: nothing of it is played yet. */
  another(): Script {
    return new Script(this.#recorded)
  }

  /** What the server said before the client spoke. */
  opening(): readonly Turn[] {
    return this.#recorded.opening
  }

  cueFor(request: Request): Cue {
    const asked = { server: this.#recorded.server, method: request.method, params: request.params }
    const outcome = this.#matcher.lookup(asked)
    if (outcome.kind === 'hit') return { ...outcome, kind: 'turn' }
    const own = ownAnswer(request, this.#recorded)
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
interface Recorded extends Pick<
  ScriptOptions,
  'server' | 'tape' | 'started' | 'now' | 'given' | 'commandFor' | 'recordCommand'
> {
  readonly turns: TurnStore
  readonly opening: readonly Turn[]
  readonly matcher: Matcher
  readonly notices: NoticeIndex
  readonly era: EraFound
}

function recordedFor(options: ScriptOptions): Recorded {
  const { server } = options
  const turns = storeOf(options.turns)
  const matcher = matcherFor(turns, options)
  const notices = new NoticeIndex(turns, matcher.ignore)
  const opening = openingOf(turns, server)
  return { given: options, ...options, turns, matcher, notices, opening, era: tapeEra(turns, server) }
}

function openingOf(turns: TurnStore, server: string): readonly Turn[] {
  const opening: Turn[] = []
  const kind = turns.kinds().find((one) => one.trigger === 'none' && one.server === server)
  for (let place = kind?.first ?? turns.size; place < turns.size; place++) {
    const outline = turns.outline(place)
    if (outline.trigger !== 'none' || outline.server !== server) continue
    const turn = turns.turn(place)
    if (turn !== undefined) opening.push(turn)
  }
  return opening
}
