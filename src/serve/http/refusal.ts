import type { ServedResponse } from '../../http/server/served-exchange.ts'

/** What is said to a request that never gets as far as the tape, as servers of its era would say it. */
export interface HttpErrorResponse {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `id` is JSON: the id of the request, where it is known. */
export function sendHttpError(res: ServedResponse, refusal: HttpErrorResponse, id = 'null'): void {
  const { status, code, message, data, headers } = refusal
  const error = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
  const body = `{"jsonrpc":"2.0","id":${id},"error":${error}}`
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  res.end(body)
}

export function methodNotAllowed(allow: string): HttpErrorResponse {
  return { status: 405, code: -32000, message: 'Method not allowed.', headers: { Allow: allow } }
}
