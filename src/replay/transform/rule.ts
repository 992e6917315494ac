import type { Message } from '../../wire/message.ts'
import type { Path } from '../../wire/path.ts'

/** A change to what is sent, and when it is made. */
export interface TransformRule {
  readonly name: string
  readonly when: Condition
  readonly action: Action
}

/** What a rule looks at: a message of the client on its way out. */
export interface Passing {
  readonly index: number
  readonly message: Message
  readonly tool: string | undefined
}

export type Condition =
  | { readonly kind: 'always' }
  | { readonly kind: 'method'; readonly equals: string }
  | { readonly kind: 'message-type'; readonly equals: 'request' | 'notification' | 'response' }
  | { readonly kind: 'index'; readonly equals: number }
  | { readonly kind: 'tool'; readonly equals: string }
  /** Something stands at the path in the params; with `equals`, this value. */
  | { readonly kind: 'path'; readonly path: Path; readonly equals?: unknown }
  | { readonly kind: 'custom'; readonly test: (passing: Passing) => boolean }

export type Action =
  | { readonly kind: 'regenerate-id' }
  | { readonly kind: 'map-id'; readonly from: string | number; readonly to: string | number }
  | { readonly kind: 'set-param'; readonly path: Path; readonly value: unknown }
  | { readonly kind: 'remove-param'; readonly path: Path }
  | {
      readonly kind: 'replace-param'
      readonly path: Path
      readonly pattern: RegExp
      readonly replacement: string
    }
  /** Of the answer that came back, before it is judged. */
  | { readonly kind: 'set-result'; readonly path: Path; readonly value: unknown }
  /** The message is not sent: this error stands for its answer. */
  | { readonly kind: 'inject-error'; readonly code: number; readonly message: string }
  | { readonly kind: 'rename-method'; readonly to: string }
  /** Milliseconds. */
  | { readonly kind: 'delay'; readonly by: number }
  /** Writes the time now, as an ISO date, or as milliseconds where a number stood. */
  | { readonly kind: 'set-timestamp'; readonly path: Path }
