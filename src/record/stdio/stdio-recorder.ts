import { StringDecoder } from 'node:string_decoder'
import { toAsciiJson } from '../../json/parse.ts'
import type { Direction } from '../../protocol/message.ts'
import { encodeEventMembers, encodeMembers } from '../frame-payloads.ts'
import type { MessageFilter } from '../message-filter.ts'
import type { TapeLog } from '../tape-log.ts'
import { LineRecorder } from './line-recorder.ts'

interface StdioRecorderOptions {
  readonly log: TapeLog
  /** The name of the server on the tape. */
  readonly server: string
  /** The number of this link among the links to that server on the tape; by default 1. */
  readonly conn?: number
  readonly maxLineBytes: number
  readonly onMessage?: (dir: Direction, text: string) => void
  readonly filter?: MessageFilter
  /** Only this much is recorded of a longer message. */
  readonly cutBytes?: number | undefined
}

/** Records one direction of a link. The functions can be passed on by themselves. */
interface DirectionRecorder {
  /** Records a chunk, and hands it on in the same tick. */
  readonly pass: (chunk: Uint8Array, handOn: () => void) => void
  readonly end: () => void
}

/** Records one session over pipes: lines of both directions, stderr and events. */
export class StdioRecorder {
  readonly #options: StdioRecorderOptions
  readonly #place: string
  readonly #stderrDecoder = new StringDecoder('utf8')
  readonly #stderrLines = new LineBuffer()

  constructor(options: StdioRecorderOptions) {
    this.#options = options
    this.#place = `,"server":${toAsciiJson(options.server)},"conn":${options.conn ?? 1}`
  }

  /** The path of the tape, or undefined if it could not be created. */
  get path(): string | undefined {
    return this.#options.log.path
  }

  /** Returns the recorder of one direction. It hands chunks on even if there is no tape. */
  recordDirection(dir: Direction): DirectionRecorder {
    const { log, maxLineBytes, cutBytes, onMessage, filter } = this.#options
    if (log.writer === undefined) return { pass: (_, handOn) => handOn(), end() {} }
    const origin = { scope: '', place: this.#place }
    const lines = new LineRecorder({
      log,
      place: `${this.#place},"dir":"${dir}"`,
      maxLineBytes,
      cutBytes,
      ...(onMessage && { onMessage: (text: string) => onMessage(dir, text) }),
      ...(filter && { keeps: (text: string) => filter.keeps(dir, text, origin) }),
    })
    return { pass: (chunk, handOn) => lines.pass(chunk, handOn), end: () => lines.end() }
  }

  stderr(chunk: Buffer): void {
    const text = this.#stderrDecoder.write(chunk)
    this.#writeStderr(this.#options.log.redactor === undefined ? text : this.#stderrLines.add(text))
  }

  /** Writes the incomplete character or line that a server may leave when it ends. */
  endOfStderr(): void {
    this.#writeStderr(this.#stderrLines.add(this.#stderrDecoder.end()) + this.#stderrLines.end())
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    const { log } = this.#options
    log.guard(() => log.writeFrame(`${this.#place}${encodeEventMembers(event, details, log.redactor)}`))
  }

  #writeStderr(text: string): void {
    if (text === '') return
    const { log } = this.#options
    log.guard(() =>
      log.writeFrame(`${this.#place},"dir":"s2c"${encodeMembers({ stderr: text }, log.redactor)}`),
    )
  }
}

/** Collects text until its lines and key blocks are complete, because half of a secret cannot be recognized. */
class LineBuffer {
  #held = ''

  /** Returns the text that is complete. */
  add(piece: string): string {
    this.#held += piece
    const end = this.#held.length > MAX_HELD_LENGTH ? this.#held.length - OVERLAP_LENGTH : this.#completeEnd()
    return this.#take(end)
  }

  /** Returns the rest. */
  end(): string {
    return this.#take(this.#held.length)
  }

  #completeEnd(): number {
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
