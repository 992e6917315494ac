import { findHeader } from '../../http/headers.ts'
import type { Id } from '../../protocol/id.ts'
import { classifyMessage, member } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import { readBodyText, type BridgeHttpResponse } from './http-requests.ts'
import type { NegotiatedState } from '../../bridge/message-headers.ts'
import type { UnansweredIds } from '../../bridge/owed.ts'
import { bridgeErrorResponse, SESSION_LOST_MESSAGE, describeStatus } from '../../bridge/own-error.ts'

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
