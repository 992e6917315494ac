/** Returns true for long values with digits and high entropy. */
export function looksRandom(value: string): boolean {
  if (/\s/.test(value)) return hasRandomWord(value)
  if (!/\d/.test(value)) return changesCase(value)
  if (value.length < 10) return false
  if (/^\d+$/.test(value)) return value.length >= 16
  if (MOSTLY_NOT_ASCII.test(value)) return false
  return /[A-Za-z]/.test(value) && entropyOf(value) >= MIN_ENTROPY && !isOrdinaryValue(value)
}

/** A sentence of a language that has no spaces. */
const MOSTLY_NOT_ASCII = /^(?:[\0-\x7f]{0,20}[^\0-\x7f]{3,}){2}/

/** A scheme and a value, such as `FlyV1 fm2_…`. A sentence has more words. */
function hasRandomWord(value: string): boolean {
  const words = value.length < MAX_PHRASE_LENGTH ? value.trim().split(/\s+/) : []
  return words.length <= 3 && words.some((word) => word.length >= MIN_RANDOM_WORD && looksRandom(word))
}

/** Long words without a digit whose case changes all the time. In `getUserProfile` it changes at the beginning of each word. */
function changesCase(value: string): boolean {
  if (value.length < MIN_SCRAMBLED_LENGTH || !/^[A-Za-z+/_-]+=*$/.test(value)) return false
  const changes = value.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g) ?? []
  return changes.length * 5 > value.length * 2 && /[A-Z]{2}/.test(value)
}

const MIN_SCRAMBLED_LENGTH = 20
const MAX_PHRASE_LENGTH = 2000
const MIN_RANDOM_WORD = 16

/**
 * Returns true for values in which letters and digits alternate, such as `Tr0ub4dor` or `9f86d081884c`, and not for names, versions
 * and times: `utf8mb4`, `gpt-4o-2024-08-06`, `2026-01-02T03:04`. This is for values that are only near a name.
 */
export function looksScrambled(value: string): boolean {
  if (NOT_SCRAMBLED.test(value) || isDummyValue(value) || isExampleValue(value) || isOrdinaryWord(value))
    return false
  return value.split(/[^A-Za-z0-9]+/).some((part) => {
    const runs = part.length >= MIN_SCRAMBLED_PART ? (part.match(/\d+/g)?.length ?? 0) : 0
    if (runs === 1 && part.length >= MIN_SCRAMBLED_LENGTH) return changesCaseOften(part)
    return runs >= 2 && /[A-Za-z]{2}|[A-Za-z]\d+[A-Za-z]/.test(part) && entropyOf(part) >= MIN_ENTROPY
  })
}

/** A long word with a single number, such as `NKVmEKtpJvQXU95OfApuFxCOmaRLcRsc`. A name changes its case once in a word. */
function changesCaseOften(part: string): boolean {
  const changes = part.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0
  return changes * 3 > part.length && /[A-Z]{2}[a-z][A-Z]|[A-Z]{3}/.test(part)
}

const MIN_SCRAMBLED_PART = 9

/**
 * Returns true for values that only a generator makes: long, with letters and several numbers in one word. This is for the values
 * of names such as `acme_key`, which can also be the key of a record, so UUIDs, paths and hashes do not count.
 */
export function looksGenerated(value: string): boolean {
  if (!GENERATED.test(value) || isUuid(value) || isExampleValue(value)) return false
  return value.split(/[^A-Za-z0-9]+/).some((part) => {
    const numbers = part.length >= SHORTEST_GENERATED_PART ? (part.match(/\d+/g)?.length ?? 0) : 0
    return numbers >= LEAST_NUMBERS && entropyOf(part) >= MIN_ENTROPY
  })
}

export const SHORTEST_GENERATED_PART = 12
export const LEAST_NUMBERS = 3
const GENERATED = /^(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_+~-]{18,200}={0,2}$/
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Numbers in hex, times, and identifiers in which every number ends a word: `Base64Url2`, `sha256ToUtf8`. */
const NOT_SCRAMBLED =
  /^0[xX][0-9A-Fa-f]+$|^\d{4}-?\d\d-?\d\dT|^[a-z]*(?:\d{0,4}[A-Z][a-z]+)+\d{0,4}$|[(){}<>]|:\/\/|^[\w-]+(?:\.[\w-]+)+\//

/** Returns true if a secret cannot be confused with an ordinary word. */
export function isDistinctive(value: string): boolean {
  if (value.length < 6 || isDummyValue(value)) return false
  return value.length >= 20 || (value.length >= 8 && /\d|[^\w\s]/.test(value)) || looksMixed(value)
}

/** Checks a value that a variable or an option declares to be secret: a word is accepted, a path or a switch is not. */
export function isPlausibleSecret(value: string): boolean {
  if (isDummyValue(value) || isOrdinaryValue(value)) return false
  return value.length >= 8 || (value.length >= 6 && /\d|[^\w\s]/.test(value))
}

/** Returns true for texts that are written in place of a secret. */
export function isDummyValue(value: string): boolean {
  return (
    value.length < 2 ||
    NO_LETTERS.test(value) ||
    DUMMY_VALUE.test(value) ||
    (value.length < MAX_EXAMPLE_LENGTH && TEMPLATE.test(value))
  )
}

