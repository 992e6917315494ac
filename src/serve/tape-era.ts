import type { Turn } from '../tape/turn.ts'
import { eraOf, type EraFound } from '../wire/era.ts'

/** The era that the recorded server spoke, and its protocol version. */
export function tapeEra(turns: readonly Turn[]): EraFound {
  return eraOf(
    turns.flatMap(({ trigger, response }) => {
      if (trigger?.message.kind !== 'request') return []
      const answer = response?.message
      return [{ request: trigger.message, response: answer?.kind === 'response' ? answer : undefined }]
    }),
  )
}
