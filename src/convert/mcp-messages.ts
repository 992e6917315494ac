import { ReelayError } from '../errors.ts'
import { itemsOf, rangeAt } from '../wire/members.ts'
import { classify, isObject } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { Directions } from './directions.ts'
import type { ForeignFormat, ForeignMessage, ForeignRecording } from './foreign.ts'

/** Bare JSON-RPC messages without direction or time: one a line, an array of them, or an array under `messages`. */
export const mcpMessages: ForeignFormat = {
  name: 'mcp',
  about: 'bare JSON-RPC messages: one a line, an array, or {"messages": […]}',
  isLike: (text) => textsIn(text).some((one) => classify(parseJson(one)).kind !== 'invalid'),
  read: readMessages,
}

function readMessages(text: string): ForeignRecording {
  const directions = new Directions()
  const messages: ForeignMessage[] = []
  let passedOver = 0
  for (const one of textsIn(text)) {
    const message = classify(parseJson(one))
    if (message.kind === 'invalid' || message.kind === 'batch') passedOver++
    else messages.push({ dir: directions.of(message), text: one })
  }
  if (messages.length === 0) throw noMessages()
  return {
    messages,
    notes: passedOver === 0 ? [] : [`${passedOver} entries are no messages, and were passed over`],
  }
}

function textsIn(text: string): readonly string[] {
  const whole = parseJson(text)
  if (Array.isArray(whole)) return itemTexts(text)
  if (isObject(whole) && Array.isArray(whole['messages'])) {
    const range = rangeAt(text, ['messages'])
    return itemTexts(text.slice(range?.start, range?.end))
  }
  return text.split('\n').filter((line) => line.trim() !== '')
}

function itemTexts(text: string): readonly string[] {
  return itemsOf(text).map(({ start, end }) => text.slice(start, end))
}

function noMessages(): ReelayError {
  return new ReelayError('IMPORT_FAILED', 'the file holds no JSON-RPC message', {
    hint: 'see `reelay import --help` for the formats that are known',
  })
}
