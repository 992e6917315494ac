/**
 * How sure it is that two equal values are one: `strong` when nobody makes it up twice, `fair` when names must agree,
 * `weak` for small numbers and plain words, `none` for what can be no handle at all.
 */
type Distinctness = 'strong' | 'fair' | 'weak' | 'none'

export function distinctnessOf(value: string): Distinctness {
  if (NEVER.has(value)) return 'none'
  if (/^-?\d+(\.\d+)?$/.test(value)) return distinctnessOfNumber(value)
  if (value.length < SHORTEST) return 'none'
  return distinctnessOfText(value)
}

/** Whether a value is a number by its spelling. */
export function isNumericText(value: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(value)
}

const SHORTEST = 3
const NEVER: ReadonlySet<string> = new Set(['true', 'false', 'null', 'undefined', 'none', '0', ''])

function distinctnessOfNumber(value: string): Distinctness {
  const digits = value.replace(/\D/g, '')
  if (digits.endsWith('000') || isYear(value)) return 'weak'
  if (digits.length >= 6) return 'strong'
  return digits.length >= 4 ? 'fair' : 'weak'
}

function isYear(value: string): boolean {
  return /^(19|20)\d\d$/.test(value)
}

function distinctnessOfText(value: string): Distinctness {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return 'fair'
  if (/^#[0-9a-f]{3,8}$/i.test(value)) return 'weak'
  if (/^\d+(\.\d+){1,3}$|^\d{1,2}:\d\d(:\d\d)?$|^v?\d+(\.\d+)+$/.test(value)) return 'weak'
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value) || /^\/[^/\s]+(\/[^/\s]+)+\/?$/.test(value)) return 'strong'
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) return 'strong'
  if (/\s/.test(value)) return value.length >= 24 && /\d/.test(value) ? 'fair' : 'weak'
  return distinctnessOfWord(value)
}

function distinctnessOfWord(value: string): Distinctness {
  const [letters, digits] = [/\p{L}/u.test(value), /\d/.test(value)]
  if (letters && digits) return isNumberedName(value) ? 'fair' : strongWhenLong(value, 6)
  if (/\p{Ll}\p{Lu}/u.test(value) && !/[^\p{L}\p{N}+/=_-]/u.test(value) && value.length >= 12) return 'strong'
  if (digits) return strongWhenLong(value, 8)
  return /[-_./:#]/.test(value) ? 'fair' : 'weak'
}

// `item1`, `page-2`, `eu-west-1`, `gpt-4o-mini`, `sha256`: words with a number, and many things are called so.
function isNumberedName(value: string): boolean {
  return value.split(/[-_.:/ ]/).every((part) => part.length <= 3 || /^(\p{L}+\d{0,3}|\d{1,4})$/u.test(part))
}

function strongWhenLong(value: string, length: number): Distinctness {
  return value.length >= length ? 'strong' : 'fair'
}
