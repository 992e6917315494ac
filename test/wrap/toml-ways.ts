/** One of the ways in which TOML lets a table of servers be written. */
export interface TomlWay {
  readonly opening: string
  readonly entry: (server: string, command: string, args: string | undefined) => string
  /** A further server, to be put before the first. */
  readonly further: string
}

export const TOML_WAYS: readonly TomlWay[] = [
  {
    opening: '',
    entry: tables,
    further: '[mcp_servers."added by hand"]\ncommand = "new"\n',
  },
  {
    opening: '[mcp_servers]\n',
    entry: (server, command, args) => `${server} = ${inline(command, args)} # inline\n`,
    further: '"added by hand" = { command = "new" }\n',
  },
  {
    opening: '[mcp_servers]\n',
    entry: (server, command, args) => dotted(server, command, args),
    further: '"added by hand".command = "new"\n',
  },
  {
    opening: '',
    entry: (server, command, args) => dotted(`mcp_servers.${server}`, command, args),
    further: 'mcp_servers."added by hand".command = "new"\n',
  },
  {
    opening: '',
    entry: (server, command, args) => `mcp_servers.${server} = ${inline(command, args)}\n`,
    further: 'mcp_servers."added by hand" = { command = "new" }\n',
  },
]

function tables(server: string, command: string, args: string | undefined): string {
  const before = args === undefined ? '' : `args = ${args}\n`
  return `[mcp_servers.${server}] # here\n${before}  command = ${command} # the command\n[mcp_servers.${server}.env]\nKEY = "…"\n\n`
}

function inline(command: string, args: string | undefined): string {
  return `{ command = ${command}${args === undefined ? '' : `, args = ${args}`}, startup_timeout_sec = 30 }`
}

function dotted(key: string, command: string, args: string | undefined): string {
  const after = args === undefined ? '' : `${key}.args = ${args}\n`
  return `  ${key}.command = ${command} # the command\n${after}${key}.env.KEY = "…"\n`
}
