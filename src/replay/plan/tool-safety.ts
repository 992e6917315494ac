import { parseJson, member } from '../../json/parse.ts'
import { classifyMessage, type Notification, type Request, META_KEYS } from '../../protocol/message.ts'
import { turnsAtPlaces, type ServerPart } from './server-part.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { Turn } from '../../tape/turns.ts'

export interface WritePermission {
  /** Tools that may be called even if they have side effects. */
  readonly allow?: readonly string[]
  readonly allowWrites?: boolean
}

/** The tools of `tools/list`, by name. */
export type ToolDescriptions = ReadonlyMap<string, unknown>

/** Returns why a call is held back: it may have side effects and the user did not allow it. Returns `undefined` if it may be sent. */
export function holdUnsafeCall(
  { message, tool }: { readonly message: Request | Notification; readonly tool: string | undefined },
  { allow = [], allowWrites = false }: WritePermission,
  tools: ToolDescriptions,
): string | undefined {
  if (message.method !== 'tools/call' || allowWrites) return undefined
  if (tool !== undefined && (allow.includes(tool) || isReadOnly(tools.get(tool)))) return undefined
  return tools.has(tool ?? '')
    ? 'the tool is not marked as read-only'
    : 'the tool is unknown, so it may write'
}

/** The tools that the tape describes in answers to `tools/list`. */
export function toolsOnTape({ turns, landmarks }: Pick<ServerPart, 'turns' | 'landmarks'>): ToolDescriptions {
  return new Map(turnsAtPlaces(turns, landmarks.toolLists).flatMap(toolsInTurn))
}

/** The tools in one result of `tools/list`. */
function describedTools(result: unknown): readonly (readonly [string, unknown])[] {
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

/** Asks the live server for its tools. */
export async function fetchTools(
  session: LiveSession,
  { envelope, timeout }: { envelope: unknown; timeout: number },
): Promise<ToolDescriptions> {
  const tools = new Map<string, unknown>()
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await fetchToolsPage(session, { cursor, envelope, timeout })
    for (const [name, tool] of describedTools(result)) tools.set(name, tool)
    cursor = member(result, 'nextCursor')
    if (typeof cursor !== 'string') break
  }
  return tools
}

const MAX_PAGES = 100

/** Returns `undefined` if the server does not answer with tools. */
async function fetchToolsPage(
  session: LiveSession,
  { cursor, envelope, timeout }: { cursor: unknown; envelope: unknown; timeout: number },
): Promise<unknown> {
  const id = `__tools_${session.nextId()}__`
  const params = {
    ...(cursor !== undefined && { cursor }),
    ...(envelope !== undefined && { _meta: envelope }),
  }
  const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params })
  const end = await session.request({ text, id, token: undefined, timeout }).ended
  const message = end.kind === 'answered' ? classifyMessage(parseJson(end.text)) : undefined
  return message?.kind === 'response' && 'result' in message.outcome ? message.outcome.result : undefined
}

/** The recorded `_meta` for Reelay's own modern requests, without members that belong to one request. */
export function requestEnvelope(params: unknown): unknown {
  const meta = member(params, '_meta')
  if (member(meta, META_KEYS.protocolVersion) === undefined) return undefined
  return Object.fromEntries(
    Object.entries(meta as Record<string, unknown>).filter(([name]) => ENVELOPE_MEMBERS.has(name)),
  )
}

const ENVELOPE_MEMBERS: ReadonlySet<string> = new Set([
  META_KEYS.protocolVersion,
  META_KEYS.clientInfo,
  META_KEYS.clientCapabilities,
])
