import { decodeFrame, type BrokenLine } from '../../tape/codec.ts'
import { MessageFrameScanner } from '../frame-scan.ts'
import type { Frame } from '../../tape/frame.ts'
import { TAPE_VERSION } from '../../tape/header.ts'
import { upgradeLine } from '../../tape/upgrades/index.ts'
import { decodeUtf8 } from '../../protocol/lines.ts'
import { TapeLineChecks, type TapeReadState } from '../line-checks.ts'

/** Turns the lines after the header into frames, and reports what contradicts the format. */
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

  /** From now on a line is what stands after the last line feed of the file. */
  markTruncated(): void {
    this.#checks.markTruncated()
  }

  /** The frames since the last call. */
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

// Buffers decode short lines several times faster, and put a replacement character where bytes are not UTF-8.
function decodeLineText(line: Buffer): string | undefined {
  const text = line.toString('utf8')
  return text.includes(REPLACEMENT) ? decodeUtf8(line) : text
}

const REPLACEMENT = '\uFFFD'

const NOT_UTF8 = { kind: 'broken', why: 'not UTF-8' } as const
