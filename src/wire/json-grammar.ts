/** The grammar of JSON as a table: from a state and the next byte to the next state, or to something to do. */

// A number may end where another token begins, so its states know the bytes that end it.
export const INVALID = 0
export const START = 1
export const DONE = 2
export const FIRST_KEY = 3
export const KEY = 4
const COLON = 5
export const VALUE = 6
export const FIRST_ITEM = 7
export const AFTER_VALUE = 8
export const STRING = 9 // then 10 in an escape, 11 to 14 with four to one hex digits to go
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
export const KEY_STRING = 33 // then 34 to 38, as in a string

/** From here on an entry of the table is not a state, but something to do. */
export const FIRST_ACTION = 48
export const OPEN_OBJECT = 48
export const OPEN_ARRAY = 49
export const CLOSE_OBJECT = 50
export const CLOSE_ARRAY = 51
export const COMMA = 52

export const TRANSITIONS: Uint8Array = buildTransitions()

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
