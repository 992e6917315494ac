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

/** Records the lines of one direction that are not held. */
export interface PassingRecorder extends DirectionRecorder {
  /** Forgets the beginning of a line, because the line is held. */
  readonly forgetLine: () => void
}

interface InterceptedLinesOptions {
  readonly dir: Direction
  readonly link: InterceptedLink
  readonly route: MessageRoute
  /** Records what is not held. */
  readonly recorder: PassingRecorder
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const [OPEN_BRACE, OPEN_BRACKET] = Buffer.from('{[')
/** A longer line is forwarded as it arrives and never held, and the user is told. */
const MAX_HELD_BYTES = 16 * 1024 * 1024
/** Of a longer line that is forwarded as it arrives, only the beginning and the end are kept. */
const MAX_KEPT_BYTES = 64 * 1024
/** A shorter beginning of a line may show nothing. */
const BEGINNING_BYTES = 4096
/** More than the end of a message that shows its id. */
const END_BYTES = 256

/**
 * Takes the lines that are held out of one direction of a session. The others are forwarded with the same bytes: as they arrive, if
 * their beginning shows that they cannot be held, or else in the tick in which their last byte arrives.
 */
export class InterceptedLines implements DirectionRecorder {
  readonly #options: InterceptedLinesOptions
  readonly #route: MessageRoute
  /** The beginning of a line that may have to be held. It is recorded, and not handed on. */
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
    if (this.#partialBytes > 0) return this.#endPartial(bytes, handOn)
    if (this.#forwarded !== undefined) {
      const end = bytes.indexOf(LINE_FEED) + 1
      this.#continueForwarded(end === 0 ? bytes : bytes.subarray(0, end))
      if (end === 0) this.#options.recorder.pass(chunk, handOn)
      else this.#passFrom(bytes, end, handOn)
    } else if (bytes[bytes.length - 1] === LINE_FEED) this.#passWholeLines(bytes, handOn)
    else this.#passFrom(bytes, 0, handOn)
  }

  /** Decides about a line when its end has arrived. Its parts are handed on one by one, because copying whole chunks is slow. */
  #endPartial(bytes: Buffer, handOn: (bytes?: Uint8Array) => void): void {
    const { link, dir, recorder } = this.#options
    const end = bytes.indexOf(LINE_FEED) + 1
    if (end === 0) return this.#keep(bytes, handOn)
    const parts = this.#takePartial()
    const line = Buffer.concat([...parts, bytes.subarray(0, end)])
    link.beginLines(line, dir)
    if (link.nextLine(line, 0, dir) === line.length || !this.#takes(line, 0, line.length - 1)) {
      for (const part of parts) handOn(part)
      return this.#passFrom(bytes, end, handOn)
    }
    recorder.forgetLine()
    const rest = bytes.subarray(end)
    if (rest.length > 0) this.pass(rest, (other = rest) => handOn(other))
  }

  /** Passes a chunk of which the bytes before an index are to be forwarded. They are the end of a line. */
  #passFrom(bytes: Buffer, start: number, handOn: (bytes?: Uint8Array) => void): void {
    const { link, dir, recorder } = this.#options
    const end = bytes.lastIndexOf(LINE_FEED) + 1
    const rest = end === bytes.length ? NO_BYTES : bytes.subarray(end)
    if (end > start) {
      const unread = start === 0 ? bytes.subarray(0, end) : bytes.subarray(start, end)
      link.beginLines(unread, dir)
      const next = (at: number): number => start + link.nextLine(unread, at - start, dir)
      const first = next(start)
      if (first < end) {
        this.#passLines(bytes.subarray(0, end), { first, next }, handOn)
        if (rest.length > 0 && !this.#passesBeginning(rest)) this.#keep(rest, handOn)
        else if (rest.length > 0) recorder.pass(rest, () => handOn(rest))
        return
      }
    }
    if (rest.length === 0 || this.#passesBeginning(rest)) return recorder.pass(bytes, () => handOn(bytes))
    if (end > 0) {
      const lines = bytes.subarray(0, end)
      recorder.pass(lines, () => handOn(lines))
    }
    this.#keep(rest, handOn)
  }

  /** Most chunks are whole lines. */
  #passWholeLines(lines: Buffer, handOn: (bytes?: Uint8Array) => void): void {
    const { link, dir, recorder } = this.#options
    link.beginLines(lines, dir)
    const first = link.nextLine(lines, 0, dir)
    if (first === lines.length) return recorder.pass(lines, handOn)
    this.#passLines(lines, { first, next: (at) => link.nextLine(lines, at, dir) }, handOn)
  }

  /** Returns true if the beginning of a line shows that it can be forwarded as it arrives. */
  #passesBeginning(beginning: Buffer): boolean {
    const { link, dir } = this.#options
    if (!link.passesBeginning(beginning, 0, dir)) return false
    this.#startForwarded(beginning)
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
    for (const part of this.#takePartial()) handOn?.(part)
    this.#options.recorder.end()
  }

  /** Keeps a part of a line. It is recorded already, which takes as long as forwarding it. */
  #keep(part: Buffer, handOn: (bytes?: Uint8Array) => void): void {
    const { dir, link, route, recorder } = this.#options
    this.#partial.push(part)
    this.#partialBytes += part.length
    recorder.pass(part, () => {})
    const isTooLong = this.#partialBytes > MAX_HELD_BYTES
    if (!isTooLong && !this.#canForward()) return
    const parts = this.#takePartial()
    const bytes = Buffer.concat(parts)
    if (isTooLong)
      link.passUnseen({
        dir,
        bytes,
        why: 'it is longer than 16 MiB',
        event: (event, details) => route.event(event, details),
      })
    this.#startForwarded(bytes)
    for (const each of parts) handOn(each)
  }

  /** Looks at the beginning of a line once more when its second part has arrived, because the first may be a few bytes. */
  #canForward(): boolean {
    const { link, dir } = this.#options
    const [first, second] = this.#partial
    if (first === undefined || second === undefined || this.#partial.length > 2) return false
    if (first.length >= BEGINNING_BYTES) return false
    return link.passesBeginning(Buffer.concat([first, second]), 0, dir)
  }

  #takePartial(): readonly Buffer[] {
    const parts = this.#partial
    this.#partial = []
    this.#partialBytes = 0
    return parts
  }

  #passLines(lines: Buffer, { first, next }: PassingLines, handOn: (bytes?: Uint8Array) => void): void {
    const { recorder } = this.#options
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
      this.#forwardEarlier = () => forwardUntil(lineStart)
      if (this.#takes(lines, start, end)) {
        forwardUntil(start)
        earlier = end + 1
      }
      start = end + 1 === lines.length ? lines.length : next(end + 1)
    }
    this.#forwardEarlier = () => {}
    forwardUntil(lines.length)
  }

  /** Parses the line in a range. Returns true if it is held. */
  #takes(lines: Buffer, start: number, end: number): boolean {
    const { dir, link } = this.#options
    const bytes = lines.subarray(start, lines[end - 1] === CARRIAGE_RETURN ? end - 1 : end)
    return isHoldable(bytes) && link.takes({ dir, bytes, route: this.#route })
  }
}

/** Whole lines, some of which can be forwarded without parsing them. */
interface PassingLines {
  /** The index of the first one that has to be parsed, or the end. */
  readonly first: number
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
