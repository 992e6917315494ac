import { markImmutable } from '../../match/request-key.ts'
import { findId, guessId } from '../../protocol/find-id.ts'
import { type Id, classifyMessage, type Message, type Request } from '../../protocol/message.ts'
import type { JsonRange } from '../../json/scan.ts'
import { parseJson } from '../../json/parse.ts'

const MAX_CACHED_TEXT = 16 * 1024
const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024

/** Parses the messages of clients. A request that differs from an earlier one only by its id is not parsed again. */
export class MessageParser {
  /** Parsed requests by the text around their id. */
  readonly #requests = new Map<string, Omit<Request, 'id'>>()
  #characters = 0

  /** Returns `undefined` if the text is not JSON. */
  parse(text: string): Message | undefined {
    const range = text.length <= MAX_CACHED_TEXT ? guessId(text) : undefined
    return range === undefined ? parseMessage(text) : this.#parseRequest(text, range)
  }

  #parseRequest(text: string, range: JsonRange): Message | undefined {
    const around = textAroundId(text, range)
    const known = this.#requests.get(around)
    if (known !== undefined) return withId(known, plainId(text, range))
    const message = parseMessage(text)
    if (message?.kind === 'request' && isIdOf(text, range)) this.#remember(around, message)
    return message
  }

  #remember(around: string, { kind, method, params }: Request): void {
    this.#characters += around.length
    if (this.#characters > MAX_CACHED_CHARACTERS) {
      this.#requests.clear()
      this.#characters = around.length
    }
    markImmutable(params)
    this.#requests.set(around, { kind, method, params })
  }
}

/** Returns the part of the text that distinguishes requests. Around a guessed id, the rest is always the same. A slice is not a copy. */
function textAroundId(text: string, { start, end }: JsonRange): string {
  return end === text.length - 1 ? text.slice(0, start) : text.slice(end)
}

/** The range contains a short integer, or a string without escapes. */
function plainId(text: string, { start, end }: JsonRange): Id {
  return text.startsWith('"', start) ? text.slice(start + 1, end - 1) : Number(text.slice(start, end))
}

function withId({ kind, method, params }: Omit<Request, 'id'>, id: Id): Request {
  return { kind, id, method, params }
}

function parseMessage(text: string): Message | undefined {
  const value = parseJson(text)
  return value === undefined ? undefined : classifyMessage(value)
}

/** True if the range that looks like the id is the id. */
function isIdOf(text: string, { start, end }: JsonRange): boolean {
  const id = findId(text)
  return id?.start === start && id.end === end
}
