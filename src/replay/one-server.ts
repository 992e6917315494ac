import type { Tape } from '../store/read.ts'
import { oneServer } from '../tape/server-filter.ts'
import type { Turn } from '../tape/turn.ts'
import { recordedAborts } from './recorded-aborts.ts'
import { eraOf, type EraFound, type Exchange } from '../wire/era.ts'

/** One server's part of a tape, for a client to be played to. */
export interface ServerPart {
  readonly server: string
  readonly turns: readonly Turn[]
  readonly era: EraFound
}

/** The part that the user means; it is never guessed. */
export function onePart({ path, turns, rest }: Tape, wanted: string | undefined): ServerPart {
  const names = [...new Set(turns.flatMap(({ trigger }) => trigger?.server ?? []))]
  const server = oneServer({ path, names }, wanted)
  const own = turns.filter(({ trigger }) => trigger?.server === server)
  return { server, turns: [...own, ...recordedAborts(own, rest)], era: eraOf(own.flatMap(exchangeIn)) }
}

function exchangeIn({ trigger, response }: Turn): readonly Exchange[] {
  if (trigger?.message.kind !== 'request') return []
  const answer = response?.message
  return [{ request: trigger.message, response: answer?.kind === 'response' ? answer : undefined }]
}