const MIN_ENTROPY = 2.8
/** An emoji or a few signs. */
const NO_LETTERS = /^[^\p{L}\p{N}]{1,4}$/u
/** Source code that inserts a value, values that are cut off, patterns, versions and relative paths: `${token}`, `sk-...`, `^1.0.0`. */
const TEMPLATE =
  /\$\{[^}]*\}|\{\{[^}]*\}\}|^\{\w+\}$|<[\w -]+>$|^%[sdv@]$|(?:\.{3}|…)$|\[[^\]]+\][+*]|^[~^<>=v]*\d+(?:\.\d+){2,}(?:[-+][\w.]+)?$|^[~^]\d+(?:\.\d+)*$|^\.{1,2}\//

const DUMMY_VALUE =
  /^(<.*>|\$\{.*\}|\{\{.*\}\}|\$[A-Z_]+|%[A-Z_]+%|\*+|x+|\.+|-+|null|none|undefined|true|false|yes|no|on|off|string|number|object|boolean|password|passwd|passphrase|secret|token|access_?token|refresh_?token|id_?token|api_?key|key|cookie|change_?me|example|sample|dummy|redacted|\[redacted\]|hidden|optional|required|your[-_ ].*|(?:insert|enter|paste|put|replace|set)[-_ ].*|.*[-_ ]here|bearer|basic|oauth2?|test|admin|root|user|default)$/i

/** Times, URLs, paths and versions are long and have digits, but are not secrets. */
function isOrdinaryValue(value: string): boolean {
  return /^\d{4}-\d\d-\d\dT|^[a-z][a-z0-9+.-]*:\/\/|^\.{0,2}\/|^[A-Za-z]:\\|^v?\d+(\.\d+)+([-+][\w.-]{1,32})?$/.test(
    value,
  )
}

function looksMixed(value: string): boolean {
  return (
    value.length >= 8 &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value.slice(1)) &&
    entropyOf(value) >= MIN_ENTROPY
  )
}

/** Entropy in bits per character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/**
 * Distinguishes a password from a word of a sentence, of a help text or of a program: a password has a digit, a sign inside, or a
 * capital after a small letter.
 */
export function looksLikePassword(value: string): boolean {
  if (value.length < MIN_PASSWORD_LENGTH || isExampleValue(value)) return false
  return /\d|[!@#$%^&*~+].|[a-z][A-Z]/.test(value) && !isOrdinaryWord(value)
}

/** Like `looksLikePassword`, but accepts words, because a name and `=` before the value rule out a sentence. */
export function looksLikeAssignedPassword(value: string): boolean {
  return (
    looksLikePassword(value) ||
    (value.length >= MIN_WORD_LENGTH && /^[a-z]+$/.test(value) && !isExampleValue(value))
  )
}

/** Returns true for texts that a help page or an example shows in place of a value. */
export function isExampleValue(value: string): boolean {
  return EXAMPLE_SYNTAX.test(value) || EXAMPLE_WORD.test(value)
}

const MIN_PASSWORD_LENGTH = 6
const MIN_WORD_LENGTH = 8
// <value>, [value], {value}, $VALUE, %VALUE%, `value`, VALUE, ****, …
const EXAMPLE_SYNTAX =
  /^(?:0?1234567890?|(?:1234567890abcdef)+\w{0,15}|0+[01]|[<[{(`$%*.…-].*|[A-Z][A-Z_-]*|(.)\1*)$/s
// myPassword, your-secret, password123, changeme
const EXAMPLE_WORD =
  /^(?:my|your|the|some|a|new|old|test|example|sample|dummy|fake|user|admin|root|default)?[-_.]?(?:db|user|admin|root)?[-_.]?(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|key|api[-_]?key|value|string|text|credentials?)s?\d{0,3}$|change[-_]?(?:me|it|this)|^(?:string|number|boolean|integer|object|array|required|optional|undefined|description|authentication|protected|encrypted|incorrect|username|database|localhost|connection|generated|provided|specified)$/i

/** Returns true for a token that a text shows as an example: `ghp_xxxx`, `sk-ant-your-api-key-here`. */
export function isPlaceholderText(token: string): boolean {
  return token.length <= MAX_EXAMPLE_LENGTH && (EXAMPLE_TOKEN.test(token) || EXAMPLE_WORDS.test(token))
}

/** Longer tokens are real. The limit also bounds the time of the pattern. */
const MAX_EXAMPLE_LENGTH = 200

const EXAMPLE_TOKEN = /(?:[xX]{6,}|\*{4,}|\.{3,}|_{6,}|-{6,}|EXAMPLE(?:KEY)?)$/i
/** A random token can end in `_mY-Xl`, so the letters of all words must be small, or all capital. */
const EXAMPLE_WORDS =
  /[-_](?:(?:your|my|example|placeholder|insert|replace|paste)[-_](?:[a-z]+[-_])*[a-z]{3,}|(?:YOUR|MY|EXAMPLE|PLACEHOLDER|INSERT|REPLACE|PASTE)[-_](?:[A-Z]+[-_])*[A-Z]{3,})$/

/** Returns true for a file, a URL, a version, a date or source code. */
function isOrdinaryWord(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/|^\.{0,2}[/\\]|^~\/|^[A-Za-z]:\\|^v?\d+(\.\d+)+$|^\d{4}-\d\d-\d\d|\w\(|\.\w+\.|^\w+\.(?:\w{1,5})$|^[a-z]+[A-Z][a-zA-Z]*$|^(?:[A-Z]{1,4}[a-z]{2,})+(?:\$\d)?$|^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$]+)+$|\w\[\d+\]\./.test(
    value,
  )
}
