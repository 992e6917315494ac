import type {
  ConfigFormat,
  ConfigEntry,
  ConfigMember,
  ConfigRange,
  ConfigToken,
} from '../configs/config-format.ts'
import { findConfigMembers, findConfigMember } from '../member-edits.ts'
import { bridgeObstacle } from '../remote-obstacle.ts'

/** An entry with a `url`, as far as a bridge needs to know it. */
export interface RemoteEntry {
  readonly span: ConfigRange
  readonly members: readonly ConfigMember[]
  readonly url: ConfigMember
  /** The members that hold headers, and the headers in them. */
  readonly headerTables: readonly ConfigMember[]
  readonly headers: readonly EntryHeader[]
  /** Variables of the client's environment that hold the value of a header. */
  readonly variables: readonly HeaderVariable[]
  /** The variable that holds a bearer token. */
  readonly token: string | undefined
  readonly env: readonly ConfigMember[]
  /** What says nothing any more beside a command. */
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

/** In the order in which they count where there are several. */
const URL_KEYS = ['httpUrl', 'url', 'serverUrl'] as const
export const HEADER_VARIABLES_KEY = 'env_http_headers'
export const BEARER_TOKEN_KEY = 'bearer_token_env_var'

/** Reads an entry that is to become a bridge, or says why it cannot and what works instead. */
export function readRemoteEntry({ members, span }: ConfigEntry, format: ConfigFormat): RemoteEntry | string {
  const url = URL_KEYS.map((key) => findConfigMember(members, key)).find((member) => member !== undefined)
  if (span === undefined) return 'its parts stand apart in the file; put its tables next to each other'
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
  if (odd !== undefined) return `it takes a header from "${odd}", which no variable can be called`
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
