import { isObject } from '../../json/parse.ts'
import type { JsonNode } from '../../json/node.ts'
import { classifyMessage, idKey, type Direction, type Message } from '../../protocol/message.ts'
import { FrameList, SessionNumbers } from './frame-list.ts'
import type { ImportedRecording, ImportFormat } from './import-format.ts'
import type { ImportSource } from './import-source.ts'

/** Bare JSON-RPC messages without direction or time: one per line, an array, or an array under `messages`. */
export const mcpMessagesFormat: ImportFormat = {
  name: 'mcp',
  description: 'bare JSON-RPC messages: one per line, an array, or {"messages": […]}',
  reject: (source) =>
    messageNodes(source).some(({ value }) => classifyMessage(value).kind !== 'invalid')
      ? undefined
      : 'no JSON-RPC message on a line, in an array, or in "messages"',
  read: readMessages,
}

function readMessages(source: ImportSource): ImportedRecording {
  const directions = new DirectionInference()
  const sessions = new SessionNumbers()
  const list = new FrameList()
  let skipped = source.json === undefined ? source.lines.broken.length : 0
  for (const { text, value } of messageNodes(source)) {
    const message = classifyMessage(value)
    if (message.kind === 'invalid' || message.kind === 'batch') {
      skipped++
      continue
    }
    const dir = directions.directionOf(message)
    list.text(dir, text, { conn: sessions.connOf(dir, text) })
  }
  return {
    frames: list.frames,
    notes: skipped === 0 ? [] : [`skipped ${skipped} entries that are not single JSON-RPC messages`],
  }
}

function messageNodes({ json, lines }: ImportSource): readonly JsonNode[] {
  if (json?.isArray === true) return json.items()
  const listed = json?.get('messages')
  return listed?.isArray === true ? listed.items() : lines.rows
}

const SERVER_REQUEST_METHODS: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
])
const CLIENT_NOTIFICATION_METHODS: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/roots/list_changed',
])

/** A request that has no response so far. */
interface OpenRequest {
  readonly dir: Direction
  readonly method: string
}

/**
 * Infers who sent each message: a request by its method, a response by the request it answers. Both sides count their own ids, so
 * a request of the server can have the id of an open request of the client. The form of the response then decides, and if it does
 * not tell, the latest request: the server waits for its answer before it responds itself.
 */
class DirectionInference {
  readonly #open = new Map<string, OpenRequest[]>()

  directionOf(message: Message): Direction {
    if (message.kind === 'notification')
      return CLIENT_NOTIFICATION_METHODS.has(message.method) ? 'c2s' : 's2c'
    if (message.kind === 'request') {
      const dir = SERVER_REQUEST_METHODS.has(message.method) ? 's2c' : 'c2s'
      const key = idKey(message.id)
      this.#open.set(key, [...(this.#open.get(key) ?? []), { dir, method: message.method }])
      return dir
    }
    if (message.kind !== 'response' || message.id === null) return 's2c'
    return this.#answered(idKey(message.id), message.outcome) === 's2c' ? 'c2s' : 's2c'
  }

  /** Who sent the request that a response answers. */
  #answered(key: string, outcome: object): Direction | undefined {
    const open = this.#open.get(key) ?? []
    const result = 'result' in outcome ? outcome.result : undefined
    const found =
      open.findLast((request) => request.dir === 's2c' && fitsServerRequest(request, result)) ??
      open.findLast(({ dir }) => dir === 'c2s') ??
      open.at(-1)
    if (found !== undefined) this.#open.set(key, open.toSpliced(open.lastIndexOf(found), 1))
    return found?.dir
  }
}

/** Whether a result has the form of an answer to a request of the server. Errors have no form: the server's request was sent last. */
function fitsServerRequest({ method }: OpenRequest, result: unknown): boolean {
  if (!isObject(result)) return true
  if (method === 'roots/list') return Array.isArray(result['roots'])
  return method === 'elicitation/create' ? 'action' in result : 'role' in result
}
