import type { Loosening } from '../match/loosening.ts'
import { MissExplainer, type Miss } from '../match/miss.ts'
import type { Matcher, RecordedRequest } from '../match/matcher.ts'
import { NoticeIndex } from '../match/notice-index.ts'
import { RecordingIndex } from '../match/recording-index.ts'
import type { Turn } from '../tape/turn.ts'
import type { EraFound } from '../wire/era.ts'
import type { Notification, Request } from '../wire/message.ts'
import { ownAnswer, type OwnAnswer } from './own-answer.ts'
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

  constructor(from: ScriptOptions | Recorded) {
    this.#recorded = 'matcher' in from ? from : recordedFor(from)
    const { turns, matcher, notices, tape, commandFor } = this.#recorded
    this.turns = turns
    this.#matcher = matcher.another()
    this.#notices = notices.another()
    this.#explainer = new MissExplainer({ index: this.#matcher, tape, commandFor })
  }

  /** The same part for another connection: nothing of it is played yet. */
  another(): Script {
    return new Script(this.#recorded)
  }

  /** What the server said before the client spoke. */
  opening(): readonly Turn[] {
    return this.turns.filter(({ trigger }) => trigger === undefined)
  }

  /** The turns that messages of that method set off. */
  turnsOf(method: string): readonly Turn[] {
    const { turns, byMethod } = this.#recorded
    const known = byMethod.get(method) ?? turns.filter(({ trigger }) => isOf(trigger, method))
    byMethod.set(method, known)
    return known
  }

  get era(): EraFound {
    return this.#recorded.era
  }

  cueFor(request: Request): Cue {
    const asked = { server: this.#recorded.server, method: request.method, params: request.params }
    const outcome = this.#matcher.lookup(asked)
    if (outcome.kind === 'hit') return { kind: 'turn', turn: outcome.turn, repeated: outcome.repeated }
    const own = ownAnswer(request, this.#recorded.era, this.turns)
    if (own !== undefined) return { kind: 'own', ...own }
    return { kind: 'miss', miss: this.#explainer.explain(asked, outcome) }
  }

  /** The miss of a request whose turn cannot go on, because the client answered the server otherwise than on the tape. */
  answerDrift({ method, params }: Request, why: string): Miss {
    const { server, tape } = this.#recorded
    const next = this.#matcher.next()
    const asked = { server, method, params }
    return { reason: 'ANSWER_DRIFT', why, asked, tape, nearest: [], ...(next && { next }) }
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
  /** What was looked for already. */
  readonly byMethod: Map<string, readonly Turn[]>
}

function recordedFor({ turns: all, server, tape, commandFor, ...options }: ScriptOptions): Recorded {
  const turns = all.filter((turn) => serverOf(turn) === server)
  const matcher = new RecordingIndex(turns, options)
  const notices = new NoticeIndex(turns, matcher.ignore)
  return { turns, server, tape, commandFor, matcher, notices, era: tapeEra(turns), byMethod: new Map() }
}

function isOf(trigger: Turn['trigger'], method: string): boolean {
  return trigger !== undefined && 'method' in trigger.message && trigger.message.method === method
}

function serverOf({ trigger, steps: [first] }: Turn): string | undefined {
  return (trigger ?? (first?.kind === 'ask' ? first.request : first?.message))?.server
}
