import { comparedParams, eraOfRequest, isTaskQuery } from '../../match/request-key.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { isId } from '../../protocol/id.ts'
import { isOpeningMethod } from '../../protocol/revisions/index.ts'
import type { Request } from '../../protocol/message.ts'
import { hasEnvelope, namesToolOrPrompt } from '../../protocol/methods.ts'
import { parseJson, parseIdBytes } from '../../json/parse.ts'
import { type Hash64, JsonHasher } from '../../json/hash.ts'

/** A request of the client with no more of its params than `_meta`, and the hash of its key. */
interface ScannedRequest {
  readonly message: Request
  readonly key: RequestKeyHash
}

/** What an index keeps of the key of a call. */
export interface RequestKeyHash extends Hash64 {
  readonly sketch: number
  /** The tool or prompt. */
  readonly name: string | undefined
}

/**
 * Reads requests by their bytes. To parse params only to write them in canonical form and to hash that would take most of the
 * time that a look through a tape takes; here they are hashed as they stand, with the same result. What is more than a plain
 * request is left to whoever parses it.
 */
export class RequestScanner {
  readonly #hash = new JsonHasher()
  readonly #wordHashes = new Map<string | null, Hash64>()
  #members: SeenRequest = {}

  read(server: string, bytes: Buffer, start: number, end: number): ScannedRequest | undefined {
    if (!this.#scan(bytes, start, end)) return undefined
    const { id, method, params, meta, sketch = 0, name } = this.#members
    if (!isId(id) || method === undefined || needsParsing(method)) return undefined
    const known = meta === undefined ? undefined : { _meta: parseJson(meta) }
    if (known !== undefined && comparedParams({ method, params: known }) !== undefined) return undefined
    const era = eraOfRequest(method, hasEnvelope(known)) ?? null
    const { low, high } = this.#hash.hashList([
      this.#hashOfWord(server),
      this.#hashOfWord(method),
      this.#hashOfWord(era),
      params ?? this.#hashOfWord(null),
    ])
    const key = { low, high, sketch, name: namesToolOrPrompt(method) ? name : undefined }
    return { message: { kind: 'request', id, method, params: known }, key }
  }

  #scan(bytes: Buffer, start: number, end: number): boolean {
    this.#members = {}
    let at = bytes[start] === OPEN ? this.#readMember(bytes, start + 1, end) : -1
    while (at > 0 && bytes[at] === COMMA) at = this.#readMember(bytes, at + 1, end)
    return at === end - 1 && bytes[at] === CLOSE && this.#members.isOfVersion2 === true
  }

  /** Where the member ends; -1 when it is none of a plain request, or is there a second time. */
  #readMember(bytes: Buffer, start: number, end: number): number {
    const seen = this.#members
    if (seen.id === undefined && hasTextAt(bytes, start, ID))
      return this.#readId(bytes, start + ID.length, end)
    if (seen.method === undefined && hasTextAt(bytes, start, METHOD))
      return this.#readMethod(bytes, start + METHOD.length, end)
    if (seen.params === undefined && hasTextAt(bytes, start, PARAMS))
      return this.#readParams(bytes, start + PARAMS.length, end)
    if (seen.isOfVersion2 || !hasTextAt(bytes, start, VERSION)) return -1
    seen.isOfVersion2 = true
    return start + VERSION.length
  }

  #readId(bytes: Buffer, start: number, end: number): number {
    const at = bytes[start] === QUOTE ? endOfShortString(bytes, start, end) : endOfDigits(bytes, start, end)
    if (at > 0) this.#members.id = parseIdBytes(bytes, start, at)
    return at
  }

  #readMethod(bytes: Buffer, start: number, end: number): number {
    const at = bytes[start] === QUOTE ? endOfShortString(bytes, start, end) : -1
    if (at > 0) this.#members.method = bytes.toString('utf8', start + 1, at - 1)
    return at
  }

  #readParams(bytes: Buffer, start: number, end: number): number {
    const at = this.#hash.hashParams(bytes, start, end)
    if (at < 0) return -1
    const { metaRange, nameRange, isEmpty, sketch } = this.#hash
    this.#members.sketch = sketch
    this.#members.params = isEmpty ? this.#hashOfWord(null) : this.#hash.result()
    if (metaRange !== undefined) this.#members.meta = bytes.toString('utf8', metaRange.start, metaRange.end)
    if (nameRange !== undefined) this.#members.name = parseStringAt(bytes, nameRange.start, nameRange.end)
    return at
  }

  #hashOfWord(word: string | null): Hash64 {
    const known = this.#wordHashes.get(word)
    if (known !== undefined) return known
    const hash = this.#hash.hashCanonical(canonicalJson(word))
    if (this.#wordHashes.size < MAX_CACHED_WORDS) this.#wordHashes.set(word, hash)
    return hash
  }
}

interface SeenRequest {
  isOfVersion2?: boolean
  id?: unknown
  method?: string
  params?: Hash64
  sketch?: number
  name?: string | undefined
  /** The text of the `_meta` in the params. */
  meta?: string
}

/** Those whose params do not count, or not in the same way. */
function needsParsing(method: string): boolean {
  return isOpeningMethod(method) || method.startsWith('notifications/') || isTaskQuery(method)
}

const ID = '"id":'
const METHOD = '"method":'
const PARAMS = '"params":'
const VERSION = '"jsonrpc":"2.0"'
const [OPEN, CLOSE, COMMA, QUOTE, BACKSLASH, ZERO, NINE] = [0x7b, 0x7d, 0x2c, 0x22, 0x5c, 0x30, 0x39]
const MAX_STRING_LENGTH = 256
const MAX_ID_DIGITS = 15
const MAX_CACHED_WORDS = 1024

function hasTextAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return true
}

function parseStringAt(bytes: Buffer, start: number, end: number): string | undefined {
  const value = bytes[start] === QUOTE ? parseJson(bytes.toString('utf8', start, end)) : undefined
  return typeof value === 'string' ? value : undefined
}

/** The end of a short string without escapes. */
function endOfShortString(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + MAX_STRING_LENGTH)
  for (let at = start + 1; at < last; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) return at + 1
    if (byte < 0x20 || byte === BACKSLASH) return -1
  }
  return -1
}

function endOfDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] ?? 0) >= ZERO && (bytes[at] ?? 0) <= NINE) at++
  return at - start > MAX_ID_DIGITS || at === start || (bytes[start] === ZERO && at > start + 1) ? -1 : at
}
