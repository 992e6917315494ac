import { isObject, member } from '../../protocol/message.ts'
import type { FaultKind, InjectedHttpResponse } from './fault.ts'

/** The exchange of the request ends with an HTTP status in place of an answer. */
export const http: FaultKind = {
  name: 'http',
  expects: 'a status from 400 to 599, or status, headers and body',
  parse: (value) => {
    const answer = parseHttpResponse(isObject(value) ? value : { status: value })
    if (answer === undefined) return undefined
    return {
      description: `is answered with HTTP ${answer.status}`,
      hidesAnswer: true,
      needs: 'http',
      apply: ({ outlet, reply, link }) => {
        link.http?.(answer, outlet)
        reply(undefined)
      },
    }
  },
}

function parseHttpResponse(value: unknown): InjectedHttpResponse | undefined {
  const [status, headers, body] = ['status', 'headers', 'body'].map((name) => member(value, name))
  if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) return undefined
  if (body !== undefined && typeof body !== 'string') return undefined
  if (headers !== undefined && !isObject(headers)) return undefined
  const entries = Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)] as const)
  return { status: Number(status), headers: Object.fromEntries(entries), body: body ?? '' }
}
