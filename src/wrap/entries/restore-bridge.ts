import {
  type ConfigEdit,
  findConfigMember,
  configRangeOf,
  removeConfigMembers,
  type FormattedPair,
  findConfigMembers,
  renameConfigKey,
} from '../configs/config-edits.ts'
import type { ConfigFormat, ConfigEntry, ConfigMember, ConfigToken } from '../configs/config-format.ts'
import { parseBridgeArgs, type ParsedBridgeArgs } from './bridge-entry.ts'
import { BEARER_TOKEN_KEY, HEADER_VARIABLES_KEY } from './remote-entry.ts'

interface BridgeRestoreRequest {
  readonly text: string
  readonly entry: ConfigEntry
  readonly format: ConfigFormat
  /** The original entry, if it is known. */
  readonly was: string | undefined
}

/** Removes a bridge by parsing its arguments. Returns `undefined` if they no longer contain the server's address. */
export function inferBridgeUnwrapEdits(back: BridgeRestoreRequest): readonly ConfigEdit[] | undefined {
  const { text, entry, format, was = '' } = back
  const { members, link } = entry
  const [command, args] = [findConfigMember(members, 'command'), findConfigMember(members, 'args')]
  if (command === undefined || args === undefined || link.kind !== 'command') return undefined
  const words = parseBridgeArgs(link.args?.items ?? [])
  const env = restoreEnv(back, words)
  const url = words.url ?? env.url
  if (url === undefined) return undefined
  const key = /(httpUrl|serverUrl|url)["']?\s*[:=]/.exec(was)?.[1] ?? 'url'
  const now: readonly FormattedPair[] = [
    [key, text.slice(url.start, url.end)],
    ...formatInlineTable(format, format.headersKey, env.headers),
    ...restoreVariables(words, format),
  ]
  return [
    { ...command.whole, text: format.formatMembers(text, command, now) },
    ...removeConfigMembers(text, members, [args, ...env.spent]),
    ...env.edits,
    ...restoreType(members, was, format),
    ...restoreEnvVars(back, words),
  ]
}

function formatInlineTable(
  { formatPair }: ConfigFormat,
  key: string,
  pairs: readonly FormattedPair[],
): readonly FormattedPair[] {
  if (pairs.length === 0) return []
  return [[key, `{ ${pairs.map(([name, value]) => formatPair(name, value)).join(', ')} }`]]
}

function restoreVariables(
  { variables, token }: ParsedBridgeArgs,
  format: ConfigFormat,
): readonly FormattedPair[] {
  const pairs = variables.map(({ name, variable }) => [name, format.quote(variable)] as const)
  return [
    ...formatInlineTable(format, HEADER_VARIABLES_KEY, pairs),
    ...(token === undefined ? [] : [[BEARER_TOKEN_KEY, format.quote(token)] as const]),
  ]
}

function restoreType(
  members: readonly ConfigMember[],
  was: string,
  { quote }: ConfigFormat,
): readonly ConfigEdit[] {
  const type = findConfigMember(members, 'type')
  const before = /type["']?\s*[:=]\s*["']([^"']+)/.exec(was)?.[1] ?? 'http'
  return type === undefined ? [] : [{ ...configRangeOf(type.value), text: quote(before) }]
}

/** Removes the variables that were listed for the bridge; others stay. */
function restoreEnvVars(
  { text, entry }: BridgeRestoreRequest,
  { variables, token }: ParsedBridgeArgs,
): readonly ConfigEdit[] {
  const passed = findConfigMember(entry.members, 'env_vars')
  if (passed === undefined) return []
  const ours = new Set([token, ...variables.map(({ variable }) => variable)])
  const spelled = text.slice(passed.value.start, passed.value.end).match(/"[^"]*"|'[^']*'/g) ?? []
  const others = spelled.filter((word) => !ours.has(word.slice(1, -1)))
  if (others.length === 0) return removeConfigMembers(text, entry.members, [passed])
  return [{ ...configRangeOf(passed.value), text: `[${others.join(', ')}]` }]
}

/** The changes to the `env` of a bridge. */
interface EnvRestoration {
  readonly url: ConfigToken | undefined
  /** Headers to write again, by name, with their values unchanged. */
  readonly headers: readonly FormattedPair[]
  readonly edits: readonly ConfigEdit[]
  /** Members to remove entirely. */
  readonly spent: readonly ConfigMember[]
}

/**
 * An `env` that contains only headers becomes the header table again, with its comments. From any other, the headers are
 * removed.
 */
function restoreEnv(back: BridgeRestoreRequest, words: ParsedBridgeArgs): EnvRestoration {
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

/** Removes a table that would be left empty. */
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
