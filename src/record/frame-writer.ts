import { isAscii, isUtf8 } from 'node:buffer'
import { StringDecoder } from 'node:string_decoder'
import type { RawHeaders } from '../http/headers.ts'
import { jsonOnOneLine, parseJson } from '../json/parse.ts'
import { JsonValidator } from '../json/validator.ts'
import { type Line, lineBytes } from '../protocol/lines.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'
import type { BoundedBytes } from '../protocol/sse.ts'
import type { TapeLog } from './tape-log.ts'
import type { Redactor } from '../redact/redactor.ts'
import { rawPayload } from '../store/file/write.ts'
import { encodeInterception } from '../tape/codec.ts'
import type { HeaderList } from '../tape/frame.ts'
import type { HeldMarks } from './intercept/link-interceptor.ts'

/** The bytes of a message in the pieces in which they arrived. */
type MessageBytes = Omit<Line, 'number'>

/** Everything between the time and the payload of a frame: `,"server":…,"dir":…`. */
export interface FramePlace {
  readonly text: string
  /** The same bytes, followed by the key of a message. */
  readonly beforeMessage: Uint8Array
}

export function framePlace(text: string): FramePlace {
  return { text, beforeMessage: Buffer.from(`${text},"msg":`) }
}

interface FrameWriterOptions {
  /** How messages arrive: as lines, or as HTTP bodies, which may contain line feeds. */
  readonly unit: 'line' | 'body'
  /** The longest message that is kept. */
  readonly maxBytes: number
  /** Only this much is written of a longer message. */
  readonly cutBytes?: number | undefined
}

interface RawOptions {
  /** Why the bytes are not a message; by default this is found out. */
  readonly why?: string | undefined
  /** Replaces secrets; by default the redactor of the tape. */
  readonly redactText?: ((text: string) => string) | undefined
}

/** Writes what arrived to the tape: messages with their bytes unchanged, everything else as raw text, both without secrets. */
export class FrameWriter {
  readonly #log: TapeLog
  readonly #options: FrameWriterOptions
  readonly #cutBytes: number
  readonly #validator = new JsonValidator()
  #checkedChunk: Uint8Array | undefined
  #isChunkAscii = false

  constructor(log: TapeLog, options: FrameWriterOptions) {
    this.#log = log
    this.#options = options
    this.#cutBytes = options.cutBytes ?? Infinity
  }

