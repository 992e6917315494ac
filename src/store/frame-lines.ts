import { decodeFrame, type BrokenLine } from '../tape/codec.ts'
import { FrameScan } from './frame-scan.ts'
import type { Frame } from '../tape/frame.ts'
import { TAPE_VERSION } from '../tape/header.ts'
import { upgradeLine } from '../tape/upgrades/index.ts'
import { decodeUtf8 } from '../wire/lines.ts'
import { LineChecks, type TapeState } from './line-checks.ts'

/** Turns the lines after the header into frames, and reports what contradicts the format. */
export class FrameLines {
  readonly #checks: LineChecks
  readonly #version: number
  readonly #scan = new FrameScan()
  #frames: Frame[] = []

  constructor({ version, state }: { version: number; state: TapeState }) {
    this.#version = version
    this.#checks = new LineChecks(state)
  }

  add(line: Uint8Array, number: number): void {
    if (!this.#checks.counts(number) || number === 1) return
    const bytes = Buffer.isBuffer(line) ? line : Buffer.from(line.buffer, line.byteOffset, line.byteLength)
    const frame = this.#scanned(bytes) ?? this.#decoded(bytes, number)
    if (frame.kind === 'broken') return this.#checks.report(number, frame.why)
    this.#checks.check(frame, number)
    this.#frames.push(frame)
  }

  addOverlong(bytes: number, number: number): void {
    if (this.#checks.counts(number)) this.#checks.report(number, `too long to be read: ${bytes} bytes`)
  }

  /** From now on a line is what stands after the last line feed of the file. */
  cutOff(): void {
    this.#checks.cutOff()
  }

  /** The frames since the last call. */
  taken(): readonly Frame[] {
    const frames = this.#frames
    this.#frames = []
    return frames
  }

  #scanned(line: Buffer): Frame | undefined {
    return this.#version === TAPE_VERSION ? this.#scan.read(line) : undefined
  }

  #decoded(line: Buffer, number: number): Frame | BrokenLine {
    const text = textOf(line)
    return text === undefined ? NOT_UTF8 : decodeFrame(upgradeLine(text, number, this.#version))
  }
}

// Buffers decode short lines several times faster, and put a replacement character where bytes are not UTF-8.
function textOf(line: Buffer): string | undefined {
  const text = line.toString('utf8')
  return text.includes(REPLACEMENT) ? decodeUtf8(line) : text
}

const REPLACEMENT = '\uFFFD'

const NOT_UTF8 = { kind: 'broken', why: 'not UTF-8' } as const
