import { isUtf8 } from 'node:buffer'
import type { Direction } from '../../protocol/message.ts'
import type { InterceptedLink, MessageRoute } from '../intercept/link-interceptor.ts'

/** Records one direction of a session. */
export interface DirectionRecorder {
  /** Records a chunk, and hands it on in the same tick. */
  readonly pass: (chunk: Uint8Array, handOn: (bytes?: Uint8Array) => void) => void
  /** Records what follows the last newline. What was not handed on yet is handed on. */
  readonly end: (handOn?: (bytes?: Uint8Array) => void) => void
}

interface InterceptedLinesOptions {
  readonly dir: Direction
  readonly link: InterceptedLink
  readonly route: MessageRoute
  /** Records what is not held. */
  readonly recorder: DirectionRecorder
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const [OPEN_BRACE, OPEN_BRACKET] = Buffer.from('{[')
/** A longer line is forwarded as it arrives and never held, and the user is told. */
const MAX_HELD_BYTES = 16 * 1024 * 1024
/** Of a longer line that is forwarded as it arrives, only the beginning and the end are kept. */
const MAX_KEPT_BYTES = 64 * 1024
/** More than the end of a message that shows its id. */
const END_BYTES = 256

/**
 * Takes the lines that are held out of one direction of a session. The others are forwarded with the same bytes: as they arrive, if
 * their beginning shows that they cannot be held, or else in the tick in which their last byte arrives.
 */
export class InterceptedLines implements DirectionRecorder {
  readonly #options: InterceptedLinesOptions
  readonly #route: MessageRoute
  #partial: Buffer[] = []
  #partialBytes = 0
  /** The line that is forwarded as it arrives. */
  #forwarded: ForwardedLine | undefined
  /** Forwards the lines before the one that is being looked at. */
  #forwardEarlier: () => void = () => {}

  constructor(options: InterceptedLinesOptions) {
    this.#options = options
    const { route } = options
    this.#route = {
      ...route,
      record: (dir, text, marks) => {
        this.#forwardEarlier()
        return route.record(dir, text, marks)
      },
    }
  }

  readonly pass = (chunk: Uint8Array, handOn: (bytes?: Uint8Array) => void): void => {
    const bytes = toBuffer(chunk)
    const isPlain = this.#partialBytes === 0 && this.#forwarded === undefined
    if (isPlain && bytes[bytes.length - 1] === LINE_FEED) return this.#passWholeLines(bytes, handOn)
    const end = bytes.lastIndexOf(LINE_FEED) + 1
    const rest = end === 0 ? bytes : bytes.subarray(end)
    const isFirstPart = this.#partialBytes === 0
    if (end > 0) {
      const lines = this.#withPartial(end === bytes.length ? bytes : bytes.subarray(0, end))
      const passing = this.#passingLines(lines)
      if (!passing.isWhole) this.#passLines(lines, passing, handOn)
      else if (!isFirstPart || !this.#passesRest(rest))
        this.#options.recorder.pass(lines, () => handOn(lines))
      else return this.#options.recorder.pass(chunk, handOn)
      if (rest.length > 0) this.#keep(rest, handOn)
    } else if (isFirstPart && this.#passesRest(rest)) this.#options.recorder.pass(chunk, handOn)
    else this.#keep(rest, handOn)
  }

  /** Most chunks are whole lines. */
  #passWholeLines(lines: Buffer, handOn: (bytes?: Uint8Array) => void): void {
    const { link, dir, recorder } = this.#options
    link.beginLines(lines, dir)
    const first = link.nextLine(lines, 0, dir)
    if (first === lines.length) return recorder.pass(lines, handOn)
    this.#passLines(lines, { first, next: (at) => link.nextLine(lines, at, dir), isWhole: false }, handOn)
  }

  /** Finds the lines that can be forwarded without parsing them. */
  #passingLines(lines: Buffer): PassingLines {
    const { link, dir } = this.#options
    let start = 0
    if (this.#forwarded !== undefined) {
      start = lines.indexOf(LINE_FEED) + 1 // the beginning of that line is forwarded already
      this.#continueForwarded(lines.subarray(0, start))
    }
    const unread = start === 0 ? lines : lines.subarray(start)
    link.beginLines(unread, dir)
    const next = (at: number): number => start + link.nextLine(unread, at - start, dir)
    const first = start === lines.length ? start : next(start)
    return { first, next, isWhole: first === lines.length }
  }

  /** Returns true if a part without a line feed can be forwarded as it arrives. */
  #passesRest(rest: Buffer): boolean {
    if (rest.length === 0) return true
    if (this.#forwarded !== undefined) this.#continueForwarded(rest)
    else if (this.#options.link.passesBeginning(rest, 0, this.#options.dir)) this.#startForwarded(rest)
    else return false
    return true
  }

  #startForwarded(beginning: Buffer): void {
    this.#forwarded = new ForwardedLine(beginning)
  }

