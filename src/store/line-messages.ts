import { isUtf8 } from 'node:buffer'
import { decodeFrame, recorded, type FramePlace } from '../tape/codec.ts'
import { FrameScan } from './frame-scan.ts'
import type { Spoken } from '../tape/turn.ts'
import { spokenIn } from '../tape/turns.ts'
import { answerIdIn, type AnswerId } from '../wire/answer-scan.ts'
import { JsonCheck } from '../wire/json-check.ts'
import type { Range } from '../wire/members.ts'
import { classify, type Batch, type Message } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** The message in a line of a tape, or the item of its batch; none when the line holds no such message. */
export function messageOf(line: Buffer, item: number | undefined): Spoken | undefined {
  const frame = scan.read(line) ?? decoded(line)
  if (frame?.kind !== 'message') return undefined
  return spokenIn(frame).find((spoken) => spoken.item === item)
}

const scan = new FrameScan()

function decoded(line: Buffer): ReturnType<typeof decodeFrame> | undefined {
  const text = textOf(line)
  return text === undefined ? undefined : decodeFrame(text)
}

/** The answer in a line, checked to be JSON but not parsed until someone looks into it: most are only sent on. */
export function answerOf(line: Buffer): Spoken | undefined {
  const text = textOf(line)
  const found = text === undefined ? undefined : recorded(text)
  if (found === undefined) return messageOf(line, undefined)
  const start = line.length - 1 - Buffer.byteLength(found.text)
  const id = isJson(line, start) ? answerIdIn(line, start, line.length - 1) : undefined
  if (id === undefined || found.text !== found.text.trim()) return messageOf(line, undefined)
  return new UnreadAnswer(found.place, found.text, rangeOf(line, start, id))
}

/** Bytes are counted in the line, characters in the text. */
function rangeOf(line: Buffer, start: number, id: AnswerId): Range {
  const before = line.toString('utf8', start, id.start).length
  return { start: before, end: before + line.toString('utf8', id.start, id.end).length }
}

function textOf(line: Buffer): string | undefined {
  return isUtf8(line) ? line.toString('utf8') : undefined
}

const check = new JsonCheck()

function isJson(line: Uint8Array, start: number): boolean {
  check.reset()
  check.feed(line, start, line.length - 1)
  return check.isComplete()
}

class UnreadAnswer implements Spoken {
  readonly n: number
  readonly t: number
  readonly server: string
  readonly conn: number
  declare readonly x?: number
  readonly dir: FramePlace['dir']
  readonly text: string
  readonly id: Range
  #message: Exclude<Message, Batch> | undefined

  constructor({ n, t, server, conn, x, dir }: FramePlace, text: string, id: Range) {
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
    this.#message ??= single(classify(parseJson(this.text)))
    return this.#message
  }
}

function single(message: Message): Exclude<Message, Batch> {
  return message.kind === 'batch' ? { kind: 'invalid', why: 'a batch' } : message
}
