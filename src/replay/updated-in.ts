import { member } from '../protocol/message.ts'

export const RESOURCE_UPDATED = 'notifications/resources/updated'

/** The resource that has changed, by what the server says; empty when it speaks of something else. */
export function updatedResource(method: string, params: unknown): string {
  const uri = method === RESOURCE_UPDATED ? member(params, 'uri') : undefined
  return typeof uri === 'string' ? uri : ''
}
