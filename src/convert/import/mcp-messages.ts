import type { ImportFormat, ImportedMessage, ImportedRecording } from './import-format.ts'
import { ReelayError } from '../../errors.ts'
import { itemRanges, findRange } from '../../json/find-replace.ts'
import { parseJson, isObject } from '../../json/parse.ts'
import { idKey, classifyMessage, type Direction, type Message } from '../../protocol/message.ts'

/** Bare JSON-RPC messages without direction or time: one per line, an array, or an array under `messages`. */
export const mcpMessagesFormat: ImportFormat = {
  name: 'mcp',
  description: 'bare JSON-RPC messages: one per line, an array, or {"messages": […]}',
  matches: (text) => messageTexts(text).some((one) => classifyMessage(parseJson(one)).kind !== 'invalid'),
  read: readMessages,
}

function readMessages(text: string): ImportedRecording {
  const directions = new DirectionInference()
  const messages: ImportedMessage[] = []
  let skipped = 0
  for (const one of messageTexts(text)) {
    const message = classifyMessage(parseJson(one))
    if (message.kind === 'invalid' || message.kind === 'batch') skipped++
    else messages.push({ dir: directions.directionOf(message), text: one })
  }
  if (messages.length === 0) throw noMessagesError()
  return {
    messages,
    notes: skipped === 0 ? [] : [`skipped ${skipped} entries that are not single JSON-RPC messages`],
  }
}

function messageTexts(text: string): readonly string[] {
  const whole = parseJson(text)
  if (Array.isArray(whole)) return itemTexts(text)
  if (isObject(whole) && Array.isArray(whole['messages'])) {
    const range = findRange(text, ['messages'])
    return itemTexts(text.slice(range?.start, range?.end))
  }
  return text.split('\n').filter((line) => line.trim() !== '')
}

function itemTexts(text: string): readonly string[] {
  return itemRanges(text).map(({ start, end }) => text.slice(start, end))
}

function noMessagesError(): ReelayError {
  return new ReelayError('IMPORT_FAILED', 'the file contains no JSON-RPC message', {
    hint: 'see `reelay import --help` for the supported formats',
  })
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

/** Infers who sent each message: a request by its method, a response by the request it answers. */
class DirectionInference {
  /** Who sent the latest request with an id, by the key of the id. */
  readonly #requesters = new Map<string, Direction>()

  directionOf(message: Message): Direction {
    if (message.kind === 'notification')
      return CLIENT_NOTIFICATION_METHODS.has(message.method) ? 'c2s' : 's2c'
    if (message.kind === 'request') {
      const dir = SERVER_REQUEST_METHODS.has(message.method) ? 's2c' : 'c2s'
      this.#requesters.set(idKey(message.id), dir)
      return dir
    }
    if (message.kind !== 'response' || message.id === null) return 's2c'
    return this.#requesters.get(idKey(message.id)) === 's2c' ? 'c2s' : 's2c'
  }
}
