import { openTape } from '../../store/file/read.ts'
import { idKey, isId } from '../../protocol/id.ts'
import { member, type Message, type Notification } from '../../protocol/message.ts'

/** How many requests of the client the server has not answered yet, read from the tape that is being written. */
export async function countUnanswered(path: string): Promise<number> {
  const owed = new Set<string>()
  const tape = await openTape(path)
  for await (const frame of tape.frames()) {
    if (frame.kind !== 'message') continue
    for (const message of messagesIn(frame.message)) settle(owed, frame.dir, message)
  }
  return owed.size
}

function messagesIn(message: Message): readonly Message[] {
  return message.kind === 'batch' ? message.items : [message]
}

function settle(owed: Set<string>, dir: string, message: Message): void {
  if (dir === 'c2s' && message.kind === 'request') owed.add(idKey(message.id))
  if (dir === 'c2s' && message.kind === 'notification') forget(owed, message)
  if (dir === 's2c' && message.kind === 'response' && message.id !== null) owed.delete(idKey(message.id))
}

/** A request that the client took back is not waited for. */
function forget(owed: Set<string>, { method, params }: Notification): void {
  const id = member(params, 'requestId')
  if (method === 'notifications/cancelled' && isId(id)) owed.delete(idKey(id))
}
