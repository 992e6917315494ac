import type { ConfigMember } from './configs/config-format.ts'
import { findConfigMember } from './member-edits.ts'

interface RemoteEntryParts {
  readonly members: readonly ConfigMember[]
  readonly url: string
  /** What names headers. */
  readonly tables: readonly ConfigMember[]
  readonly env: readonly ConfigMember[]
}

/** Why an entry with a `url` cannot become a bridge, and what works instead; undefined when it can. */
export function bridgeObstacle({ members, url, tables, env }: RemoteEntryParts): string | undefined {
  const login = members.find(({ key }) => LOGIN_KEYS.has(key.value ?? ''))
  if (findConfigMember(members, 'headersHelper') !== undefined)
    return `its headers come from a program that the client runs (headersHelper); ${FORWARD_HINT}, or write them into "headers"`
  if (login !== undefined) return `the client logs in there (${login.key.value}); ${FORWARD_HINT}`
  const oddUrl = url.includes('$') ? undefined : urlProblem(url) // what the client puts in is known only when it starts
  if (oddUrl !== undefined) return oddUrl
  if (findConfigMember(members, 'env_vars') !== undefined)
    return 'it has both a url and env_vars, which is for commands; remove one of them'
  if (env.some(({ inside }) => inside === undefined)) return 'its env is not a table'
  return tables.map(headerTableProblem).find((why) => why !== undefined)
}

/** How clients say that they run OAuth, or another login of theirs, for a server. */
const LOGIN_KEYS = new Set(['oauth', 'auth', 'authProviderType', 'oauth_resource', 'scopes'])
const FORWARD_HINT = 'record the client itself: reelay record --forward -- <client command> (docs/oauth.md)'

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text))
    return 'its url is not an http or https one, which is all that a bridge speaks'
  return new URL(text).username === ''
    ? undefined
    : 'its url has a password in it, which a bridge does not send; put it into an Authorization header'
}

function headerTableProblem({ key, inside }: ConfigMember): string | undefined {
  if (inside === undefined || inside.some(({ value }) => value.value === undefined))
    return `its ${key.value} are not a list of strings`
  const odd = inside.find(({ key: { value } }) => !HEADER_NAME.test(value ?? ''))
  return odd && `it has a header "${odd.key.value}", which no header can be called`
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
