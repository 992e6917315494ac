import {
  compressedFormOf,
  decompress,
  isWrappedUncompressed,
  wrapUncompressed,
} from './prefilter/compressed.ts'
import { applyReplacements, type TextReplacement } from '../json/find-replace.ts'
import type { WorkLimit } from './work-limit.ts'

/** The entities that HTML needs. */
export const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
}

/** A text, or a part of it, in decoded form. Edits of the decoded form can be converted to edits of the source. */
export interface DecodedView {
  readonly text: string
  /** Set if nothing else is written at this place of the source, so that it need not be decoded in another way. */
  readonly isWholeRunAt?: number
  readonly toSourceEdits: (edits: readonly TextReplacement[]) => readonly TextReplacement[]
}

/** Resolves the escapes of JSON. Returns `undefined` if there are none. */
export function jsonUnescapedView(text: string): DecodedView | undefined {
  if (!text.includes('\\')) return undefined
  return decodeView(text, /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/g, decodeEscape, escapeJsonText)
}

/** Resolves percent-encoding. Returns `undefined` if there is none. */
export function percentDecodedView(text: string): DecodedView | undefined {
  if (!text.includes('%')) return undefined
  return decodeView(text, PERCENT_CODE, decodePercent, encodePercent)
}

/** Resolves the entities of HTML. Returns `undefined` if there are none. */
export function htmlDecodedView(text: string): DecodedView | undefined {
  if (!text.includes('&')) return undefined
  return decodeView(
    text,
    /&(?:#0{0,4}\d{1,3}|#[xX]0{0,4}[0-9A-Fa-f]{1,2}|quot|apos|amp|lt|gt);/g,
    decodeEntity,
    encodeEntities,
  )
}

/** Removes the colors of a terminal. Returns `undefined` if there are none. */
export function withoutColorsView(text: string): DecodedView | undefined {
  if (!text.includes('\u001b[')) return undefined
  return decodeView(
    text,
    COLOR_CODE,
    () => '',
    (plain) => plain,
  )
}

// oxlint-disable-next-line no-control-regex -- the escape character is what is searched for
const COLOR_CODE = /\u001b\[[0-9;]{0,20}m/g

/** Decodes the parts of a text that are text in hex. */
export function* hexViews(text: string): Generator<DecodedView> {
  for (const { 0: run, index } of text.matchAll(HEX_RUN)) {
    const plain = run.replaceAll(/../g, (code) => String.fromCharCode(Number.parseInt(code, 16)))
    const isUpper = /[A-F]/.test(run)
    yield {
      text: plain,
      toSourceEdits: (edits) =>
        edits.map(({ start, end, text: edited }) => {
          const code = Array.from(edited, (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')
          return { start: index + 2 * start, end: index + 2 * end, text: isUpper ? code.toUpperCase() : code }
        }),
    }
  }
}

/** At least 16 printable characters. */
const HEX_RUN = /(?:[2-6][0-9A-Fa-f]|7[0-9A-Ea-e]|0[9AaDd]){16,}/g

/** Decodes base64 that contains compressed text, or UTF-16 as PowerShell writes commands. */
export function* packedViews(text: string, work: WorkLimit): Generator<DecodedView> {
  for (const { 0: run, index } of text.matchAll(PACKED_RUN)) {
    const bytes = fromBase64(withoutPadding(run))
    const form = compressedFormOf(bytes[0], bytes[1], bytes[2])
    const content = form === undefined ? bytes : decompress(bytes, form, work)
    const plain = content === undefined ? undefined : (utf16Text(content) ?? decodeUtf8OrUndefined(content))
    if (plain === undefined || (form === undefined && utf16Text(bytes) === undefined)) continue
    const isWide = utf16Text(content!) !== undefined
    const isStored = form !== undefined && isWrappedUncompressed(bytes, content!, form)
    yield {
      text: plain,
      ...(isStored && { isWholeRunAt: index }),
      toSourceEdits: (edits) => {
        if (edits.length === 0) return []
        const edited = applyReplacements(plain, edits)
        const data = isWide ? utf16Bytes(edited) : new TextEncoder().encode(edited)
        const packed = form === undefined ? data : wrapUncompressed(data, form)
        const encoded = toBase64(decodeLatin1(packed), /[-_]/.test(run))
        return [{ start: index, end: index + run.length, text: padLike(encoded, run, 0) }]
      },
    }
  }
}

/** Base64 that begins with the signs of gzip or zlib, or with an ASCII character in UTF-16. */
const PACKED_RUN =
  /(?<![A-Za-z0-9+/_-])(?:H4sI|eJ[w-z]|eAE|eF4|eNo|eNq|[I-Za-f][AQgw][AB])[A-Za-z0-9+/_-]{16,}={0,2}/g

function utf16Text(bytes: Uint8Array): string | undefined {
  const head = bytes.subarray(0, 24)
  if (!head.every((byte, at) => (at % 2 === 1) === (byte === 0))) return undefined
  return new TextDecoder('utf-16le').decode(bytes.subarray(0, bytes.length & ~1))
}

function utf16Bytes(text: string): Uint8Array {
  return Uint8Array.from(
    { length: 2 * text.length },
    (_, at) => (text.charCodeAt(at >> 1) >> (8 * (at & 1))) & 255,
  )
}

/**
 * Decodes the parts of a text that could be base64, except those at the offsets in `known`. Up to three characters before the base64
 * may look as if they belonged to it.
 */
export function* base64Views(
  text: string,
  isWorthIt: (bytes: Uint8Array) => boolean,
  known: ReadonlySet<number> = new Set(),
): Generator<DecodedView> {
  const blocks = (text.includes('\n') ? [...text.matchAll(BASE64_BLOCK)] : []).flatMap(
    ({ 0: block, index }) => {
      const bytes = fromBase64(withoutPadding(block.replaceAll(/[\r\n]+/g, '')))
      return isWorthIt(bytes) ? [{ block, index, bytes }] : []
    },
  )
  for (const { block, index, bytes } of blocks) yield blockView(block, index, bytes)
  // The lines of such a block are not searched one by one, because a line can have a part of a secret.
  const texts = blocks.filter(({ bytes }) => decodeUtf8OrUndefined(bytes) !== undefined)
  for (const { 0: run, index } of text.matchAll(BASE64_RUN)) {
    while (texts.length > 0 && texts[0]!.index + texts[0]!.block.length <= index) texts.shift()
    if ((texts.length > 0 && texts[0]!.index <= index) || known.has(index)) continue
    for (let skip = 0; skip < 4; skip++) {
      const bytes = fromBase64(withoutPadding(run.slice(skip)))
      if (!isWorthIt(bytes)) continue
      yield base64View(run, index, skip, bytes)
      break
    }
  }
}

/** Lines of equal length, as in mail. */
const BASE64_BLOCK = /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{40,80}\r?\n)+[A-Za-z0-9+/_-]{1,80}={0,2}/g
const BASE64_RUN = /[A-Za-z0-9+/_-]{8,}={0,2}/g

function base64View(run: string, index: number, skip: number, bytes: Uint8Array): DecodedView {
  const text = decodeUtf8OrUndefined(bytes) ?? decodeLatin1(bytes)
  const isUtf8 = decodeUtf8OrUndefined(bytes) !== undefined
  return {
    text,
    toSourceEdits: (edits) => {
      if (edits.length === 0) return []
      const edited = applyReplacements(text, edits)
      const encoded = toBase64(isUtf8 ? utf8ByteString(edited) : edited, /[-_]/.test(run))
      return [{ start: index + skip, end: index + run.length, text: padLike(encoded, run, skip) }]
    },
  }
}

/** Keeps the length of the lines. */
function blockView(block: string, index: number, bytes: Uint8Array): DecodedView {
  const [, first = '', end = ''] = /^([^\r\n]+)(\r?\n)/.exec(block) ?? []
  const { text, toSourceEdits } = base64View(block.replaceAll(/[\r\n]+/g, ''), 0, 0, bytes)
  return {
    text,
    toSourceEdits: (edits) =>
      toSourceEdits(edits).map((edit) => ({
        start: index,
        end: index + block.length,
        text: edit.text.replaceAll(new RegExp(`.{${first.length}}(?=.)`, 'g'), `$&${end}`),
      })),
  }
}

/** Pads if the source was padded, or if its length needed no padding, because padding does no harm. */
function padLike(encoded: string, run: string, skip: number): string {
  const wasPadded = run.endsWith('=') || (run.length - skip) % 4 === 0
  return wasPadded ? encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '=') : encoded
}

function decodeView(
  text: string,
  code: RegExp,
  decode: (found: string) => string,
  encode: (plain: string, source: string) => string,
): DecodedView | undefined {
  let plain = ''
  let at = 0
  const places: { readonly plain: number; readonly raw: number }[] = []
  for (const { 0: found, index } of text.matchAll(code)) {
    const decoded = decode(found)
    if (decoded === found) continue
    plain += text.slice(at, index)
    places.push({ plain: plain.length, raw: index })
    plain += decoded
    at = index + found.length
    places.push({ plain: plain.length, raw: at })
  }
  if (at === 0) return undefined
  return {
    text: plain + text.slice(at),
    toSourceEdits: (edits) =>
      edits.map((edit) => {
        const start = sourceOffset(places, edit.start, false)
        const end = sourceOffset(places, edit.end, true)
        return { start, end, text: encode(edit.text, text.slice(start, end)) }
      }),
  }
}

/** Converts an offset in the decoded text. An offset within an escape becomes its beginning or its end. */
function sourceOffset(
  places: readonly { readonly plain: number; readonly raw: number }[],
  offset: number,
  isEnd: boolean,
): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (places[middle]!.plain <= offset) low = middle + 1
    else high = middle
  }
  const last = places[low - 1]
  if (last === undefined) return offset
  const isInside = low % 2 === 1 && offset > last.plain
  if (isInside) return isEnd ? places[low]!.raw : last.raw
  return last.raw + (offset - last.plain)
}

