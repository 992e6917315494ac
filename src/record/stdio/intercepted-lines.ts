import { isUtf8 } from 'node:buffer'
import type { Direction } from '../../protocol/message.ts'
import type { LinkInterceptor, MessageRoute } from '../intercept/link-interceptor.ts'

/** Records one direction of a session. */
export interface DirectionRecorder {
  /** Records a chunk, and hands it on in the same tick. */
  readonly pass: (chunk: Uint8Array, handOn: (bytes?: Uint8Array) => void) => void
  /** Records what follows the last newline. What was not handed on yet is handed on. */
  readonly end: (handOn?: (bytes?: Uint8Array) => void) => void
}

interface InterceptedLinesOptions {
  readonly dir: Direction
  readonly link: LinkInterceptor
  readonly route: MessageRoute
  /** Records what is not held. */
  readonly recorder: DirectionRecorder
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const [OPEN_BRACE, OPEN_BRACKET] = Buffer.from('{[')
/** A longer line is forwarded as it arrives and never held, and the user is told. */
const MAX_HELD_BYTES = 16 * 1024 * 1024

/**
 * Takes the lines that are held out of one direction of a session. The others are forwarded in the tick in which their last byte
 * arrives, with the same bytes. Only whole lines are forwarded, because half of one could not be held any more.
 */
export class InterceptedLines implements DirectionRecorder {
  readonly #options: InterceptedLinesOptions
  readonly #route: MessageRoute
  #partial: Uint8Array[] = []
  #partialBytes = 0
  #isTooLong = false
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
    const end = this.#isTooLong && chunk.includes(LINE_FEED) ? chunk.length : chunk.lastIndexOf(LINE_FEED) + 1
    if (end > 0) this.#passLines(this.#withPartial(chunk.subarray(0, end)), handOn)
    if (end < chunk.length) this.#keep(chunk.subarray(end), handOn)
  }

  /** Forwards what follows the last line feed. */
  end(handOn?: (bytes?: Uint8Array) => void): void {
    const rest = this.#withPartial(NO_BYTES)
    if (rest.length > 0 && handOn !== undefined) this.#options.recorder.pass(rest, () => handOn(rest))
    this.#options.recorder.end()
  }

  #keep(part: Uint8Array, handOn: (bytes?: Uint8Array) => void): void {
    this.#partial.push(part)
    this.#partialBytes += part.length
    if (this.#partialBytes <= MAX_HELD_BYTES && !this.#isTooLong) return
    const bytes = this.#withPartial(NO_BYTES)
    const { dir, link, route } = this.#options
    if (!this.#isTooLong)
      link.passUnseen({
        dir,
        bytes,
        why: 'it is longer than 16 MiB',
        event: (event, details) => route.event(event, details),
      })
    this.#isTooLong = true
    this.#options.recorder.pass(bytes, () => handOn(bytes))
  }

  #withPartial(bytes: Uint8Array): Uint8Array {
    if (this.#partial.length === 0) return bytes
    const whole = Buffer.concat([...this.#partial, bytes])
    this.#partial = []
    this.#partialBytes = 0
    return whole
  }

  #passLines(lines: Uint8Array, handOn: (bytes?: Uint8Array) => void): void {
    const { dir, link, recorder } = this.#options
    if (!this.#isTooLong && link.passes(dir, lines)) return recorder.pass(lines, () => handOn(lines))
    let earlier = 0
    let at = 0
    if (this.#isTooLong) at = lines.indexOf(LINE_FEED) + 1 // the beginning of that line is forwarded already
    this.#isTooLong = false
    const forwardUntil = (end: number): void => {
      if (end > earlier) {
        const region = lines.subarray(earlier, end)
        recorder.pass(region, () => handOn(region))
      }
      earlier = end
    }
    for (let end = lines.indexOf(LINE_FEED, at); end >= 0; end = lines.indexOf(LINE_FEED, at)) {
      const start = at
      const bytes = lines.subarray(start, lines[end - 1] === CARRIAGE_RETURN ? end - 1 : end)
      this.#forwardEarlier = () => forwardUntil(start)
      if (isHoldable(bytes) && link.takes({ dir, bytes, route: this.#route })) {
        forwardUntil(start)
        earlier = end + 1
      }
      at = end + 1
    }
    this.#forwardEarlier = () => {}
    forwardUntil(lines.length)
  }
}

const NO_BYTES = new Uint8Array(0)

function isHoldable(line: Uint8Array): boolean {
  return (line[0] === OPEN_BRACE || line[0] === OPEN_BRACKET) && isUtf8(line)
}
