import type { JsonRange } from '../json/scan.ts'
import type { Batch, Message } from '../protocol/message.ts'
import type { FrameOrigin } from './frame.ts'

/** One JSON-RPC message of a tape: a whole message frame, or one item of a batch. */
export interface RecordedMessage extends FrameOrigin {
  /** The text of this message, without the rest of its batch. */
  readonly text: string
  readonly message: Exclude<Message, Batch>
  /** The range of its id in the text, if it is known. */
  readonly id?: JsonRange
  /** Its index in the batch, if it is part of one. */
  readonly item?: number
}

/** A message of the client and what followed from it, in recorded order. If the trigger is a request, the turn is an exchange. */
export interface Turn {
  /** A request or notification of the client; `undefined` for messages that the server sent before any of the client. */
  readonly trigger: RecordedMessage | undefined
  readonly steps: readonly TurnStep[]
  /** The response to the trigger, which is also one of the steps; `undefined` if there was none. */
  readonly response: RecordedMessage | undefined
  /** The frame of a response of which only the beginning was recorded. Then `response` is `undefined`. */
  readonly cut?: number
}

export type TurnStep =
  /** A notification of the server. */
  | { readonly kind: 'notify'; readonly message: RecordedMessage }
  /** A request of the server and the client's response, if there was one. The steps that follow wait for that response. */
  | { readonly kind: 'ask'; readonly request: RecordedMessage; readonly answer: RecordedMessage | undefined }
  /** The response to the trigger. */
  | { readonly kind: 'respond'; readonly message: RecordedMessage }

/** The messages of a turn in recorded order. */
export function messagesOfTurn({ trigger, steps }: Turn): readonly RecordedMessage[] {
  return [trigger, ...steps.flatMap(messagesOfStep)].filter((message) => message !== undefined)
}

function messagesOfStep(step: TurnStep): readonly (RecordedMessage | undefined)[] {
  return step.kind === 'ask' ? [step.request, step.answer] : [step.message]
}
