import {
  FIRST_ACTION,
  AFTER_VALUE,
  INVALID,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  DONE,
  FIRST_ITEM,
  FIRST_KEY,
  KEY,
  KEY_STRING,
  OPEN_ARRAY,
  OPEN_OBJECT,
  START,
  STRING,
  TRANSITIONS,
  VALUE,
} from '../wire/json-grammar.ts'

/**
 * Says whether bytes are one JSON object or array, exactly as JSON.parse would, without building anything:
 * the recorder splices a peer's bytes into the tape, so a line that is not JSON must be found before it is written.
 * It can be fed in pieces. UTF-8 is not looked at: that is one native call for whoever has the bytes.
 */
export class JsonValidator {
  #state: number = START
  #depth = 0
  #openContainers: Uint8Array = new Uint8Array(64)

  /** Makes ready for the next text. */
  reset(): void {
    this.#state = START
    this.#depth = 0
  }

  /** Takes the next bytes; once something was wrong, it stays wrong until `reset`. */
  feed(bytes: Uint8Array, start: number, end: number): void {
    let state = this.#state
    let at = start
    while (at < end) {
      if (state === STRING || state === KEY_STRING) {
        at = endOfPlainRun(bytes, at, end)
        if (at === end) break
      }
      const next = TRANSITIONS[(state << 8) | bytes[at]!]!
      state = next < FIRST_ACTION ? next : this.#applyAction(next)
      at++
    }
    this.#state = state
  }

  /** Whether what was fed since `reset` is one whole object or array. */
  isComplete(): boolean {
    return this.#state === DONE
  }

  #applyAction(action: number): number {
    switch (action) {
      case OPEN_OBJECT:
        return this.#open(IN_OBJECT, FIRST_KEY)
      case OPEN_ARRAY:
        return this.#open(IN_ARRAY, FIRST_ITEM)
      case CLOSE_OBJECT:
        return this.#close(IN_OBJECT)
      case CLOSE_ARRAY:
        return this.#close(IN_ARRAY)
      case COMMA:
        return this.#innermost() === IN_OBJECT ? KEY : VALUE
      default:
        return INVALID
    }
  }

  #open(kind: number, next: number): number {
    if (this.#depth === this.#openContainers.length) {
      const wider = new Uint8Array(this.#openContainers.length * 2)
      wider.set(this.#openContainers)
      this.#openContainers = wider
    }
    this.#openContainers[this.#depth++] = kind
    return next
  }

  #close(kind: number): number {
    if (this.#innermost() !== kind) return INVALID
    return --this.#depth === 0 ? DONE : AFTER_VALUE
  }

  #innermost(): number {
    return this.#openContainers[this.#depth - 1] ?? 0
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SHORT_RUN_BYTES = 256 // below this, a native search costs more than it saves
const IN_OBJECT = 1
const IN_ARRAY = 2

const IS_PLAIN: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
)

/** Where the run of bytes that mean only themselves inside a string ends. */
function endOfPlainRun(bytes: Uint8Array, start: number, end: number): number {
  const near = Math.min(start + SHORT_RUN_BYTES, end)
  let at = start
  while (at < near && IS_PLAIN[bytes[at]!] === 1) at++
  return at === near && near < end ? endOfLongRun(bytes, near, end) : at
}

/** The same for long strings: native searches for the two bytes that end a run, then one sweep for control characters. */
function endOfLongRun(bytes: Uint8Array, start: number, end: number): number {
  const quote = bytes.indexOf(QUOTE, start)
  const run = bytes.subarray(start, quote < 0 || quote > end ? end : quote)
  const slash = run.indexOf(BACKSLASH)
  const length = slash < 0 ? run.length : slash
  return start + lengthBeforeControlByte(run, length)
}

/** How many of the first `length` bytes come before a control character. */
function lengthBeforeControlByte(bytes: Uint8Array, length: number): number {
  const aligned = -bytes.byteOffset & 3
  if (length < aligned) return endBeforeControlByte(bytes, 0, length)
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, (length - aligned) >> 2)
  const head = endBeforeControlByte(bytes, 0, aligned)
  if (head < aligned) return head
  return endBeforeControlByte(bytes, hasControlByte(words) ? head : head + words.length * 4, length)
}

function endBeforeControlByte(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at]! >= 0x20) at++
  return at
}

/** Whether some byte is below 0x20, four bytes at a time: the classic test, exact for the words as a whole. */
function hasControlByte(words: Int32Array): boolean {
  let found = 0
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    found |= (word - 0x20202020) & ~word
  }
  return (found & 0x80808080) !== 0
}
