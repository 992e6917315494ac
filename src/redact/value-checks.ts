/** Whether a value behind a name that may mean a secret looks like one: long, with digits, and nothing like a word repeats. */
export function looksRandom(value: string): boolean {
  if (value.length < 10 || /\s/.test(value) || !/\d/.test(value)) return false
  if (/^\d+$/.test(value)) return value.length >= 16
  return /[A-Za-z]/.test(value) && entropyOf(value) >= MIN_ENTROPY && !isOrdinaryValue(value)
}

/** Whether a secret can be looked for everywhere without taking ordinary words for it. */
export function isDistinctive(value: string): boolean {
  if (value.length < 6 || isDummyValue(value)) return false
  return value.length >= 20 || (value.length >= 8 && /\d|[^\w\s]/.test(value)) || looksMixed(value)
}

/** The same for a value that somebody says is a secret, by the name of a variable or of an option: words will do, paths and switches will not. */
export function isPlausibleSecret(value: string): boolean {
  if (isDummyValue(value) || isOrdinaryValue(value)) return false
  return value.length >= 8 || (value.length >= 6 && /\d|[^\w\s]/.test(value))
}

/** What people write where a secret would stand. */
export function isDummyValue(value: string): boolean {
  return value.length < 2 || DUMMY_VALUE.test(value)
}

const MIN_ENTROPY = 2.8

const DUMMY_VALUE =
  /^(<.*>|\$\{.*\}|\{\{.*\}\}|\$[A-Z_]+|%[A-Z_]+%|\*+|x+|\.+|-+|null|none|undefined|true|false|yes|no|on|off|string|number|object|boolean|password|passwd|passphrase|secret|token|access_?token|refresh_?token|id_?token|api_?key|key|change_?me|example|sample|dummy|redacted|\[redacted\]|hidden|optional|required|your[-_ ].*|bearer|basic|oauth2?|test|admin|root|user|default)$/i

/** Times, addresses of resources and paths are long, have digits, and are no secrets. */
function isOrdinaryValue(value: string): boolean {
  return /^\d{4}-\d\d-\d\dT|^[a-z][a-z0-9+.-]*:\/\/|^\.{0,2}\/|^[A-Za-z]:\\|^v?\d+(\.\d+)+/.test(value)
}

function looksMixed(value: string): boolean {
  return (
    value.length >= 8 &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value.slice(1)) &&
    entropyOf(value) >= MIN_ENTROPY
  )
}

/** In bits a character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}