function decodeEscape(found: string): string {
  return found[1] === 'u'
    ? String.fromCharCode(Number.parseInt(found.slice(2), 16))
    : (SHORT_ESCAPES[found[1]!] ?? found[1]!)
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function escapeJsonText(plain: string): string {
  return JSON.stringify(plain).slice(1, -1)
}

function decodeEntity(found: string): string {
  const entity = found.slice(1, -1).toLowerCase()
  if (!entity.startsWith('#')) return NAMED_ENTITIES[entity] ?? found
  const code = entity[1] === 'x' ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1))
  return String.fromCharCode(code)
}

function encodeEntities(plain: string): string {
  return plain.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

const PERCENT_CODE = /%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+/g

/** A part without escapes stays so: other parts of a text, such as a log, may be encoded while this one is not. */
function encodePercent(plain: string, source: string): string {
  return source.search(PERCENT_CODE) < 0 ? plain : encodeURIComponent(plain)
}

function decodePercent(found: string): string {
  try {
    return decodeURIComponent(found)
  } catch {
    return found // not UTF-8
  }
}

function decodeUtf8OrUndefined(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function decodeLatin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return text
}

function utf8ByteString(text: string): string {
  return decodeLatin1(new TextEncoder().encode(text))
}

const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const URL_SAFE = `${STANDARD.slice(0, 62)}-_`

/** Covers both alphabets: they differ in two characters only. */
export const BASE64_VALUES: Uint8Array = new Uint8Array(256)
for (let value = 0; value < 64; value++)
  BASE64_VALUES[STANDARD.charCodeAt(value)] = BASE64_VALUES[URL_SAFE.charCodeAt(value)] = value

/** Removes the padding at the end. A regular expression would try every `=` of a text anew. */
export function withoutPadding(text: string): string {
  let end = text.length
  while (text[end - 1] === '=') end--
  return text.slice(0, end)
}

/** Encodes a text with one character per byte, without padding. */
export function toBase64(bytes: string, isUrlSafe: boolean): string {
  const alphabet = isUrlSafe ? URL_SAFE : STANDARD
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const group =
      (bytes.charCodeAt(at) << 16) | ((bytes.charCodeAt(at + 1) || 0) << 8) | (bytes.charCodeAt(at + 2) || 0)
    const chars = Math.min(bytes.length - at, 3) + 1
    for (let char = 0; char < chars; char++) text += alphabet[(group >> (18 - 6 * char)) & 63]
  }
  return text
}

