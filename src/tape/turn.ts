import type { Direction } from '../wire/direction.ts'
import type { Range } from '../wire/members.ts'
import type { Batch, Message } from '../wire/message.ts'

/** One JSON-RPC message of a tape: a whole message frame, or one item of a batch. */
export interface Spoken {
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
  readonly id?: Range
  /** Its place in the batch, when it came in one. */
  readonly item?: number
}

/** What one message of the client set off, in the recorded order. An exchange is a turn whose trigger is a request. */
export interface Turn {
  /** A request or notification of the client; none for what the server sent before the client spoke. */
  readonly trigger: Spoken | undefined
  readonly steps: readonly Step[]
  /** The answer to the trigger, which is also among the steps; none when it was never answered. */
  readonly response: Spoken | undefined
  /** The frame of an answer of which only the beginning was kept; then there is no response. */
  readonly cut?: number
}

export type Step =
  /** A notification of the server. */
  | { readonly kind: 'notify'; readonly message: Spoken }
  /** A request of the server, and the client's answer if it gave one: what follows waits for that answer. */
  | { readonly kind: 'ask'; readonly request: Spoken; readonly answer: Spoken | undefined }
  /** The answer to the trigger. */
  | { readonly kind: 'respond'; readonly message: Spoken }
