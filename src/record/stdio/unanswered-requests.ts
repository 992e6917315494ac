import { openTape } from '../../store/file/read.ts'
import { idKey, isId, type Message, type Notification } from '../../protocol/message.ts'
import { member } from '../../json/parse.ts'

/** Counts the requests of the client that have no response yet, on a tape that is still being written. */
export async function countUnanswered(path: string): Promise<number> {
  const unanswered = new Set<string>()
  const tape = await openTape(path)
  for await (const frame of tape.frames()) {
    if (frame.kind !== 'message') continue
    for (const message of messagesIn(frame.message)) update(unanswered, frame.dir, message)
  }
  return unanswered.size
}

function messagesIn(message: Message): readonly Message[] {
  return message.kind === 'batch' ? message.items : [message]
}

function update(unanswered: Set<string>, dir: string, message: Message): void {
  if (dir === 'c2s' && message.kind === 'request') unanswered.add(idKey(message.id))
  if (dir === 'c2s' && message.kind === 'notification') cancel(unanswered, message)
  if (dir === 's2c' && message.kind === 'response' && message.id !== null)
    unanswered.delete(idKey(message.id))
}

function cancel(unanswered: Set<string>, { method, params }: Notification): void {
  const id = member(params, 'requestId')
  if (method === 'notifications/cancelled' && isId(id)) unanswered.delete(idKey(id))
}
