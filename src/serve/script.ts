import { briefRequest } from '../match/brief.ts'
import { isPoll } from '../match/freely-asked.ts'
import type { Loosening } from '../match/loosening.ts'
import { MissExplainer, type Miss } from '../match/miss.ts'
import type { MatchOptions } from '../match/match-options.ts'
import { matcherFor } from '../match/matcher-for.ts'
import type { Asked } from '../match/key.ts'
import type { Matcher, MatchOutcome, RecordedRequest } from '../match/matcher.ts'
import { NoticeIndex } from '../match/notice-index.ts'
import { formsOf } from '../redact/known-values.ts'
import type { Outline, TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { EraFound } from '../wire/era.ts'
import { canonicalJson } from '../wire/canonical.ts'
import type { Notification, Request } from '../wire/message.ts'
import type { LiveRedaction } from './live-redaction.ts'
import { ownAnswer, type OwnAnswer } from './own-answer.ts'
import { storeOf } from './played-tape.ts'
import { missOfRedacted } from './redaction-mismatch.ts'
import { createScreen, type Screen } from './screen.ts'
import { shownMiss } from './shown-miss.ts'
import { tapeEra } from './tape-era.ts'
import { TaskPolls } from './task-polls.ts'

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
  readonly recordCommand?: () => string | undefined
  /** What is done with the secrets of the client, when those of the tape have stand-ins. */
  readonly redaction?: LiveRedaction | undefined
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
  readonly #polls: TaskPolls

  constructor(from: ScriptOptions | Recorded) {
    this.#recorded = 'matcher' in from ? from : recordedFor(from)
    const { turns, matcher, notices } = this.#recorded
    this.turns = turns
    this.#matcher = matcher.another()
    this.#notices = notices.another()
    this.#explainer = new MissExplainer({ ...this.#recorded, index: this.#matcher })
    this.#polls = new TaskPolls((method) => this.turnsOf(method))
  }

  /** The same part for another connection: nothing of it is played yet. */
  another(): Script {
    return new Script(this.#recorded)
  }

  /** What the server said before the client spoke. */
  opening(): readonly Turn[] {
    return this.#recorded.opening
  }

  /** The turns that messages of that method set off. */
  turnsOf(method: string): readonly Turn[] {
    const { turns, server, byMethod } = this.#recorded
    const known =
      byMethod.get(method) ??
      turnsAt(turns, (outline) => outline.server === server && outline.method === method)
    byMethod.set(method, known)
    return known
  }

  get era(): EraFound {
    return this.#recorded.era
  }

  get redaction(): LiveRedaction | undefined {
    return this.#recorded.redaction
  }

  /** For reports of a tape that was never redacted. */
  get screen(): Screen | undefined {
    return this.#recorded.screen
  }

  cueFor(request: Request): Cue {
    const outcome = this.#lookup(this.#asked(request), request)
    if (outcome.kind === 'hit') return this.#turnOf(outcome, request)
    const own = ownAnswer(request, this.#recorded)
    if (own !== undefined) return { kind: 'own', ...own }
    const second = this.#hasLearned(request) ? this.#lookup(this.#asked(request), request) : outcome
    if (second.kind === 'hit') return this.#turnOf(second, request)
    return { kind: 'miss', miss: this.#missOf(request, second) }
  }

  #turnOf(hit: Extract<MatchOutcome, { kind: 'hit' }>, request: Request): Cue {
    return isPoll(request.method) ? this.#poll(hit, request) : { ...hit, kind: 'turn' }
  }

  #missOf(request: Request, outcome: Exclude<MatchOutcome, { kind: 'hit' }>): Miss {
    const asked = this.#asked(request)
    const miss = this.#explainer.explain(asked, outcome)
    const { redaction } = this
    if (redaction === undefined) return this.#shown(miss)
    return missOfRedacted(miss, redaction, asked.params !== request.params)
  }

  /** Whether the request holds secrets that no rule knows, and the tape does: their very stand-ins are on it. */
  #hasLearned({ method, params }: Request): boolean {
    let texts: readonly string[] | undefined
    const isOnTape = (standIn: string): boolean => {
      texts ??= this.#matcher
        .entries()
        .filter(({ request }) => request.method === method)
        .map(({ request }) => canonicalJson(request.params ?? null))
      const forms = formsOf(standIn)
      return texts.some((text) => forms.some((form) => text.includes(form)))
    }
    return this.redaction?.standIns.learn(params, isOnTape) === true
  }

  /** The miss of a request whose turn cannot go on, because the client answered the server otherwise than on the tape. */
  answerDrift(request: Request, why: string): Miss {
    return this.#missFor(request, 'ANSWER_DRIFT', why)
  }

  /** A turn has been played to its answer. */
  answered(turn: Turn): void {
    this.#polls.answered(turn)
  }

  /** How a task is doing may be asked at any time: the answer is one that was true at this point of the tape. */
  #poll(hit: MatchOutcome & { kind: 'hit' }, request: Request): Cue {
    const turn = this.#polls.next(hit.turn)
    if (turn !== undefined) return { ...hit, kind: 'turn', turn }
    const due = this.#polls.dueChange(hit.turn)?.trigger
    const first =
      due?.message.kind === 'request' ? `only after #${due.n} ${briefRequest(due.message)}` : 'no more'
    return {
      kind: 'miss',
      miss: this.#missFor(request, 'OUT_OF_ORDER', `the tape tells the state of this task ${first}`),
    }
  }

  /** A miss that no other way of matching would answer. */
  #missFor(request: Request, reason: Miss['reason'], why: string): Miss {
    const { tape } = this.#recorded
    const next = this.#matcher.next()
    const asked = this.#asked(request)
    return this.#shown({
      reason,
      why,
      asked,
      tape,
      nearest: [],
      annotations: [],
      fixes: [],
      ...(next && { next }),
    })
  }

  /** The secrets of a redacted tape, and of its live client, have stand-ins already. */
  #shown(miss: Miss): Miss {
    return this.screen === undefined ? miss : shownMiss(miss, this.screen)
  }

  /** What a notification of the client sets off; none when it is not on the tape. */
  effectOf(notification: Notification): Turn | undefined {
    return this.#notices.take(this.#asked(notification))
  }

  leftOver(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }

  /** A live message as it is compared and reported: without its secrets, when those of the tape have stand-ins. */
  #asked({ method, params }: Request | Notification): Asked {
    return { server: this.#recorded.server, method, params: this.redaction?.params(params) ?? params }
  }

  /** What came may hold no secret but a stand-in that has no room for a mark, so it is tried as it came, too. */
  #lookup(asked: Asked, { params }: Request): MatchOutcome {
    const outcome = this.#matcher.lookup(asked)
    if (outcome.kind === 'hit' || asked.params === params) return outcome
    const asItCame = this.#matcher.lookup({ ...asked, params })
    return asItCame.kind === 'hit' ? asItCame : outcome
  }
}

