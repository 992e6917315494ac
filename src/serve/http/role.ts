import type { Tape } from '../../store/read.ts'
import type { Turn } from '../../tape/turn.ts'
import type { Loosening } from '../../match/loosening.ts'
import { isEnveloped } from '../../wire/methods.ts'
import { Connections } from '../connections.ts'
import type { Drift } from '../drift.ts'
import { addDrifts } from '../joined-drift.ts'
import { placeOf } from '../recorded-sessions.ts'
import type { Rests } from '../rests.ts'
import { playerOptions, type ServeOptions } from '../serve-options.ts'
import { tapeEra } from '../tape-era.ts'
import { RecordedHeads } from './recorded-heads.ts'
import { withoutRefusals } from './transport-refusals.ts'

export interface RoleOptions {
  readonly options: ServeOptions & { readonly server: string }
  readonly commandFor: (loosening: Loosening) => string
  readonly rests: Rests
}

/** One server of a tape, ready to be played over HTTP: its connections in each era that it spoke, which is one at least. */
export interface Role {
  readonly server: string
  readonly heads: RecordedHeads
  readonly modernTurns: readonly Turn[]
  readonly legacy: Connections | undefined
  readonly modern: Connections | undefined
  /** For a transport that knows nothing of eras. */
  readonly main: Connections
  readonly drift: () => Drift
}

export function roleOf({ options, commandFor, rests }: RoleOptions): Role {
  const { tape, server } = options
  const heads = new RecordedHeads(tape.rest)
  const turns = withoutRefusals(turnsOf(tape, server), heads)
  const modernTurns = turns.filter(isModernTurn)
  const legacyTurns = turns.filter((turn) => !isModernTurn(turn))
  const connectionsOf = (played: readonly Turn[]): Connections =>
    new Connections({
      ...playerOptions({ ...options, tape: { ...tape, turns: played } }, commandFor),
      later: rests.later,
    })
  const place = { server, heads, modernTurns }
  const isDual = tapeEra(modernTurns).era === 'modern' && tapeEra(legacyTurns).era === 'legacy'
  if (isDual) {
    const [modern, legacy] = [connectionsOf(modernTurns), connectionsOf(legacyTurns)]
    return {
      ...place,
      modern,
      legacy,
      main: legacy,
      drift: () => addDrifts([legacy.drift(), modern.drift()]),
    }
  }
  // All that was said to it, so that a miss can tell of what was said in the form of the other era.
  const main = connectionsOf(turns)
  const isModern = tapeEra(turns).era === 'modern'
  const [modern, legacy] = isModern ? [main, undefined] : [undefined, main]
  return { ...place, modern, legacy, main, drift: () => main.drift() }
}

function turnsOf({ turns }: Tape, server: string): readonly Turn[] {
  return turns.filter((turn) => placeOf(turn)?.server === server)
}

function isModernTurn({ trigger }: Turn): boolean {
  return trigger !== undefined && 'params' in trigger.message && isEnveloped(trigger.message.params)
}
