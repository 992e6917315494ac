import { describeValue } from '../../match/describe-request.ts'
import { isObject, member, type JsonObject } from '../../json/parse.ts'
import { type Request, META_KEYS, metaValue, type ResponsePayload } from '../../protocol/message.ts'
import type { DetectedRevision } from '../../protocol/revisions/index.ts'
import type { ServerDescription } from '../../protocol/revisions/revision.ts'
import type { TurnStore, Turn, RecordedMessage, TurnStep } from '../../tape/turns.ts'

export interface SyntheticAnswer {
  readonly answer: ResponsePayload
  /** A note for the user. */
  readonly note?: string
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
  const answer = revision?.builtInAnswer({ method, params }, () =>
    describeServer(turnsOfServer(turns, server), version ?? revision.version),
  )
  if (answer !== undefined)
    return 'result' in answer ? { answer, note: `${method} ${OPENING_NOTE}` } : { answer }
  if (method === 'logging/setLevel' && declaresLogging(turns, server))
    return { answer: { result: {} }, note: `logging/setLevel ${describeValue(params)} ${SET_LEVEL_NOTE}` }
  return undefined
}

function* turnsOfServer(turns: TurnStore, server: string): Generator<Turn> {
  for (let place = 0; place < turns.size; place++) {
    const turn = turns.summary(place).server === server ? turns.at(place) : undefined
    if (turn !== undefined) yield turn
  }
}

const OPENING_NOTE = 'is not on the tape: answered by what the rest of the tape shows of the server'
const SET_LEVEL_NOTE = 'is not on the tape: accepted, and recorded log messages below that level are not sent'

function declaresLogging(turns: TurnStore, server: string): boolean {
  const places = Array.from({ length: turns.size }, (_, place) => place)
  return places.some((place) => {
    const summary = turns.summary(place)
    return summary.method === 'initialize' && summary.server === server && answersWithLogging(turns.at(place))
  })
}

function answersWithLogging(turn: Turn | undefined): boolean {
  const response = turn?.response
  if (response?.message.kind !== 'response' || 'error' in response.message.outcome) return false
  return member(member(response.message.outcome.result, 'capabilities'), 'logging') !== undefined
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
])

function evidenceOfAnswer({ trigger, response }: Turn): readonly CapabilityEvidence[] {
  if (trigger?.message.kind !== 'request' || resultOf(response) === undefined) return []
  const name = CAPABILITY_BY_METHOD.get(trigger.message.method.split('/', 1)[0] ?? '')
  return name === undefined ? [] : [[name]]
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
