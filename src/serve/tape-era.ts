import type { TurnStore } from '../tape/turn-store.ts'
import { detectEra, type DetectedEra } from '../protocol/era.ts'
import type { Request, Response } from '../protocol/message.ts'

/** The era that a recorded server spoke, and its protocol version. */
export function eraOfServer(turns: TurnStore, server: string): DetectedEra {
  return detectEra(openingExchanges(turns, server))
}

/** Only an opening, or a request that carries the modern envelope, can prove an era: others are not read. */
function* openingExchanges(
  turns: TurnStore,
  server: string,
): Generator<{ readonly request: Request; readonly response: Response | undefined }> {
  for (let place = 0; place < turns.size; place++) {
    const outline = turns.outline(place)
    if (outline.trigger !== 'request' || outline.server !== server) continue
    if (outline.method !== 'initialize' && !outline.enveloped) continue
    const { trigger, response } = turns.turn(place) ?? {}
    if (trigger?.message.kind !== 'request') continue
    const answer = response?.message
    yield { request: trigger.message, response: answer?.kind === 'response' ? answer : undefined }
  }
}
