import type { Id } from '../protocol/id.ts'

/** Outside every range that JSON-RPC and MCP reserve, so that none is taken for the server's; the last digits are a status of HTTP. */
const ERROR_CODE_BASE = -39_000

/** An answer in place of the server's, for a request that will not get one. */
export function bridgeErrorResponse(id: Id, status: number, why: string): string {
  const error = { code: ERROR_CODE_BASE - status, message: `reelay: ${why}`, data: { by: 'reelay' } }
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}

export const STATUS_UNREACHABLE = 502

/** What a status means for somebody who speaks stdio to us. */
export function describeStatus(status: number, url: URL, message?: string): string {
  const where = `${url.origin}${url.pathname}`
  if (status === 401 || status === 403)
    return (
      `${where} wants to know who asks (status ${status}), and nobody can log in through this bridge. What works: a token ` +
      "that it holds (--header 'Authorization: Bearer ${env.TOKEN}'), or the client on its own behind reelay record --forward"
    )
  return `${where} answered with status ${status}${message === undefined ? ' and no message' : `: ${message}`}`
}

export const SESSION_LOST_MESSAGE =
  'the server has forgotten this session (status 404), as after a restart: restart the server in the client'
