import { parseJson } from '../json/parse.ts'
import { idKey, classifyMessage, type Message } from '../protocol/message.ts'

/** The id keys of the requests in a message. */
export function requestKeys(message: Message): readonly string[] {
  if (message.kind === 'request') return [idKey(message.id)]
  return message.kind === 'batch' ? message.items.flatMap(requestKeys) : []
}

/** The id keys of the requests that a text responds to. */
export function responseKeys(text: string): readonly string[] {
  if (!text.includes('"result"') && !text.includes('"error"')) return []
  const message = classifyMessage(parseJson(text))
  return (message.kind === 'batch' ? message.items : [message]).flatMap((item) =>
    item.kind === 'response' && item.id !== null ? [idKey(item.id)] : [],
  )
}