/** What all connections share. */
interface Recorded extends Pick<
  ScriptOptions,
  'server' | 'tape' | 'started' | 'now' | 'given' | 'commandFor' | 'recordCommand' | 'redaction'
> {
  readonly turns: TurnStore
  readonly opening: readonly Turn[]
  readonly matcher: Matcher
  readonly notices: NoticeIndex
  readonly era: EraFound
  readonly screen: Screen | undefined
  /** What was looked for already. */
  readonly byMethod: Map<string, readonly Turn[]>
}

function recordedFor(options: ScriptOptions): Recorded {
  const { server } = options
  const turns = storeOf(options.turns)
  const matcher = matcherFor(turns, options)
  const notices = new NoticeIndex(turns, matcher.ignore)
  const opening = openingOf(turns, server)
  const byMethod = new Map<string, readonly Turn[]>()
  return {
    given: options,
    ...options,
    turns,
    matcher,
    notices,
    opening,
    byMethod,
    era: tapeEra(turns, server),
    screen: options.redaction === undefined ? createScreen() : undefined,
  }
}

function openingOf(turns: TurnStore, server: string): readonly Turn[] {
  return turnsAt(turns, (outline) => outline.server === server && outline.trigger === 'none')
}

/** The turns that look like that from outside. Where no kind of turn does, none is looked at. */
function turnsAt(
  turns: TurnStore,
  isMeant: (outline: Pick<Outline, 'server' | 'method' | 'trigger'>) => boolean,
): readonly Turn[] {
  const first = Math.min(
    turns.size,
    ...turns
      .kinds()
      .filter(isMeant)
      .map((kind) => kind.first),
  )
  const found: Turn[] = []
  for (let place = first; place < turns.size; place++) {
    const turn = isMeant(turns.outline(place)) ? turns.turn(place) : undefined
    if (turn !== undefined) found.push(turn)
  }
  return found
}