  /** Writes a message frame. Returns false, and writes nothing, if the bytes are not a JSON object or array. */
  message(time: number, place: FramePlace, bytes: MessageBytes, mayContainSecrets?: boolean): boolean {
    if (bytes.isOverlong) return false
    if (bytes.length > this.#cutBytes) return this.#writeCut(time, place, bytes)
    if (!this.isMessage(bytes)) return false
    const { writer, redactor } = this.#log
    if (writer === undefined) return true
    const isSuspect = mayContainSecrets ?? redactor?.mayContainSecrets(lineBytes(bytes)) === true
    const redacted = isSuspect ? redactor?.message(textOf(bytes)) : undefined
    if (redacted?.kind === 'withheld') {
      this.#log.bufferFrame(time, `${place.text},${withheldPayload(textOf(bytes), redacted.why)}`)
      return true
    }
    const { parts, chunk, start, end, length } = redacted === undefined ? bytes : bytesOf(redacted.text)
    const onOneLine = this.#options.unit === 'line' ? parts : parts.map(withoutLineFeeds)
    writer.frame(time, place.beforeMessage, onOneLine, chunk, start, end)
    const payloadEnd = writer.position - FRAME_END
    if (length > MAX_CHECKED_BYTES) this.#log.validateLater({ start: payloadEnd - length, end: payloadEnd })
    return true
  }

  /** Writes bytes that are not a message. Returns false, and writes nothing, if they are blank. */
  raw(time: number, place: FramePlace, bytes: MessageBytes, { why, redactText }: RawOptions = {}): boolean {
    const { redactor } = this.#log
    const { unit, maxBytes } = this.#options
    const all = Buffer.from(lineBytes(bytes))
    const payload = bytes.isOverlong
      ? rawPayload(
          redactPrefix(all, RAW_HEAD_BYTES, redactor),
          `a ${unit} of ${bytes.length} bytes; at most ${maxBytes} are kept`,
        )
      : rawPayload(redactBytes(all, redactText === undefined ? redactor : { text: redactText }), why)
    if (payload === undefined) return false
    this.#log.bufferFrame(time, `${place.text},${payload}`)
    return true
  }

  #writeCut(time: number, place: FramePlace, bytes: MessageBytes): boolean {
    // Secrets are replaced before anything is cut off, because half of a secret cannot be recognized.
    const all = Buffer.from(lineBytes(bytes))
    const redacted = isUtf8(all) ? this.#log.redactor?.message(all.toString()) : undefined
    const payload =
      redacted?.kind === 'withheld'
        ? withheldPayload(all.toString(), redacted.why)
        : truncatedPayload(
            redacted === undefined ? redactBytes(all, this.#log.redactor) : Buffer.from(redacted.text),
            this.#cutBytes,
          )
    if (payload === undefined) return false
    this.#log.bufferFrame(time, `${place.text},${payload}`)
    return true
  }

  /** Whether the bytes are a JSON object or array. A long message is only looked at. */
  isMessage(bytes: MessageBytes): boolean {
    const { parts, chunk, start, end, length } = bytes
    if (length > MAX_CHECKED_BYTES && looksLikeJson(bytes)) return true
    this.#validator.reset()
    for (const part of parts) this.#validator.feed(part, 0, part.length)
    this.#validator.feed(chunk, start, end)
    return this.#validator.isComplete() && this.#isText(bytes)
  }

  /** Most chunks are ASCII, and are then checked once for all of their lines. */
  #isText(bytes: MessageBytes): boolean {
    if (bytes.parts.length > 0) return isUtf8(lineBytes(bytes))
    if (bytes.chunk !== this.#checkedChunk) this.#isChunkAscii = isAscii(bytes.chunk)
    this.#checkedChunk = bytes.chunk
    return this.#isChunkAscii || isUtf8(bytes.chunk.subarray(bytes.start, bytes.end))
  }
}

/** Longer messages are validated when the session has ended: to do it at once costs a link 13 % at 10 KB (docs/decisions/0005). */
const MAX_CHECKED_BYTES = 8 * 1024
/** How much is kept of bytes that are too long for the tape. */
const RAW_HEAD_BYTES = 4096
const FRAME_END = '}\n'.length
const LINE_FEED = 10
const SPACE = 32
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('{}[]')
const NO_BYTES = new Uint8Array(0)

/** The bytes of a body, as a frame writer takes them. */
export function bodyBytes({ parts, length, isComplete }: BoundedBytes): MessageBytes {
  return { parts, chunk: NO_BYTES, start: 0, end: 0, length, isOverlong: !isComplete }
}

function bytesOf(text: string): MessageBytes {
  const bytes = Buffer.from(text)
  return { parts: [bytes], chunk: NO_BYTES, start: 0, end: 0, length: bytes.length, isOverlong: false }
}

/** The text of a message, which is UTF-8. */
export function textOf(bytes: MessageBytes): string {
  const { buffer, byteOffset, length } = lineBytes(bytes)
  return Buffer.from(buffer, byteOffset, length).toString('utf8')
}

function looksLikeJson({ parts, chunk, start, end }: MessageBytes): boolean {
  const first = parts[0]?.[0] ?? chunk[start]
  const last = end > start ? chunk[end - 1] : parts.at(-1)?.at(-1)
  return (first === OPEN_BRACE && last === CLOSE_BRACE) || (first === OPEN_BRACKET && last === CLOSE_BRACKET)
}

/** Between the tokens of JSON a line feed means the same as a space. Copies the bytes, because they are still on their way to the peer. */
function withoutLineFeeds(part: Uint8Array): Uint8Array {
  if (!part.includes(LINE_FEED)) return part
  const copy = Uint8Array.from(part)
  for (let at = copy.indexOf(LINE_FEED); at >= 0; at = copy.indexOf(LINE_FEED, at + 1)) copy[at] = SPACE
  return copy
}

type EventDetails = Readonly<Record<string, unknown>>

/** Encodes the part of an event frame after its place: `,"event":…` and the details. */
export function encodeEventMembers(
  event: string,
  details: EventDetails,
  redactor: Redactor | undefined,
): string {
  return `,"event":${JSON.stringify(event)}${encodeMembers(details, redactor)}`
}

/** Encodes members that follow others, each with a comma before it. */
export function encodeMembers(details: EventDetails, redactor: Redactor | undefined): string {
  const redacted = redactor?.message(JSON.stringify(details))
  if (redacted?.kind === 'withheld') return encodeMembers(withheldDetails(details, redacted.why), undefined)
  const members = (redacted?.text ?? JSON.stringify(details)).slice(1, -1)
  return members === '' ? '' : `,${members}`
}

/** Keeps the names of the details, which readers need. */
function withheldDetails(details: EventDetails, why: string): EventDetails {
  return Object.fromEntries(Object.keys(details).map((name) => [name, `[withheld: ${why}]`]))
}

/** Encodes a message for the tape: `"msg":…`, or what may be said about it if it could not be searched for secrets. */
export function encodeMessage(text: string, redactor: Redactor | undefined): string {
  const redacted = redactor?.message(text)
  if (redacted?.kind === 'withheld') return withheldPayload(text, redacted.why)
  return `"msg":${jsonOnOneLine(redacted?.text ?? text)}`
}

/** Encodes an event about a held message. The frame in which the message arrived may be on an earlier tape. */
export function encodeEventOn(log: TapeLog, event: string, details: EventDetails): string {
  const { of, ...rest } = details
  if (event !== 'intercept' || typeof of !== 'number') return encodeEventMembers(event, details, log.redactor)
  const frame = log.frameOnTape(of)
  return encodeEventMembers(event, { ...rest, ...(frame !== undefined && { of: frame }) }, log.redactor)
}

/**
 * Writes a message that was held, with its marks. Returns the number of its frame, counted over all tapes of the recording, or
 * `undefined` if there is no tape.
 */
export function writeHeldMessage(
  log: TapeLog,
  place: string,
  text: string,
  { side, of, original }: HeldMarks,
): number | undefined {
  const { redactor } = log
  const redacted = original === undefined ? undefined : redactor?.message(original)
  const kept = redacted?.kind === 'withheld' ? undefined : (redacted?.text ?? original)
  const frame = of === undefined ? undefined : log.frameOnTape(of)
  const marks = encodeInterception({
    side,
    ...(frame !== undefined && { of: frame }),
    ...(kept !== undefined && { original: kept }),
  })
  log.writePostponed()
  const value = parseJson(text)
  const payload =
    typeof value === 'object' && value !== null
      ? encodeMessage(text, redactor)
      : (rawPayload(redactBytes(Buffer.from(text), redactor)) ?? `"raw":"","why":"empty"`)
  log.writeFrame(`${place}${marks},${payload}`)
  const number = log.lastFrame
  log.countMessages(1)
  return number
}

/** Encodes a message of which nothing is kept but its length, id and method, so that readers know which response is missing. */
function withheldPayload(text: string, why: string): string {
  const cut = { bytes: Buffer.byteLength(text), ...messageIdentity(classifyMessage(parseJson(text))) }
  return `"cut":${JSON.stringify(cut)},"raw":"","why":${JSON.stringify(`withheld: ${why}`)}`
}

/**
 * Encodes a message that is longer than the user wants to keep: its beginning, its length, and its id and method, so that
 * readers know which response is missing. Returns undefined if the bytes are not a message.
 */
function truncatedPayload(bytes: Uint8Array, keep: number): string | undefined {
  const text = new StringDecoder('utf8').write(Buffer.from(bytes))
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) return undefined
  const cut = JSON.stringify({ bytes: bytes.length, ...messageIdentity(classifyMessage(value)) })
  // The decoder leaves out half a character at the end.
  const head = new StringDecoder('utf8').write(Buffer.from(bytes.subarray(0, keep)))
  const why = `cut: ${keep} of ${bytes.length} bytes are kept`
  return `"cut":${cut},"raw":${JSON.stringify(head)},"why":${JSON.stringify(why)}`
}

