/** The names around a value: its own, and those of what holds it. */
export interface Names {
  /** Words of the name of the leaf: `issueId` is issue, id. */
  readonly own: readonly string[]
  /** Words of what holds it and of what was asked: members above it, the tool, the segment before it. */
  readonly around: readonly string[]
}

/** `same` when both names mean one thing, `kin` when both could name a handle, else `none`. */
export type Family = 'same' | 'kin' | 'none'

export function familyOf(producer: Names, consumer: Names): Family {
  if (isNext(producer.own, consumer.own)) return 'same'
  if (VALUE_WORDS.has(consumer.own.at(-1) ?? '')) return 'none'
  if (!namesHandle(producer) && !isEntity(producer, consumer)) return 'none'
  if (meansTheSame(producer, consumer)) return 'same'
  return namesHandle(consumer) ? 'kin' : 'none'
}

/** Whether both go by the same word, and it is no word for a choice or a quantity. */
export function isSameWord(producer: Names, consumer: Names): boolean {
  const last = consumer.own.at(-1) ?? ''
  return last !== '' && last === producer.own.at(-1) && !VALUE_WORDS.has(last)
}

/** The words of a name, singular and in lower case. */
export function wordsOf(name: string): readonly string[] {
  const words = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').match(/\p{L}+/gu) ?? []
  return words.map((word) => singular(word.toLowerCase()))
}

/** Whether the last word of a name says that its value picks one thing out of many. */
export function namesHandle({ own }: Names): boolean {
  return IDENTITY.has(own.at(-1) ?? '')
}

/** Whether the last word of a name says that its value is counted or picked from few. */
export function namesQuantity({ own }: Names): boolean {
  const last = own.at(-1) ?? ''
  return VALUE_WORDS.has(last) || COUNTERS.has(last)
}

const IDENTITY: ReadonlySet<string> = new Set(
  'id uid uuid guid key name slug uri url href link path file filename folder directory handle token cursor ref reference sha hash number num no revision rev etag branch login username email session task job ticket'.split(
    ' ',
  ),
)

const VERBS: ReadonlySet<string> = new Set(
  'get list create add make new update set delete remove read fetch find search open close start stop next page param argument result structured content text item data'.split(
    ' ',
  ),
)

// `nextOffset` is sent back as `offset`, `next_page` as `page`.
function isNext(producer: readonly string[], consumer: readonly string[]): boolean {
  const [first, ...rest] = producer
  return first === 'next' && rest.length > 0 && rest.at(-1) === consumer.at(-1)
}

// `issueId` means the `id` of an issue, `project` the `key` of a project, `id` the `id` in the answer to a like tool.
function meansTheSame(producer: Names, consumer: Names): boolean {
  const entity = consumer.own.filter((word) => !IDENTITY.has(word))
  const known = new Set([...producer.own, ...producer.around])
  const handles = consumer.own.filter((word) => IDENTITY.has(word))
  if (handles.length > 0 && !handles.some((word) => isLikeHandle(word, producer.own))) return false
  if (entity.length > 0) return entity.every((word) => known.has(word))
  return consumer.around.some((word) => !VERBS.has(word) && known.has(word))
}

function isLikeHandle(word: string, producer: readonly string[]): boolean {
  const last = producer.at(-1) ?? ''
  return last === word || (IDS.has(word) && IDS.has(last)) || !IDENTITY.has(last)
}

const IDS: ReadonlySet<string> = new Set(['id', 'uid', 'uuid', 'guid', 'key', 'number', 'num', 'no', 'ref'])

// `{"project": "apollo"}` names a project by itself.
function isEntity(producer: Names, consumer: Names): boolean {
  const last = producer.own.at(-1) ?? ''
  return last !== '' && !VALUE_WORDS.has(last) && namesHandle(consumer) && consumer.own.includes(last)
}

// Names of choices and quantities: their values are picked from few, or counted.
const VALUE_WORDS: ReadonlySet<string> = new Set(
  'status state type kind level priority sort format count total limit size max min amount page offset'.split(
    ' ',
  ),
)

const COUNTERS: ReadonlySet<string> = new Set(['n', 'i', 'index', 'position', 'step', 'round', 'attempt'])

function singular(word: string): string {
  if (word.length < 4 || word.endsWith('ss') || word.endsWith('us')) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.endsWith('s') ? word.slice(0, -1) : word
}
