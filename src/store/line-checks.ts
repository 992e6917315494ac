import type { EventFrame, Frame } from '../tape/frame.ts'

/** Something wrong with a line of a tape; the rest is read all the same. */
export interface TapeProblem {
  readonly line: number
  readonly why: string
}

export interface TapeReadState {
  /** Whether the last line is the `end` frame: if not, the tape was cut, or is still being written. */
  ended: boolean
  problems: TapeProblem[]
}

// A file of garbage must not fill the memory with complaints about it.
const MAX_PROBLEMS = 1000

/** Reports what contradicts the format in the lines of a tape, from the first to the last. */
export class TapeLineChecks {
  readonly #state: TapeReadState
  #seen = 0
  #lastN = 0
  #isTruncated = false

  constructor(state: TapeReadState) {
    this.#state = state
    state.ended = false
    state.problems = []
  }

  /** How many lines after the header counted. */
  get linesSeen(): number {
    return this.#seen
  }

  /** From now on a line is what stands after the last line feed of the file. */
  markTruncated(): void {
    this.#isTruncated = true
  }

  /** Whether a line counts: one that is cut off does not. */
  acceptLine(number: number): boolean {
    if (this.#state.ended) this.report(number, 'stands after the end of the tape')
    this.#state.ended = false
    if (this.#isTruncated) this.report(number, 'cut off: the file ends within this line, which is left out')
    else if (number > 1) this.#seen++
    return !this.#isTruncated
  }

  report(line: number, why: string): void {
    const { problems } = this.#state
    if (problems.length < MAX_PROBLEMS) problems.push({ line, why })
    else if (problems.length === MAX_PROBLEMS) problems.push({ line, why: 'more problems from here on' })
  }

  checkFrame(frame: Frame, number: number): void {
    this.checkFrameNumber(frame.n, number)
    if (frame.kind === 'event' && frame.event === 'end') this.#checkEnd(frame, number)
  }

  /** The number of a frame that is no event. */
  checkFrameNumber(n: number, number: number): void {
    if (n <= this.#lastN) this.report(number, `frame ${n} comes after frame ${this.#lastN}`)
    this.#lastN = Math.max(n, this.#lastN)
  }

  // The recorder counts what it could not write, too: `frames` is every frame, `lost` those that are missing.
  #checkEnd({ details }: EventFrame, number: number): void {
    this.#state.ended = true
    const { frames, lost = 0 } = details
    if (typeof frames !== 'number' || typeof lost !== 'number') {
      return this.report(number, 'the end does not say how many frames there are')
    }
    if (lost > 0) this.report(number, `the recorder could not write ${lost} of ${frames} frames`)
    if (frames - lost === this.#seen) return
    this.report(number, `the end counts ${frames - lost} frames, the tape has ${this.#seen}`)
  }
}
