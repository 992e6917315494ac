import {
  type ConfigEdit,
  applyEditsInRange,
  findConfigMember,
  configRangeOf,
  removeConfigMembers,
  type FormattedPair,
  insertPairsAtStart,
  renameConfigKey,
  type ConfigFormat,
  type ConfigEntry,
  type ConfigMember,
  type ConfigToken,
  findConfigMembers,
} from '../configs/config-format.ts'
import { recorderArgs, type ReversibleEdit, type RecorderProgram } from './command-entry.ts'
import {
  readRemoteEntry,
  type RemoteEntry,
  urlMayContainSecret,
  type HeaderVariable,
  BEARER_TOKEN_KEY,
  HEADER_VARIABLES_KEY,
} from './remote-entry.ts'

interface BridgeEditRequest {
  readonly text: string
  readonly entry: ConfigEntry
  readonly format: ConfigFormat
  readonly recorder: RecorderProgram
  readonly tape: string
}

/**
 * The edit that replaces a `url` with a bridge. Headers become environment variables whose values are copied unchanged, so
 * that the client still expands them and no token appears among the arguments. Returns a reason if that is not possible.
 */
export function bridgeEdit(request: BridgeEditRequest): ReversibleEdit | string {
  const { text, entry, format } = request
  const remote = readRemoteEntry(entry, format)
  if (typeof remote === 'string') return remote
  const { span, members, url, obsoleteMembers } = remote
  const env = planBridgeEnv(text, remote, format)
  const edits = [
    { ...url.whole, text: format.formatMembers(text, url, commandMembers(request, remote, env)) },
    ...editTypeMember(members, format),
    ...removeConfigMembers(text, members, [...obsoleteMembers, ...env.obsoleteMembers]),
    ...env.edits,
  ]
  return { at: 'entry', was: text.slice(span.start, span.end), now: applyEditsInRange(text, span, edits) }
}

function commandMembers(
  request: BridgeEditRequest,
  remote: RemoteEntry,
  env: BridgeEnv,
): readonly FormattedPair[] {
  const { format, recorder } = request
  const { token, variables } = remote
  const passed = [...(token === undefined ? [] : [token]), ...variables.map(({ variable }) => variable)]
  return [
    ['command', format.quote(recorder.node)],
    ['args', formatList(formatBridgeArgs(request, remote, env))],
    ...env.members,
    // Codex passes a command only the variables that the entry lists.
    ...(passed.length === 0
      ? []
      : [['env_vars', formatList([...new Set(passed)].map(format.quote))] as const]),
  ]
}

function formatBridgeArgs(
  { text, entry, format, recorder, tape }: BridgeEditRequest,
  { url, headers, variables, token }: RemoteEntry,
  env: BridgeEnv,
): readonly string[] {
  const words = [
    ...headers.flatMap(({ name }, at) => ['--header-env', `${name}=${env.headers[at]?.[0]}`]),
    // As in Codex, a header whose variable is not set is not sent.
    ...variables.flatMap(({ name, variable }) => ['--header-env', `${name}=${variable}?`]),
    ...(token === undefined ? [] : ['--header', `Authorization: Bearer \${env.${token}}`]),
    tape,
  ]
  const where =
    env.url === undefined
      ? [format.quote('--url'), text.slice(url.value.start, url.value.end)]
      : ['--url-env', env.url[0]].map(format.quote)
  const start = recorderArgs(recorder, ['record', '--numbered', '--bridge', '--server', entry.server])
  return [...start.map(format.quote), ...where, ...words.map(format.quote)]
}

function formatList(words: readonly string[]): string {
  return `[${words.join(', ')}]`
}

function editTypeMember(members: readonly ConfigMember[], { quote }: ConfigFormat): readonly ConfigEdit[] {
  const type = findConfigMember(members, 'type')
  return type === undefined ? [] : [{ ...configRangeOf(type.value), text: quote('stdio') }]
}

/** The variables that a bridge reads, and the edits that put them into the `env` of its entry. */
interface BridgeEnv {
  /** The variable for the URL, if the URL may contain a secret. */
  readonly url: FormattedPair | undefined
  /** One variable for each header, with its value unchanged. */
  readonly headers: readonly FormattedPair[]
  /** A new `env` member for the entry. */
  readonly members: readonly FormattedPair[]
  readonly edits: readonly ConfigEdit[]
  readonly obsoleteMembers: readonly ConfigMember[]
}

