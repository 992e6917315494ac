import { member } from '../protocol/message.ts'

/** The tool or prompt that a request names. Two of them have nothing to compare: one must not be served for the other. */
export function toolOrPromptName({
  method,
  params,
}: {
  method: string
  params?: unknown
}): string | undefined {
  const name = namesToolOrPrompt(method) ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** Whether requests of a method name something. */
export function namesToolOrPrompt(method: string): boolean {
  return method === 'tools/call' || method === 'prompts/get'
}
