import type { TurnStore } from '../../tape/turns.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import { isHandshakeMethod } from '../../protocol/revisions/index.ts'
import { buildPlan, type PlanCandidate, type ReplayPlan, type SendDecision } from './plan.ts'
import { holdUnsafeCall, type ToolDescriptions } from './tool-safety.ts'

export interface MessageSelection {
  /** Only these methods, or tools as `tools/call:name`; `*` matches any characters. */
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  /** Leaves out messages that were sent before `from` or after `to`, in milliseconds from the start of the tape. */
  readonly from?: number
  readonly to?: number
  readonly skipNotifications?: boolean
  /** Leaves out requests that were answered with an error. */
  readonly skipErrors?: boolean
  readonly handshake: 'own' | 'recorded' | 'none'
}

/** Decides for every message of the recorded client whether it is sent. */
export function planMessages(
  turns: TurnStore,
  options: Partial<MessageSelection> & Parameters<typeof holdUnsafeCall>[1],
  tools: ToolDescriptions,
): ReplayPlan {
  const selection = { ...options, handshake: options.handshake ?? 'own' }
  const fateOf = (planned: PlanCandidate): SendDecision =>
    skipUnselected(planned, selection) ?? holdUnsafeCall(planned, options, tools) ?? { kind: 'send' }
  return buildPlan({ turns, fateOf })
}

/** Returns why the options leave a message out; `undefined` if they do not. */
function skipUnselected(planned: PlanCandidate, selection: MessageSelection): SendDecision | undefined {
  const why = isHandshakeMethod(planned.message.method)
    ? handshakeReason(selection.handshake)
    : reasonFor(planned, selection)
  return why === undefined ? undefined : { kind: 'skip', why }
}

function handshakeReason(handshake: MessageSelection['handshake']): string | undefined {
  if (handshake === 'recorded') return undefined
  return handshake === 'own' ? 'Reelay does its own handshake' : 'the handshake is turned off'
}

function reasonFor(
  { message, tool, at, turn }: PlanCandidate,
  { include, exclude = [], from = 0, to = Infinity, skipNotifications, skipErrors }: MessageSelection,
): string | undefined {
  const named = (pattern: string): boolean => matchesPattern(pattern, message, tool)
  if (include !== undefined && !include.some(named)) return 'not included'
  if (exclude.some(named)) return 'excluded'
  if (at < from) return 'before the selected part of the tape'
  if (at > to) return 'after the selected part of the tape'
  if (skipNotifications && message.kind === 'notification') return 'notifications are skipped'
  const answer = turn.response?.message
  const failed = answer?.kind === 'response' && 'error' in answer.outcome
  return skipErrors && failed ? 'the recorded answer is an error' : undefined
}

function matchesPattern(
  pattern: string,
  { method }: Request | Notification,
  tool: string | undefined,
): boolean {
  const names = tool === undefined ? [method] : [method, `${method}:${tool}`]
  const expression = pattern.split('*').map(escaped).join('.*')
  return names.some((name) => new RegExp(`^${expression}$`).test(name))
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
