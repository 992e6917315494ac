import { describeValue } from '../../match/describe-request.ts'
import { isObject, member, type JsonObject } from '../../json/parse.ts'
import {
  type Request,
  META_KEYS,
  METHOD_NOT_FOUND,
  metaValue,
  type ResponsePayload,
} from '../../protocol/message.ts'
import { sessionVersions, type DetectedRevision } from '../../protocol/revisions/index.ts'
import type { Revision, ServerDescription } from '../../protocol/revisions/revision.ts'
import type { TurnStore, Turn, RecordedMessage, TurnStep } from '../../tape/turns.ts'

export interface SyntheticAnswer {
  readonly answer: ResponsePayload
  /** A note for the user. */
  readonly note?: string
  /** True if a live server should be asked instead, if there is one: the answer is only what the tape shows of the server. */
  readonly isAssumed?: boolean
}

interface RecordedServerFacts {
  readonly turns: TurnStore
  readonly server: string
  readonly revision: DetectedRevision
}

/** Answers a request that is not on the tape, if every server of the recorded revision answers it in a known way. */
export function syntheticAnswer(
  { method, params }: Request,
  { turns, server, revision: { revision, version } }: RecordedServerFacts,
): SyntheticAnswer | undefined {
  if (method === 'ping') return { answer: { result: {} } }
  if (revision === undefined) return undefined
  const description = (): ServerDescription =>
    describeServer(turnsOfServer(turns, server), version ?? revision.version)
  const answer = revision.builtInAnswer({ method, params }, description)
  if (answer !== undefined) return { answer, ...openingNote(method, answer, revision) }
  if (method === revision.openingMethod) {
    const agreed = agreedVersion(member(params, 'protocolVersion'), revision)
    const result = revision.openingResult({ ...description(), version: agreed })
    return { answer: { result }, note: `${method} ${OPENING_NOTE}`, isAssumed: true }
  }
  // The Python SDK lists tools before or after a call, and other clients list all that a server declares when they connect. They
  // need the list even if the recorded client did not.
  const list = LISTS.get(method)
  if (list !== undefined && !hasMethod(turns, server, method)) {
    const used = usedItems(turns, server, list.use)
    const modern = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
    const result = { [list.member]: list.items(used), ...(revision.isStateless && modern) }
    const note = `${method} ${used.length > 0 ? LIST_NOTE : EMPTY_LIST_NOTE}`
    if (used.length > 0 || declares(list.capability, turns, server))
      return { answer: { result }, note, isAssumed: true }
  }
  if (method === 'logging/setLevel' && declares('logging', turns, server))
    return { answer: { result: {} }, note: `logging/setLevel ${describeValue(params)} ${SET_LEVEL_NOTE}` }
  return undefined
}

/** A legacy tape refuses the probe of a client that negotiates, which is no news. A client without another way must be told. */
function openingNote(method: string, answer: ResponsePayload, revision: Revision): { note?: string } {
  if ('result' in answer) return { note: `${method} ${OPENING_NOTE}` }
  return revision.isStateless
    ? { note: `${method} was refused: ${String(member(answer.error, 'message'))}` }
    : {}
}

/** The version that the client asks for, if a server of the revision can speak it. */
function agreedVersion(requested: unknown, revision: Revision): string {
  return typeof requested === 'string' && sessionVersions().includes(requested) ? requested : revision.version
}

function hasMethod(turns: TurnStore, server: string, method: string): boolean {
  return turns.kinds().some((kind) => kind.server === server && kind.method === method)
}

/** How a list that was not recorded is answered: with what was used. Nothing more is known of it. */
interface AssumedList {
  /** The method that uses an item. */
  readonly use: string
  /** A server that declares it has such a list. */
  readonly capability: string
  readonly member: string
  readonly items: (used: readonly string[]) => readonly JsonObject[]
}

const LISTS = new Map<string, AssumedList>([
  [
    'tools/list',
    {
      use: 'tools/call',
      capability: 'tools',
      member: 'tools',
      items: (names) => names.map((name) => ({ name, inputSchema: { type: 'object' } })),
    },
  ],
  [
    'prompts/list',
    {
      use: 'prompts/get',
      capability: 'prompts',
      member: 'prompts',
      items: (names) => names.map((name) => ({ name })),
    },
  ],
  [
    'resources/list',
    {
      use: 'resources/read',
      capability: 'resources',
      member: 'resources',
      items: (uris) => uris.map((uri) => ({ uri, name: uri })),
    },
  ],
  [
    'resources/templates/list',
    { use: 'resources/read', capability: 'resources', member: 'resourceTemplates', items: () => [] },
  ],
])

