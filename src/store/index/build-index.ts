import { isUtf8 } from 'node:buffer'
import { closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { JsonHasher } from '../../json/hash.ts'
import { parseJson } from '../../json/parse.ts'
import { requestKey } from '../../match/request-key.ts'
import {
  isId,
  classifyMessage,
  type Message,
  type Notification,
  type Request,
  hasEnvelope,
  toolOrPromptName,
} from '../../protocol/message.ts'
import { parseIdBytes, guessResponseId } from '../../protocol/find-id.ts'
import { type NumberArray, type NumberColumn, NumberTable, ValueTable } from '../columns.ts'
import { type FileLine, type FileLineHandlers, readFileLines, readFileLinesSync } from '../file/file-lines.ts'
import { TapeLineChecks, type TapeReadState } from '../file/frame-reader.ts'
import { LONGEST_FRAME_BYTES } from '../file/read.ts'
import { tapeFingerprintOf, type TapeFingerprint, writeIndexFile, type OpenIndex } from './index-file.ts'
import { RequestScanner, type RequestKeyHash } from './request-scanner.ts'
import {
  buildKeyTable,
  type IndexedTapeFacts,
  type IndexTables,
  STEP_COLUMNS,
  STEP_KIND,
  TapeIndex,
  TURN_COLUMNS,
  TURN_FLAG,
  TURN_FLAG_BITS,
  type TurnKindCount,
  type TurnLabel,
} from './tape-index.ts'
import { decodeFrame } from '../../tape/codec.ts'
import type { TurnLog } from '../../tape/conversation.ts'
import { LinePrefixScanner, type LinePrefix } from '../../tape/line-prefix.ts'
import { TapeConversations, messagesInFrame } from '../../tape/turn-builder.ts'
import type { RecordedMessage } from '../../tape/turns.ts'

/** Reads a tape and writes its index beside it. Returns `undefined` if a line is too long for an index, or messages were held. */
export async function buildIndex(path: string, fingerprint: TapeFingerprint): Promise<OpenIndex | undefined> {
  const tables = await scanTape(path)
  if (tables === undefined) return undefined
  if (tapeFingerprintOf(path).modified === fingerprint.modified)
    await writeIndexFile(path, tables, fingerprint)
  return { index: TapeIndex.inMemory(tables), close: () => {} }
}

async function scanTape(path: string): Promise<IndexTables<NumberArray> | undefined> {
  const builder = new IndexBuilder()
  const file = await open(path, 'r')
  try {
    return (await readFileLines(file, builder)) ? builder.finish() : undefined
  } finally {
    await file.close()
  }
}

/** Reads a tape again whose index file was damaged. Blocks, because a lookup cannot wait. */
export function scanTapeSync(path: string, { bytes }: TapeFingerprint): IndexTables<NumberArray> | undefined {
  const builder = new IndexBuilder()
  const fd = openSync(path, 'r')
  try {
    return readFileLinesSync(fd, bytes, builder) ? builder.finish() : undefined
  } finally {
    closeSync(fd)
  }
}

/**
 * Builds an index line by line. Requests are hashed by their content, which is their key. For a response only the id is
 * searched for; the response is checked when its turn is read. The turns are the same as those of `TurnBuilder`.
 */
class IndexBuilder implements FileLineHandlers {
  readonly maxBytes: number = LONGEST_FRAME_BYTES
  readonly #rows = new IndexRows()
  readonly #conversations = new TapeConversations(this.#rows)
  readonly #state: TapeReadState = { ended: false, problems: [] }
  readonly #checks = new TapeLineChecks(this.#state)
  readonly #prefixes = new LinePrefixScanner()
  readonly #requests = new RequestScanner()
  readonly #joined: string[] = []
  #isUtf8 = true
  #hasHeldMessages = false

  readonly onChunk = (bytes: Uint8Array): void => {
    this.#isUtf8 = isUtf8(bytes)
  }

  readonly onLine = (line: FileLine): void => {
    if (!this.#checks.acceptLine(line.number) || line.number === 1) return
    if (!this.#isUtf8 && !isUtf8(line.bytes.subarray(line.start, line.end)))
      return this.#checks.report(line.number, 'not UTF-8')
    this.#rows.line = { at: line.at, length: line.end - line.start }
    const prefix = this.#prefixes.read(line.bytes, line.start)
    if (prefix === undefined || !this.#addScanned(line, prefix)) this.#addDecoded(line)
  }

  readonly onTruncated = (line: FileLine): void => {
    this.#checks.markTruncated()
    this.#checks.acceptLine(line.number)
  }

  /** Returns `undefined` if messages were held, because the sides of the link saw different messages. */
  finish(): IndexTables<NumberArray> | undefined {
    if (this.#hasHeldMessages) return undefined
    const { ended, problems } = this.#state
    return this.#rows.toTables({ ended, problems, joined: this.#joined })
  }

  /** Reads a line without parsing it. Returns false if the line is not in the form that the recorder writes. */
  #addScanned(line: FileLine, prefix: LinePrefix): boolean {
    if (line.bytes[line.end - 1] !== CLOSE_BRACE) return false
    const isMessage = prefix.payload === 'msg'
    const scanned = isMessage ? this.#scanMessage(line, prefix) : undefined
    if (isMessage && (scanned === undefined || scanned.message.kind === 'batch')) return false
    this.#checks.checkFrameNumber(prefix.n, line.number)
    if (scanned === undefined || scanned.message.kind === 'batch') return true
    this.#rows.scannedKey = scanned.key
    this.#conversations.add(recordedMessage(prefix, scanned.message))
    this.#rows.scannedKey = undefined
    return true
  }

  #scanMessage(line: FileLine, prefix: LinePrefix): ScannedMessage | undefined {
    return prefix.dir === 'c2s' ? this.#clientMessageIn(line, prefix) : this.#responseIn(line, prefix)
  }

  #clientMessageIn(
    { bytes, end }: FileLine,
    { server, payloadStart }: LinePrefix,
  ): ScannedMessage | undefined {
    const scanned = this.#requests.read(server, bytes, payloadStart, end - 1)
    if (scanned !== undefined) return scanned
    const value = parseJson(bytes.toString('utf8', payloadStart, end - 1))
    return value === undefined ? undefined : { message: classifyMessage(value), key: undefined }
  }

  #responseIn({ bytes, end }: FileLine, { payloadStart }: LinePrefix): ScannedMessage | undefined {
    const span = guessResponseId(bytes, payloadStart, end - 1)
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
    if (frame.side !== undefined) this.#hasHeldMessages = true
    for (const message of messagesInFrame(frame)) this.#conversations.add(message)
  }
}

const CLOSE_BRACE = 0x7d
const UNREAD_RESULT = { result: undefined }

interface ScannedMessage {
  readonly message: Message
  /** Known if the request was scanned, not parsed. */
  readonly key: RequestKeyHash | undefined
}

function recordedMessage(
  { n, server, conn, x, dir }: LinePrefix,
  message: RecordedMessage['message'],
): RecordedMessage {
  if (x === undefined) return { n, t: 0, server, conn, dir, text: '', message }
  return { n, t: 0, server, conn, x, dir, text: '', message }
}

/** Collects turns as rows of an index. A turn, and a request of the server, are known by their row. */
class IndexRows implements TurnLog<number, number> {
  /** The line that is being read. */
  line = { at: 0, length: 0 }
  /** The key of the request in that line, if it is known. */
  scannedKey: RequestKeyHash | undefined
  readonly #hash = new JsonHasher()
  readonly #turns = new NumberTable(TURN_COLUMNS)
  readonly #steps = new NumberTable(STEP_COLUMNS)
  readonly #labels = new ValueTable<TurnLabel>()

  begin(trigger: RecordedMessage | undefined): number {
    const turn = this.#turns.size
    const message = trigger !== undefined && 'method' in trigger.message ? trigger.message : undefined
    const server = trigger?.server ?? ''
    const key = message === undefined ? NO_KEY : (this.scannedKey ?? this.#keyOf(server, message))
    const line = trigger === undefined ? NO_LINE : this.line
    const { columns } = this.#turns
    columns.frame.push(trigger?.n ?? 0)
    columns.triggerAt.push(line.at)
    columns.triggerLength.push(line.length)
    columns.responseAt.push(0)
    columns.responseLength.push(0)
    columns.hashLow.push(key.low)
    columns.hashHigh.push(key.high)
    columns.sketch.push(key.sketch)
    columns.next.push(0)
    columns.mark.push(this.#label(server, message?.method ?? '', key.name) | flagsOf(message))
    if (trigger?.item !== undefined) this.#addStep(turn, STEP_KIND.triggered, trigger)
    return turn
  }

  notify(turn: number, message: RecordedMessage): void {
    this.#addStep(turn, STEP_KIND.notify, message)
  }

  ask(turn: number, request: RecordedMessage): number {
    return this.#addStep(turn, STEP_KIND.ask, request)
  }

  answer(ask: number, { item }: RecordedMessage): void {
    const { answerAt, answerLength, answerItem } = this.#steps.columns
    answerAt.set(ask, this.line.at)
    answerLength.set(ask, this.line.length)
    answerItem.set(ask, oneBased(item))
  }

  respond(turn: number, message: RecordedMessage): void {
    const { mark, responseAt, responseLength } = this.#turns.columns
    const flags = mark.at(turn)
    mark.set(turn, flags | TURN_FLAG.answered)
    if (message.item !== undefined || (flags & TURN_FLAG.hasSteps) !== 0)
      return void this.#addStep(turn, STEP_KIND.respond, message)
    responseAt.set(turn, this.line.at)
    responseLength.set(turn, this.line.length)
  }

  // A turn whose response was cut counts as unanswered.
  cut(): void {}

  // Messages outside of turns are not played.
  stray(): void {}

  toTables(about: IndexedTapeFacts): IndexTables<NumberArray> {
    const { columns } = this.#turns
    const { slots, next } = buildKeyTable(columns, (turn) => (columns.mark.at(turn) & HAS_TRIGGER) !== 0)
    return {
      turns: { ...this.#turns.toArrays(), next },
      steps: this.#steps.toArrays(this.#steps.orderBy('turn')),
      slots,
      labels: this.#labels.list,
      kinds: countTurnKinds(columns.mark),
      about,
    }
  }

  #keyOf(server: string, { method, params }: Request | Notification): RequestKeyHash {
    const hash = this.#hash.hashCanonical(requestKey({ server, method, params }))
    return { ...hash, sketch: this.#hash.sketch, name: toolOrPromptName({ method, params }) }
  }

  /** The number of a label, in the upper bits of a mark. */
  #label(server: string, method: string, name?: string): number {
    const key = `${server.length} ${method.length} ${server}${method}${name === undefined ? '' : ` ${name}`}`
    return this.#labels.numberOf(key, { server, method, name }) << TURN_FLAG_BITS
  }

  #addStep(turn: number, kind: number, { server, item }: RecordedMessage): number {
    const { mark } = this.#turns.columns
    const flags = mark.at(turn)
    // A turn without a trigger gets the server of its first message.
    mark.set(turn, ((flags & HAS_TRIGGER) === 0 ? this.#label(server, '') : flags) | TURN_FLAG.hasSteps)
    const { at, length } = this.line
    return this.#steps.add({
      turn,
      kind,
      at,
      length,
      item: oneBased(item),
      answerAt: 0,
      answerLength: 0,
      answerItem: 0,
    })
  }
}

const NO_LINE = { at: 0, length: 0 }
const NO_KEY: RequestKeyHash = { low: 0, high: 0, sketch: 0, name: undefined }
const HAS_TRIGGER = TURN_FLAG.request | TURN_FLAG.notification
const KIND_MASK = ~(TURN_FLAG.enveloped | TURN_FLAG.answered | TURN_FLAG.hasSteps)

function flagsOf(message: Request | Notification | undefined): number {
  if (message === undefined) return 0
  return TURN_FLAG[message.kind] | (hasEnvelope(message.params) ? TURN_FLAG.enveloped : 0)
}

function oneBased(item: number | undefined): number {
  return item === undefined ? 0 : item + 1
}

function countTurnKinds(marks: NumberColumn): readonly TurnKindCount[] {
  const kinds = new Map<number, { mark: number; count: number; readonly first: number }>()
  for (let turn = 0; turn < marks.length; turn++) {
    const mark = marks.at(turn) & KIND_MASK
    const known = kinds.get(mark)
    if (known === undefined) kinds.set(mark, { mark, count: 1, first: turn })
    else known.count++
  }
  return [...kinds.values()]
}
