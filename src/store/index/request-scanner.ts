import { comparedParams, eraOfRequest, needsParsedParams, OPTIONAL_PARAMS } from '../../match/request-key.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { isId, type Request, hasEnvelope, namesToolOrPrompt } from '../../protocol/message.ts'
import { parseIdBytes } from '../../protocol/find-id.ts'
import { isOpeningMethod } from '../../protocol/revisions/index.ts'
import { parseJson } from '../../json/parse.ts'
import {
  CLOSE_OBJECT,
  COMMA,
  endOfDigits,
  endOfPlainString,
  hasTextAt,
  OPEN_OBJECT,
  QUOTE,
} from '../../json/scan.ts'
import { type Hash64, JsonHasher } from '../../json/hash.ts'

/** A request with only `_meta` of its params, and the hash of its key. */
interface ScannedRequest {
  readonly message: Request
  readonly key: RequestKeyHash
}

/** The part of a key that is stored in an index. */
export interface RequestKeyHash extends Hash64 {
  readonly sketch: number
  /** The tool or prompt. */
  readonly name: string | undefined
}

/**
 * Reads requests from bytes. Parsing the params, writing them in canonical form and hashing that would take most of the time of
 * building an index. The scanner hashes the bytes directly, with the same result. It rejects unusual requests, which must be
 * parsed.
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
    let at = bytes[start] === OPEN_OBJECT ? this.#readMember(bytes, start + 1, end) : -1
    while (at > 0 && bytes[at] === COMMA) at = this.#readMember(bytes, at + 1, end)
    return at === end - 1 && bytes[at] === CLOSE_OBJECT && this.#members.isOfVersion2 === true
  }

  /** Returns the end of the member, or -1 if the member is unknown or occurs twice. */
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
    const at = bytes[start] === QUOTE ? endOfPlainString(bytes, start, end) : endOfDigits(bytes, start, end)
    if (at > 0) this.#members.id = parseIdBytes(bytes, start, at)
    return at
  }

  #readMethod(bytes: Buffer, start: number, end: number): number {
    const at = bytes[start] === QUOTE ? endOfPlainString(bytes, start, end) : -1
    if (at > 0) this.#members.method = bytes.toString('utf8', start + 1, at - 1)
    return at
  }

  #readParams(bytes: Buffer, start: number, end: number): number {
    const at = this.#hash.hashMembers(bytes, { start, end }, PARAMS_KEYS)
    if (at < 0) return -1
    const { skippedRange, notedRange, isEmpty, sketch } = this.#hash
    this.#members.sketch = sketch
    this.#members.params = isEmpty ? this.#hashOfWord(null) : this.#hash.result()
    if (skippedRange !== undefined)
      this.#members.meta = bytes.toString('utf8', skippedRange.start, skippedRange.end)
    if (notedRange !== undefined) this.#members.name = parseStringAt(bytes, notedRange.start, notedRange.end)
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

/** Returns true for methods whose params are not part of the key, or only in part. */
function needsParsing(method: string): boolean {
  return isOpeningMethod(method) || method.startsWith('notifications/') || needsParsedParams(method)
}

const PARAMS_KEYS = {
  skip: '"_meta"',
  note: '"name"',
  skipIfNull: [...OPTIONAL_PARAMS.emptyOrNull, ...OPTIONAL_PARAMS.onlyNull].map((name) => `"${name}"`),
  skipIfEmpty: OPTIONAL_PARAMS.emptyOrNull.map((name) => `"${name}"`),
}
const ID = '"id":'
const METHOD = '"method":'
const PARAMS = '"params":'
const VERSION = '"jsonrpc":"2.0"'
const MAX_CACHED_WORDS = 1024

function parseStringAt(bytes: Buffer, start: number, end: number): string | undefined {
  const value = bytes[start] === QUOTE ? parseJson(bytes.toString('utf8', start, end)) : undefined
  return typeof value === 'string' ? value : undefined
}
