import type { WordHashList } from './hashes.ts'
import { continuesRun, isAsciiLetter, WORD_RUNS } from './runs.ts'

/**
 * Lists the hashes of what two texts must share for one to hold a value of the other: the runs of letters and digits. Among
 * words a plain word is never taken for a handle, so that of such a text only the others count, and the text as a whole.
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

/** The hash of a word. */
export function wordHash(word: string): number {
  let hash = BASIS
  for (let at = 0; at < word.length; at++) hash = hashStep(hash, word.charCodeAt(at))
  return finishHash(hash)
}

/** The hash of a number that is not negative, as it is spelled. */
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

// What a letter or a space is beyond the plain ones takes a table to tell.
function collectUnicodeProse(text: string, into: WordHashList): void {
  for (const [word] of text.matchAll(/\S+/g))
    if (!isPlainWord(word, 0, word.length)) collectRuns(word, 0, word.length, into)
}

/** Letters and at most one mark behind them; a long one with letters of both sizes may be a key. */
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

// Words that were listed already are listed again, which does no harm.
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

// The low bits are to hang on every letter; 0 stands for no word. With a sign it is a number that needs no object.
function finishHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return once ^ (once >>> 13) || 1
}
