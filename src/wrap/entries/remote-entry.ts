import {
  findConfigMembers,
  findConfigMember,
  type ConfigFormat,
  type ConfigEntry,
  type ConfigMember,
  type ConfigRange,
  type ConfigToken,
} from '../configs/config-format.ts'

/** An entry with a `url`, as far as a bridge needs it. */
export interface RemoteEntry {
  readonly span: ConfigRange
  readonly members: readonly ConfigMember[]
  readonly url: ConfigMember
  /** Members with headers, and the headers in them. */
  readonly headerTables: readonly ConfigMember[]
  readonly headers: readonly EntryHeader[]
  /** The client's environment variables that contain header values. */
  readonly variables: readonly HeaderVariable[]
  /** The variable that contains a bearer token. */
  readonly token: string | undefined
  readonly env: readonly ConfigMember[]
  /** Members that have no meaning next to a command. */
  readonly obsoleteMembers: readonly ConfigMember[]
}

interface EntryHeader {
  readonly name: string
  readonly key: ConfigToken
  readonly value: ConfigToken
}

export interface HeaderVariable {
  readonly name: string
  readonly variable: string
}

/** In order of precedence. */
const URL_KEYS = ['httpUrl', 'url', 'serverUrl'] as const
export const HEADER_VARIABLES_KEY = 'env_http_headers'
export const BEARER_TOKEN_KEY = 'bearer_token_env_var'

/** Reads an entry that is to become a bridge, or explains why it cannot and what works instead. */
export function readRemoteEntry({ members, span }: ConfigEntry, format: ConfigFormat): RemoteEntry | string {
  const url = URL_KEYS.map((key) => findConfigMember(members, key)).find((member) => member !== undefined)
  if (span === undefined) return 'its tables are not next to each other in the file; move them together'
  if (url?.value.value === undefined) return 'its url is not a string'
  const headerTables = findConfigMembers(members, [format.headersKey])
  const [variableTables, token] = format.supportsHeaderVariables
    ? [findConfigMembers(members, [HEADER_VARIABLES_KEY]), findConfigMember(members, BEARER_TOKEN_KEY)]
    : [[], undefined]
  const env = findConfigMembers(members, ['env'])
  const headers = headersIn(headerTables)
  const variables = headersIn(variableTables)
  const why = bridgeObstacle({
    members,
    url: url.value.value,
    tables: [...headerTables, ...variableTables],
    env,
  })
  if (why !== undefined) return why
  const odd = [...variables.map(({ value }) => value.value), token?.value.value].find(isInvalidVariableName)
  if (odd !== undefined) return `it takes a header from "${odd}", which is not a valid variable name`
  const empty = headers.length === 0 ? headerTables : []
  const spent = new Set([...empty, ...variableTables, ...(token === undefined ? [] : [token])])
  return {
    span,
    members,
    url,
    headerTables: headers.length === 0 ? [] : headerTables,
    headers,
    variables: variables.map(({ name, value }) => ({ name, variable: value.value ?? '' })),
    token: token?.value.value,
    env,
    obsoleteMembers: members.filter((member) => (member !== url && isUrlMember(member)) || spent.has(member)),
  }
}

function isInvalidVariableName(name: string | undefined): boolean {
  return name !== undefined && !/^[^\s{}?=]+$/.test(name)
}

export function isUrlMember({ key }: ConfigMember): boolean {
  return (URL_KEYS as readonly (string | undefined)[]).includes(key.value)
}

function headersIn(tables: readonly ConfigMember[]): readonly EntryHeader[] {
  return tables
    .flatMap(({ inside = [] }) => inside)
    .map(({ key, value }) => ({ name: key.value ?? '', key, value }))
}

interface RemoteEntryParts {
  readonly members: readonly ConfigMember[]
  readonly url: string
  /** Members that define headers. */
  readonly tables: readonly ConfigMember[]
  readonly env: readonly ConfigMember[]
}

/** Explains why an entry with a `url` cannot become a bridge and what works instead. Returns `undefined` if it can. */
function bridgeObstacle({ members, url, tables, env }: RemoteEntryParts): string | undefined {
  const login = members.find(({ key }) => LOGIN_KEYS.has(key.value ?? ''))
  if (findConfigMember(members, 'headersHelper') !== undefined)
    return `its headers come from a program that the client runs (headersHelper); ${FORWARD_HINT}, or write them into "headers"`
  if (login !== undefined) return `the client logs in there (${login.key.value}); ${FORWARD_HINT}`
  const oddUrl = url.includes('$') ? undefined : urlProblem(url) // a URL with variables is known only when the client starts
  if (oddUrl !== undefined) return oddUrl
  if (findConfigMember(members, 'env_vars') !== undefined)
    return 'it has both a url and env_vars, which only apply to commands; remove one of them'
  if (env.some(({ inside }) => inside === undefined)) return 'its env is not a table'
  return tables.map(headerTableProblem).find((why) => why !== undefined)
}

/** Keys with which clients configure OAuth or another login for a server. */
const LOGIN_KEYS = new Set(['oauth', 'auth', 'authProviderType', 'oauth_resource', 'scopes'])
const FORWARD_HINT =
  'record the client itself: reelay record --forward -- <client command> (docs/how-to/record-with-oauth.md)'

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text))
    return 'its url is not an http or https URL, and a bridge supports no other'
  return new URL(text).username === ''
    ? undefined
    : 'its url contains a password, which a bridge does not send; use an Authorization header'
}

function headerTableProblem({ key, inside }: ConfigMember): string | undefined {
  if (inside === undefined || inside.some(({ value }) => value.value === undefined))
    return `its ${key.value} are not a list of strings`
  const odd = inside.find(({ key: { value } }) => !HEADER_NAME.test(value ?? ''))
  return odd && `it has a header "${odd.key.value}", which is not a valid header name`
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Returns true if a URL may contain a secret, which must not appear in a command line: a query, user information, a variable
 * that the client expands, or a random-looking path segment.
 */
export function urlMayContainSecret(url: string): boolean {
  return /[?@$]/.test(url) || url.split(/[/.:]/).some(looksLikeToken)
}

function looksLikeToken(part: string): boolean {
  return part.length >= 12 && /\d/.test(part) && /[a-z]/i.test(part)
}
