import { applyReplacements, type TextReplacement } from '../json/splice.ts'

/** What a text, or a stretch of it, says when it is decoded, and how an edit of that becomes an edit of the text itself. */
export interface DecodedView {
  readonly text: string
  readonly toSourceEdits: (edits: readonly TextReplacement[]) => readonly TextReplacement[]
}

/** The text with the escapes of JSON resolved; undefined when it has none. */
export function jsonUnescapedView(text: string): DecodedView | undefined {
  if (!text.includes('\\')) return undefined
  return decodeView(text, /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/g, decodeEscape, escapeJsonText)
}

/** The text with percent signs resolved; undefined when it has none. */
export function percentDecodedView(text: string): DecodedView | undefined {
  if (!text.includes('%')) return undefined
  return decodeView(text, /(?:%[0-9A-Fa-f]{2})+/g, decodePercent, encodeURIComponent)
}

/** The stretches of a text that could be base64, decoded; a stretch may begin with up to three characters that belong to something else. */
export function* base64Views(
  text: string,
  isWorthIt: (bytes: Uint8Array) => boolean,
): Generator<DecodedView> {
  for (const { 0: block, index } of text.matchAll(BASE64_BLOCK)) {
    const bytes = fromBase64(block.replaceAll(/[\r\n]+|=+$/g, ''))
    if (isWorthIt(bytes)) yield blockView(block, index, bytes)
  }
  for (const { 0: run, index } of text.matchAll(BASE64_RUN)) {
    for (let skip = 0; skip < 4; skip++) {
      const bytes = fromBase64(run.slice(skip).replace(/=+$/, ''))
      if (!isWorthIt(bytes)) continue
      yield base64View(run, index, skip, bytes)
      break
    }
  }
}

/** Lines of one length, as mail and some interfaces write them. */
const BASE64_BLOCK = /(?:[A-Za-z0-9+/_-]{40,80}\r?\n)+[A-Za-z0-9+/_-]{1,80}={0,2}/g
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

/** Written in lines as long as they were. */
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

/** Padded as the run was: where its length needed none, nobody can tell, and padding does no harm. */
function padLike(encoded: string, run: string, skip: number): string {
  const wasPadded = run.endsWith('=') || (run.length - skip) % 4 === 0
  return wasPadded ? encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '=') : encoded
}

function decodeView(
  text: string,
  code: RegExp,
  decode: (found: string) => string,
  encode: (plain: string) => string,
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
  const place = (offset: number, isEnd: boolean): number => sourceOffset(places, offset, isEnd)
  return {
    text: plain + text.slice(at),
    toSourceEdits: (edits) =>
      edits.map((edit) => ({
        start: place(edit.start, false),
        end: place(edit.end, true),
        text: encode(edit.text),
      })),
  }
}

/** Where an offset of the decoded text is in the text itself; within something decoded, its beginning or its end. */
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
  return String(JSON.parse(`"${found}"`))
}

function escapeJsonText(plain: string): string {
  return JSON.stringify(plain).slice(1, -1)
}

function decodePercent(found: string): string {
  try {
    return decodeURIComponent(found)
  } catch {
    return found // bytes that are no UTF-8
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

/** Both alphabets at once: they differ in two characters, which mean the same. */
const VALUES = new Uint8Array(256)
for (let value = 0; value < 64; value++)
  VALUES[STANDARD.charCodeAt(value)] = VALUES[URL_SAFE.charCodeAt(value)] = value

/** Base64 of a text whose characters are bytes, without padding. */
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

/** The bytes behind base64 of either alphabet; the caller has seen that nothing else is in it. */
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
  return at < text.length ? VALUES[text.charCodeAt(at)]! : 0
}

/** What base64 of a longer text holds if the text holds these bytes: one form for each of the three places a byte can have. */
export function base64Forms(bytes: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = btoa('\0'.repeat(offset) + bytes)
    // The characters at both ends also depend on the neighbours.
    const first = Math.ceil((offset * 8) / 6)
    const sure = whole.slice(first, Math.floor(((offset + bytes.length) * 8) / 6))
    return /[+/]/.test(sure) ? [sure, sure.replaceAll('+', '-').replaceAll('/', '_')] : [sure]
  })
}
