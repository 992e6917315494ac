import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { memberRanges } from '../../json/find-replace.ts'
import type { JsonRange } from '../../json/scan.ts'
import { parseJson } from '../../json/parse.ts'
import { JsonValidator } from '../../json/validator.ts'
import { findResponseId } from '../../protocol/find-id.ts'
import { idKey, isId, classifyMessage, type Batch, type Message } from '../../protocol/message.ts'
import { MessageFrameScanner } from '../file/frame-reader.ts'
import { LONGEST_FRAME_BYTES } from '../file/read.ts'
import { type IndexedStep, type MessageLocation, STEP_KIND, type TapeIndex } from './tape-index.ts'
import { decodeFrame, parseRecordedLine } from '../../tape/codec.ts'
import type { FrameOrigin } from '../../tape/frame.ts'
import { messagesInFrame } from '../../tape/turn-builder.ts'
import { type RecordedMessage, type TurnStep, type Turn, NO_TURN } from '../../tape/turns.ts'

/**
 * Reads turns from the lines that an index names. The index may be out of date, or written by another program: a turn whose
 * lines contradict it is not returned.
 */
export class TurnReader {
  readonly #index: TapeIndex
  readonly #file: TapeLineFile
  readonly #exchangeOf: (index: number) => number | undefined

  constructor(
    index: TapeIndex,
    file: TapeLineFile,
    exchangeOf: (index: number) => number | undefined = () => undefined,
  ) {
    this.#index = index
    this.#file = file
    this.#exchangeOf = exchangeOf
  }

  turn(index: number): Turn | undefined {
    if (!Number.isInteger(index)) return undefined
    const summary = this.#index.summary(index)
    if (summary === NO_TURN) return undefined
    const trigger = this.trigger(index)
    if (summary.trigger !== 'none' && trigger === undefined) return undefined
    const first = this.#index.response(index)
    const steps = [
      ...(first === undefined ? [] : [this.#firstResponse(first)]),
      ...this.#index.steps(index).flatMap((step) => this.#step(step)),
    ]
    if (!steps.every((step) => step !== 'broken')) return undefined
    const turn = assembleTurn(trigger, steps, summary.answered)
    const exchangeOf = this.#exchangeOf
    if (turn === undefined) return undefined
    return {
      ...turn,
      // Only reports need the number, and the first one counts all exchanges of the tape.
      get exchange() {
        return exchangeOf(index)
      },
    }
  }

  trigger(index: number): RecordedMessage | undefined {
    const { trigger, server, method, frame } = this.#index.summary(index)
    if (trigger === 'none') return undefined
    const read = this.#message(this.#index.trigger(index))
    if (read?.dir !== 'c2s' || read.n !== frame || read.server !== server) return undefined
    return read.message.kind === trigger && read.message.method === method ? read : undefined
  }

  /** The line of the response, unchecked. Returns `undefined` if the response is not the first step of its turn. */
  responseLine(index: number): Buffer | undefined {
    const location = this.#index.response(index)
    return location && this.#file.read(location.at, location.length)
  }

  #firstResponse({ at, length }: MessageLocation): TurnStep | 'broken' {
    const line = this.#file.read(at, length)
    const message = line === undefined ? undefined : readResponseInLine(line)
    return message === undefined ? 'broken' : { kind: 'respond', message }
  }

  #step({ answer, ...step }: IndexedStep): readonly (TurnStep | 'broken')[] {
    const { kind } = step
    if (kind === STEP_KIND.triggered) return []
    const message = this.#message(step)
    if (message?.dir !== 's2c') return ['broken']
    if (kind === STEP_KIND.notify) return [{ kind: 'notify', message }]
    if (kind === STEP_KIND.respond) return [{ kind: 'respond', message }]
    if (kind !== STEP_KIND.ask) return ['broken']
    const given = answer === undefined ? undefined : this.#message(answer)
    if (answer !== undefined && given === undefined) return ['broken']
    return [{ kind: 'ask', request: message, answer: given }]
  }

  #message({ at, length, item }: MessageLocation): RecordedMessage | undefined {
    const line = this.#file.read(at, length)
    return line === undefined ? undefined : readMessageInLine(line, item)
  }
}

/** Returns `undefined` if the response does not belong to the trigger. */
function assembleTurn(
  trigger: RecordedMessage | undefined,
  steps: readonly TurnStep[],
  answered: boolean,
): Turn | undefined {
  const responses = steps.flatMap((step) => (step.kind === 'respond' ? [step.message] : []))
  const [response] = responses
  if (responses.length > 1 || answered !== (response !== undefined)) return undefined
  if (response !== undefined && !isAnswerTo(response, trigger)) return undefined
  return { trigger, steps, response }
}

function isAnswerTo(response: RecordedMessage, trigger: RecordedMessage | undefined): boolean {
  if (trigger?.message.kind !== 'request' || response.dir !== 's2c') return false
  if (response.server !== trigger.server || response.conn !== trigger.conn) return false
  const id = response.id ?? memberRanges(response.text).get('id')
  const live = id === undefined ? undefined : parseJson(response.text.slice(id.start, id.end))
  return isId(live) && idKey(live) === idKey(trigger.message.id)
}

