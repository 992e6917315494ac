import { ReelayError } from '../../errors.ts'
import { member } from '../../protocol/message.ts'

/** A method by its name, as in SDK v2, or by the schema of its messages, as in SDK v1. */
export type MethodOrSchema = string | { readonly shape: object }

/** What a handler is given. */
export interface SessionMessage {
  readonly method: string
  readonly params: unknown
}

export function methodNameOf(name: MethodOrSchema): string {
  const literal = typeof name === 'string' ? undefined : propertyOf(name.shape, 'method')
  const method = typeof name === 'string' ? name : propertyOf(literal, 'value')
  if (typeof method === 'string') return method
  throw new ReelayError('USAGE', 'a handler is set for a method, and this names none', {
    hint: "name it, as in setNotificationHandler('notifications/message', …)",
  })
}

// Schemas have their properties by way of getters, also inherited ones.
function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (member(value, name) ?? Reflect.get(value, name))
    : undefined
}