/** Decodes base64 of either alphabet. The text must contain nothing else. */
export function fromBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let out = 0
  for (let at = 0; at < text.length && out < bytes.length; at += 4) {
    const group =
      (valueAt(text, at) << 18) |
      (valueAt(text, at + 1) << 12) |
      (valueAt(text, at + 2) << 6) |
      valueAt(text, at + 3)
    for (let byte = 0; byte < 3 && out < bytes.length; byte++) bytes[out++] = (group >> (16 - 8 * byte)) & 255
  }
  return bytes
}

function valueAt(text: string, at: number): number {
  return at < text.length ? BASE64_VALUES[text.charCodeAt(at)]! : 0
}

/** The base64 of these bytes within a longer text, for each of the three alignments. */
export function base64Forms(bytes: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => base64FormsAt(bytes, offset))
}

/** The base64 of these bytes, in both alphabets, if so many bytes precede them in their group of three. */
export function base64FormsAt(bytes: string, offset: number): readonly string[] {
  const whole = btoa('\0'.repeat(offset) + bytes)
  // The first and the last character also depend on the neighbouring bytes.
  const first = Math.ceil((offset * 8) / 6)
  const sure = whole.slice(first, Math.floor(((offset + bytes.length) * 8) / 6))
  return /[+/]/.test(sure) ? [sure, sure.replaceAll('+', '-').replaceAll('/', '_')] : [sure]
}
