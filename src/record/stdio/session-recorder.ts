import { StringDecoder } from 'node:string_decoder'
import { toAsciiJson } from '../../json/parse.ts'
import type { Direction } from '../../protocol/message.ts'
import { encodeEventMembers, encodeMembers } from '../frame-payloads.ts'
import type { MessageFilter } from '../message-filter.ts'
import { LineRecorder } from './line-recorder.ts'
import type { TapeLog } from '../tape-log.ts'

interface StdioRecorderOptions {
  readonly log: TapeLog
  /** What the server is called on the tape. */
  readonly server: string
  /** Which of the tape's links to that server this is: the first, unless said. */
  readonly conn?: number
  readonly maxLineBytes: number
  readonly onMessage?: (dir: Direction, text: string) => void
  readonly look?: MessageFilter
  /** Of longer messages only so much is taped. */
  readonly cutBytes?: number | undefined
}

/** Records one direction of the link. */
type DirectionRecorder = Pick<LineRecorder, 'pass' | 'end'>

/** The part of a tape that one session over pipes writes. */
export class StdioRecorder {
  readonly #options: StdioRecorderOptions
  readonly #place: string
  readonly #stderrDecoder = new StringDecoder('utf8')
  readonly #stderrLines = new LineBuffer()

  constructor(options: StdioRecorderOptions) {
    this.#options = options
    this.#place = `,"server":${toAsciiJson(options.server)},"conn":${options.conn ?? 1}`
  }

  /** Undefined when the tape could not be made. */
  get path(): string | undefined {
    return this.#options.log.path
  }

  /** What puts one direction of the link on the tape. */
  recordDirection(dir: Direction): DirectionRecorder {
    const { log, maxLineBytes, cutBytes, onMessage, look } = this.#options
    const link = { scope: '', place: this.#place }
    if (log.writer === undefined) return { pass: (_, handOn) => handOn(), end() {} }
    return new LineRecorder({
      log,
      place: `${this.#place},"dir":"${dir}"`,
      maxLineBytes,
      cutBytes,
      ...(onMessage && { onMessage: (text: string) => onMessage(dir, text) }),
      ...(look && { keeps: (text: string) => look.keeps(dir, text, link) }),
    })
  }

  stderr(chunk: Buffer): void {
    const text = this.#stderrDecoder.write(chunk)
    this.#writeStderr(this.#options.log.redactor === undefined ? text : this.#stderrLines.add(text))
  }

  /** Half a character, or half a line, may be left when a server ends. */
  endOfStderr(): void {
    this.#writeStderr(this.#stderrLines.add(this.#stderrDecoder.end()) + this.#stderrLines.end())
  }

  #writeStderr(text: string): void {
    if (text === '') return
    const { log } = this.#options
    log.guard(() =>
      log.writeFrame(`${this.#place},"dir":"s2c"${encodeMembers({ stderr: text }, log.redactor)}`),
    )
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    const { log } = this.#options
    log.guard(() => log.writeFrame(`${this.#place}${encodeEventMembers(event, details, log.redactor)}`))
  }
}

/** Text that comes in pieces, handed on in whole lines: a secret may be cut anywhere, and half of one cannot be told. */
class LineBuffer {
  #held = ''

  /** What can be looked at now. */
  add(piece: string): string {
    this.#held += piece
    const end = this.#held.length > MAX_HELD_LENGTH ? this.#held.length - OVERLAP_LENGTH : this.#wholeLines()
    return this.#take(end)
  }

  /** No more will come. */
  end(): string {
    return this.#take(this.#held.length)
  }

  #wholeLines(): number {
    const end = this.#held.lastIndexOf('\n') + 1
    const key = this.#held.lastIndexOf('-----BEGIN ', end)
    return key >= 0 && key > this.#held.lastIndexOf('-----END ', end) ? key : end
  }

  #take(end: number): string {
    const taken = this.#held.slice(0, end)
    this.#held = this.#held.slice(end)
    return taken
  }
}

const MAX_HELD_LENGTH = 64 * 1024
const OVERLAP_LENGTH = 4 * 1024
