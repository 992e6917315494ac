import { classifyMessage, member } from '../protocol/message.ts'
import { META_KEYS } from '../protocol/methods.ts'
import { parseJson } from '../json/parse.ts'
import type { LiveSession } from './session/live-session.ts'
import { describedTools, type ToolDescriptions } from './plan/tool-safety.ts'

/** Asks the live server for its tools: what it says of them itself decides what may be called. */
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

/** Undefined when the server has no tools to tell of. */
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
  const end = await session.call({ text, id, token: undefined, timeout }).done
  const message = end.kind === 'answered' ? classifyMessage(parseJson(end.text)) : undefined
  return message?.kind === 'response' && 'result' in message.outcome ? message.outcome.result : undefined
}

/** The `_meta` that a modern request of ours needs, as the recorded client wrote it, without what names a request. */
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
