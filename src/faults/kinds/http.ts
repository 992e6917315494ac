import { isObject, member } from '../../json/parse.ts'
import type { FaultKind, InjectedHttpResponse } from '../fault.ts'

/** Ends the HTTP exchange with a status instead of a message. */
export const http: FaultKind = {
  name: 'http',
  help: 'End the HTTP exchange with a status',
  example: 429,
  expects: 'a status from 400 to 599, or status, headers and body',
  parse: (value) => {
    const response = parseHttpResponse(isObject(value) ? value : { status: value })
    if (response === undefined) return undefined
    return {
      description: `is answered with HTTP ${response.status}`,
      hidesResponse: true,
      needs: 'http',
      apply: ({ reply, connection }) => {
        connection.http?.(response)
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
