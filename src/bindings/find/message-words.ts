import { CLIENT_OWNED_PARAMS, META_MEMBER, RELATED_TASK_META } from './consumer-candidates.ts'
import { turnMethod, type TurnMessage } from '../tape-messages.ts'
import {
  decodeBase64Text,
  embeddedJson,
  messageValues,
  continuesRun,
  isAsciiLetter,
  WORD_RUNS,
} from '../values.ts'
import { isObject, member, type JsonObject } from '../../json/parse.ts'

/**
 * Lists the hashes of the runs of letters and digits in the values of a message. All values that can be bound consist of such
 * words. Returns true if no text contains JSON or base64.
 */
export function collectMessageHashes(message: TurnMessage, into: WordHashList): boolean {
  into.clear()
  const isPlain = collectParsedMessage(message, into)
  if (!isPlain) for (const { text } of messageValues(message.recorded.text)) collectTextHashes(text, into)
  return isPlain
}

/** Reads the parts of a message that can contain values of bindings. */
function collectParsedMessage(
  { recorded: { message, dir }, trigger }: TurnMessage,
  into: WordHashList,
): boolean {
  if (message.kind === 'invalid') return true
  if (message.kind === 'response') {
    const { outcome } = message
    return collectValueHashes('result' in outcome ? outcome.result : outcome.error, into, 0)
  }
  const { params } = message
  if (dir === 's2c' || !isObject(params) || hasInputRound(params)) return collectValueHashes(params, into, 0)
  const own = CLIENT_OWNED_PARAMS[turnMethod({ trigger })] ?? NONE
  for (const name in params) {
    const isSent = name !== META_MEMBER && !own.includes(name)
    if (isSent && !collectValueHashes(params[name], into, 0)) return false
  }
  return collectValueHashes(member(params[META_MEMBER], RELATED_TASK_META), into, 0)
}

const NONE: readonly string[] = []
const DEEPEST = 64

/** Returns false if the text of the message has to be read, because of JSON in strings, inexact numbers or names that are values. */
function collectValueHashes(value: unknown, into: WordHashList, depth: number): boolean {
  if (typeof value === 'string') return collectText(value, into)
  if (typeof value === 'number') return collectNumber(value, into)
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEEPEST) return false
  return isObject(value) ? collectMembers(value, into, depth + 1) : collectItems(value, into, depth + 1)
}

function collectMembers(value: JsonObject, into: WordHashList, depth: number): boolean {
  for (const name in value)
    // Parsed JSON has no inherited names, and `for in` is faster than `Object.keys`.
    if (isInputRoundName(name) || !collectValueHashes(value[name], into, depth)) return false
  return true
}

function collectItems(value: object, into: WordHashList, depth: number): boolean {
  if (!Array.isArray(value)) return true
  for (const inner of value) if (!collectValueHashes(inner, into, depth)) return false
  return true
}

function isInputRoundName(name: string): boolean {
  return name === 'inputRequests' || name === 'inputResponses'
}

function hasInputRound(value: object): boolean {
  return 'inputRequests' in value || 'inputResponses' in value
}

function collectText(text: string, into: WordHashList): boolean {
  const isProse = containsSpace(text)
  if (embeddedJson(text) !== undefined || (!isProse && decodeBase64Text(text) !== undefined)) return false
  into.hasDate ||= text.includes('-') && DATE.test(text)
  collectTextHashes(text, into, isProse)
  return true
}

const DATE = /\d{4}-\d\d-\d\d/

function collectNumber(value: number, into: WordHashList): boolean {
  into.add(numberWordHash(Math.abs(value)))
  return Number.isSafeInteger(value)
}

/**
 * Lists the hashes of the runs of letters and digits. Two texts without a common run have no common value. Prose is listed as a
 * whole and without its plain words, because they are not handles.
 */
export function collectTextHashes(
  text: string,
  into: WordHashList,
  isProse: boolean = containsSpace(text),
): void {
  if (isProse) collectProse(text, into)
  else collectRuns(text, 0, text.length, into)
}

export function containsSpace(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BLANK || (code >= TAB && code <= RETURN)) return true
    if (code > LAST_ASCII) return SPACE.test(text)
  }
  return false
}