function messageIdentity(message: Message): object {
  switch (message.kind) {
    case 'request':
      return { id: message.id, method: message.method }
    case 'notification':
      return { method: message.method }
    case 'response':
      return message.id === null ? {} : { id: message.id }
    case 'batch':
    case 'invalid':
      return {}
  }
}

/** Replaces secrets in bytes of any kind. */
function redactBytes(bytes: Buffer, redactor: Pick<Redactor, 'text'> | undefined): Buffer {
  if (redactor === undefined) return bytes
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  const text = bytes.toString(encoding)
  const redacted = redactor.text(text)
  return redacted === text ? bytes : Buffer.from(redacted, encoding)
}

/** Returns the beginning of long bytes. Secrets are replaced before the cut, because half of a secret cannot be recognized. */
function redactPrefix(bytes: Buffer, length: number, redactor: Redactor | undefined): Buffer {
  if (redactor === undefined) return bytes.subarray(0, length)
  const known = redactBytes(bytes.subarray(0, length + MARGIN_BYTES), redactor)
  return known.subarray(0, Math.min(length, Math.max(known.length - MARGIN_BYTES, 0)))
}

/** More than the length of a token. */
const MARGIN_BYTES = 2048

/** Returns the headers for the tape: the names unchanged, the values without secrets. */
export function redactHeaderList(headers: RawHeaders, redactor: Redactor | undefined): HeaderList {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    pairs.push([name, redactor?.header(name, value) ?? value])
  }
  return pairs
}