/** The names or URIs with which a method was called. */
function usedItems(turns: TurnStore, server: string, use: string): readonly string[] {
  const found = new Set<string>()
  for (let place = 0; place < turns.size; place++) {
    const summary = turns.summary(place)
    if (summary.server !== server || summary.method !== use) continue
    const item = summary.name ?? uriIn(turns.at(place))
    if (typeof item === 'string') found.add(item)
  }
  return [...found]
}

function uriIn(turn: Turn | undefined): unknown {
  const message = turn?.trigger?.message
  return message?.kind === 'request' ? member(message.params, 'uri') : undefined
}

function* turnsOfServer(turns: TurnStore, server: string): Generator<Turn> {
  for (let place = 0; place < turns.size; place++) {
    const turn = turns.summary(place).server === server ? turns.at(place) : undefined
    if (turn !== undefined) yield turn
  }
}

const OPENING_NOTE = 'is not on the tape: answered by what the rest of the tape shows of the server'
const LIST_NOTE = 'is not on the tape: answered with the names of what was used'
const EMPTY_LIST_NOTE = 'is not on the tape: answered with an empty list, because none was used'
const SET_LEVEL_NOTE = 'is not on the tape: accepted, and recorded log messages below that level are not sent'

function declares(capability: string, turns: TurnStore, server: string): boolean {
  const places = Array.from({ length: turns.size }, (_, place) => place)
  return places.some((place) => {
    const { method, server: answering } = turns.summary(place)
    if (answering !== server || (method !== 'initialize' && method !== 'server/discover')) return false
    return member(member(resultOf(turns.at(place)?.response), 'capabilities'), capability) !== undefined
  })
}

/**
 * Describes a server by what its recorded responses show. SDK v2 sends `server/discover` to a separate process, so the tape
 * of a session rarely contains it.
 */
export function describeServer(turns: Iterable<Turn>, version: string): ServerDescription {
  const capabilities = new Map<string, Record<string, true>>()
  let info: unknown
  for (const turn of turns) {
    info ??= serverInfo(turn)
    for (const [name, flag] of evidenceIn(turn))
      capabilities.set(name, { ...capabilities.get(name), ...(flag === undefined ? {} : { [flag]: true }) })
  }
  return { version, capabilities: Object.fromEntries(capabilities), serverInfo: info }
}

function serverInfo({ response }: Turn): unknown {
  return metaValue(resultOf(response), META_KEYS.serverInfo)
}

/** A capability that the tape shows, and a flag inside it. */
type CapabilityEvidence = readonly [name: string, flag?: string]

function evidenceIn(turn: Turn): readonly CapabilityEvidence[] {
  return [...evidenceOfAnswer(turn), ...turn.steps.flatMap(evidenceOfStep)]
}

const CAPABILITY_BY_METHOD: ReadonlyMap<string, string> = new Map([
  ['tools', 'tools'],
  ['prompts', 'prompts'],
  ['resources', 'resources'],
  ['completion', 'completions'],
  ['logging', 'logging'],
  ['tasks', 'tasks'],
])

// A failed call shows the capability too, unless the server does not know the method.
function evidenceOfAnswer({ trigger, response }: Turn): readonly CapabilityEvidence[] {
  if (trigger?.message.kind !== 'request' || isMethodUnknown(response)) return []
  const { method } = trigger.message
  const name = CAPABILITY_BY_METHOD.get(method.split('/', 1)[0] ?? '')
  if (name === undefined) return []
  return method === 'resources/subscribe' ? [[name, 'subscribe']] : [[name]]
}

function isMethodUnknown(response: RecordedMessage | undefined): boolean {
  if (response?.message.kind !== 'response' || !('error' in response.message.outcome)) return false
  return member(response.message.outcome.error, 'code') === METHOD_NOT_FOUND
}

const CAPABILITY_BY_SUBSCRIPTION: readonly (readonly [filter: string, ...CapabilityEvidence])[] = [
  ['toolsListChanged', 'tools', 'listChanged'],
  ['promptsListChanged', 'prompts', 'listChanged'],
  ['resourcesListChanged', 'resources', 'listChanged'],
  ['resourceSubscriptions', 'resources', 'subscribe'],
]

function evidenceOfStep(step: TurnStep): readonly CapabilityEvidence[] {
  if (step.kind !== 'notify' || step.message.message.kind !== 'notification') return []
  const { method, params } = step.message.message
  if (method === 'notifications/message') return [['logging']]
  const changed = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1]
  if (changed !== undefined) return [[changed, 'listChanged']]
  if (method !== 'notifications/subscriptions/acknowledged') return []
  const granted = member(params, 'notifications')
  return CAPABILITY_BY_SUBSCRIPTION.flatMap(([filter, ...evidence]) =>
    member(granted, filter) ? [evidence] : [],
  )
}

function resultOf(response: RecordedMessage | undefined): JsonObject | undefined {
  if (response?.message.kind !== 'response' || 'error' in response.message.outcome) return undefined
  const { result } = response.message.outcome
  return isObject(result) ? result : undefined
}
