import type { Member } from './config-format.ts'
import { named } from './member-edits.ts'

interface RemoteFacts {
  readonly members: readonly Member[]
  readonly url: string
  /** What names headers. */
  readonly tables: readonly Member[]
  readonly env: readonly Member[]
}

/** Why an entry with a `url` cannot become a bridge, and what works instead; undefined when it can. */
export function remoteObstacle({ members, url, tables, env }: RemoteFacts): string | undefined {
  const login = members.find(({ key }) => LOGINS.has(key.value ?? ''))
  if (named(members, 'headersHelper') !== undefined)
    return `its headers come from a program that the client runs (headersHelper); ${FORWARD}, or write them into "headers"`
  if (login !== undefined) return `the client logs in there (${login.key.value}); ${FORWARD}`
  const oddUrl = url.includes('$') ? undefined : oddUrlIn(url) // what the client puts in is known only when it starts
  if (oddUrl !== undefined) return oddUrl
  if (named(members, 'env_vars') !== undefined)
    return 'it has both a url and env_vars, which is for commands; remove one of them'
  if (env.some(({ inside }) => inside === undefined)) return 'its env is not a table'
  return tables.map(oddTable).find((why) => why !== undefined)
}

/** How clients say that they run OAuth, or another login of theirs, for a server. */
const LOGINS = new Set(['oauth', 'auth', 'authProviderType', 'oauth_resource', 'scopes'])
const FORWARD = 'record the client itself: reelay record --forward -- <client command> (docs/oauth.md)'

function oddUrlIn(text: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text))
    return 'its url is not an http or https one, which is all that a bridge speaks'
  return new URL(text).username === ''
    ? undefined
    : 'its url has a password in it, which a bridge does not send; put it into an Authorization header'
}

function oddTable({ key, inside }: Member): string | undefined {
  if (inside === undefined || inside.some(({ value }) => value.value === undefined))
    return `its ${key.value} are not a list of strings`
  const odd = inside.find(({ key: { value } }) => !HEADER_NAME.test(value ?? ''))
  return odd && `it has a header "${odd.key.value}", which no header can be called`
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
