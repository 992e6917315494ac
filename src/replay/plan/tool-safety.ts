import { replaceValue } from '../../json/find-replace.ts'
import { parseJson, member } from '../../json/parse.ts'
import { classifyMessage, type Notification, type Request, META_KEYS } from '../../protocol/message.ts'
import { turnsAtPlaces, type ServerPart } from './server-part.ts'
import type { CallEnd, LiveCall, LiveSession } from '../session/live-session.ts'
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
  if (tool !== undefined && (allow.includes(tool) || isReadOnlyTool(tools.get(tool)))) return undefined
  return tools.has(tool ?? '')
    ? 'the tool is not marked as read-only'
    : tools.size === 0
      ? 'the tool is unknown, so it may write'
      : 'the server does not list the tool, so it may write'
}

/** The tools that the tape describes in answers to `tools/list`. */
export function toolsOnTape({ turns, landmarks }: Pick<ServerPart, 'turns' | 'landmarks'>): ToolDescriptions {
  return new Map(turnsAtPlaces(turns, landmarks.toolLists).flatMap(toolsInTurn))
}

/** The tools that the recorded server had at the start: those in the pages of its first list. Others may be added later on. */
export function toolsAtStart({
  turns,
  landmarks,
}: Pick<ServerPart, 'turns' | 'landmarks'>): ToolDescriptions {
  const lists = [...turnsAtPlaces(turns, landmarks.toolLists)]
  const second = lists.findIndex(({ trigger }, at) => at > 0 && !hasCursor(trigger))
  return new Map((second < 0 ? lists : lists.slice(0, second)).flatMap(toolsInTurn))
}

function hasCursor(trigger: Turn['trigger']): boolean {
  return (
    trigger !== undefined && 'params' in trigger.message && member(trigger.message.params, 'cursor') != null
  )
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

export function isReadOnlyTool(tool: unknown): boolean {
  return member(member(tool, 'annotations'), 'readOnlyHint') === true
}

interface ToolsQuestion {
  /** The `_meta` of Reelay's own requests. */
  readonly envelope: unknown
  readonly timeout: number
  /** The recorded requests for the pages of the list that the run sends anyway; they take the place of Reelay's own. */
  readonly recorded: readonly Turn[]
  /** Sends a recorded request. */
  readonly sendRecorded: (turn: Turn, text: string) => LiveCall
  /** Called if the server does not list its tools. */
  readonly onUnlisted: (why: string) => void
}

/** Asks the live server for its tools. */
export async function fetchTools(
  session: LiveSession,
  { envelope, timeout, recorded, sendRecorded, onUnlisted }: ToolsQuestion,
): Promise<ToolDescriptions> {
  const tools = new Map<string, unknown>()
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES; page++) {
    const turn = recorded[page]
    const call =
      turn === undefined
        ? requestToolsPage(session, { cursor, envelope, timeout })
        : sendRecorded(turn, withCursor(turn.trigger?.text ?? '', cursor))
    const end = await call.ended
    const result = resultIn(end)
    const why = result === undefined ? whyUnlisted(end) : undefined
    if (why !== undefined) onUnlisted(why)
    for (const [name, tool] of describedTools(result)) tools.set(name, tool)
    cursor = member(result, 'nextCursor')
    if (typeof cursor !== 'string') break
  }
  return tools
}

const MAX_PAGES = 100

function requestToolsPage(
  session: LiveSession,
  { cursor, envelope, timeout }: Pick<ToolsQuestion, 'envelope' | 'timeout'> & { readonly cursor: unknown },
): LiveCall {
  const id = `${TOOLS_ID_PREFIX}${session.nextId()}__`
  const params = {
    ...(cursor !== undefined && { cursor }),
    ...(envelope !== undefined && { _meta: envelope }),
  }
  const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params })
  return session.request({ text, id, token: undefined, timeout })
}

const TOOLS_ID_PREFIX = '__tools_'

/** Returns true for Reelay's own question for the tools, and for its answer. The recorded client sent neither. */
export function isToolsQuestion(text: string): boolean {
  if (!text.includes(TOOLS_ID_PREFIX)) return false
  const id = member(parseJson(text), 'id')
  return typeof id === 'string' && id.startsWith(TOOLS_ID_PREFIX)
}

function withCursor(text: string, cursor: unknown): string {
  return cursor === undefined ? text : replaceValue(text, ['params', 'cursor'], JSON.stringify(cursor))
}

/** Returns `undefined` if the server did not answer with a result. */
function resultIn(end: CallEnd): unknown {
  const message = end.kind === 'answered' ? classifyMessage(parseJson(end.text)) : undefined
  return message?.kind === 'response' && 'result' in message.outcome ? message.outcome.result : undefined
}

/** Returns `undefined` if the user ended the run. */
function whyUnlisted(end: CallEnd): string | undefined {
  if (end.kind === 'timeout') return `did not answer tools/list within ${end.after / 1000} s`
  if (end.kind === 'lost') return `did not answer tools/list: ${end.why}`
  return end.kind === 'answered' ? 'did not answer tools/list with a list' : undefined
}

/** The recorded requests for the pages of one list of tools, in order, if the tape listed them before its first call of a tool. */
export function listBeforeCalls({
  turns,
  landmarks,
}: Pick<ServerPart, 'turns' | 'landmarks'>): readonly Turn[] {
  const [call] = turnsAtPlaces(turns, [landmarks.firstCall])
  const before = turnsAtPlaces(turns, landmarks.toolLists).filter(
    ({ trigger }) => trigger?.item === undefined && (trigger?.n ?? 0) < (call?.trigger?.n ?? Infinity),
  )
  const pages: Turn[] = []
  let cursor: unknown
  for (const turn of before) {
    if (requestedCursor(turn) !== cursor) continue
    pages.push(turn)
    cursor = nextCursor(turn)
    if (cursor === undefined) break
  }
  return pages
}

function requestedCursor({ trigger }: Turn): unknown {
  return trigger !== undefined && 'params' in trigger.message
    ? member(trigger.message.params, 'cursor')
    : undefined
}

function nextCursor({ response }: Turn): unknown {
  const answer = response?.message
  return answer?.kind === 'response' && 'result' in answer.outcome
    ? member(answer.outcome.result, 'nextCursor')
    : undefined
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
