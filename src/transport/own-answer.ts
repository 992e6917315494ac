import type { ServedResponse } from '../http/server/served-exchange.ts'

/** Codes of our own answers: outside every range that JSON-RPC and MCP reserve, so that none is taken for the server's. */
const CODE_BY_STATUS = { 400: -39400, 403: -39403, 502: -39502 } as const

/** Answers in place of the server, and says that it does. */
export function sendErrorResponse(
  res: ServedResponse,
  status: keyof typeof CODE_BY_STATUS,
  why: string,
): void {
  const error = { code: CODE_BY_STATUS[status], message: `reelay: ${why}`, data: { by: 'reelay' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error })
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  res.end(body)
}
