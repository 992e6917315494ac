import { isUtf8 } from 'node:buffer'
import { decodeFrame } from '../tape/codec.ts'
import { EnvelopeScan, type Envelope } from '../tape/envelope-scan.ts'
import { Conversations, spokenIn } from '../tape/turns.ts'
import type { Spoken } from '../tape/turn.ts'
import { answerIdAtEdges } from '../wire/answer-edges.ts'
import { answerIdIn } from '../wire/answer-scan.ts'
import { isId } from '../wire/id.ts'
import { classify, type Message } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { CallScan, type FoundKey } from './call-scan.ts'
import { idIn } from './id-in.ts'
import type { FileLine } from './file-lines.ts'
import { IndexLog } from './index-log.ts'
import { LineChecks, type TapeState } from './line-checks.ts'
import type { MadeIndex } from './tape-index.ts'

/**
 * Looks a tape through line by line. The content of the client's requests is their key, so that is hashed; of an answer only the
 * id is looked for, and whoever takes the answer checks it. The turns are those that `TurnBuilder` makes of the same tape.
 */
export class IndexBuilder {
  readonly #log = new IndexLog()
  readonly #conversations = new Conversations(this.#log)
  readonly #state: TapeState = { ended: false, problems: [] }
  readonly #checks = new LineChecks(this.#state)
  readonly #envelopes = new EnvelopeScan()
  readonly #calls = new CallScan()
  readonly #joined: string[] = []
  #isUtf8 = true

  /** The lines to come are in these bytes. */
  expect(bytes: Uint8Array): void {
    this.#isUtf8 = isUtf8(bytes)
  }

  add(line: FileLine): void {
    if (!this.#checks.counts(line.number) || line.number === 1) return
    if (!this.#isUtf8 && !isUtf8(line.bytes.subarray(line.start, line.end)))
      return this.#checks.report(line.number, 'not UTF-8')
    this.#log.line = { at: line.at, length: line.end - line.start }
    const envelope = this.#envelopes.read(line.bytes, line.start)
    if (envelope === undefined || !this.#addRecorded(line, envelope)) this.#addAny(line)
  }

  /** A line that the file ends in. */
  addRest(line: FileLine): void {
    this.#checks.cutOff()
    this.#checks.counts(line.number)
  }

  taken(): MadeIndex {
    const { ended, problems } = this.#state
    return this.#log.taken({ ended, problems, joined: this.#joined })
  }

  /** Takes a line as the recorder writes them; false when it has to be looked at more closely. */
  #addRecorded(line: FileLine, envelope: Envelope): boolean {
    if (line.bytes[line.end - 1] !== CLOSE) return false
    if (envelope.payload !== 'msg') return this.#passOver(line, envelope)
    const read = envelope.dir === 'c2s' ? this.#callIn(line, envelope) : this.#answerIn(line, envelope)
    if (read === undefined || read.message.kind === 'batch') return false
    this.#checks.checkNumber(envelope.n, line.number)
    this.#log.found = read.found
    this.#conversations.add(spokenAs(envelope, read.message))
    this.#log.found = undefined
    return true
  }

  // Nothing of it is played.
  #passOver({ number }: FileLine, { n }: Envelope): boolean {
    this.#checks.checkNumber(n, number)
    return true
  }

  #callIn({ bytes, end }: FileLine, { server, at }: Envelope): ReadMessage | undefined {
    const scanned = this.#calls.read(server, bytes, at, end - 1)
    if (scanned !== undefined) return scanned
    const value = parseJson(bytes.toString('utf8', at, end - 1))
    return value === undefined ? undefined : { message: classify(value), found: undefined }
  }

  #answerIn({ bytes, end }: FileLine, { at }: Envelope): ReadMessage | undefined {
    const span = answerIdAtEdges(bytes, at, end - 1) ?? answerIdIn(bytes, at, end - 1)
    const id = span === undefined ? undefined : idIn(bytes, span.start, span.end)
    return isId(id) ? { message: { kind: 'response', id, outcome: UNREAD }, found: undefined } : undefined
  }

  #addAny({ bytes, start, end, number }: FileLine): void {
    const text = bytes.toString('utf8', start, end)
    const frame = decodeFrame(text)
    if (frame.kind === 'broken') return this.#checks.report(number, frame.why)
    this.#checks.check(frame, number)
    if (frame.kind === 'event' && frame.event === 'server') this.#joined.push(text)
    if (frame.kind === 'raw' && frame.cut !== undefined) this.#conversations.addCut(frame)
    if (frame.kind !== 'message') return
    for (const spoken of spokenIn(frame)) this.#conversations.add(spoken)
  }
}

const CLOSE = 0x7d
const UNREAD = { result: undefined }

interface ReadMessage {
  readonly message: Message
  /** The key, where it was found without parsing. */
  readonly found: FoundKey | undefined
}

function spokenAs({ n, server, conn, x, dir }: Envelope, message: Spoken['message']): Spoken {
  if (x === undefined) return { n, t: 0, server, conn, dir, text: '', message }
  return { n, t: 0, server, conn, x, dir, text: '', message }
}
