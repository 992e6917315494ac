import type { SuggestedMatchOptions } from '../../match/loosening.ts'
import type { TurnStore } from '../../tape/turn-store.ts'
import { ClientSessions, type ClientSessionsOptions } from '../connections.ts'
import type { Drift } from '../drift.ts'
import { sumServerDrifts } from '../joined-drift.ts'
import { turnStoreOf } from '../playable-tape.ts'
import type { ClientPauses } from '../rests.ts'
import { sessionPlayerOptions, type ServeOptions } from '../serve-options.ts'
import { eraOfServer } from '../tape-era.ts'
import { filterTurns } from '../player/turn-filters.ts'
import { RecordedHeads } from './recorded-http.ts'
import { withoutTransportErrors } from './transport-refusals.ts'

export interface ServedRecordingOptions {
  readonly options: ServeOptions &
    Pick<ClientSessionsOptions, 'elsewhere' | 'keepLiveMs'> & { readonly server: string }
  readonly commandFor: (loosening: SuggestedMatchOptions) => string
  readonly rests: ClientPauses
  /** Makes up the id of one more session. */
  readonly newId: () => string
}

/** One server of a tape, ready to be played over HTTP: its connections in each era that it spoke, which is one at least. */
export interface ServedRecording {
  readonly server: string
  readonly heads: RecordedHeads
  readonly newId: () => string
  readonly modernTurns: TurnStore
  readonly legacy: ClientSessions | undefined
  readonly modern: ClientSessions | undefined
  /** For a transport that knows nothing of eras. */
  readonly main: ClientSessions
  readonly drift: () => Drift
  /** Ends the live servers behind it, if there are any. */
  readonly close: () => Promise<void>
}

export function createServedRecording({
  options,
  commandFor,
  rests,
  newId,
}: ServedRecordingOptions): ServedRecording {
  const { tape, server } = options
  const heads = new RecordedHeads(tape.rest)
  const all = withoutTransportErrors(turnStoreOf(tape.turns), heads)
  const isAlone = all.kinds().every((kind) => kind.server === server)
  const turns = isAlone ? all : filterTurns(all, (place) => all.outline(place).server === server)
  const modernTurns = filterTurns(turns, (place) => turns.outline(place).enveloped)
  const legacyTurns = filterTurns(turns, (place) => !turns.outline(place).enveloped)
  const connectionsOf = (played: TurnStore): ClientSessions =>
    new ClientSessions({
      turns: played,
      playing: (part) => sessionPlayerOptions({ ...options, tape: { ...tape, turns: part } }, commandFor),
      later: rests.later,
      elsewhere: options.elsewhere,
      keepLiveMs: options.keepLiveMs,
    })
  const place = { server, heads, newId, modernTurns }
  const isDual =
    eraOfServer(modernTurns, server).era === 'modern' && eraOfServer(legacyTurns, server).era === 'legacy'
  // What a live server speaks is its own affair, where no tape says.
  const isUnknown = turns.size === 0 && options.elsewhere !== undefined
  if (isDual || isUnknown)
    return { ...place, ...servedInBothEras(connectionsOf(legacyTurns), connectionsOf(modernTurns)) }
  // All that was said to it, so that a miss can tell of what was said in the form of the other era.
  const main = connectionsOf(turns)
  const isModern = eraOfServer(turns, server).era === 'modern'
  const [modern, legacy] = isModern ? [main, undefined] : [undefined, main]
  return { ...place, modern, legacy, main, drift: () => main.drift(), close: () => main.close() }
}

function servedInBothEras(
  legacy: ClientSessions,
  modern: ClientSessions,
): Pick<ServedRecording, 'legacy' | 'modern' | 'main' | 'drift' | 'close'> {
  return {
    legacy,
    modern,
    main: legacy,
    drift: () => sumServerDrifts([legacy.drift(), modern.drift()]),
    close: async () => void (await Promise.all([legacy.close(), modern.close()])),
  }
}
