import type { Loosening } from '../match/loosening.ts'
import { MissExplainer, type Miss } from '../match/miss.ts'
import { NoticeIndex } from '../match/notice-index.ts'
import { RecordingIndex, type RecordedRequest } from '../match/recording-index.ts'
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

/** One server's part of a tape, as far as it is not played yet; all its connections are one, in recorded order. */
export class Script {
  readonly turns: readonly Turn[]
  readonly #server: string
  readonly #index: RecordingIndex
  readonly #notices: NoticeIndex
  readonly #explainer: MissExplainer
  readonly #era: EraFound

  constructor({ turns, server, tape, ignore = [], permissive = false, commandFor }: ScriptOptions) {
    this.turns = turns.filter((turn) => serverOf(turn) === server)
    this.#server = server
    this.#index = new RecordingIndex(this.turns, { ignore, permissive })
    this.#notices = new NoticeIndex(this.turns, this.#index.ignore)
    this.#explainer = new MissExplainer({ index: this.#index, tape, commandFor })
    this.#era = tapeEra(this.turns)
  }

  /** What the server said before the client spoke. */
  opening(): readonly Turn[] {
    return this.turns.filter(({ trigger }) => trigger === undefined)
  }

  cueFor(request: Request): Cue {
    const asked = { server: this.#server, method: request.method, params: request.params }
    const outcome = this.#index.lookup(asked)
    if (outcome.kind === 'hit') return { kind: 'turn', turn: outcome.turn, repeated: outcome.repeated }
    const own = ownAnswer(request, this.#era, this.turns)
    if (own !== undefined) return { kind: 'own', ...own }
    return { kind: 'miss', miss: this.#explainer.explain(asked, outcome) }
  }

  /** What a notification of the client sets off; none when it is not on the tape. */
  effectOf({ method, params }: Notification): Turn | undefined {
    return this.#notices.take({ server: this.#server, method, params })
  }

  leftOver(): readonly RecordedRequest[] {
    return this.#index.unconsumedKeys()
  }
}

function serverOf({ trigger, steps: [first] }: Turn): string | undefined {
  return (trigger ?? (first?.kind === 'ask' ? first.request : first?.message))?.server
}
