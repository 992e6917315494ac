import { member } from '../wire/message.ts'

export const UPDATED = 'notifications/resources/updated'

/** The resource that has changed, by what the server says; empty when it speaks of something else. */
export function updatedIn(method: string, params: unknown): string {
  const uri = method === UPDATED ? member(params, 'uri') : undefined
  return typeof uri === 'string' ? uri : ''
}
