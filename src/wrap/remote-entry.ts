import type { ConfigFormat, Entry, Member, Place, Word } from './config-format.ts'
import { allNamed, named } from './member-edits.ts'
import { remoteObstacle } from './remote-obstacle.ts'

/** An entry with a `url`, as far as a bridge needs to know it. */
export interface RemoteEntry {
  readonly span: Place
  readonly members: readonly Member[]
  readonly url: Member
  /** The members that hold headers, and the headers in them. */
  readonly headerTables: readonly Member[]
  readonly headers: readonly Header[]
  /** Variables of the client's environment that hold the value of a header. */
  readonly variables: readonly HeaderVariable[]
  /** The variable that holds a bearer token. */
  readonly token: string | undefined
  readonly env: readonly Member[]
  /** What says nothing any more beside a command. */
  readonly spent: readonly Member[]
}

interface Header {
  readonly name: string
  readonly key: Word
  readonly value: Word
}

export interface HeaderVariable {
  readonly name: string
  readonly variable: string
}

/** In the order in which they count where there are several. */
const URL_KEYS = ['httpUrl', 'url', 'serverUrl'] as const
export const VARIABLES_KEY = 'env_http_headers'
export const TOKEN_KEY = 'bearer_token_env_var'

/** Reads an entry that is to become a bridge, or says why it cannot and what works instead. */
export function remoteEntry({ members, span }: Entry, format: ConfigFormat): RemoteEntry | string {
  const url = URL_KEYS.map((key) => named(members, key)).find((member) => member !== undefined)
  if (span === undefined) return 'its parts stand apart in the file; put its tables next to each other'
  if (url?.value.value === undefined) return 'its url is not a string'
  const headerTables = allNamed(members, [format.headersKey])
  const [variableTables, token] = format.takesVariables
    ? [allNamed(members, [VARIABLES_KEY]), named(members, TOKEN_KEY)]
    : [[], undefined]
  const env = allNamed(members, ['env'])
  const headers = pairsIn(headerTables)
  const variables = pairsIn(variableTables)
  const why = remoteObstacle({
    members,
    url: url.value.value,
    tables: [...headerTables, ...variableTables],
    env,
  })
  if (why !== undefined) return why
  const odd = [...variables.map(({ value }) => value.value), token?.value.value].find(isOddVariable)
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
    spent: members.filter((member) => (member !== url && isUrl(member)) || spent.has(member)),
  }
}

function isOddVariable(name: string | undefined): boolean {
  return name !== undefined && !/^[^\s{}?=]+$/.test(name)
}

export function isUrl({ key }: Member): boolean {
  return (URL_KEYS as readonly (string | undefined)[]).includes(key.value)
}

function pairsIn(tables: readonly Member[]): readonly Header[] {
  return tables
    .flatMap(({ inside = [] }) => inside)
    .map(({ key, value }) => ({ name: key.value ?? '', key, value }))
}
