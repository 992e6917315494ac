import { findId } from '../protocol/find-id.ts'

/**
 * Responses to one request that were read and found good. If a response has the same bytes except for its id, it is as good, and
 * comparing takes a tenth of the time of reading.
 */
export class KnownResponses {
  readonly #memory: SharedMemory
  /** By the number of characters of the id, which the announced length of the body depends on. */
  readonly #byIdLength: (KnownResponse | undefined)[] = []
  /** How many responses are read without being remembered. It grows while no response equals an earlier one. */
  #pause = 0
  #skipped = 0

  constructor(memory: SharedMemory) {
    this.#memory = memory
  }

  has(received: Buffer, bytes: number, id: string): boolean {
    const known = this.#byIdLength[id.length]
    if (known === undefined || bytes !== known.before.length + id.length + known.after.length) return false
    const text = received.toString('latin1', 0, bytes)
    const idAt = known.before.length
    const idEnd = idAt + id.length
    const isEqual =
      text.slice(0, idAt) === known.before &&
      text.slice(idEnd) === known.after &&
      text.slice(idAt, idEnd) === id
    if (isEqual) this.#pause = 0
    return isEqual
  }

  /** Whether the next response should be remembered. */
  isLearning(): boolean {
    if (this.#skipped++ < this.#pause) return false
    this.#skipped = 0
    return true
  }

  /** Remembers a whole response, in Latin-1, whose body has this many bytes. */
  learn(response: string, { bodyBytes, id }: { readonly bodyBytes: number; readonly id: string }): void {
    this.#pause = Math.min(MAX_PAUSE, this.#pause * 2 + 1)
    const bodyAt = response.length - bodyBytes
    if (response.indexOf(BLANK_LINE) + BLANK_LINE.length !== bodyAt) return // it is not all of the response
    const place = findId(response.slice(bodyAt))
    if (place === undefined) return
    const [start, end] = [bodyAt + place.start, bodyAt + place.end]
    if (response.slice(start, end) !== id) return
    const earlier = this.#byIdLength[id.length]
    const left = this.#memory.left + (earlier === undefined ? 0 : lengthOf(earlier)) - response.length
    if (left < 0) return
    this.#memory.left = left
    this.#byIdLength[id.length] = { before: response.slice(0, start), after: response.slice(end) }
  }
}

/** How many characters may still be remembered, for all requests of a session. */
export interface SharedMemory {
  left: number
}

interface KnownResponse {
  readonly before: string
  readonly after: string
}

function lengthOf({ before, after }: KnownResponse): number {
  return before.length + after.length
}

const BLANK_LINE = '\r\n\r\n'
const MAX_PAUSE = 63
