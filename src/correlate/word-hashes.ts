export type Visit = (hash: number) => void

/** Visits the hash of each run of letters and digits; of a text without any, that of the text. No word is cut out for it. */
export function visitHashes(text: string, visit: Visit): void {
  let [hash, length, isEmpty] = [BASIS, 0, true]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > LAST_PLAIN) return visitAnyRuns(text, visit)
    if (isPlainLetter(code)) {
      hash = next(hash, code)
      length++
      continue
    }
    if (length > 0) {
      visit(mixed(hash))
      isEmpty = false
    }
    hash = BASIS
    length = 0
  }
  if (length > 0 || isEmpty) visit(length > 0 ? mixed(hash) : hashOf(text))
}

/** The hash of a word. */
export function hashOf(word: string): number {
  let hash = BASIS
  for (let at = 0; at < word.length; at++) hash = next(hash, word.charCodeAt(at))
  return mixed(hash)
}

// What a letter is beyond these takes a table to tell. Words that were visited already are visited again, which does no harm.
function visitAnyRuns(text: string, visit: Visit): void {
  const runs = text.match(/[\p{L}\p{N}]+/gu)
  if (runs === null) visit(hashOf(text))
  else for (const run of runs) visit(hashOf(run))
}

const BASIS = 0x811c9dc5
const LAST_PLAIN = 0x7f

function isPlainLetter(code: number): boolean {
  if (code < 0x30 || code > 0x7a) return false
  return code <= 0x39 || code >= 0x61 || (code >= 0x41 && code <= 0x5a)
}

function next(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

// The low bits are to hang on every letter; 0 stands for no word.
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return ((once ^ (once >>> 13)) >>> 0) || 1
}
