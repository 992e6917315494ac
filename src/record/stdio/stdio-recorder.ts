import { StringDecoder } from 'node:string_decoder'
import { toAsciiJson } from '../../json/parse.ts'
import { type Line, LineSplitter } from '../../protocol/lines.ts'
import type { Direction } from '../../protocol/message.ts'
import {
  encodeEventOn,
  encodeMembers,
  type FramePlace,
  framePlace,
  FrameWriter,
  textOf,
  writeHeldMessage,
} from '../frame-writer.ts'
import type {
  HeldMarks,
  InterceptedLink,
  MessageInterceptor,
  MessageRoute,
  WireDelivery,
} from '../intercept/link-interceptor.ts'
import { InterceptedLines, type DirectionRecorder, type PassingRecorder } from './intercepted-lines.ts'
import type { MessageFilter, MessageOrigin } from '../message-filter.ts'
import { SLOW_BYTES, type TapeLog } from '../tape-log.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { PrivateKeyLines } from '../../redact/rules/private-key.ts'

interface StdioRecorderOptions {
  readonly log: TapeLog
  /** The name of the server on the tape. */
  readonly server: string
  /** The number of this session among the sessions with that server on the tape; by default the next one. */
  readonly conn?: number
  readonly maxLineBytes: number
  readonly onMessage?: ((dir: Direction, text: string) => void) | undefined
  /** Decides which messages are recorded. Without it all are, and lines are not parsed. */
  readonly filter?: MessageFilter | undefined
  /** Only this much is recorded of a longer message. */
  readonly cutBytes?: number | undefined
  /** Holds messages, if the user wants that. */
  readonly interceptor?: MessageInterceptor | undefined
}

/** The ways from a recorder to the sides of a session. */
export interface LinePorts {
  /** Sends a line to a side of the session. */
  readonly send: (dir: Direction, line: string) => void
  /** Sends a line to the client, not in one piece. */
  readonly sendAs: (line: string, wire: WireDelivery) => void
  /** Ends the connection of the client, as if the server had crashed. */
  readonly disconnect: () => void
}

/** Records one session over pipes: the lines of both directions (a `LineRecorder` each), stderr and events. */
export class StdioRecorder {
  readonly #options: StdioRecorderOptions
  readonly #place: string
  readonly #stderrDecoder = new StringDecoder('utf8')
  readonly #stderrLines = new LineBuffer()

  /** Follows the messages of this session, if they may be held. */
  readonly interception: InterceptedLink | undefined

  constructor(options: StdioRecorderOptions) {
    const { server, log, interceptor } = options
    const conn = options.conn ?? log.continued.connections + 1
    this.#options = options
    this.#place = `,"server":${toAsciiJson(server)},"conn":${conn}`
    this.interception = interceptor?.link({ server, conn: () => conn })
    if (interceptor !== undefined) log.followTapes((tape) => interceptor.useTape?.(tape))
  }

  /** The path of the tape, or undefined if it could not be created. */
  get path(): string | undefined {
    return this.#options.log.path
  }

  /** Returns the recorder of one direction. It hands chunks on even if there is no tape. */
  recordDirection(dir: Direction, ports: LinePorts = NO_PORTS): DirectionRecorder {
    const recorder =
      this.#options.log.writer === undefined
        ? { pass: (_: Uint8Array, handOn: () => void) => handOn(), end() {}, forgetLine() {} }
        : new LineRecorder(this.#options, this.#place, dir)
    const link = this.interception
    if (link === undefined) return recorder
    const route = this.#route(dir, ports)
    if (dir === 'c2s') link.repeatRoute = route
    return new InterceptedLines({ dir, link, recorder, route })
  }

  #route(dir: Direction, { send, sendAs, disconnect }: LinePorts): MessageRoute {
    const sendTo = (to: Direction, text: string, wire?: WireDelivery): void =>
      wire === undefined || to === 'c2s' ? send(to, text) : sendAs(text, wire)
    return {
      deliver: (text, wire) => sendTo(dir, text, wire),
      drop() {},
      answer: (text, wire) => sendTo(dir === 'c2s' ? 's2c' : 'c2s', text, wire),
      disconnect,
      progress: (text) => send('s2c', text),
      record: (direction, text, marks) => this.#heldMessage(direction, text, marks),
      event: (event, details) => this.event(event, details),
    }
  }

  #heldMessage(dir: Direction, text: string, marks: HeldMarks): number | undefined {
    const { log, filter } = this.#options
    if (filter?.keeps(dir, text, { scope: '', place: this.#place }) === false) return undefined
    return writeHeldMessage(log, `${this.#place},"dir":"${dir}"`, text, marks)
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
    log.guard(() => log.writeFrame(`${this.#place}${encodeEventOn(log, event, details)}`))
  }

  #writeStderr(text: string): void {
    if (text === '') return
    const { log } = this.#options
    log.guard(() =>
      log.writeFrame(`${this.#place},"dir":"s2c"${encodeMembers({ stderr: text }, log.redactor)}`),
    )
  }
}

const NO_PORTS: LinePorts = { send() {}, sendAs() {}, disconnect() {} }

/** Records the lines of one direction, with their bytes unchanged. */
class LineRecorder implements PassingRecorder {
  readonly #options: StdioRecorderOptions
  readonly #dir: Direction
  readonly #origin: MessageOrigin
  readonly #place: FramePlace
  readonly #splitter: LineSplitter
  readonly #frames: FrameWriter
  readonly #secrets: ChunkPrefilter | undefined
  readonly #keyLines = new PrivateKeyLines()

