import { findHeader } from '../../http/headers.ts'
import { parseJson } from '../../json/parse.ts'
import { readBodyText, type BridgeHttpResponse } from './http-requests.ts'
import type { UnansweredIds } from './pending-posts.ts'
import type { NegotiatedState } from './request-headers.ts'
import type { Id } from '../../protocol/id.ts'
import { classifyMessage, member } from '../../protocol/message.ts'

/** What is left to say of a message that was not accepted: an answer to each request in it, or words when nobody waits. */
export interface RejectedMessage {
  readonly status: number
  readonly lines: readonly string[]
  readonly words: string
}

export function rejectedWith(owed: UnansweredIds, status: number, words: string): RejectedMessage {
  return { status, words, lines: owed.ids.map((id) => bridgeErrorResponse(id, status, words)) }
}

/** The server's own error where it gave one, with the id of the request: it often has none at that point. */
export async function rejectionFrom(
  answer: BridgeHttpResponse,
  owed: UnansweredIds,
  where: NegotiatedState & { readonly url: URL },
): Promise<RejectedMessage> {
  const { status } = answer
  const body = await readBodyText(answer).catch(() => '')
  const value = status === UNAUTHORIZED ? undefined : parseErrorResponse(body)
  const words = describeRejection(answer, where, errorMessageOf(value))
  if (value === undefined) return rejectedWith(owed, status, words)
  return { status, words, lines: owed.ids.map((id) => JSON.stringify(withId(value, id))) }
}

const UNAUTHORIZED = 401

function describeRejection(
  { status, headers }: BridgeHttpResponse,
  { session, url }: NegotiatedState & { readonly url: URL },
  message: string | undefined,
): string {
  const location = findHeader(headers, 'location')
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, url.href)) {
    const { origin, pathname } = new URL(location, url)
    return `the server has moved to ${origin}${pathname}, where nothing was sent: give that URL instead`
  }
  return status === 404 && session !== undefined ? SESSION_LOST_MESSAGE : describeStatus(status, url, message)
}

function parseErrorResponse(body: string): object | undefined {
  const value = parseJson(body)
  const message = classifyMessage(value)
  return message.kind === 'response' && 'error' in message.outcome ? Object(value) : undefined
}

function errorMessageOf(error: object | undefined): string | undefined {
  const message = member(member(error, 'error'), 'message')
  return typeof message === 'string' ? message : undefined
}

function withId(error: object, id: Id): object {
  return { ...error, id }
}

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
