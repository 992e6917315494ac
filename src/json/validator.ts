/**
 * Checks that bytes are one JSON object or array, with the same result as JSON.parse but without building values. The
 * recorder splices the bytes of a peer into the tape, so it must find invalid lines before it writes them. The bytes can be
 * fed in parts. UTF-8 is not checked: callers have a native function for that.
 */
export class JsonValidator {
  #state: number = START
  #depth = 0
  #openContainers: Uint8Array = new Uint8Array(64)

  /** Starts a new text. */
  reset(): void {
    this.#state = START
    this.#depth = 0
  }

  /** Reads the next bytes. After an error, everything up to the next `reset` is invalid. */
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

  /** The bytes since `reset` are one complete object or array. */
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
const SHORT_RUN_BYTES = 256 // Native searches are faster only in longer runs.
const IN_OBJECT = 1
const IN_ARRAY = 2

const IS_PLAIN: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
)

/** Returns the end of a run of bytes in a string that need no special treatment. */
function endOfPlainRun(bytes: Uint8Array, start: number, end: number): number {
  const near = Math.min(start + SHORT_RUN_BYTES, end)
  let at = start
  while (at < near && IS_PLAIN[bytes[at]!] === 1) at++
  return at === near && near < end ? endOfLongRun(bytes, near, end) : at
}

/** Searches natively for the two bytes that end a run, then checks the run for control characters. */
function endOfLongRun(bytes: Uint8Array, start: number, end: number): number {
  const quote = bytes.indexOf(QUOTE, start)
  const run = bytes.subarray(start, quote < 0 || quote > end ? end : quote)
  const slash = run.indexOf(BACKSLASH)
  const length = slash < 0 ? run.length : slash
  return start + lengthBeforeControlByte(run, length)
}

/** The number of bytes before the first control character, at most `length`. */
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

/** Some byte is below 0x20. Tests four bytes at a time. */
function hasControlByte(words: Int32Array): boolean {
  let found = 0
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    found |= (word - 0x20202020) & ~word
  }
  return (found & 0x80808080) !== 0
}

// The grammar of JSON as a table: a state and the next byte give the next state or an action. The states of numbers include
// the bytes that end a number, because no other byte follows it.
const INVALID = 0
const START = 1
const DONE = 2
const FIRST_KEY = 3
const KEY = 4
const COLON = 5
const VALUE = 6
const FIRST_ITEM = 7
const AFTER_VALUE = 8
const STRING = 9 // 10: in an escape; 11 to 14: four to one hex digits are missing
const MINUS = 15
const ZERO = 16
const DIGITS = 17
const POINT = 18
const FRACTION = 19
const EXPONENT = 20
const EXPONENT_SIGN = 21
const EXPONENT_DIGITS = 22
const TRUE = 23 // 23 to 25: "rue" to "e" is missing
const FALSE = 26 // 26 to 29: "alse" to "e" is missing
const NULL = 30 // 30 to 32: "ull" to "l" is missing
const KEY_STRING = 33 // 34 to 38: like 10 to 14

/** Entries of the table from here on are actions, not states. */
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
