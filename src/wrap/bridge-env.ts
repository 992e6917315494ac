import type { ConfigFormat, Member } from './config-format.ts'
import type { Edit } from './edit.ts'
import { atBeginning, renamed, type Pair } from './member-edits.ts'
import type { RemoteEntry } from './remote-entry.ts'
import { mayHoldSecret } from './secret-url.ts'

/** What a bridge takes from its environment, and how it comes into the `env` of its entry. */
export interface BridgeEnv {
  /** The variable of the url, if that may hold a secret. */
  readonly url: Pair | undefined
  /** One variable for each header, with the value as it is spelled. */
  readonly headers: readonly Pair[]
  /** An `env` that is new in the entry. */
  readonly members: readonly Pair[]
  readonly edits: readonly Edit[]
  readonly spent: readonly Member[]
}

/** A table of headers becomes the `env` where it stands, with its comments; if there is an `env`, the headers go there. */
export function bridgeEnv(text: string, remote: RemoteEntry, format: ConfigFormat): BridgeEnv {
  const { url, headers } = variablesFor(text, remote)
  const urls = url === undefined ? [] : [url]
  const { env, headerTables } = remote
  const [table] = headerTables
  if (env.length === 0 && table !== undefined && table.isDotted !== true) {
    const renames = [
      renamed(text, table.key, 'env', format),
      ...remote.headers.map(({ key }, at) => renamed(text, key, headers[at]?.[0] ?? '', format)),
    ]
    const edits = [...renames, ...inserted(text, table, urls, format)]
    return { url, headers, members: [], edits, spent: [] }
  }
  const pairs = [...urls, ...headers]
  const members = env.length === 0 && pairs.length > 0 ? [newEnv(pairs, format)] : []
  return { url, headers, members, edits: inserted(text, env[0], pairs, format), spent: headerTables }
}

function variablesFor(text: string, { url, headers, env }: RemoteEntry): Pick<BridgeEnv, 'url' | 'headers'> {
  const taken = new Set(env.flatMap(({ inside = [] }) => inside.map(({ key }) => key.value)))
  const free = (name: string): string => (taken.has(name) ? free(`${name}_`) : name)
  const spelled = ({ value: { start, end } }: Pick<Member, 'value'>): string => text.slice(start, end)
  return {
    url: mayHoldSecret(url.value.value ?? '') ? [free('REELAY_URL'), spelled(url)] : undefined,
    headers: headers.map((header, index) => [free(`REELAY_HEADER_${index + 1}`), spelled(header)]),
  }
}

function inserted(
  text: string,
  table: Member | undefined,
  pairs: readonly Pair[],
  format: ConfigFormat,
): readonly Edit[] {
  return table === undefined || pairs.length === 0 ? [] : [atBeginning(text, table, pairs, format)]
}

function newEnv(pairs: readonly Pair[], { pair }: ConfigFormat): Pair {
  return ['env', `{ ${pairs.map(([key, value]) => pair(key, value)).join(', ')} }`]
}
