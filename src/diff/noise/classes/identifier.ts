import { areStrings, type ClassKind, type ValueClass } from './value-class.ts'

/** Words and ids with a fixed prefix, and characters of one alphabet after it. */
export const identifier: ClassKind = {
  name: 'id',
  infer: (values) => {
    if (!areStrings(values) || !values.every((value) => ID.test(value))) return undefined
    // Words at random, such as names of regions, may begin alike by chance.
    const areWords = values.every((value) => WORDS.test(value))
    const prefix = areWords ? '' : commonPrefix(values)
    const unprefixed = values.map((value) => value.slice(prefix.length))
    const suffix = areWords ? '' : commonSuffix(unprefixed)
    const rests = unprefixed.map((value) => value.slice(0, value.length - suffix.length))
    const alphabet = alphabetOf(rests)
    if (alphabet === undefined) return undefined
    const lengths = rests.map(({ length }) => length)
    const [least, most] = [Math.min(...lengths), Math.max(...lengths)]
    const isMixed = least >= FEWEST_OF_MIXED_CASE && rests.every((rest) => hasBothCases(rest))
    return idClass({ prefix, suffix, alphabet, least, most, isMixed })
  },
  read: (written) => {
    const name = written.text('alphabet')
    const alphabet = ALPHABETS.find((one) => one.name === name)
    if (alphabet === undefined)
      throw written.invalid('alphabet', `is not one of ${ALPHABETS.map((one) => one.name).join('; ')}`)
    return idClass({
      prefix: written.has('prefix') ? written.text('prefix') : '',
      suffix: written.has('suffix') ? written.text('suffix') : '',
      alphabet,
      least: written.number('shortest'),
      most: written.number('longest'),
      isMixed: written.flag('both cases'),
    })
  },
}

interface IdShape {
  readonly prefix: string
  readonly suffix: string
  readonly alphabet: Alphabet
  /** The fewest and the most characters between prefix and suffix in the samples. */
  readonly least: number
  readonly most: number
  /** Long ids that all have upper and lower case letters. */
  readonly isMixed: boolean
}

function idClass({ prefix, suffix, alphabet, least, most, isMixed }: IdShape): ValueClass {
  const isFixedLength = least === most && most >= FEWEST_OF_FIXED_LENGTH
  // Encoded values, such as base64 of JSON, often have about the same length.
  const slack = ALPHABETS.indexOf(alphabet) < MIXED_CASE ? 0 : Math.ceil(most / 4)
  const [shortest, longest] = isFixedLength
    ? [least - slack, most + slack]
    : [Math.min(1, least), most * 2 + 2]
  return {
    text: `id ${prefix === '' ? '' : `${JSON.stringify(prefix)} and `}${least === most ? least : `${least} to ${most}`} of ${alphabet.name}${suffix === '' ? '' : ` and ${JSON.stringify(suffix)}`}`,
    written: {
      is: 'id',
      ...(prefix !== '' && { prefix }),
      ...(suffix !== '' && { suffix }),
      ...(isMixed && { 'both cases': true }),
      alphabet: alphabet.name,
      shortest: least,
      longest: most,
    },
    accepts: (value) => {
      if (typeof value !== 'string' || !value.startsWith(prefix) || !value.endsWith(suffix)) return false
      const rest = value.slice(prefix.length, value.length - suffix.length)
      if (isMixed && !hasBothCases(rest)) return false
      return rest.length >= shortest && rest.length <= longest && alphabet.pattern.test(rest)
    },
  }
}

const ID = /^(?:data:[\w/+.-]{1,60};base64,)?[\p{L}\p{N}_.:/+=~-]{1,500}$/u

const WORDS = /^[\p{L}_.:/-]*$/u

/** Shorter ids may have letters of one case by chance. */
const FEWEST_OF_MIXED_CASE = 24

function hasBothCases(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text)
}

/** Short words often have the same length by chance. */
const FEWEST_OF_FIXED_LENGTH = 6

/**
 * Ends at a separator, because random characters may begin alike, and before a digit, because a part with digits may be random too. The address of
 * a port, and the type of encoded data, are fixed.
 */
function commonPrefix(values: readonly string[]): string {
  const [first = '', ...others] = values
  const address = /^(?:(?:\d{1,3}\.){3}\d{1,3}:|data:[^,]+,)/.exec(first)?.[0]
  if (address !== undefined && others.every((other) => other.startsWith(address))) return address
  let end = 0
  while (
    end < first.length &&
    !/\d/.test(first[end] ?? '') &&
    others.every((other) => other[end] === first[end])
  )
    end++
  const cut = Math.max(
    ...['-', '_', '.', ':', '/', '='].map((separator) => first.lastIndexOf(separator, end - 1)),
  )
  return end === 0 || cut >= end ? '' : first.slice(0, cut + 1)
}

/** Begins at a separator. A part with many digits may be a date or a count, which changes slowly. */
function commonSuffix(values: readonly string[]): string {
  const [first = '', ...others] = values
  let length = 0
  while (length < first.length && others.every((other) => other.at(-1 - length) === first.at(-1 - length)))
    length++
  const shortest = Math.min(...values.map((value) => value.length))
  const common = first.slice(first.length - Math.min(length, shortest))
  const suffix = /[-.:/].*[\p{L}\p{N}]{2,}$/u.exec(common)?.[0] ?? ''
  return (suffix.match(/\d/g)?.length ?? 0) > MOST_FIXED_DIGITS ? '' : suffix
}

const MOST_FIXED_DIGITS = 2

interface Alphabet {
  readonly name: string
  readonly pattern: RegExp
}

const ALPHABETS: readonly Alphabet[] = [
  { name: '0-9', pattern: /^[0-9]*$/ },
  { name: '0-9a-f', pattern: /^[0-9a-f]*$/ },
  { name: '0-9A-F', pattern: /^[0-9A-F]*$/ },
  { name: 'a-z', pattern: /^[a-z]*$/ },
  { name: 'a-z0-9', pattern: /^[a-z0-9]*$/ },
  { name: 'A-Z0-9', pattern: /^[A-Z0-9]*$/ },
  { name: 'letters and digits', pattern: /^[\p{L}\p{N}]*$/u },
  { name: 'letters, digits, - and _', pattern: /^[\p{L}\p{N}_-]*$/u },
  { name: 'letters, digits and punctuation', pattern: /^[\p{L}\p{N}_.:/+=~-]*$/u },
]

// With fewer characters, an id of a large alphabet may look like one of a small alphabet.
const FEWEST_CHARACTERS = 24
/** Base64 has only two characters besides letters and digits, so that even several ids may have none of them. */
const SURELY_WITHOUT_PUNCTUATION = 300

function alphabetOf(rests: readonly string[]): Alphabet | undefined {
  const at = ALPHABETS.findIndex(({ pattern }) => rests.every((rest) => pattern.test(rest)))
  if (at < 0) return undefined
  const characters = rests.join('').length
  if (at >= MIXED_CASE && characters < SURELY_WITHOUT_PUNCTUATION) return ALPHABETS.at(-1)
  if (characters >= FEWEST_CHARACTERS || ALPHABETS[at]?.name === 'a-z') return ALPHABETS[at]
  return ALPHABETS.slice(Math.max(at, 4)).find(({ pattern }) => rests.every((rest) => pattern.test(rest)))
}

const MIXED_CASE = ALPHABETS.findIndex(({ name }) => name === 'letters and digits')
