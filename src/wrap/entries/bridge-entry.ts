import {
  type ConfigEdit,
  applyEditsInRange,
  findConfigMember,
  configRangeOf,
  removeConfigMembers,
  type FormattedPair,
  insertPairsAtStart,
  renameConfigKey,
} from '../configs/config-edits.ts'
import type { ConfigFormat, ConfigEntry, ConfigMember, ConfigToken } from '../configs/config-format.ts'
import type { ReversibleEdit, RecorderProgram } from './command-entry.ts'
import {
  readRemoteEntry,
  type RemoteEntry,
  urlMayContainSecret,
  type HeaderVariable,
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
  const start = [recorder.program, 'record', '--bridge', '--server', entry.server]
  return [...start.map(format.quote), ...where, ...words.map(format.quote)]
}

function formatList(words: readonly string[]): string {
  return `[${words.join(', ')}]`
}

function editTypeMember(members: readonly ConfigMember[], { quote }: ConfigFormat): readonly ConfigEdit[] {
  const type = findConfigMember(members, 'type')
  return type === undefined ? [] : [{ ...configRangeOf(type.value), text: quote('stdio') }]
}

/** What a bridge reads from its environment, and how it gets into the `env` of its entry. */
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
  const members = env.length === 0 && pairs.length > 0 ? [newEnvMember(pairs, format)] : []
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

function newEnvMember(pairs: readonly FormattedPair[], { formatPair }: ConfigFormat): FormattedPair {
  return ['env', `{ ${pairs.map(([key, value]) => formatPair(key, value)).join(', ')} }`]
}

/** What the arguments of a bridge say: the server's address and the headers to send. */
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
