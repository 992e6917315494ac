import { itemsOf } from '../wire/members.ts'
import { Conversation } from './conversation.ts'
import type { Frame, MessageFrame } from './frame.ts'
import type { Spoken, Turn } from './turn.ts'

/** Assembles turns from frames as they come: pairs requests with answers, and gives what the server sent to its turn. */
export class TurnBuilder {
  readonly #turns: Turn[] = []
  readonly #strays: Spoken[] = []
  readonly #conversations = new Map<string, Conversation>()

  add(frame: Frame): void {
    if (frame.kind === 'raw' && frame.cut !== undefined) this.#conversationOf(frame).addCut(frame)
    if (frame.kind !== 'message') return
    for (const spoken of spokenIn(frame)) this.#conversationOf(frame).add(spoken)
  }

  /** The turns in the order in which the client spoke. */
  turns(): readonly Turn[] {
    return this.#turns
  }

  /** What belongs to no turn: answers to nothing, and values that are no JSON-RPC messages. */
  strays(): readonly Spoken[] {
    return this.#strays
  }

  #conversationOf({ server, conn }: Pick<MessageFrame, 'server' | 'conn'>): Conversation {
    const key = `${conn} ${server}`
    const known = this.#conversations.get(key)
    if (known !== undefined) return known
    const conversation = new Conversation({ turns: this.#turns, strays: this.#strays })
    this.#conversations.set(key, conversation)
    return conversation
  }
}

export function turnsOf(frames: Iterable<Frame>): readonly Turn[] {
  const builder = new TurnBuilder()
  for (const frame of frames) builder.add(frame)
  return builder.turns()
}

/** The messages of a frame, each with its own bytes: one, or the items of a batch. */
export function spokenIn(frame: MessageFrame): readonly Spoken[] {
  const { n, t, server, conn, x, dir, text, message } = frame
  const place = { n, t, server, conn, ...(x === undefined ? {} : { x }), dir }
  if (message.kind !== 'batch') return [{ ...place, text, message }]
  const ranges = itemsOf(text)
  return message.items.flatMap((one, item) => {
    if (one.kind === 'batch') return [] // a batch inside a batch is invalid, and classified as such
    return [{ ...place, text: text.slice(ranges[item]?.start, ranges[item]?.end), message: one, item }]
  })
}
