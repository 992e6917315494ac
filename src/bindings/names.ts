import type { LocationStep } from './binding.ts'
import type { JsonPath } from '../json/path.ts'

/** The words that describe a value: its own name, and the names around it. */
export interface LocationNames {
  /** Words of the name of the leaf: `issueId` becomes `issue`, `id`. */
  readonly own: readonly string[]
  /** Words of the members above it and of the tool or method. */
  readonly around: readonly string[]
}

/** `same`: both names mean the same thing. `related`: both could name a handle. */
export type NameRelation = 'same' | 'related' | 'none'

export function relateNames(producer: LocationNames, consumer: LocationNames): NameRelation {
  if (isNextName(producer.own, consumer.own)) return 'same'
  if (VALUE_WORDS.has(consumer.own.at(-1) ?? '')) return 'none'
  if (!isIdentifierName(producer) && !isEntityName(producer, consumer)) return 'none'
  if (meanTheSame(producer, consumer)) return 'same'
  return isIdentifierName(consumer) ? 'related' : 'none'
}

/** Returns true if both names end in the same word, unless it names a choice or a quantity. */
export function endInSameWord(producer: LocationNames, consumer: LocationNames): boolean {
  const last = consumer.own.at(-1) ?? ''
  return last !== '' && last === producer.own.at(-1) && !VALUE_WORDS.has(last)
}

/** Splits a name into words, in singular and lower case. */
export function nameWords(name: string): readonly string[] {
  const words = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').match(/\p{L}+/gu) ?? []
  return words.map((word) => singular(word.toLowerCase()))
}

/** Returns true if the last word of the name indicates an identifier. */
export function isIdentifierName({ own }: LocationNames): boolean {
  return IDENTIFIER_WORDS.has(own.at(-1) ?? '')
}

/** Returns true if the last word of the name indicates a quantity or a choice among few values. */
export function isQuantityName({ own }: LocationNames): boolean {
  const last = own.at(-1) ?? ''
  return VALUE_WORDS.has(last) || COUNTER_WORDS.has(last)
}

const IDENTIFIER_WORDS: ReadonlySet<string> = new Set(
  'id uid uuid guid key name slug uri url href link path file filename folder directory handle token cursor ref reference sha hash number num no revision rev etag branch login username email session task job ticket'.split(
    ' ',
  ),
)

const GENERIC_WORDS: ReadonlySet<string> = new Set(
  'get list create add make new update set delete remove read fetch find search open close start stop next page param argument result structured content text item data'.split(
    ' ',
  ),
)

// `nextOffset` is sent back as `offset`, `next_page` as `page`.
function isNextName(producer: readonly string[], consumer: readonly string[]): boolean {
  const [first, ...rest] = producer
  return first === 'next' && rest.length > 0 && rest.at(-1) === consumer.at(-1)
}

// `issueId` means the `id` of an issue, and `project` the `key` of a project. A mere `id` means the `id` in the response of a tool
// with a similar name.
function meanTheSame(producer: LocationNames, consumer: LocationNames): boolean {
  const entity = consumer.own.filter((word) => !IDENTIFIER_WORDS.has(word))
  const known = new Set([...producer.own, ...producer.around])
  const handles = consumer.own.filter((word) => IDENTIFIER_WORDS.has(word))
  if (handles.length > 0 && !handles.some((word) => isSameIdentifierKind(word, producer.own))) return false
  if (entity.length > 0) return entity.every((word) => known.has(word))
  return consumer.around.some((word) => !GENERIC_WORDS.has(word) && known.has(word))
}

function isSameIdentifierKind(word: string, producer: readonly string[]): boolean {
  const last = producer.at(-1) ?? ''
  return last === word || (ID_WORDS.has(word) && ID_WORDS.has(last)) || !IDENTIFIER_WORDS.has(last)
}

const ID_WORDS: ReadonlySet<string> = new Set([
  'id',
  'uid',
  'uuid',
  'guid',
  'key',
  'number',
  'num',
  'no',
  'ref',
])

// `{"project": "apollo"}` names a project by itself.
function isEntityName(producer: LocationNames, consumer: LocationNames): boolean {
  const last = producer.own.at(-1) ?? ''
  return last !== '' && !VALUE_WORDS.has(last) && isIdentifierName(consumer) && consumer.own.includes(last)
}

// Names of choices and quantities, whose values repeat by chance.
const VALUE_WORDS: ReadonlySet<string> = new Set(
  'status state type kind level priority sort format count total limit size max min amount page offset'.split(
    ' ',
  ),
)

const COUNTER_WORDS: ReadonlySet<string> = new Set([
  'n',
  'i',
  'index',
  'position',
  'step',
  'round',
  'attempt',
])

function singular(word: string): string {
  if (word.length < 4 || word.endsWith('ss') || word.endsWith('us')) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.endsWith('s') ? word.slice(0, -1) : word
}

/** Collects the names of a value from its path. `subjectWords` are the words of the tool or method of its turn. */
export function namesAtLocation(
  path: JsonPath,
  inside: readonly LocationStep[],
  subjectWords: readonly string[],
): LocationNames {
  const keys = [
    ...path.slice(1),
    ...inside.flatMap((step) => (step.kind === 'json' ? step.path : [])),
  ].filter((step) => typeof step === 'string')
  const own = keys.at(-1) ?? ''
  const above = keys.slice(0, -1).flatMap(nameWords)
  return { own: nameWords(own), around: [...above, ...subjectWords] }
}

/** A value inside a text is named by the words before it, or else by the name of the text. */
export function namesFromLabel(outer: LocationNames, label: readonly string[]): LocationNames {
  const words = label.flatMap(nameWords)
  return words.length === 0 ? outer : { own: words, around: [...outer.own, ...outer.around] }
}
