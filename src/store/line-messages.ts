import { decodeFrame, recorded, type FramePlace } from '../tape/codec.ts'
import type { Spoken } from '../tape/turn.ts'
import { spokenIn } from '../tape/turns.ts'
import { answerIdIn } from '../wire/answer-scan.ts'
import { JsonCheck } from '../wire/json-check.ts'
import { decodeUtf8 } from '../wire/lines.ts'
import { classify, type Batch, type Message } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** The message in a line of a tape, or the item of its batch; none when the line holds no such message. */
export function messageOf(line: Uint8Array, item: number | undefined): Spoken | undefined {
  const text = decodeUtf8(line)
  const frame = text === undefined ? undefined : decodeFrame(text)
  if (frame?.kind !== 'message') return undefined
  return spokenIn(frame).find((spoken) => spoken.item === item)
}

/** The answer in a line, checked to be JSON but not parsed until someone looks into it: most are only sent on. */
export function answerOf(line: Uint8Array): Spoken | undefined {
  const text = decodeUtf8(line)
  const found = text === undefined ? undefined : recorded(text)
  if (found === undefined) return messageOf(line, undefined)
  const start = line.length - 1 - Buffer.byteLength(found.text)
  const isPlain = answerIdIn(line, start, line.length - 1) !== undefined && isJson(line, start)
  return isPlain ? new UnreadAnswer(found.place, found.text.trim()) : messageOf(line, undefined)
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
  readonly x?: number
  readonly dir: FramePlace['dir']
  readonly text: string
  #message: Exclude<Message, Batch> | undefined

  constructor({ n, t, server, conn, x, dir }: FramePlace, text: string) {
    this.n = n
    this.t = t
    this.server = server
    this.conn = conn
    if (x !== undefined) this.x = x
    this.dir = dir
    this.text = text
  }

  get message(): Exclude<Message, Batch> {
    this.#message ??= single(classify(parseJson(this.text)))
    return this.#message
  }
}

function single(message: Message): Exclude<Message, Batch> {
  return message.kind === 'batch' ? { kind: 'invalid', why: 'a batch' } : message
}
