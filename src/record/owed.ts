import { openTape } from '../store/read.ts'
import { idKey } from '../wire/id.ts'
import type { Message } from '../wire/message.ts'

/** How many requests of the client the server has not answered yet, read from the tape that is being written. */
export async function countOwed(path: string): Promise<number> {
  const owed = new Set<string>()
  const tape = await openTape(path)
  for await (const frame of tape.frames()) {
    if (frame.kind !== 'message') continue
    for (const message of itemsOf(frame.message)) settle(owed, frame.dir, message)
  }
  return owed.size
}

function itemsOf(message: Message): readonly Message[] {
  return message.kind === 'batch' ? message.items : [message]
}

function settle(owed: Set<string>, dir: string, message: Message): void {
  if (dir === 'c2s' && message.kind === 'request') owed.add(idKey(message.id))
  if (dir === 's2c' && message.kind === 'response' && message.id !== null) owed.delete(idKey(message.id))
}