/** Returns `undefined` if the line is not a message, or not a batch with that item. */
function readMessageInLine(line: Buffer, item: number | undefined): RecordedMessage | undefined {
  const frame = messageScanner.read(line) ?? decodeLineFrame(line)
  if (frame?.kind !== 'message') return undefined
  return messagesInFrame(frame).find((message) => message.item === item)
}

const messageScanner = new MessageFrameScanner()

function decodeLineFrame(line: Buffer): ReturnType<typeof decodeFrame> | undefined {
  const text = utf8TextOf(line)
  return text === undefined ? undefined : decodeFrame(text)
}

/** Checks that the response is JSON, but parses it only when its content is read: most responses are only sent on. */
function readResponseInLine(line: Buffer): RecordedMessage | undefined {
  const text = utf8TextOf(line)
  const found = text === undefined ? undefined : parseRecordedLine(text)
  if (found === undefined) return readMessageInLine(line, undefined)
  const start = line.length - 1 - Buffer.byteLength(found.text)
  const id = isJsonFrom(line, start) ? findResponseId(line, start, line.length - 1) : undefined
  if (id === undefined || found.text !== found.text.trim()) return readMessageInLine(line, undefined)
  return new LazyResponse(found.origin, found.text, idRangeOf(line, start, id))
}

/** Converts a range of bytes in the line to a range of characters in the text. */
function idRangeOf(line: Buffer, start: number, id: JsonRange): JsonRange {
  const before = line.toString('utf8', start, id.start).length
  return { start: before, end: before + line.toString('utf8', id.start, id.end).length }
}

function utf8TextOf(line: Buffer): string | undefined {
  return isUtf8(line) ? line.toString('utf8') : undefined
}

const jsonCheck = new JsonValidator()

function isJsonFrom(line: Uint8Array, start: number): boolean {
  jsonCheck.reset()
  jsonCheck.feed(line, start, line.length - 1)
  return jsonCheck.isComplete()
}

class LazyResponse implements RecordedMessage {
  readonly n: number
  readonly t: number
  readonly server: string
  readonly conn: number
  declare readonly x?: number
  readonly dir: FrameOrigin['dir']
  readonly text: string
  readonly id: JsonRange
  #message: Exclude<Message, Batch> | undefined

  constructor({ n, t, server, conn, x, dir }: FrameOrigin, text: string, id: JsonRange) {
    this.n = n
    this.t = t
    this.server = server
    this.conn = conn
    if (x !== undefined) this.x = x
    this.dir = dir
    this.text = text
    this.id = id
  }

  get message(): Exclude<Message, Batch> {
    this.#message ??= asSingleMessage(classifyMessage(parseJson(this.text)))
    return this.#message
  }
}

function asSingleMessage(message: Message): Exclude<Message, Batch> {
  return message.kind === 'batch' ? { kind: 'invalid', why: 'a batch' } : message
}

const BLOCK_BYTES = 256 * 1024
const MAX_BLOCKS = 16
const NEAR_BYTES = 32 * 1024

/**
 * Reads single lines of a tape. Neighbouring lines are often read one after the other, so a line near the last one is read
 * with its whole block, which is kept for a while. A distant line is read alone.
 */
export class TapeLineFile {
  readonly #bytes: number
  readonly #blocks = new Map<number, Buffer>()
  #fd: number | undefined
  #lastAt = 0

  constructor(path: string, bytes: number) {
    this.#fd = openSync(path, 'r')
    this.#bytes = bytes
  }

  /** Returns `undefined` if the range is not inside the file. */
  read(at: number, length: number): Buffer | undefined {
    const isInside = Number.isSafeInteger(at) && at > 0 && length > 0 && at + length <= this.#bytes
    if (!isInside || length > LONGEST_FRAME_BYTES) return undefined
    const block = Math.floor(at / BLOCK_BYTES)
    const start = at - block * BLOCK_BYTES
    const isNear = Math.abs(at - this.#lastAt) <= NEAR_BYTES || this.#blocks.has(block)
    this.#lastAt = at
    if (!isNear || start + length > BLOCK_BYTES) return this.#readAt(at, length)
    return this.#block(block)?.subarray(start, start + length)
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#blocks.clear()
  }

  #block(number: number): Buffer | undefined {
    const known = this.#blocks.get(number)
    if (known !== undefined) return known
    const at = number * BLOCK_BYTES
    const block = this.#readAt(at, Math.min(BLOCK_BYTES, this.#bytes - at))
    if (block === undefined) return undefined
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size < MAX_BLOCKS) break
      this.#blocks.delete(oldest)
    }
    this.#blocks.set(number, block)
    return block
  }

  #readAt(at: number, length: number): Buffer | undefined {
    if (this.#fd === undefined) return undefined
    const bytes = Buffer.allocUnsafeSlow(length)
    return readSync(this.#fd, bytes, 0, length, at) === length ? bytes : undefined
  }
}
