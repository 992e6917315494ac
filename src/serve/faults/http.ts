import { isObject, member } from '../../wire/message.ts'
import type { FaultKind, HttpAnswer } from './fault.ts'

/** The exchange of the request ends with an HTTP status in place of an answer. */
export const http: FaultKind = {
  name: 'http',
  takes: 'a status from 400 to 599, or status, headers and body',
  read: (value) => {
    const answer = readAnswer(isObject(value) ? value : { status: value })
    if (answer === undefined) return undefined
    return {
      words: `is answered with HTTP ${answer.status}`,
      hidesAnswer: true,
      needs: 'http',
      strike: ({ outlet, reply, link }) => {
        reply(undefined)
        link.http?.(answer, outlet)
      },
    }
  },
}

function readAnswer(value: unknown): HttpAnswer | undefined {
  const [status, headers, body] = ['status', 'headers', 'body'].map((name) => member(value, name))
  if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) return undefined
  if (body !== undefined && typeof body !== 'string') return undefined
  if (headers !== undefined && !isObject(headers)) return undefined
  const entries = Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)] as const)
  return { status: Number(status), headers: Object.fromEntries(entries), body: body ?? '' }
}
