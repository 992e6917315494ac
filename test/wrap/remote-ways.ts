import fc from 'fast-check'

/** A server at a url, as somebody may have written it into a config of Codex or of a client that takes JSON. */
export interface RemoteWish {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly variables: Readonly<Record<string, string>>
  readonly token: string | undefined
  /** How each table is written. */
  readonly ways: readonly Way[]
  readonly crlf: boolean
}

type Way = 'inline' | 'table' | 'dotted'

const value = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text))
const header = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/)
const variable = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/)

export const remoteWish: fc.Arbitrary<RemoteWish> = fc.record({
  url: fc.constantFrom(
    'https://example.com/mcp',
    'https://example.com/mcp?key=s3cret',
    'https://host.example/${input:path}/mcp',
    'http://[::1]:8080/s/a1b2c3d4e5f6a7b8/mcp',
  ),
  headers: fc.dictionary(header, value, { maxKeys: 3, noNullPrototype: true }),
  env: fc.dictionary(fc.oneof(variable, fc.constant('REELAY_HEADER_1')), value, {
    maxKeys: 2,
    noNullPrototype: true,
  }),
  variables: fc.dictionary(header, variable, { maxKeys: 2, noNullPrototype: true }),
  token: fc.option(variable, { nil: undefined }),
  ways: fc.array(fc.constantFrom('inline', 'table', 'dotted'), { minLength: 3, maxLength: 3 }),
  crlf: fc.boolean(),
})

/** How the whole of an entry may be written in TOML. */
export const TOML_ENTRIES = ['table', 'inline', 'dotted', 'dotted in a table'] as const

export function tomlText(wish: RemoteWish, entry: (typeof TOML_ENTRIES)[number]): string {
  const head = { table: '[mcp_servers.remote] # here\n', 'dotted in a table': '[mcp_servers]\n' }
  const prefix = { table: '', 'dotted in a table': 'remote.', dotted: 'mcp_servers.remote.' }
  const text =
    entry === 'inline'
      ? `mcp_servers.remote = { ${lines(wish, 'inline', '').join(', ')}, startup_timeout_sec = 30 }\n`
      : `${entry === 'dotted' ? '' : head[entry]}${lines(wish, entry, prefix[entry]).join('\n')}\n`
  const whole = `model = "x"\n${text}[after]\nurl = "untouched"\n`
  return wish.crlf ? whole.replaceAll('\n', '\r\n') : whole
}

function lines(wish: RemoteWish, entry: (typeof TOML_ENTRIES)[number], prefix: string): readonly string[] {
  const { url, token, ways } = wish
  const tables = [
    ['http_headers', wish.headers],
    ['env', wish.env],
    ['env_http_headers', wish.variables],
  ] as const
  const written = tables.map(([name, members], at) => {
    const way = entry !== 'table' && ways[at] === 'table' ? 'dotted' : (ways[at] ?? 'inline')
    return { way, text: tableText(prefix + name, members, way) }
  })
  return [
    `${prefix}url = ${JSON.stringify(url)}`,
    ...(token === undefined ? [] : [`${prefix}bearer_token_env_var = ${JSON.stringify(token)}`]),
    ...written.filter(({ way }) => way !== 'table').flatMap(({ text }) => text),
    ...(entry === 'table' ? ['startup_timeout_sec = 30 # and a comment'] : []),
    ...written.filter(({ way }) => way === 'table').flatMap(({ text }) => text),
  ]
}

function tableText(name: string, members: Readonly<Record<string, string>>, way: Way): readonly string[] {
  const pairs = Object.entries(members).map(([key, text]) => [JSON.stringify(key), JSON.stringify(text)])
  if (pairs.length === 0) return []
  if (way === 'dotted') return pairs.map(([key, text]) => `${name}.${key} = ${text}`)
  const set = pairs.map(([key, text]) => `${key} = ${text}`)
  return way === 'inline' ? [`${name} = { ${set.join(', ')} }`] : [`[mcp_servers.remote.${name}]`, ...set]
}

export function jsonText({ url, headers, env, crlf, ways }: RemoteWish): string {
  const members = [
    ['type', 'http'],
    ['url', url],
    ['headers', headers],
    ['env', env],
    ['disabled', false],
  ] as const
  const present = members.filter(([, each]) => typeof each !== 'object' || Object.keys(each).length > 0)
  const ordered = ways[0] === 'dotted' ? present.toReversed() : present
  const indent = { inline: '', table: '  ', dotted: '\t' }[ways[1] ?? 'inline']
  const servers = { remote: Object.fromEntries(ordered), other: { command: 'x' } }
  const text = JSON.stringify({ mcpServers: servers }, null, indent)
  return crlf ? text.replaceAll('\n', '\r\n') : text
}
