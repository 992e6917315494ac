import type { Turn } from '../../tape/turn.ts'
import { member } from '../../protocol/message.ts'
import { turnsAtPlaces } from '../landmarks.ts'
import type { ServerPart } from './server-part.ts'
import type { PlanCandidate, SendDecision } from './plan.ts'

export interface WritePermission {
  /** Tools that may be called whatever they do. */
  readonly allow?: readonly string[]
  readonly allowWrites?: boolean
}

/** What is known of a tool from `tools/list`. */
export type ToolDescriptions = ReadonlyMap<string, unknown>

/** Why a call is held back: it may change the world, and the user did not say that it may. */
export function holdUnsafeCall(
  { message, tool }: PlanCandidate,
  { allow = [], allowWrites = false }: WritePermission,
  tools: ToolDescriptions,
): SendDecision | undefined {
  if (message.method !== 'tools/call' || allowWrites) return undefined
  if (tool !== undefined && (allow.includes(tool) || isReadOnly(tools.get(tool)))) return undefined
  const why = tools.has(tool ?? '')
    ? 'the tool is not marked as read-only'
    : 'nothing is known of the tool, so it may write'
  return { kind: 'hold', why }
}

/** The tools that the answers to `tools/list` on a tape describe. */
export function toolsOnTape({ turns, landmarks }: Pick<ServerPart, 'turns' | 'landmarks'>): ToolDescriptions {
  return new Map(turnsAtPlaces(turns, landmarks.toolLists).flatMap(toolsInTurn))
}

/** The tools that one result of `tools/list` describes. */
export function describedTools(result: unknown): readonly (readonly [string, unknown])[] {
  const tools = member(result, 'tools')
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown) => {
    const name = member(tool, 'name')
    return typeof name === 'string' ? [[name, tool] as const] : []
  })
}

function toolsInTurn({ trigger, response }: Turn): readonly (readonly [string, unknown])[] {
  if (trigger?.message.kind !== 'request' || trigger.message.method !== 'tools/list') return []
  const answer = response?.message
  return answer?.kind === 'response' && 'result' in answer.outcome
    ? describedTools(answer.outcome.result)
    : []
}

function isReadOnly(tool: unknown): boolean {
  return member(member(tool, 'annotations'), 'readOnlyHint') === true
}
