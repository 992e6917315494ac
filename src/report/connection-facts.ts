import type { EventFrame } from '../tape/frame.ts'
import { eraOf, type Era } from '../wire/era.ts'
import { isObject, member, type JsonObject } from '../wire/message.ts'
import { HANDSHAKE_METHODS, META } from '../wire/methods.ts'
import type { ExchangeFacts } from './exchange-facts.ts'

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
export function connectionsOf(
  exchanges: readonly ExchangeFacts[],
  events: readonly EventFrame[],
  others: readonly Place[],
): readonly ConnectionFacts[] {
  const links = new Map<string, Link>()
  const linkAt = ({ server, conn }: Place): Link => {
    const key = JSON.stringify([server, conn])
    const link = links.get(key) ?? { server, conn, exchanges: [], events: [] }
    links.set(key, link)
    return link
  }
  for (const exchange of exchanges) linkAt(exchange.request).exchanges.push(exchange)
  for (const event of events) if (hasPlace(event)) linkAt(event).events.push(event)
  for (const frame of others) linkAt(frame)
  return [...links.values()].map(factsOf)
}

interface Place {
  readonly server: string
  readonly conn: number
}

interface Link extends Place {
  readonly exchanges: ExchangeFacts[]
  readonly events: EventFrame[]
}

function hasPlace(event: EventFrame): event is EventFrame & Place {
  return event.server !== undefined && event.conn !== undefined
}

function factsOf({ server, conn, exchanges, events }: Link): ConnectionFacts {
  const { era, version } = eraOf(
    exchanges.map(({ request, response }) => ({ request: request.message, response: response?.message })),
  )
  return {
    server,
    conn,
    ...introductionsOf(exchanges),
    protocolVersion: version,
    era,
    exit: events.find(({ event }) => event === 'exit')?.details,
  }
}

type Introductions = Pick<
  ConnectionFacts,
  'clientInfo' | 'serverInfo' | 'clientCapabilities' | 'serverCapabilities'
>

/** Legacy peers introduce themselves once, in `initialize`; modern ones in every message. */
function introductionsOf(exchanges: readonly ExchangeFacts[]): Introductions {
  const openings = exchanges.filter(({ request }) => HANDSHAKE_METHODS.has(request.message.method))
  const [params, results] = [exchanges.map(paramsOf), exchanges.map(resultOf)]
  const [openingParams, openingResults] = [openings.map(paramsOf), openings.map(resultOf)]
  return {
    clientInfo: firstObject(openingParams, ['clientInfo']) ?? firstObject(params, ['_meta', META.clientInfo]),
    serverInfo:
      firstObject(openingResults, ['serverInfo']) ?? firstObject(results, ['_meta', META.serverInfo]),
    clientCapabilities:
      firstObject(openingParams, ['capabilities']) ?? firstObject(params, ['_meta', META.clientCapabilities]),
    serverCapabilities: firstObject(openingResults, ['capabilities']),
  }
}

function paramsOf({ request }: ExchangeFacts): unknown {
  return request.message.params
}

function resultOf({ response }: ExchangeFacts): unknown {
  return member(response?.message.outcome, 'result')
}

function firstObject(values: readonly unknown[], path: readonly string[]): JsonObject | undefined {
  return values.map((value) => path.reduce(member, value)).find(isObject)
}
