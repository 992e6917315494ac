import { comparedParams, eraOfCall, isTaskQuery } from '../match/key.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { isId } from '../wire/id.ts'
import type { Request } from '../wire/message.ts'
import { HANDSHAKE_METHODS, isEnveloped } from '../wire/methods.ts'
import { isNaming } from '../wire/name.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Hash64 } from './hash.ts'
import { idIn } from './id-in.ts'
import { JsonHash } from './json-hash.ts'

/** A request of the client with no more of its params than `_meta`, and the hash of its key. */
export interface ScannedCall {
  readonly message: Request
  readonly found: FoundKey
}

/** What an index keeps of the key of a call. */
export interface FoundKey extends Hash64 {
  readonly sketch: number
  /** The tool or prompt. */
  readonly name: string | undefined
}

/**
 * Reads requests by their bytes. To parse params only to write them in canonical form and to hash that would take most of the
 * time that a look through a tape takes; here they are hashed as they stand, with the same result. What is more than a plain
 * request is left to whoever parses it.
 */
export class CallScan {
  readonly #hash = new JsonHash()
  readonly #words = new Map<string | null, Hash64>()
  #seen: Seen = {}

  read(server: string, bytes: Buffer, start: number, end: number): ScannedCall | undefined {
    if (!this.#pass(bytes, start, end)) return undefined
    const { id, method, params, meta, sketch = 0, name } = this.#seen
    if (!isId(id) || method === undefined || isOdd(method)) return undefined
    const known = meta === undefined ? undefined : { _meta: parseJson(meta) }
    if (known !== undefined && comparedParams({ method, params: known }) !== undefined) return undefined
    const era = eraOfCall(method, isEnveloped(known)) ?? null
    const { low, high } = this.#hash.ofList([
      this.#ofWord(server),
      this.#ofWord(method),
      this.#ofWord(era),
      params ?? this.#ofWord(null),
    ])
    const found = { low, high, sketch, name: isNaming(method) ? name : undefined }
    return { message: { kind: 'request', id, method, params: known }, found }
  }

  #pass(bytes: Buffer, start: number, end: number): boolean {
    this.#seen = {}
    let at = bytes[start] === OPEN ? this.#member(bytes, start + 1, end) : -1
    while (at > 0 && bytes[at] === COMMA) at = this.#member(bytes, at + 1, end)
    return at === end - 1 && bytes[at] === CLOSE && this.#seen.isOfVersion2 === true
  }

  /** Where the member ends; -1 when it is none of a plain request, or is there a second time. */
  #member(bytes: Buffer, start: number, end: number): number {
    const seen = this.#seen
    if (seen.id === undefined && isText(bytes, start, ID)) return this.#id(bytes, start + ID.length, end)
    if (seen.method === undefined && isText(bytes, start, METHOD))
      return this.#method(bytes, start + METHOD.length, end)
    if (seen.params === undefined && isText(bytes, start, PARAMS))
      return this.#params(bytes, start + PARAMS.length, end)
    if (seen.isOfVersion2 || !isText(bytes, start, VERSION)) return -1
    seen.isOfVersion2 = true
    return start + VERSION.length
  }

  #id(bytes: Buffer, start: number, end: number): number {
    const at = bytes[start] === QUOTE ? endOfWord(bytes, start, end) : endOfDigits(bytes, start, end)
    if (at > 0) this.#seen.id = idIn(bytes, start, at)
    return at
  }

  #method(bytes: Buffer, start: number, end: number): number {
    const at = bytes[start] === QUOTE ? endOfWord(bytes, start, end) : -1
    if (at > 0) this.#seen.method = bytes.toString('utf8', start + 1, at - 1)
    return at
  }

  #params(bytes: Buffer, start: number, end: number): number {
    const at = this.#hash.passParams(bytes, start, end)
    if (at < 0) return -1
    const { meta, name, isEmpty, sketch } = this.#hash
    this.#seen.sketch = sketch
    this.#seen.params = isEmpty ? this.#ofWord(null) : this.#hash.taken()
    if (meta !== undefined) this.#seen.meta = bytes.toString('utf8', meta.start, meta.end)
    if (name !== undefined) this.#seen.name = textIn(bytes, name.start, name.end)
    return at
  }

  #ofWord(word: string | null): Hash64 {
    const known = this.#words.get(word)
    if (known !== undefined) return known
    const hash = this.#hash.ofCanonical(canonicalJson(word))
    if (this.#words.size < MOST_WORDS) this.#words.set(word, hash)
    return hash
  }
}

interface Seen {
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
function isOdd(method: string): boolean {
  return HANDSHAKE_METHODS.has(method) || method.startsWith('notifications/') || isTaskQuery(method)
}

const ID = '"id":'
const METHOD = '"method":'
const PARAMS = '"params":'
const VERSION = '"jsonrpc":"2.0"'
const [OPEN, CLOSE, COMMA, QUOTE, BACKSLASH, ZERO, NINE] = [0x7b, 0x7d, 0x2c, 0x22, 0x5c, 0x30, 0x39]
const LONGEST_WORD = 256
const MOST_DIGITS = 15
const MOST_WORDS = 1024

function isText(bytes: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return true
}

function textIn(bytes: Buffer, start: number, end: number): string | undefined {
  const value = bytes[start] === QUOTE ? parseJson(bytes.toString('utf8', start, end)) : undefined
  return typeof value === 'string' ? value : undefined
}

/** The end of a short string without escapes. */
function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + LONGEST_WORD)
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
  return at - start > MOST_DIGITS || at === start || (bytes[start] === ZERO && at > start + 1) ? -1 : at
}
