import { markLasting } from '../match/lasting.ts'
import type { Id } from '../wire/id.ts'
import { rangeAt, type Range } from '../wire/members.ts'
import { classify, type Message, type Request } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { idRangeAtEdge } from './id-range.ts'

const LONGEST_TEXT = 16 * 1024
const MOST_CHARACTERS = 4 * 1024 * 1024

/** Reads what clients send. A request that differs from an earlier one by nothing but its id is not parsed again. */
export class HeardTexts {
  /** By the text around the id. */
  readonly #requests = new Map<string, Omit<Request, 'id'>>()
  #characters = 0

  /** The message in a text; none when it is no JSON. */
  read(text: string): Message | undefined {
    const range = text.length <= LONGEST_TEXT ? idRangeAtEdge(text) : undefined
    return range === undefined ? readMessage(text) : this.#readRequest(text, range)
  }

  #readRequest(text: string, range: Range): Message | undefined {
    const around = aroundId(text, range)
    const known = this.#requests.get(around)
    if (known !== undefined) return withId(known, plainId(text, range))
    const message = readMessage(text)
    if (message?.kind === 'request' && isIdOf(text, range)) this.#remember(around, message)
    return message
  }

  #remember(around: string, { kind, method, params }: Request): void {
    this.#characters += around.length
    if (this.#characters > MOST_CHARACTERS) {
      this.#requests.clear()
      this.#characters = around.length
    }
    markLasting(params)
    this.#requests.set(around, { kind, method, params })
  }
}

/** The text but for the id and for what is the same in all texts that have it there; a slice is not copied. */
function aroundId(text: string, { start, end }: Range): string {
  return end === text.length - 1 ? text.slice(0, start) : text.slice(end)
}

/** Such a range holds a short whole number, or a string without escapes. */
function plainId(text: string, { start, end }: Range): Id {
  return text.startsWith('"', start) ? text.slice(start + 1, end - 1) : Number(text.slice(start, end))
}

function withId({ kind, method, params }: Omit<Request, 'id'>, id: Id): Request {
  return { kind, id, method, params }
}

function readMessage(text: string): Message | undefined {
  const value = parseJson(text)
  return value === undefined ? undefined : classify(value)
}

/** Whether the stretch that looks like the id is what counts as the id. */
function isIdOf(text: string, { start, end }: Range): boolean {
  const id = rangeAt(text, ['id'])
  return id?.start === start && id.end === end
}
