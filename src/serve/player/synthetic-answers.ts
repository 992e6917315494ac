import { describeValue } from '../../match/describe-request.ts'
import type { TurnStore } from '../../tape/turn-store.ts'
import type { Turn } from '../../tape/turn.ts'
import type { DetectedEra } from '../../protocol/era.ts'
import { member, type Request } from '../../protocol/message.ts'
import { MODERN_VERSION } from '../../protocol/methods.ts'
import { discoverResultFrom } from '../discovery.ts'

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export type ResponsePayload = { readonly result: unknown } | { readonly error: RpcError }

export interface SyntheticAnswer {
  readonly answer: ResponsePayload
  /** What the user is to know about it. */
  readonly note?: string
}

interface RecordedServerFacts {
  readonly turns: TurnStore
  readonly server: string
  readonly era: DetectedEra
}

/** What every server of the tape's era says though nobody asked for it on the tape; none for all other requests. */
export function syntheticAnswer(
  { method, params }: Request,
  { turns, server, era: { era, version = MODERN_VERSION } }: RecordedServerFacts,
): SyntheticAnswer | undefined {
  if (method === 'ping') return { answer: { result: {} } }
  if (method === 'server/discover' && era === 'legacy') return { answer: METHOD_NOT_FOUND }
  if (method === 'server/discover' && era === 'modern')
    return {
      answer: { result: discoverResultFrom(turnsOfServer(turns, server), version) },
      note: DISCOVER_NOTE,
    }
  if (method === 'initialize' && era === 'modern')
    return { answer: unsupportedVersion(version, member(params, 'protocolVersion')) }
  if (method === 'logging/setLevel' && declaresLogging(turns, server))
    return { answer: { result: {} }, note: `logging/setLevel ${describeValue(params)} ${SET_LEVEL_NOTE}` }
  return undefined
}

function* turnsOfServer(turns: TurnStore, server: string): Generator<Turn> {
  for (let place = 0; place < turns.size; place++) {
    const turn = turns.outline(place).server === server ? turns.turn(place) : undefined
    if (turn !== undefined) yield turn
  }
}

const METHOD_NOT_FOUND: ResponsePayload = { error: { code: -32601, message: 'Method not found' } }
const DISCOVER_NOTE =
  'server/discover is not on the tape: answered by what the rest of the tape shows of the server'

const SET_LEVEL_NOTE = 'is not on the tape: accepted, and recorded log messages below that level are not sent'

function declaresLogging(turns: TurnStore, server: string): boolean {
  const places = Array.from({ length: turns.size }, (_, place) => place)
  return places.some((place) => {
    const outline = turns.outline(place)
    return (
      outline.method === 'initialize' && outline.server === server && answersWithLogging(turns.turn(place))
    )
  })
}

function answersWithLogging(turn: Turn | undefined): boolean {
  const response = turn?.response
  if (response?.message.kind !== 'response' || 'error' in response.message.outcome) return false
  return member(member(response.message.outcome.result, 'capabilities'), 'logging') !== undefined
}

/** `id` is JSON: the bytes of the live id, or `null`. */
export function responseText(id: string, answer: ResponsePayload): string {
  const [name, value] = 'result' in answer ? ['result', answer.result] : ['error', answer.error]
  return `{"jsonrpc":"2.0","id":${id},"${name}":${JSON.stringify(value)}}`
}

function unsupportedVersion(supported: string, requested: unknown): ResponsePayload {
  const data = { supported: [supported], requested }
  return { error: { code: -32022, message: 'Unsupported protocol version', data } }
}