  /** The next part of a line that is forwarded as it arrives, with the line feed if it is the last one. */
  #continueForwarded(part: Buffer): void {
    this.#forwarded?.add(part)
    if (part[part.length - 1] !== LINE_FEED) return
    const { dir, link } = this.#options
    if (dir === 'c2s') this.#forwarded?.count(link)
    this.#forwarded = undefined
  }

  /** Forwards what follows the last line feed. */
  end(handOn?: (bytes?: Uint8Array) => void): void {
    const rest = this.#withPartial(NO_BYTES)
    if (rest.length > 0 && handOn !== undefined) this.#options.recorder.pass(rest, () => handOn(rest))
    this.#options.recorder.end()
  }

  #keep(part: Buffer, handOn: (bytes?: Uint8Array) => void): void {
    this.#partial.push(part)
    this.#partialBytes += part.length
    if (this.#forwarded === undefined && !this.#canForward()) return
    const isTooLong = this.#forwarded === undefined && this.#partialBytes > MAX_HELD_BYTES
    const bytes = this.#withPartial(NO_BYTES)
    const { dir, link, route } = this.#options
    if (isTooLong)
      link.passUnseen({
        dir,
        bytes,
        why: 'it is longer than 16 MiB',
        event: (event, details) => route.event(event, details),
      })
    if (this.#forwarded === undefined) this.#startForwarded(bytes)
    else this.#continueForwarded(bytes)
    this.#options.recorder.pass(bytes, () => handOn(bytes))
  }

  /** Looks at the beginning of a line once more when its second part has arrived, because the first may be a few bytes. */
  #canForward(): boolean {
    if (this.#partialBytes > MAX_HELD_BYTES) return true
    const { link, dir } = this.#options
    return this.#partial.length === 2 && link.passesBeginning(Buffer.concat(this.#partial), 0, dir)
  }

  #withPartial(bytes: Buffer): Buffer {
    if (this.#partial.length === 0) return bytes
    const whole = Buffer.concat([...this.#partial, bytes])
    this.#partial = []
    this.#partialBytes = 0
    return whole
  }

  #passLines(lines: Buffer, { first, next }: PassingLines, handOn: (bytes?: Uint8Array) => void): void {
    const { dir, link, recorder } = this.#options
    let earlier = 0
    const forwardUntil = (end: number): void => {
      if (end > earlier) {
        const region = lines.subarray(earlier, end)
        recorder.pass(region, () => handOn(region))
      }
      earlier = end
    }
    for (let start = first; start < lines.length;) {
      const end = lines.indexOf(LINE_FEED, start)
      const lineStart = start
      const bytes = lines.subarray(start, lines[end - 1] === CARRIAGE_RETURN ? end - 1 : end)
      this.#forwardEarlier = () => forwardUntil(lineStart)
      if (isHoldable(bytes) && link.takes({ dir, bytes, route: this.#route })) {
        forwardUntil(start)
        earlier = end + 1
      }
      start = end + 1 === lines.length ? lines.length : next(end + 1)
    }
    this.#forwardEarlier = () => {}
    forwardUntil(lines.length)
  }
}

/** Whole lines, some of which can be forwarded without parsing them. */
interface PassingLines {
  /** The index of the first one that has to be parsed, or the end. */
  readonly first: number
  readonly isWhole: boolean
  /** The next one from an index on. */
  readonly next: (at: number) => number
}

/** A line that is forwarded as it arrives. When it is complete, it is counted. */
class ForwardedLine {
  readonly #beginning: Buffer
  /** All parts of a short line, and the last two of a long one. */
  #parts: Buffer[]
  #length: number

  constructor(beginning: Buffer) {
    this.#beginning = beginning
    this.#parts = [beginning]
    this.#length = beginning.length
  }

  add(part: Buffer): void {
    this.#length += part.length
    this.#parts.push(part)
    if (this.#length > MAX_KEPT_BYTES) this.#parts = this.#parts.slice(-2)
  }

  count(link: InterceptedLink): void {
    if (this.#length <= MAX_KEPT_BYTES) link.countRequests(Buffer.concat(this.#parts))
    else
      link.countLongLine(this.#beginning, Buffer.concat(this.#parts.map((part) => part.subarray(-END_BYTES))))
  }
}

const NO_BYTES = Buffer.alloc(0)

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function isHoldable(line: Uint8Array): boolean {
  return (line[0] === OPEN_BRACE || line[0] === OPEN_BRACKET) && isUtf8(line)
}
