import type { Loosening } from '../match/loosening.ts'
import type { MatchOptions } from '../match/match-options.ts'
import { matcherFor } from '../match/matcher-for.ts'
import type { Matcher } from '../match/matcher.ts'
import { NoticeIndex } from '../match/notice-index.ts'
import type { Outline, TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { EraFound } from '../wire/era.ts'
import type { LiveRedaction } from './live-redaction.ts'
import { storeOf } from './played-tape.ts'
import { createScreen, type Screen } from './screen.ts'
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
  readonly recordCommand?: () => string | undefined
  /** What is done with the secrets of the client, when those of the tape have stand-ins. */
  readonly redaction?: LiveRedaction | undefined
}

/** One server's part of a tape: what all connections that play it share. */
export interface RecordedPart extends Pick<
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

export function recordedPart(options: ScriptOptions): RecordedPart {
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
export function turnsAt(
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
