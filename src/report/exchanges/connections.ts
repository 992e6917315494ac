import type { EventFrame } from '../../tape/frame.ts'
import type { Era } from '../../protocol/era.ts'
import type { JsonObject } from '../../protocol/message.ts'
import type { ExchangeFacts } from './exchange.ts'
import { ConnectionTracker, type ConnectionKey } from '../links.ts'

/** Who talked to whom on one link, as far as they said. */
export interface ConnectionFacts {
  readonly server: string
  readonly conn: number
  readonly clientInfo: JsonObject | undefined
  readonly serverInfo: JsonObject | undefined
  readonly clientCapabilities: JsonObject | undefined
  readonly serverCapabilities: JsonObject | undefined
  readonly protocolVersion: string | undefined
  readonly era: Era | undefined
  /** How the server's process ended: `code`, or `signal`. */
  readonly exit: JsonObject | undefined
}

/** One entry for each link that left a trace on the tape, in the order of their first words. */
export function connectionsInTape(
  exchanges: readonly ExchangeFacts[],
  events: readonly EventFrame[],
  others: readonly ConnectionKey[],
): readonly ConnectionFacts[] {
  const links = new ConnectionTracker()
  for (const { request, response, sequence } of exchanges) {
    links.addRequest(request, request.message, sequence)
    if (response !== undefined)
      links.addResponse(request, { request: request.message, response: response.message, sequence })
  }
  for (const event of events) links.addEvent(event)
  for (const [position, frame] of others.entries()) links.track(frame, 'other', position)
  return links.facts()
}
