import type { LocationStep } from './binding.ts'
import type { JsonPath } from '../json/path.ts'

/** The names around a value: its own, and those of what holds it. */
export interface LocationNames {
  /** Words of the name of the leaf: `issueId` is issue, id. */
  readonly own: readonly string[]
  /** Words of what holds it and of what was asked: members above it, the tool, the segment before it. */
  readonly around: readonly string[]
}

/** `same` when both names mean one thing, `kin` when both could name a handle, else `none`. */
export type NameRelation = 'same' | 'kin' | 'none'

export function relateNames(producer: LocationNames, consumer: LocationNames): NameRelation {
  if (isNextName(producer.own, consumer.own)) return 'same'
  if (VALUE_WORDS.has(consumer.own.at(-1) ?? '')) return 'none'
  if (!isIdentifierName(producer) && !isEntityName(producer, consumer)) return 'none'
  if (meanTheSame(producer, consumer)) return 'same'
  return isIdentifierName(consumer) ? 'kin' : 'none'
}

/** Whether both go by the same word, and it is no word for a choice or a quantity. */
export function endInSameWord(producer: LocationNames, consumer: LocationNames): boolean {
  const last = consumer.own.at(-1) ?? ''
  return last !== '' && last === producer.own.at(-1) && !VALUE_WORDS.has(last)
}

/** The words of a name, singular and in lower case. */
export function nameWords(name: string): readonly string[] {
  const words = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').match(/\p{L}+/gu) ?? []
  return words.map((word) => singular(word.toLowerCase()))
}

/** Whether the last word of a name says that its value picks one thing out of many. */
export function isIdentifierName({ own }: LocationNames): boolean {
  return IDENTIFIER_WORDS.has(own.at(-1) ?? '')
}

/** Whether the last word of a name says that its value is counted or picked from few. */
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

// `issueId` means the `id` of an issue, `project` the `key` of a project, `id` the `id` in the answer to a like tool.
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

// Names of choices and quantities: their values are picked from few, or counted.
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

/** The names around a value: the member that holds it and those above, and the words of the tool that it went to or came from. */
export function namesAtLocation(
  path: JsonPath,
  inside: readonly LocationStep[],
  about: readonly string[],
): LocationNames {
  const keys = [
    ...path.slice(1),
    ...inside.flatMap((lens) => (lens.kind === 'json' ? lens.path : [])),
  ].filter((step) => typeof step === 'string')
  const own = keys.at(-1) ?? ''
  const above = keys.slice(0, -1).flatMap(nameWords)
  return { own: nameWords(own), around: [...above, ...about] }
}

/** A value inside a text is named by the words before it; where there are none, by the name of the text. */
export function namesFromLabel(outer: LocationNames, label: readonly string[]): LocationNames {
  const words = label.flatMap(nameWords)
  return words.length === 0 ? outer : { own: words, around: [...outer.own, ...outer.around] }
}
