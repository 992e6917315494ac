import type { ConfigFormat, ConfigMember } from './configs/config-format.ts'
import type { ConfigEdit } from './configs/config-edits.ts'
import { insertPairsAtStart, renameConfigKey, type FormattedPair } from './member-edits.ts'
import type { RemoteEntry } from './entries/remote-entry.ts'
import { urlMayContainSecret } from './secret-url.ts'

/** What a bridge takes from its environment, and how it comes into the `env` of its entry. */
export interface BridgeEnv {
  /** The variable of the url, if that may hold a secret. */
  readonly url: FormattedPair | undefined
  /** One variable for each header, with the value as it is spelled. */
  readonly headers: readonly FormattedPair[]
  /** An `env` that is new in the entry. */
  readonly members: readonly FormattedPair[]
  readonly edits: readonly ConfigEdit[]
  readonly obsoleteMembers: readonly ConfigMember[]
}

/** A table of headers becomes the `env` where it stands, with its comments; if there is an `env`, the headers go there. */
export function planBridgeEnv(text: string, remote: RemoteEntry, format: ConfigFormat): BridgeEnv {
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
