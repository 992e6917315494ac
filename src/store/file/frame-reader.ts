import { parseJson } from '../../json/parse.ts'
import { decodeUtf8 } from '../../protocol/lines.ts'
import { classifyMessage } from '../../protocol/message.ts'
import { decodeFrame, type BrokenLine } from '../../tape/codec.ts'
import type { Frame, MessageFrame, EventFrame } from '../../tape/frame.ts'
import { TAPE_VERSION } from '../../tape/header.ts'
import { LinePrefixScanner, type LinePrefix } from '../../tape/line-prefix.ts'
import { upgradeLine } from '../../tape/upgrades/index.ts'

/** Converts the lines after the header to frames, and reports violations of the format. */
export class FrameReader {
  readonly #checks: TapeLineChecks
  readonly #version: number
  readonly #scan = new MessageFrameScanner()
  #frames: Frame[] = []

  constructor({ version, state }: { version: number; state: TapeReadState }) {
    this.#version = version
    this.#checks = new TapeLineChecks(state)
  }

  add(line: Uint8Array, number: number): void {
    if (!this.#checks.acceptLine(number) || number === 1) return
    const bytes = Buffer.isBuffer(line) ? line : Buffer.from(line.buffer, line.byteOffset, line.byteLength)
    const frame = this.#scanLine(bytes) ?? this.#decodeLine(bytes, number)
    if (frame.kind === 'broken') return this.#checks.report(number, frame.why)
    this.#checks.checkFrame(frame, number)
    this.#frames.push(frame)
  }

  addOverlong(bytes: number, number: number): void {
    if (this.#checks.acceptLine(number)) this.#checks.report(number, `too long to be read: ${bytes} bytes`)
  }

  /** The next line is the text after the last line feed of the file. */
  markTruncated(): void {
    this.#checks.markTruncated()
  }

  /** Returns the frames since the last call. */
  takeFrames(): readonly Frame[] {
    const frames = this.#frames
    this.#frames = []
    return frames
  }

  #scanLine(line: Buffer): Frame | undefined {
    return this.#version === TAPE_VERSION ? this.#scan.read(line) : undefined
  }

  #decodeLine(line: Buffer, number: number): Frame | BrokenLine {
    const text = decodeLineText(line)
    return text === undefined ? NOT_UTF8 : decodeFrame(upgradeLine(text, number, this.#version))
  }
}

// `Buffer` decodes short lines several times faster than `TextDecoder`, and replaces bytes that are not UTF-8.
function decodeLineText(line: Buffer): string | undefined {
  const text = line.toString('utf8')
  return text.includes(REPLACEMENT_CHARACTER) ? decodeUtf8(line) : text
}

// Replaces bytes that are not UTF-8, and is rare in texts.
const REPLACEMENT_CHARACTER = '\uFFFD'
const NOT_UTF8 = { kind: 'broken', why: 'not UTF-8' } as const

/** Reads message frames in the form that the recorder writes. Only the message itself becomes a string. */
export class MessageFrameScanner {
  readonly #prefixes = new LinePrefixScanner()

  /** Returns `undefined` for any other line, which `decodeFrame` must read. */
  read(line: Buffer): MessageFrame | undefined {
    const prefix = this.#prefixes.read(line, 0)
    if (prefix?.payload !== 'msg' || line.at(-1) !== CLOSE_BRACE) return undefined
    const text = line.toString('utf8', prefix.payloadStart, line.length - 1)
    const value = text.includes(REPLACEMENT_CHARACTER) ? undefined : parseJson(text)
    return value === undefined ? undefined : messageFrameOf(prefix, text.trim(), value)
  }
}

const CLOSE_BRACE = 0x7d

function messageFrameOf(prefix: LinePrefix, text: string, value: unknown): MessageFrame {
  const { n, t, server, conn, x, dir, sse } = prefix
  const message = classifyMessage(value)
  if (x === undefined && sse === undefined) return { kind: 'message', n, t, server, conn, dir, text, message }
  const place = { n, t, server, conn, ...(x === undefined ? {} : { x }), dir }
  return { kind: 'message', ...place, ...(sse === undefined ? {} : { sse }), text, message }
}

/** A problem with a line of a tape. The other lines are still read. */
export interface TapeProblem {
  readonly line: number
  readonly why: string
}

export interface TapeReadState {
  /** True if the last line is the `end` frame. Otherwise the tape is truncated, or still being written. */
  ended: boolean
  problems: TapeProblem[]
}

// A file that is not a tape must not fill the memory with problems.
const MAX_PROBLEMS = 1000

/** Reports violations of the format. */
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

  /** The next line is the text after the last line feed of the file. */
  markTruncated(): void {
    this.#isTruncated = true
  }

  /** Returns false for a truncated line. */
  acceptLine(number: number): boolean {
    if (this.#state.ended) this.report(number, 'comes after the end of the tape')
    this.#state.ended = false
    if (this.#isTruncated) this.report(number, 'truncated: the file ends within this line, which is skipped')
    else if (number > 1) this.#seen++
    return !this.#isTruncated
  }

  report(line: number, why: string): void {
    const { problems } = this.#state
    if (problems.length < MAX_PROBLEMS) problems.push({ line, why })
    else if (problems.length === MAX_PROBLEMS) problems.push({ line, why: 'further problems are not listed' })
  }

  checkFrame(frame: Frame, number: number): void {
    this.checkFrameNumber(frame.n, number)
    if (frame.kind === 'event' && frame.event === 'end') this.#checkEnd(frame, number)
  }

  checkFrameNumber(n: number, number: number): void {
    if (n <= this.#lastN) this.report(number, `frame ${n} comes after frame ${this.#lastN}`)
    this.#lastN = Math.max(n, this.#lastN)
  }

  // The recorder also counts the frames that it could not write: `frames` includes them, and `lost` is their number.
  #checkEnd({ details }: EventFrame, number: number): void {
    this.#state.ended = true
    const { frames, lost = 0 } = details
    if (typeof frames !== 'number' || typeof lost !== 'number') {
      return this.report(number, 'the end frame has no count of frames')
    }
    if (lost > 0) this.report(number, `the recorder could not write ${lost} of ${frames} frames`)
    if (frames - lost === this.#seen) return
    this.report(number, `the end frame counts ${frames - lost} frames, but the tape has ${this.#seen}`)
  }
}
