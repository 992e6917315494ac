import type { RecordedMessage, TurnStep, Turn } from '../tape/turn.ts'
import { isObject, member, type JsonObject } from '../protocol/message.ts'
import { META_KEYS, metaValue } from '../protocol/methods.ts'

/**
 * What a modern server says of itself, as far as the tape shows it. SDK v2 asks in a process of its own, so that the tape of
 * a session rarely holds `server/discover`.
 */
export function discoverResultFrom(turns: Iterable<Turn>, version: string): JsonObject {
  const capabilities = new Map<string, Record<string, true>>()
  let info: unknown
  for (const turn of turns) {
    info ??= serverInfo(turn)
    for (const [name, flag] of evidenceIn(turn))
      capabilities.set(name, { ...capabilities.get(name), ...(flag === undefined ? {} : { [flag]: true }) })
  }
  return {
    supportedVersions: [version],
    capabilities: Object.fromEntries(capabilities),
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    ...(info === undefined ? {} : { _meta: { [META_KEYS.serverInfo]: info } }),
  }
}

function serverInfo({ response }: Turn): unknown {
  return metaValue(resultOf(response), META_KEYS.serverInfo)
}

/** A capability, and what it is shown to include. */
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
