import type { Message } from '../../protocol/message.ts'
import type { PathPattern } from '../../json/path.ts'

/** A change to what is sent, and when it is made. */
export interface TransformRule {
  readonly name: string
  readonly when: TransformCondition
  readonly action: TransformAction
}

/** What a rule looks at: a message of the client on its way out. */
export interface TransformSubject {
  readonly index: number
  readonly message: Message
  readonly tool: string | undefined
}

export type TransformCondition =
  | { readonly kind: 'always' }
  | { readonly kind: 'method'; readonly equals: string }
  | { readonly kind: 'message-type'; readonly equals: 'request' | 'notification' | 'response' }
  | { readonly kind: 'index'; readonly equals: number }
  | { readonly kind: 'tool'; readonly equals: string }
  /** Something stands at the path in the params; with `equals`, this value. */
  | { readonly kind: 'path'; readonly path: PathPattern; readonly equals?: unknown }
  | { readonly kind: 'custom'; readonly test: (passing: TransformSubject) => boolean }

export type TransformAction =
  | { readonly kind: 'regenerate-id' }
  | { readonly kind: 'map-id'; readonly from: string | number; readonly to: string | number }
  | { readonly kind: 'set-param'; readonly path: PathPattern; readonly value: unknown }
  | { readonly kind: 'remove-param'; readonly path: PathPattern }
  | {
      readonly kind: 'replace-param'
      readonly path: PathPattern
      readonly pattern: RegExp
      readonly replacement: string
    }
  /** Of the answer that came back, before it is judged. */
  | { readonly kind: 'set-result'; readonly path: PathPattern; readonly value: unknown }
  /** The message is not sent: this error stands for its answer. */
  | { readonly kind: 'inject-error'; readonly code: number; readonly message: string }
  | { readonly kind: 'rename-method'; readonly to: string }
  /** Milliseconds. */
  | { readonly kind: 'delay'; readonly by: number }
  /** Writes the time now, as an ISO date, or as milliseconds where a number stood. */
  | { readonly kind: 'set-timestamp'; readonly path: PathPattern }
