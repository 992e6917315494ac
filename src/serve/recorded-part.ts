import type { SuggestedMatchOptions } from '../match/loosening.ts'
import type { MatchOptions } from '../match/options.ts'
import { createMatcher } from '../match/matcher-for.ts'
import type { Matcher } from '../match/matcher.ts'
import { NotificationMatcher } from '../match/notification-matcher.ts'
import type { TurnOutline, TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { DetectedEra } from '../protocol/era.ts'
import type { ClientRedaction } from './redaction/client-redaction.ts'
import { turnStoreOf } from './playable-tape.ts'
import { createReportRedactor, type ReportRedactor } from './redaction/report-redactor.ts'
import { eraOfServer } from './tape-era.ts'

export interface RecordedServerOptions extends MatchOptions {
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
  readonly commandFor: (loosening: SuggestedMatchOptions) => string
  /** How the tape was made, when it says. */
  readonly recordCommand?: () => string | undefined
  /** What is done with the secrets of the client, when those of the tape have stand-ins. */
  readonly redaction?: ClientRedaction | undefined
}

/** One server's part of a tape: what all connections that play it share. */
export interface RecordedServerData extends Pick<
  RecordedServerOptions,
  'server' | 'tape' | 'started' | 'now' | 'given' | 'commandFor' | 'recordCommand' | 'redaction'
> {
  readonly turns: TurnStore
  readonly opening: readonly Turn[]
  readonly matcher: Matcher
  readonly notices: NotificationMatcher
  readonly era: DetectedEra
  readonly screen: ReportRedactor | undefined
  /** What was looked for already. */
  readonly byMethod: Map<string, readonly Turn[]>
}

export function loadRecordedServer(options: RecordedServerOptions): RecordedServerData {
  const { server } = options
  const turns = turnStoreOf(options.turns)
  const matcher = createMatcher(turns, options)
  const notices = new NotificationMatcher(turns, matcher.ignore)
  const opening = openingTurns(turns, server)
  const byMethod = new Map<string, readonly Turn[]>()
  return {
    given: options,
    ...options,
    turns,
    matcher,
    notices,
    opening,
    byMethod,
    era: eraOfServer(turns, server),
    screen: options.redaction === undefined ? createReportRedactor() : undefined,
  }
}

function openingTurns(turns: TurnStore, server: string): readonly Turn[] {
  return turnsMatching(turns, (outline) => outline.server === server && outline.trigger === 'none')
}

/** The turns that look like that from outside. Where no kind of turn does, none is looked at. */
export function turnsMatching(
  turns: TurnStore,
  isMeant: (outline: Pick<TurnOutline, 'server' | 'method' | 'trigger'>) => boolean,
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
