import { decodeFrame } from '../tape/codec.ts'
import type { EventFrame, Frame } from '../tape/frame.ts'
import { upgradeLine } from '../tape/upgrades/index.ts'
import { decodeUtf8 } from '../wire/lines.ts'

/** Something wrong with a line of a tape; the rest is read all the same. */
export interface Problem {
  readonly line: number
  readonly why: string
}

export interface TapeState {
  /** Whether the last line is the `end` frame: if not, the tape was cut, or is still being written. */
  ended: boolean
  problems: Problem[]
}

// A file of garbage must not fill the memory with complaints about it.
const MAX_PROBLEMS = 1000

/** Turns the lines after the header into frames, and reports what contradicts the format. */
export class FrameLines {
  readonly #state: TapeState
  readonly #version: number
  #frames: Frame[] = []
  #seen = 0
  #lastN = 0
  #cutOff = false

  constructor({ version, state }: { version: number; state: TapeState }) {
    this.#version = version
    this.#state = state
    state.ended = false
    state.problems = []
  }

  add(line: Uint8Array, number: number): void {
    if (!this.#counts(number) || number === 1) return
    const text = decodeUtf8(line)
    const frame = text === undefined ? NOT_UTF8 : decodeFrame(upgradeLine(text, number, this.#version))
    if (frame.kind === 'broken') return this.#report(number, frame.why)
    this.#check(frame, number)
    this.#frames.push(frame)
  }

  addOverlong(bytes: number, number: number): void {
    if (this.#counts(number)) this.#report(number, `too long to be read: ${bytes} bytes`)
  }

  /** From now on a line is what stands after the last line feed of the file. */
  cutOff(): void {
    this.#cutOff = true
  }

  /** The frames since the last call. */
  taken(): readonly Frame[] {
    const frames = this.#frames
    this.#frames = []
    return frames
  }

  // A line that is cut off does not.
  #counts(number: number): boolean {
    if (this.#state.ended) this.#report(number, 'stands after the end of the tape')
    this.#state.ended = false
    if (this.#cutOff) this.#report(number, 'cut off: the file ends within this line, which is left out')
    else if (number > 1) this.#seen++
    return !this.#cutOff
  }

  #report(line: number, why: string): void {
    const { problems } = this.#state
    if (problems.length < MAX_PROBLEMS) problems.push({ line, why })
    else if (problems.length === MAX_PROBLEMS) problems.push({ line, why: 'more problems from here on' })
  }

  #check(frame: Frame, number: number): void {
    if (frame.n <= this.#lastN) this.#report(number, `frame ${frame.n} comes after frame ${this.#lastN}`)
    this.#lastN = Math.max(frame.n, this.#lastN)
    if (frame.kind === 'event' && frame.event === 'end') this.#end(frame, number)
  }

  // The recorder counts what it could not write, too: `frames` is every frame, `lost` those that are missing.
  #end({ details }: EventFrame, number: number): void {
    this.#state.ended = true
    const { frames, lost = 0 } = details
    if (typeof frames !== 'number' || typeof lost !== 'number') {
      return this.#report(number, 'the end does not say how many frames there are')
    }
    if (lost > 0) this.#report(number, `the recorder could not write ${lost} of ${frames} frames`)
    if (frames - lost === this.#seen) return
    this.#report(number, `the end counts ${frames - lost} frames, the tape has ${this.#seen}`)
  }
}

const NOT_UTF8 = { kind: 'broken', why: 'not UTF-8' } as const
