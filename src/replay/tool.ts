import { member, type Notification, type Request } from '../wire/message.ts'

/** The tool that a message calls, if it calls one. */
export function toolOf({
  method,
  params,
}: Pick<Request | Notification, 'method' | 'params'>): string | undefined {
  const name = method === 'tools/call' ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}
