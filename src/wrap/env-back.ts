import type { BridgeBack } from './bridge-back.ts'
import type { BridgeWords } from './bridge-words.ts'
import type { Member, Word } from './config-format.ts'
import type { Edit } from './edit.ts'
import { allNamed, renamed, without, type Pair } from './member-edits.ts'

/** What is to become of the `env` of a bridge. */
export interface EnvBack {
  readonly url: Word | undefined
  /** Headers that must be written anew, by name, with values as they are spelled. */
  readonly headers: readonly Pair[]
  readonly edits: readonly Edit[]
  /** What goes as a whole. */
  readonly spent: readonly Member[]
}

/** An `env` that holds nothing but headers becomes their table again, with its comments; from any other they are taken out. */
export function envBack(back: BridgeBack, words: BridgeWords): EnvBack {
  const { text, entry } = back
  const tables = allNamed(entry.members, ['env'])
  const members = tables.flatMap(({ inside = [] }) => inside)
  const names = new Map(words.headers.map(({ name, variable }) => [variable, name]))
  const headers = members.flatMap((member) => {
    const name = names.get(member.key.value ?? '')
    return name === undefined ? [] : [{ name, member }]
  })
  const url = members.find(({ key }) => key.value !== undefined && key.value === words.urlVariable)
  const urls = url === undefined ? [] : [url]
  if (headers.length > 0 && headers.length + urls.length === members.length)
    return { url: url?.value, headers: [], ...asHeaders(back, { tables, headers, urls }) }
  const gone = [...headers.map(({ member }) => member), ...urls]
  return {
    url: url?.value,
    headers: headers.map(({ name, member: { value } }) => [name, text.slice(value.start, value.end)]),
    ...takenOut(text, tables, gone),
  }
}

interface HeaderTables {
  readonly tables: readonly Member[]
  readonly headers: readonly { readonly name: string; readonly member: Member }[]
  readonly urls: readonly Member[]
}

function asHeaders(
  { text, format }: BridgeBack,
  { tables, headers, urls }: HeaderTables,
): Pick<EnvBack, 'edits' | 'spent'> {
  const { edits, spent } = takenOut(text, tables, urls)
  const kept = tables.filter((table) => !spent.includes(table))
  return {
    spent,
    edits: [
      ...edits,
      ...kept.map(({ key }) => renamed(text, key, format.headersKey, format)),
      ...headers.map(({ name, member }) => renamed(text, member.key, name, format)),
    ],
  }
}

/** A table that is left empty goes as a whole. */
function takenOut(
  text: string,
  tables: readonly Member[],
  gone: readonly Member[],
): Pick<EnvBack, 'edits' | 'spent'> {
  const isLeft = (member: Member): boolean => !gone.includes(member)
  const spent = tables.filter(({ inside = [] }) => inside.length > 0 && !inside.some(isLeft))
  const kept = tables.filter((table) => !spent.includes(table))
  return { spent, edits: kept.flatMap(({ inside = [] }) => without(text, inside, gone)) }
}
