import type { BridgeRestoreRequest } from './entries/restore-bridge.ts'
import type { ParsedBridgeArgs } from './bridge-words.ts'
import type { ConfigMember, ConfigToken } from './configs/config-format.ts'
import type { ConfigEdit } from './configs/config-edits.ts'
import {
  findConfigMembers,
  renameConfigKey,
  removeConfigMembers,
  type FormattedPair,
} from './member-edits.ts'

/** What is to become of the `env` of a bridge. */
export interface EnvRestoration {
  readonly url: ConfigToken | undefined
  /** Headers that must be written anew, by name, with values as they are spelled. */
  readonly headers: readonly FormattedPair[]
  readonly edits: readonly ConfigEdit[]
  /** What goes as a whole. */
  readonly spent: readonly ConfigMember[]
}

/** An `env` that holds nothing but headers becomes their table again, with its comments; from any other they are taken out. */
export function restoreEnv(back: BridgeRestoreRequest, words: ParsedBridgeArgs): EnvRestoration {
  const { text, entry } = back
  const tables = findConfigMembers(entry.members, ['env'])
  const members = tables.flatMap(({ inside = [] }) => inside)
  const names = new Map(words.headers.map(({ name, variable }) => [variable, name]))
  const headers = members.flatMap((member) => {
    const name = names.get(member.key.value ?? '')
    return name === undefined ? [] : [{ name, member }]
  })
  const url = members.find(({ key }) => key.value !== undefined && key.value === words.urlVariable)
  const urls = url === undefined ? [] : [url]
  if (headers.length > 0 && headers.length + urls.length === members.length)
    return { url: url?.value, headers: [], ...renameEnvToHeaders(back, { tables, headers, urls }) }
  const gone = [...headers.map(({ member }) => member), ...urls]
  return {
    url: url?.value,
    headers: headers.map(({ name, member: { value } }) => [name, text.slice(value.start, value.end)]),
    ...removeFromTables(text, tables, gone),
  }
}

interface BridgeHeaderTables {
  readonly tables: readonly ConfigMember[]
  readonly headers: readonly { readonly name: string; readonly member: ConfigMember }[]
  readonly urls: readonly ConfigMember[]
}

function renameEnvToHeaders(
  { text, format }: BridgeRestoreRequest,
  { tables, headers, urls }: BridgeHeaderTables,
): Pick<EnvRestoration, 'edits' | 'spent'> {
  const { edits, spent } = removeFromTables(text, tables, urls)
  const kept = tables.filter((table) => !spent.includes(table))
  return {
    spent,
    edits: [
      ...edits,
      ...kept.map(({ key }) => renameConfigKey(text, key, format.headersKey, format)),
      ...headers.map(({ name, member }) => renameConfigKey(text, member.key, name, format)),
    ],
  }
}

/** A table that is left empty goes as a whole. */
function removeFromTables(
  text: string,
  tables: readonly ConfigMember[],
  gone: readonly ConfigMember[],
): Pick<EnvRestoration, 'edits' | 'spent'> {
  const isLeft = (member: ConfigMember): boolean => !gone.includes(member)
  const spent = tables.filter(({ inside = [] }) => inside.length > 0 && !inside.some(isLeft))
  const kept = tables.filter((table) => !spent.includes(table))
  return { spent, edits: kept.flatMap(({ inside = [] }) => removeConfigMembers(text, inside, gone)) }
}
