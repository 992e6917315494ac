import type { Redactor } from '../redact/redactor.ts'
import type { LineOfParts } from './line-parts.ts'

/**
 * Says which lines of one direction may hold a secret. Every byte is looked at once, when it comes; what stands on both sides of
 * a cut between two chunks is looked at once more, together.
 */
export class Suspicion {
  readonly #redactor: Redactor
  /** The end of what came before this chunk and belongs to a line that goes on. */
  #before: Uint8Array = NOTHING
  #isBeforeSuspect = false
  #isChunkSuspect = false
  #isFirst = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Looks at a chunk; says whether one of its lines must be looked at closely. */
  look(chunk: Uint8Array): boolean {
    this.#isChunkSuspect = this.#redactor.mayHold(chunk)
    if (!this.#isBeforeSuspect && this.#before.length > 0) this.#isBeforeSuspect = this.#isAcross(chunk)
    this.#isFirst = true
    return this.#isChunkSuspect || this.#isBeforeSuspect
  }

  /** Asked for each line that the chunk ends, in order. */
  isSuspect({ chunk, start, end }: LineOfParts): boolean {
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (isFirst && this.#isBeforeSuspect) return true
    return this.#isChunkSuspect && this.#redactor.mayHold(chunk, start, end)
  }

  /** Remembers what is left of the chunk behind its last line. */
  leave(chunk: Uint8Array): void {
    const rest = chunk.subarray(chunk.lastIndexOf(NEWLINE) + 1)
    const isWhole = rest.length === chunk.length
    const isRestSuspect = this.#isChunkSuspect && this.#redactor.mayHold(rest)
    this.#isBeforeSuspect = (isWhole && this.#isBeforeSuspect) || isRestSuspect
    this.#before = isWhole && rest.length < SEAM ? join(this.#before, rest) : rest.subarray(-SEAM)
  }

  #isAcross(chunk: Uint8Array): boolean {
    return this.#redactor.mayHold(join(this.#before, chunk.subarray(0, SEAM)))
  }
}

const NEWLINE = 10
const NOTHING = new Uint8Array(0)
/** No pattern that is looked for needs more on either side of a cut. */
const SEAM = 512

function join(before: Uint8Array, after: Uint8Array): Uint8Array {
  const joined = new Uint8Array(before.length + after.length)
  joined.set(before)
  joined.set(after, before.length)
  return joined
}
