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

/** The grammar of JSON as a table: from a state and the next byte to the next state, or to something to do. */

// A number may end where another token begins, so its states know the bytes that end it.
const INVALID = 0
const START = 1
const DONE = 2
const FIRST_KEY = 3
const KEY = 4
const COLON = 5
const VALUE = 6
const FIRST_ITEM = 7
const AFTER_VALUE = 8
const STRING = 9 // then 10 in an escape, 11 to 14 with four to one hex digits to go
const MINUS = 15
const ZERO = 16
const DIGITS = 17
const POINT = 18
const FRACTION = 19
const EXPONENT = 20
const EXPONENT_SIGN = 21
const EXPONENT_DIGITS = 22
const TRUE = 23 // "rue" to go; then 24 and 25
const FALSE = 26 // "alse" to go; then 27 to 29
const NULL = 30 // "ull" to go; then 31 and 32
const KEY_STRING = 33 // then 34 to 38, as in a string

/** From here on an entry of the table is not a state, but something to do. */
const FIRST_ACTION = 48
const OPEN_OBJECT = 48
const OPEN_ARRAY = 49
const CLOSE_OBJECT = 50
const CLOSE_ARRAY = 51
const COMMA = 52

const TRANSITIONS: Uint8Array = buildTransitions()

function buildTransitions(): Uint8Array {
  const table = new Uint8Array(FIRST_ACTION << 8)
  const rule: AddTransition = (state, bytes, next) => {
    for (let at = 0; at < bytes.length; at++) table[(state << 8) | bytes.charCodeAt(at)] = next
  }
  for (const state of [STRING, KEY_STRING]) table.fill(state, (state << 8) | 0x20, (state << 8) | 0x100)
  addWhitespace(rule)
  addValues(rule)
  addStructure(rule)
  addString(rule, STRING, AFTER_VALUE)
  addString(rule, KEY_STRING, COLON)
  addNumber(rule)
  addLiteral(rule, TRUE, 'rue')
  addLiteral(rule, FALSE, 'alse')
  addLiteral(rule, NULL, 'ull')
  return table
}

type AddTransition = (state: number, bytes: string, next: number) => void

function addWhitespace(rule: AddTransition): void {
  const states = [START, DONE, FIRST_KEY, KEY, COLON, VALUE, FIRST_ITEM, AFTER_VALUE]
  for (const state of states) rule(state, ' \t\r\n', state)
}

function addValues(rule: AddTransition): void {
  for (const state of [START, VALUE, FIRST_ITEM]) {
    rule(state, '{', OPEN_OBJECT)
    rule(state, '[', OPEN_ARRAY)
  }
  for (const state of [VALUE, FIRST_ITEM]) {
    rule(state, '"', STRING)
    rule(state, '-', MINUS)
    rule(state, '0', ZERO)
    rule(state, '123456789', DIGITS)
    rule(state, 't', TRUE)
    rule(state, 'f', FALSE)
    rule(state, 'n', NULL)
  }
}

function addStructure(rule: AddTransition): void {
  rule(FIRST_KEY, '"', KEY_STRING)
  rule(FIRST_KEY, '}', CLOSE_OBJECT)
  rule(KEY, '"', KEY_STRING)
  rule(COLON, ':', VALUE)
  rule(FIRST_ITEM, ']', CLOSE_ARRAY)
  addEndOfValue(rule, AFTER_VALUE)
}

function addEndOfValue(rule: AddTransition, state: number): void {
  rule(state, ' \t\r\n', AFTER_VALUE)
  rule(state, ',', COMMA)
  rule(state, '}', CLOSE_OBJECT)
  rule(state, ']', CLOSE_ARRAY)
}

function addString(rule: AddTransition, string: number, after: number): void {
  const escape = string + 1
  const hex = string + 2
  rule(string, '"', after)
  rule(string, '\\', escape)
  rule(escape, '"\\/bfnrt', string)
  rule(escape, 'u', hex)
  for (let state = hex; state < hex + 4; state++) {
    rule(state, '0123456789abcdefABCDEF', state === hex + 3 ? string : state + 1)
  }
}

function addNumber(rule: AddTransition): void {
  const digits = '0123456789'
  rule(MINUS, '0', ZERO)
  rule(MINUS, '123456789', DIGITS)
  rule(DIGITS, digits, DIGITS)
  for (const state of [ZERO, DIGITS]) rule(state, '.', POINT)
  for (const state of [POINT, FRACTION]) rule(state, digits, FRACTION)
  for (const state of [ZERO, DIGITS, FRACTION]) rule(state, 'eE', EXPONENT)
  rule(EXPONENT, '+-', EXPONENT_SIGN)
  for (const state of [EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS]) rule(state, digits, EXPONENT_DIGITS)
  for (const state of [ZERO, DIGITS, FRACTION, EXPONENT_DIGITS]) addEndOfValue(rule, state)
}

function addLiteral(rule: AddTransition, first: number, rest: string): void {
  for (const [index, letter] of rest.split('').entries()) {
    rule(first + index, letter, index === rest.length - 1 ? AFTER_VALUE : first + index + 1)
  }
}