export function wordHash(word: string): number {
  let hash = BASIS
  for (let at = 0; at < word.length; at++) hash = hashStep(hash, word.charCodeAt(at))
  return finishHash(hash)
}

/** Returns the hash of the decimal spelling of a number that is not negative. */
export function numberWordHash(value: number): number {
  if (value > MOST_DIGITS || !Number.isInteger(value)) return wordHash(String(value))
  let scale = 1
  while (scale * 10 <= value) scale *= 10
  let [hash, rest] = [BASIS, value]
  for (; scale >= 1; scale = Math.trunc(scale / 10)) {
    hash = hashStep(hash, ZERO + Math.trunc(rest / scale))
    rest %= scale
  }
  return finishHash(hash)
}

const MOST_DIGITS = 999_999_999
const SPACE = /\s/

function collectProse(text: string, into: WordHashList): void {
  into.add(wordHash(text))
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : BLANK
    if (code > BLANK && code <= LAST_ASCII) continue
    if (code > LAST_ASCII) return collectUnicodeProse(text.slice(start), into)
    if (at > start && !isPlainWord(text, start, at)) collectRuns(text, start, at, into)
    start = at + 1
  }
}

// Regular expressions know the letters and spaces of Unicode, but are slower.
function collectUnicodeProse(text: string, into: WordHashList): void {
  for (const [word] of text.matchAll(/\S+/g))
    if (!isPlainWord(word, 0, word.length)) collectRuns(word, 0, word.length, into)
}

/** Letters with at most one punctuation mark after them. Long words are not plain, because they may be keys. */
function isPlainWord(text: string, start: number, end: number): boolean {
  const last = isAsciiLetter(text.charCodeAt(end - 1)) ? end : end - 1
  if (last - start >= SHORTEST_KEY) return false
  for (let at = start; at < last; at++) if (!isAsciiLetter(text.charCodeAt(at))) return false
  return MARKS.has(text.charCodeAt(end - 1)) || last === end
}

const SHORTEST_KEY = 12
const MARKS: ReadonlySet<number> = new Set(Array.from('.,;:!?)"', (mark) => mark.charCodeAt(0)))

function collectRuns(text: string, start: number, end: number, into: WordHashList): void {
  let [hash, length, isEmpty] = [BASIS, 0, true]
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code > LAST_ASCII) return collectUnicodeRuns(text.slice(start, end), into)
    if (continuesRun(text, at, length)) {
      hash = hashStep(hash, code)
      length++
      continue
    }
    if (length > 0) {
      into.add(finishHash(hash))
      isEmpty = false
    }
    hash = BASIS
    length = 0
  }
  if (length > 0 || isEmpty) into.add(length > 0 ? finishHash(hash) : wordHash(text.slice(start, end)))
}

// Words that are already listed are listed again, which does no harm.
function collectUnicodeRuns(text: string, into: WordHashList): void {
  const runs = text.match(WORD_RUNS)
  if (runs === null) into.add(wordHash(text))
  else for (const run of runs) into.add(wordHash(run))
}

const BASIS = 0x811c9dc5
const [TAB, RETURN, BLANK, ZERO] = [0x09, 0x0d, 0x20, 0x30]
const LAST_ASCII = 0x7f

function hashStep(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

// Mixes the bits so that the low bits depend on every letter. A signed 32-bit number needs no heap object. 0 is never a hash.
function finishHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return once ^ (once >>> 13) || 1
}

/** The hashes of the words of one message. The list is reused for the next message. */
export class WordHashList {
  /** True if a text contains a date. */
  hasDate = false
  #list = new Int32Array(256)
  #size = 0

  get size(): number {
    return this.#size
  }

  clear(): void {
    this.#size = 0
    this.hasDate = false
  }

  add(hash: number): void {
    if (this.#size === this.#list.length) this.#widen()
    this.#list[this.#size++] = hash
  }

  at(index: number): number {
    return this.#list[index] ?? 0
  }

  #widen(): void {
    const list = new Int32Array(this.#list.length * 2)
    list.set(this.#list)
    this.#list = list
  }
}
