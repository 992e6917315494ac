import type { JsonRange } from '../json/scan.ts'
import type { Direction, Batch, Message } from '../protocol/message.ts'

/** One JSON-RPC message of a tape: a whole message frame, or one item of a batch. */
export interface RecordedMessage {
  /** The frame's number. */
  readonly n: number
  readonly t: number
  readonly server: string
  readonly conn: number
  readonly x?: number
  readonly dir: Direction
  /** The bytes of this one message. */
  readonly text: string
  readonly message: Exclude<Message, Batch>
  /** Where its id stands in the text, where that was looked for already. */
  readonly id?: JsonRange
  /** Its place in the batch, when it came in one. */
  readonly item?: number
}

/** What one message of the client set off, in the recorded order. An exchange is a turn whose trigger is a request. */
export interface Turn {
  /** A request or notification of the client; none for what the server sent before the client spoke. */
  readonly trigger: RecordedMessage | undefined
  readonly steps: readonly TurnStep[]
  /** The answer to the trigger, which is also among the steps; none when it was never answered. */
  readonly response: RecordedMessage | undefined
  /** The frame of an answer of which only the beginning was kept; then there is no response. */
  readonly cut?: number
}

export type TurnStep =
  /** A notification of the server. */
  | { readonly kind: 'notify'; readonly message: RecordedMessage }
  /** A request of the server, and the client's answer if it gave one: what follows waits for that answer. */
  | { readonly kind: 'ask'; readonly request: RecordedMessage; readonly answer: RecordedMessage | undefined }
  /** The answer to the trigger. */
  | { readonly kind: 'respond'; readonly message: RecordedMessage }

/** The messages of a turn in their order: what set it off, then what was said and answered. */
export function messagesOfTurn({ trigger, steps }: Turn): readonly RecordedMessage[] {
  return [trigger, ...steps.flatMap(messagesOfStep)].filter((spoken) => spoken !== undefined)
}

function messagesOfStep(step: TurnStep): readonly (RecordedMessage | undefined)[] {
  return step.kind === 'ask' ? [step.request, step.answer] : [step.message]
}
