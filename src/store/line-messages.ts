import { isUtf8 } from 'node:buffer'
import { decodeFrame, parseRecordedLine, type FrameOrigin } from '../tape/codec.ts'
import { MessageFrameScanner } from './frame-scan.ts'
import type { RecordedMessage } from '../tape/turn.ts'
import { messagesInFrame } from '../tape/turn-builder.ts'
import { findResponseId, type ResponseIdRange } from '../protocol/find-id-in-bytes.ts'
import { JsonValidator } from '../json/validator.ts'
import type { JsonRange } from '../json/find.ts'
import { classifyMessage, type Batch, type Message } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/** The message in a line of a tape, or the item of its batch; none when the line holds no such message. */
export function readMessageInLine(line: Buffer, item: number | undefined): RecordedMessage | undefined {
  const frame = messageScanner.read(line) ?? decodeLineFrame(line)
  if (frame?.kind !== 'message') return undefined
  return messagesInFrame(frame).find((spoken) => spoken.item === item)
}

const messageScanner = new MessageFrameScanner()

function decodeLineFrame(line: Buffer): ReturnType<typeof decodeFrame> | undefined {
  const text = utf8TextOf(line)
  return text === undefined ? undefined : decodeFrame(text)
}

/** The answer in a line, checked to be JSON but not parsed until someone looks into it: most are only sent on. */
export function readResponseInLine(line: Buffer): RecordedMessage | undefined {
  const text = utf8TextOf(line)
  const found = text === undefined ? undefined : parseRecordedLine(text)
  if (found === undefined) return readMessageInLine(line, undefined)
  const start = line.length - 1 - Buffer.byteLength(found.text)
  const id = isJsonFrom(line, start) ? findResponseId(line, start, line.length - 1) : undefined
  if (id === undefined || found.text !== found.text.trim()) return readMessageInLine(line, undefined)
  return new LazyResponse(found.origin, found.text, idRangeOf(line, start, id))
}

/** Bytes are counted in the line, characters in the text. */
function idRangeOf(line: Buffer, start: number, id: ResponseIdRange): JsonRange {
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
