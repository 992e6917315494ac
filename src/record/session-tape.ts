import { StringDecoder } from 'node:string_decoder'
import type { Direction } from '../wire/direction.ts'
import { asciiJson } from './ascii-json.ts'
import { eventMembers, membersOf } from './event-members.ts'
import { HeldLines } from './held-lines.ts'
import type { MessageLook } from './message-look.ts'
import { Tap } from './tap.ts'
import type { TapeLog } from './tape-log.ts'

export interface SessionTapeOptions {
  readonly log: TapeLog
  /** What the server is called on the tape. */
  readonly server: string
  /** Which of the tape's links to that server this is: the first, unless said. */
  readonly conn?: number
  readonly maxLineBytes: number
  readonly onMessage?: (dir: Direction, text: string) => void
  readonly look?: MessageLook
  /** Of longer messages only so much is taped. */
  readonly cutBytes?: number | undefined
}

/** One direction of the link, as the tape sees it. */
interface LinkTap {
  /** Puts a chunk on the tape, and has it handed on at once. */
  readonly pass: (chunk: Uint8Array, handOn: () => void) => void
  readonly end: () => void
}

/** The part of a tape that one session over pipes writes. */
export class SessionTape {
  readonly #options: SessionTapeOptions
  readonly #place: string
  readonly #stderr = new StringDecoder('utf8')
  readonly #held = new HeldLines()

  constructor(options: SessionTapeOptions) {
    this.#options = options
    this.#place = `,"server":${asciiJson(options.server)},"conn":${options.conn ?? 1}`
  }

  /** Undefined when the tape could not be made. */
  get path(): string | undefined {
    return this.#options.log.path
  }

  /** What puts one direction of the link on the tape. */
  tap(dir: Direction): LinkTap {
    const { log, maxLineBytes, cutBytes, onMessage, look } = this.#options
    const link = { scope: '', place: this.#place }
    const { writer: first } = log
    if (first === undefined) return { pass: (_, handOn) => handOn(), end() {} }
    const tap = new Tap({
      writer: () => log.writer ?? first,
      place: `${this.#place},"dir":"${dir}"`,
      now: log.now,
      maxLineBytes,
      redactor: log.redactor,
      cutBytes,
      onUnchecked: log.checkLater,
      ...(onMessage && { onMessage: (text: string) => onMessage(dir, text) }),
      ...(look && { keeps: (text: string) => look.keeps(dir, text, link) }),
    })
    return {
      pass: (chunk, handOn) => this.#pass(tap, chunk, handOn),
      end: () => log.put(() => log.settled(tap.end())),
    }
  }

  stderr(chunk: Buffer): void {
    const text = this.#stderr.write(chunk)
    this.#tapeStderr(this.#options.log.redactor === undefined ? text : this.#held.add(text))
  }

  /** Half a character, or half a line, may be left when a server ends. */
  endOfStderr(): void {
    this.#tapeStderr(this.#held.add(this.#stderr.end()) + this.#held.end())
  }

  #tapeStderr(text: string): void {
    if (text === '') return
    const { log } = this.#options
    log.put(() => log.frame(`${this.#place},"dir":"s2c"${membersOf({ stderr: text }, log.redactor)}`))
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    const { log } = this.#options
    log.put(() => log.frame(`${this.#place}${eventMembers(event, details, log.redactor)}`))
  }

  /** What a client has seen is on the tape, even if we are killed now: so the tape comes first, unless it would keep the link waiting. */
  #pass(tap: Tap, chunk: Uint8Array, handOn: () => void): void {
    const { log } = this.#options
    const isMuch = tap.take(chunk)
    if (isMuch) handOn()
    log.put(() => log.settled(tap.write()))
    if (!isMuch) handOn()
  }
}
