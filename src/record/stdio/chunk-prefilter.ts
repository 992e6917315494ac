import type { Redactor } from '../../redact/redactor.ts'
import type { SegmentedLine } from './segmented-lines.ts'

/**
 * Says which lines of one direction may hold a secret. Every byte is looked at once, when it comes; what stands on both sides of
 * a cut between two chunks is looked at once more, together.
 */
export class ChunkPrefilter {
  readonly #redactor: Redactor
  /** The end of what came before this chunk and belongs to a line that goes on. */
  #carriedOver: Uint8Array = NOTHING
  #isCarriedOverSuspect = false
  #isChunkSuspect = false
  #isFirst = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Looks at a chunk; says whether one of its lines must be looked at closely. */
  scan(chunk: Uint8Array): boolean {
    this.#isChunkSuspect = this.#redactor.mayContainSecrets(chunk)
    if (!this.#isCarriedOverSuspect && this.#carriedOver.length > 0)
      this.#isCarriedOverSuspect = this.#isAcross(chunk)
    this.#isFirst = true
    return this.#isChunkSuspect || this.#isCarriedOverSuspect
  }

  /** Asked for each line that the chunk ends, in order. */
  mayContainSecret({ chunk, start, end }: SegmentedLine): boolean {
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (isFirst && this.#isCarriedOverSuspect) return true
    return this.#isChunkSuspect && this.#redactor.mayContainSecrets(chunk, start, end)
  }

  /** Remembers what is left of the chunk behind its last line. */
  finishChunk(chunk: Uint8Array): void {
    const rest = chunk.subarray(chunk.lastIndexOf(NEWLINE) + 1)
    const isWhole = rest.length === chunk.length
    const isRestSuspect = this.#isChunkSuspect && this.#redactor.mayContainSecrets(rest)
    this.#isCarriedOverSuspect = (isWhole && this.#isCarriedOverSuspect) || isRestSuspect
    this.#carriedOver =
      isWhole && rest.length < SEAM_BYTES ? join(this.#carriedOver, rest) : rest.subarray(-SEAM_BYTES)
  }

  #isAcross(chunk: Uint8Array): boolean {
    return this.#redactor.mayContainSecrets(join(this.#carriedOver, chunk.subarray(0, SEAM_BYTES)))
  }
}

const NEWLINE = 10
const NOTHING = new Uint8Array(0)
/** No pattern that is looked for needs more on either side of a cut. */
const SEAM_BYTES = 512

function join(before: Uint8Array, after: Uint8Array): Uint8Array {
  const joined = new Uint8Array(before.length + after.length)
  joined.set(before)
  joined.set(after, before.length)
  return joined
}
