import { isUtf8 } from 'node:buffer'
import { decodeFrame } from '../tape/codec.ts'
import { LinePrefixScanner, type LinePrefix } from '../tape/line-prefix.ts'
import { TapeConversations, messagesInFrame } from '../tape/turn-builder.ts'
import type { RecordedMessage } from '../tape/turn.ts'
import { findResponseIdAtEdges } from '../protocol/find-id-at-edges.ts'
import { findResponseId } from '../protocol/find-id-in-bytes.ts'
import { isId } from '../protocol/id.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import { RequestScanner, type RequestKeyHash } from './index/request-scanner.ts'
import { parseIdBytes } from './id-in.ts'
import type { FileLine } from './file-lines.ts'
import { IndexRows } from './index/index-rows.ts'
import { TapeLineChecks, type TapeReadState } from './line-checks.ts'
import type { IndexData } from './index/tape-index.ts'

/**
 * Looks a tape through line by line. The content of the client's requests is their key, so that is hashed; of an answer only the
 * id is looked for, and whoever takes the answer checks it. The turns are those that `TurnBuilder` makes of the same tape.
 */
export class IndexBuilder {
  readonly #log = new IndexRows()
  readonly #conversations = new TapeConversations(this.#log)
  readonly #state: TapeReadState = { ended: false, problems: [] }
  readonly #checks = new TapeLineChecks(this.#state)
  readonly #envelopes = new LinePrefixScanner()
  readonly #calls = new RequestScanner()
  readonly #joined: string[] = []
  #isUtf8 = true

  /** The lines to come are in these bytes. */
  startChunk(bytes: Uint8Array): void {
    this.#isUtf8 = isUtf8(bytes)
  }

  add(line: FileLine): void {
    if (!this.#checks.acceptLine(line.number) || line.number === 1) return
    if (!this.#isUtf8 && !isUtf8(line.bytes.subarray(line.start, line.end)))
      return this.#checks.report(line.number, 'not UTF-8')
    this.#log.line = { at: line.at, length: line.end - line.start }
    const envelope = this.#envelopes.read(line.bytes, line.start)
    if (envelope === undefined || !this.#addScanned(line, envelope)) this.#addDecoded(line)
  }

  /** A line that the file ends in. */
  addTruncated(line: FileLine): void {
    this.#checks.markTruncated()
    this.#checks.acceptLine(line.number)
  }

  finish(): IndexData {
    const { ended, problems } = this.#state
    return this.#log.toIndexData({ ended, problems, joined: this.#joined })
  }

  /** Takes a line as the recorder writes them; false when it has to be looked at more closely. */
  #addScanned(line: FileLine, envelope: LinePrefix): boolean {
    if (line.bytes[line.end - 1] !== CLOSE_BRACE) return false
    if (envelope.payload !== 'msg') return this.#skipFrame(line, envelope)
    const read =
      envelope.dir === 'c2s' ? this.#clientMessageIn(line, envelope) : this.#responseIn(line, envelope)
    if (read === undefined || read.message.kind === 'batch') return false
    this.#checks.checkFrameNumber(envelope.n, line.number)
    this.#log.scannedKey = read.key
    this.#conversations.add(spokenFrom(envelope, read.message))
    this.#log.scannedKey = undefined
    return true
  }

  // Nothing of it is played.
  #skipFrame({ number }: FileLine, { n }: LinePrefix): boolean {
    this.#checks.checkFrameNumber(n, number)
    return true
  }

  #clientMessageIn(
    { bytes, end }: FileLine,
    { server, payloadStart }: LinePrefix,
  ): ScannedMessage | undefined {
    const scanned = this.#calls.read(server, bytes, payloadStart, end - 1)
    if (scanned !== undefined) return scanned
    const value = parseJson(bytes.toString('utf8', payloadStart, end - 1))
    return value === undefined ? undefined : { message: classifyMessage(value), key: undefined }
  }

  #responseIn({ bytes, end }: FileLine, { payloadStart }: LinePrefix): ScannedMessage | undefined {
    const span =
      findResponseIdAtEdges(bytes, payloadStart, end - 1) ?? findResponseId(bytes, payloadStart, end - 1)
    const id = span === undefined ? undefined : parseIdBytes(bytes, span.start, span.end)
    return isId(id)
      ? { message: { kind: 'response', id, outcome: UNREAD_RESULT }, key: undefined }
      : undefined
  }

  #addDecoded({ bytes, start, end, number }: FileLine): void {
    const text = bytes.toString('utf8', start, end)
    const frame = decodeFrame(text)
    if (frame.kind === 'broken') return this.#checks.report(number, frame.why)
    this.#checks.checkFrame(frame, number)
    if (frame.kind === 'event' && frame.event === 'server') this.#joined.push(text)
    if (frame.kind === 'raw' && frame.cut !== undefined) this.#conversations.addCut(frame)
    if (frame.kind !== 'message') return
    for (const spoken of messagesInFrame(frame)) this.#conversations.add(spoken)
  }
}

const CLOSE_BRACE = 0x7d
const UNREAD_RESULT = { result: undefined }

interface ScannedMessage {
  readonly message: Message
  /** The key, where it was found without parsing. */
  readonly key: RequestKeyHash | undefined
}

function spokenFrom(
  { n, server, conn, x, dir }: LinePrefix,
  message: RecordedMessage['message'],
): RecordedMessage {
  if (x === undefined) return { n, t: 0, server, conn, dir, text: '', message }
  return { n, t: 0, server, conn, x, dir, text: '', message }
}