  constructor(options: StdioRecorderOptions, place: string, dir: Direction) {
    const { log, maxLineBytes, cutBytes } = options
    this.#options = options
    this.#dir = dir
    this.#origin = { scope: '', place }
    this.#place = framePlace(`${place},"dir":"${dir}"`)
    this.#splitter = new LineSplitter({ maxBytes: maxLineBytes })
    this.#frames = new FrameWriter(log, { unit: 'line', maxBytes: maxLineBytes, cutBytes })
    this.#secrets = log.redactor && new ChunkPrefilter(log.redactor)
  }

  /**
   * Records the lines that a chunk completes, and hands the chunk on in the same tick. The tape is written first, so that it
   * contains every message that a peer has received, even if the recorder is killed. Only long messages with a possible secret
   * are written afterwards.
   */
  readonly pass = (chunk: Uint8Array, handOn: () => void): void => {
    const lines = this.#splitter.split(chunk)
    if (lines.length === 0) handOn()
    this.#write(lines, chunk)
    if (lines.length > 0) handOn()
    this.#options.log.writePostponed()
  }

  /** Records what follows the last newline, when the peer has closed its output. */
  readonly end = (): void => {
    this.#write(this.#splitter.end(), NO_BYTES)
  }

  readonly forgetLine = (): void => {
    this.#splitter.forgetLine()
    this.#secrets?.forgetLine()
  }

  #write(lines: readonly Line[], chunk: Uint8Array): void {
    const { log } = this.#options
    log.guard(() => {
      const time = log.now()
      this.#secrets?.startChunk(chunk)
      let written = 0
      for (const line of lines) {
        const mayContainSecrets = this.#secrets?.mayContainSecrets(line) === true
        if (log.isPostponing || this.#isSlow(line, mayContainSecrets))
          log.postpone(() => log.countMessages(this.#writeLine(line, time, mayContainSecrets) ? 1 : 0))
        else if (this.#writeLine(line, time, mayContainSecrets)) written++
      }
      this.#secrets?.finishChunk(chunk)
      log.flush()
      log.countMessages(written)
    })
  }

  #isSlow({ length }: Line, mayContainSecrets: boolean): boolean {
    const { filter, cutBytes = Infinity } = this.#options
    return length > SLOW_BYTES && (mayContainSecrets || filter !== undefined || length > cutBytes)
  }

  #writeLine(line: Line, time: number, mayContainSecrets: boolean): boolean {
    const { filter, onMessage } = this.#options
    if (filter !== undefined && !filter.keeps(this.#dir, textOf(line), this.#origin)) return false
    if (!this.#frames.message(time, this.#place, line, mayContainSecrets)) {
      const redactText = this.#redactText()
      if (this.#dir === 's2c') this.#countStrayLine(textOf(line), redactText)
      return this.#frames.raw(time, this.#place, line, { redactText })
    }
    onMessage?.(this.#dir, textOf(line))
    return true
  }

  #countStrayLine(text: string, redactText: (text: string) => string = String): void {
    const shown = text.trim().slice(0, MAX_SHOWN_LENGTH)
    if (shown !== '') this.#options.log.addStrayLine(redactText(shown))
  }

  /** A private key may be spread over several lines, of which only the first and the last are recognizable. */
  #redactText(): ((text: string) => string) | undefined {
    const { redactor } = this.#options.log
    if (redactor === undefined) return undefined
    return (text) => (this.#keyLines.isKeyLine(text) ? redactor.secret(text) : redactor.text(text))
  }
}

const NO_BYTES = new Uint8Array(0)
const MAX_SHOWN_LENGTH = 200

/**
 * Finds the lines of one direction that may contain a secret. Every byte is scanned once, when it arrives. The bytes on both
 * sides of a cut between two chunks are scanned once more, together.
 */
class ChunkPrefilter {
  readonly #redactor: Redactor
  /** The end of the chunks before this one, if their last line continues in it. */
  #carriedOver: Uint8Array = NO_BYTES
  #isCarriedOverSuspect = false
  #isChunkSuspect = false
  #isFirstLine = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  startChunk(chunk: Uint8Array): void {
    this.#isChunkSuspect = this.#redactor.mayContainSecrets(chunk)
    if (!this.#isCarriedOverSuspect && this.#carriedOver.length > 0)
      this.#isCarriedOverSuspect = this.#isSuspectAcrossCut(chunk)
    this.#isFirstLine = true
  }

  /** Has to be called for each line that the chunk completes, in order. */
  mayContainSecrets({ chunk, start, end }: Line): boolean {
    const isFirstLine = this.#isFirstLine
    this.#isFirstLine = false
    if (isFirstLine && this.#isCarriedOverSuspect) return true
    return this.#isChunkSuspect && this.#redactor.mayContainSecrets(chunk, start, end)
  }

  /** Remembers what follows the last line of the chunk. */
  finishChunk(chunk: Uint8Array): void {
    const rest = chunk.subarray(chunk.lastIndexOf(NEWLINE) + 1)
    const isWhole = rest.length === chunk.length
    const isRestSuspect = this.#isChunkSuspect && this.#redactor.mayContainSecrets(rest)
    this.#isCarriedOverSuspect = (isWhole && this.#isCarriedOverSuspect) || isRestSuspect
    this.#carriedOver =
      isWhole && rest.length < SEAM_BYTES
        ? Buffer.concat([this.#carriedOver, rest])
        : rest.subarray(-SEAM_BYTES)
  }

  forgetLine(): void {
    this.#carriedOver = NO_BYTES
    this.#isCarriedOverSuspect = false
  }

  #isSuspectAcrossCut(chunk: Uint8Array): boolean {
    const seam = Buffer.concat([this.#carriedOver, chunk.subarray(0, SEAM_BYTES)])
    return this.#redactor.mayContainSecrets(seam)
  }
}

const NEWLINE = 10
/** No pattern needs more bytes on either side of a cut. */
const SEAM_BYTES = 512

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
