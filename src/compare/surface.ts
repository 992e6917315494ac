import { isObject, member, type JsonObject } from '../json/parse.ts'
import { META_KEYS, metaValue } from '../protocol/message.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import type { Turn, TurnStore } from '../tape/turns.ts'

/** How a client introduced itself. */
export interface AskingClient {
  readonly protocolVersion?: string
  readonly capabilities?: JsonObject
}

/** What a server offers to its clients. A list is `undefined` if the client never asked for it. */
export interface ServerSurface {
  /** What the client declared that asked for it. Servers offer some tools only to clients with certain capabilities. */
  readonly client?: AskingClient
  readonly info?: JsonObject
  readonly protocolVersion?: string
  readonly capabilities?: JsonObject
  readonly instructions?: string
  readonly tools?: ReadonlyMap<string, JsonObject>
  readonly prompts?: ReadonlyMap<string, JsonObject>
  readonly resources?: ReadonlyMap<string, JsonObject>
  readonly templates?: ReadonlyMap<string, JsonObject>
  /** Lists that have a further page, which the client did not ask for. */
  readonly unfinished?: ReadonlySet<SurfaceList>
}

/** The lists of a server: the request for each, where its result has the items, and what identifies an item. */
export const SURFACE_LISTS = [
  { list: 'tools', method: 'tools/list', member: 'tools', key: 'name', capability: 'tools' },
  { list: 'prompts', method: 'prompts/list', member: 'prompts', key: 'name', capability: 'prompts' },
  { list: 'resources', method: 'resources/list', member: 'resources', key: 'uri', capability: 'resources' },
  {
    list: 'templates',
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    capability: 'resources',
  },
] as const

type SurfaceList = (typeof SURFACE_LISTS)[number]['list']

/** Returns true for requests whose results are compared as what the server offers, not as results. */
export function isSurfaceMethod(method: string): boolean {
  return isOpeningMethod(method) || SURFACE_LISTS.some((list) => list.method === method)
}

/** Collects what the servers of a tape offer, by the names of the servers. */
export function surfacesOf(turns: TurnStore): ReadonlyMap<string, ServerSurface> {
  const builders = new Map<string, SurfaceBuilder>()
  for (let index = 0; index < turns.size; index++) {
    const { trigger, method, server } = turns.summary(index)
    if (trigger !== 'request') continue
    const builder = builders.get(server) ?? new SurfaceBuilder()
    builders.set(server, builder)
    const turn = isSurfaceMethod(method) ? turns.at(index) : undefined
    const result = turn && resultOfTurn(turn)
    if (turn?.trigger !== undefined && isOpeningMethod(method)) builder.openedBy(askingClient(turn.trigger))
    if (result !== undefined) builder.add(method, result)
  }
  return new Map(Array.from(builders, ([server, builder]) => [server, builder.surface()]))
}

function askingClient({ message }: NonNullable<Turn['trigger']>): AskingClient {
  const params = 'params' in message ? message.params : undefined
  const version = member(params, 'protocolVersion') ?? metaValue(params, META_KEYS.protocolVersion)
  const capabilities = member(params, 'capabilities') ?? metaValue(params, META_KEYS.clientCapabilities)
  return {
    ...(typeof version === 'string' && { protocolVersion: version }),
    ...(isObject(capabilities) && Object.keys(capabilities).length > 0 && { capabilities }),
  }
}

/** The result of the request of a turn; `undefined` if it failed. */
export function resultOfTurn({ response }: Turn): unknown {
  const message = response?.message
  return message?.kind === 'response' && 'result' in message.outcome ? message.outcome.result : undefined
}

/** Puts a surface together from the results of a handshake and of lists. */
export class SurfaceBuilder {
  #opening: unknown
  #client: AskingClient | undefined
  readonly #lists = new Map<SurfaceList, Map<string, JsonObject>>()
  readonly #unfinished = new Set<SurfaceList>()

  openedBy(client: AskingClient): void {
    this.#client = client
  }

  add(method: string, result: unknown): void {
    if (isOpeningMethod(method)) {
      this.#opening = result
      return
    }
    const known = SURFACE_LISTS.find((list) => list.method === method)
    if (known === undefined) return
    const items = this.#lists.get(known.list) ?? new Map<string, JsonObject>()
    this.#lists.set(known.list, items)
    if (typeof member(result, 'nextCursor') === 'string') this.#unfinished.add(known.list)
    else this.#unfinished.delete(known.list)
    const listed = member(result, known.member)
    for (const item of Array.isArray(listed) ? listed : []) {
      const key = member(item, known.key)
      if (isObject(item) && typeof key === 'string' && items.size < MOST_ITEMS) items.set(key, item)
    }
  }

  surface(): ServerSurface {
    const opening = this.#opening
    const info = member(opening, 'serverInfo') ?? metaValue(opening, META_KEYS.serverInfo)
    const [version, capabilities, instructions] = ['protocolVersion', 'capabilities', 'instructions'].map(
      (name) => member(opening, name),
    )
    return {
      ...(this.#client && { client: this.#client }),
      ...(isObject(info) && { info }),
      ...(typeof version === 'string' && { protocolVersion: version }),
      ...(isObject(capabilities) && { capabilities }),
      ...(typeof instructions === 'string' && { instructions }),
      ...Object.fromEntries(this.#lists),
      ...(this.#unfinished.size > 0 && { unfinished: this.#unfinished }),
    }
  }
}

/** A hostile server must not fill the memory. */
const MOST_ITEMS = 100_000
