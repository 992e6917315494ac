import { headerOf } from '../transport/http-heads.ts'
import type { Id } from '../wire/id.ts'
import { classify, member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { textOf, type Answer } from './http-ask.ts'
import type { Agreed } from './message-headers.ts'
import type { Owed } from './owed.ts'
import { ownError, SESSION_LOST, statusInWords } from './own-error.ts'

/** What is left to say of a message that was not accepted: an answer to each request in it, or words when nobody waits. */
export interface Refusal {
  readonly status: number
  readonly lines: readonly string[]
  readonly words: string
}

export function refusedWith(owed: Owed, status: number, words: string): Refusal {
  return { status, words, lines: owed.ids.map((id) => ownError(id, status, words)) }
}

/** The server's own error where it gave one, with the id of the request: it often has none at that point. */
export async function refusalOf(
  answer: Answer,
  owed: Owed,
  where: Agreed & { readonly url: URL },
): Promise<Refusal> {
  const { status } = answer
  const body = await textOf(answer).catch(() => '')
  const value = status === UNAUTHORIZED ? undefined : errorIn(body)
  const words = wordsFor(answer, where, messageOf(value))
  if (value === undefined) return refusedWith(owed, status, words)
  return { status, words, lines: owed.ids.map((id) => JSON.stringify(withId(value, id))) }
}

const UNAUTHORIZED = 401

function wordsFor(
  { status, headers }: Answer,
  { session, url }: Agreed & { readonly url: URL },
  message: string | undefined,
): string {
  const location = headerOf(headers, 'location')
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, url.href)) {
    const { origin, pathname } = new URL(location, url)
    return `the server has moved to ${origin}${pathname}, where nothing was sent: give that URL instead`
  }
  return status === 404 && session !== undefined ? SESSION_LOST : statusInWords(status, url, message)
}

function errorIn(body: string): object | undefined {
  const value = parseJson(body)
  const message = classify(value)
  return message.kind === 'response' && 'error' in message.outcome ? Object(value) : undefined
}

function messageOf(error: object | undefined): string | undefined {
  const message = member(member(error, 'error'), 'message')
  return typeof message === 'string' ? message : undefined
}

function withId(error: object, id: Id): object {
  return { ...error, id }
}
