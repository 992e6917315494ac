/**
 * Whether something that stands where a password may stand is one, and no word of a sentence, of a help text or of a program:
 * it has a digit or a sign within, or capitals behind its beginning.
 */
export function looksLikePassword(value: string): boolean {
  if (value.length < MIN_PASSWORD_LENGTH || isExampleValue(value)) return false
  return /\d|[!@#$%^&*~+].|[a-z][A-Z]/.test(value) && !isOrdinaryWord(value)
}

/** The same where a name and `=` stand right before it, as nobody writes in a sentence: then a word will do. */
export function looksLikeAssignedPassword(value: string): boolean {
  return (
    looksLikePassword(value) ||
    (value.length >= MIN_WORD_LENGTH && /^[a-z]+$/.test(value) && !isExampleValue(value))
  )
}

/** What a help text or an example shows in the place of a value. */
export function isExampleValue(value: string): boolean {
  return EXAMPLE_SYNTAX.test(value) || EXAMPLE_WORD.test(value)
}

const MIN_PASSWORD_LENGTH = 6
const MIN_WORD_LENGTH = 8
// <value>, [value], {value}, $VALUE, %VALUE%, `value`, VALUE, ****, …
const EXAMPLE_SYNTAX = /^(?:0?1234567890?|[<[{(`$%*.…-].*|[A-Z][A-Z_-]*|(.)\1*)$/s
// myPassword, your-secret, password123, changeme, hunter2 of nobody in particular
const EXAMPLE_WORD =
  /^(?:my|your|the|some|a|new|old|test|example|sample|dummy|fake|user|admin|root|default)?[-_.]?(?:db|user|admin|root)?[-_.]?(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|key|api[-_]?key|value|string|text|credentials?)s?\d{0,3}$|change[-_]?(?:me|it|this)|^(?:string|number|boolean|integer|object|array|required|optional|undefined|description|authentication|protected|encrypted|incorrect|username|database|localhost|connection|generated|provided|specified)$/i

/** A file, an address, a version, a date, a piece of a program. */
function isOrdinaryWord(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/|^\.{0,2}[/\\]|^~\/|^[A-Za-z]:\\|^v?\d+(\.\d+)+$|^\d{4}-\d\d-\d\d|\w\(|\.\w+\.|^\w+\.(?:\w{1,5})$|^[a-z]+[A-Z][a-zA-Z]*$/.test(
    value,
  )
}
