import type { Loosening } from '../../match/loosening.ts'
import type { TurnStore } from '../../tape/turn-store.ts'
import { Connections, type ConnectionsOptions } from '../connections.ts'
import type { Drift } from '../drift.ts'
import { addDrifts } from '../joined-drift.ts'
import { storeOf } from '../played-tape.ts'
import type { Rests } from '../rests.ts'
import { playerOptions, type ServeOptions } from '../serve-options.ts'
import { tapeEra } from '../tape-era.ts'
import { chosenTurns } from '../turn-views.ts'
import { RecordedHeads } from './recorded-heads.ts'
import { withoutRefusals } from './transport-refusals.ts'

export interface RoleOptions {
  readonly options: ServeOptions &
    Pick<ConnectionsOptions, 'elsewhere' | 'keepLiveMs'> & { readonly server: string }
  readonly commandFor: (loosening: Loosening) => string
  readonly rests: Rests
  /** Makes up the id of one more session. */
  readonly newId: () => string
}

/** One server of a tape, ready to be played over HTTP: its connections in each era that it spoke, which is one at least. */
export interface Role {
  readonly server: string
  readonly heads: RecordedHeads
  readonly newId: () => string
  readonly modernTurns: TurnStore
  readonly legacy: Connections | undefined
  readonly modern: Connections | undefined
  /** For a transport that knows nothing of eras. */
  readonly main: Connections
  readonly drift: () => Drift
  /** Ends the live servers behind it, if there are any. */
  readonly close: () => Promise<void>
}

export function roleOf({ options, commandFor, rests, newId }: RoleOptions): Role {
  const { tape, server } = options
  const heads = new RecordedHeads(tape.rest)
  const all = withoutRefusals(storeOf(tape.turns), heads)
  const isAlone = all.kinds().every((kind) => kind.server === server)
  const turns = isAlone ? all : chosenTurns(all, (place) => all.outline(place).server === server)
  const modernTurns = chosenTurns(turns, (place) => turns.outline(place).enveloped)
  const legacyTurns = chosenTurns(turns, (place) => !turns.outline(place).enveloped)
  const connectionsOf = (played: TurnStore): Connections =>
    new Connections({
      turns: played,
      playing: (part) => playerOptions({ ...options, tape: { ...tape, turns: part } }, commandFor),
      later: rests.later,
      elsewhere: options.elsewhere,
      keepLiveMs: options.keepLiveMs,
    })
  const place = { server, heads, newId, modernTurns }
  const isDual =
    tapeEra(modernTurns, server).era === 'modern' && tapeEra(legacyTurns, server).era === 'legacy'
  // What a live server speaks is its own affair, where no tape says.
  const isUnknown = turns.size === 0 && options.elsewhere !== undefined
  if (isDual || isUnknown)
    return { ...place, ...ofBothEras(connectionsOf(legacyTurns), connectionsOf(modernTurns)) }
  // All that was said to it, so that a miss can tell of what was said in the form of the other era.
  const main = connectionsOf(turns)
  const isModern = tapeEra(turns, server).era === 'modern'
  const [modern, legacy] = isModern ? [main, undefined] : [undefined, main]
  return { ...place, modern, legacy, main, drift: () => main.drift(), close: () => main.close() }
}

function ofBothEras(
  legacy: Connections,
  modern: Connections,
): Pick<Role, 'legacy' | 'modern' | 'main' | 'drift' | 'close'> {
  return {
    legacy,
    modern,
    main: legacy,
    drift: () => addDrifts([legacy.drift(), modern.drift()]),
    close: async () => void (await Promise.all([legacy.close(), modern.close()])),
  }
}
