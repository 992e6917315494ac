import { member } from '../wire/message.ts'
import type { Asked } from './key.ts'

/** The tool or prompt that a request names. Two of them have nothing to compare: one must not be served for the other. */
export function nameOf({ method, params }: Pick<Asked, 'method' | 'params'>): unknown {
  return method === 'tools/call' || method === 'prompts/get' ? member(params, 'name') : undefined
}
