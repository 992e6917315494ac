import type { TurnStore } from '../../tape/turn-store.ts'
import type { Turn } from '../../tape/turn.ts'
import { hasModernEnvelope, META_KEYS, metaValue, MODERN_VERSION } from '../../protocol/methods.ts'
import { errorCodeOf } from './answer-status.ts'
import { filterTurns } from '../player/turn-filters.ts'
import type { RecordedHead, RecordedHeads } from './recorded-http.ts'

/**
 * The turns without those that the recorded server refused for what HTTP carried around them: headers, the session, a missing
 * envelope. A live request with the same params may carry all of that rightly, and must not be refused for another's fault;
 * one that does not is refused by our own checks.
 */
export function withoutTransportErrors(turns: TurnStore, heads: RecordedHeads): TurnStore {
  const refused = heads.refused()
  if (refused.length === 0) return turns
  const places = new Set<number>()
  for (let place = 0; place < turns.size; place++) {
    const { frame, trigger } = turns.outline(place)
    const isNear = trigger === 'request' && refused.some((head) => isBetween(frame, head))
    const turn = isNear ? turns.turn(place) : undefined
    if (turn !== undefined && isTransportError(turn, heads)) places.add(place)
  }
  return filterTurns(turns, (place) => !places.has(place))
}

function isBetween(frame: number, { asked = 0, answered = Infinity }: RecordedHead): boolean {
  return frame > asked && frame < answered
}

function isTransportError({ trigger, response }: Turn, heads: RecordedHeads): boolean {
  if (trigger?.message.kind !== 'request') return false
  const { status = 200, version } = heads.of(response ?? trigger) ?? {}
  if (status < 400) return false
  const code = errorCodeOf(response)
  const { params } = trigger.message
  if (code === -32602) return version === MODERN_VERSION && !hasFullEnvelope(params)
  if (code === -32022) return metaValue(params, META_KEYS.protocolVersion) !== MODERN_VERSION
  return response === undefined || TRANSPORT_ERROR_CODES.has(code)
}

function hasFullEnvelope(params: unknown): boolean {
  return hasModernEnvelope(params) && metaValue(params, META_KEYS.clientCapabilities) !== undefined
}

// Header mismatch; what SDK servers answer when a session, a media type or a body is wrong.
const TRANSPORT_ERROR_CODES: ReadonlySet<unknown> = new Set([-32020, -32000, -32001, -32600, -32700])