/** The header table becomes the `env` in place, with its comments. If there is an `env` already, the headers go there. */
function planBridgeEnv(text: string, remote: RemoteEntry, format: ConfigFormat): BridgeEnv {
  const { url, headers } = bridgeVariables(text, remote)
  const urls = url === undefined ? [] : [url]
  const { env, headerTables } = remote
  const [table] = headerTables
  if (env.length === 0 && table !== undefined && table.isDotted !== true) {
    const renames = [
      renameConfigKey(text, table.key, 'env', format),
      ...remote.headers.map(({ key }, at) => renameConfigKey(text, key, headers[at]?.[0] ?? '', format)),
    ]
    const edits = [...renames, ...insertPairs(text, table, urls, format)]
    return { url, headers, members: [], edits, obsoleteMembers: [] }
  }
  const pairs = [...urls, ...headers]
  const members = env.length === 0 ? formatInlineTable(format, 'env', pairs) : []
  return {
    url,
    headers,
    members,
    edits: insertPairs(text, env[0], pairs, format),
    obsoleteMembers: headerTables,
  }
}

function bridgeVariables(
  text: string,
  { url, headers, env }: RemoteEntry,
): Pick<BridgeEnv, 'url' | 'headers'> {
  const taken = new Set(env.flatMap(({ inside = [] }) => inside.map(({ key }) => key.value)))
  const free = (name: string): string => (taken.has(name) ? free(`${name}_`) : name)
  const spelled = ({ value: { start, end } }: Pick<ConfigMember, 'value'>): string => text.slice(start, end)
  return {
    url: urlMayContainSecret(url.value.value ?? '') ? [free('REELAY_URL'), spelled(url)] : undefined,
    headers: headers.map((header, index) => [free(`REELAY_HEADER_${index + 1}`), spelled(header)]),
  }
}

function insertPairs(
  text: string,
  table: ConfigMember | undefined,
  pairs: readonly FormattedPair[],
  format: ConfigFormat,
): readonly ConfigEdit[] {
  return table === undefined || pairs.length === 0 ? [] : [insertPairsAtStart(text, table, pairs, format)]
}

/** The parsed arguments of a bridge: the server's address and the headers to send. */
export interface ParsedBridgeArgs {
  readonly url: ConfigToken | undefined
  readonly urlVariable: string | undefined
  /** Headers from the config, each with the bridge's variable that contains it. */
  readonly headers: readonly HeaderVariable[]
  /** Headers from the client's variables, which may not be set. */
  readonly variables: readonly HeaderVariable[]
  /** The client's variable that contains a bearer token. */
  readonly token: string | undefined
  /** Headers written as `Name: value`. */
  readonly literalHeaders: readonly string[]
}

/** Parses the arguments of an entry that starts a bridge. */
export function parseBridgeArgs(words: readonly ConfigToken[]): ParsedBridgeArgs {
  const after = (option: string): readonly ConfigToken[] =>
    words.flatMap(({ value }, at) => (value === option ? (words[at + 1] ?? []) : []))
  const texts = (option: string): readonly string[] => after(option).map(({ value }) => value ?? '')
  const headers = texts('--header-env').map(parseHeaderEnv)
  const literalHeaders = texts('--header')
  const tokens = literalHeaders.map((text) => BEARER_HEADER_PATTERN.exec(text)?.[1])
  return {
    url: after('--url').at(-1),
    urlVariable: texts('--url-env').at(-1),
    headers: headers.filter(({ mayBeMissing }) => !mayBeMissing),
    variables: headers.filter(({ mayBeMissing }) => mayBeMissing),
    token: tokens.find((token) => token !== undefined),
    literalHeaders,
  }
}

const BEARER_HEADER_PATTERN = /^Authorization: Bearer \$\{env\.(.+)\}$/

function parseHeaderEnv(text: string): HeaderVariable & { readonly mayBeMissing: boolean } {
  const [, name = '', variable = '', mark] = /^([^=]*)=(.*?)(\?)?$/.exec(text) ?? []
  return { name, variable, mayBeMissing: mark !== undefined }
}

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
