import { join } from 'node:path'

/** What decides where a client keeps its config. */
export interface UserEnvironment {
  readonly platform: NodeJS.Platform
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly cwd: string
}

/** The keys that lead to a table of servers. */
export type ServerTablePath = readonly string[]

/** A config file and the tables of servers in it. */
export interface ClientConfigLocation {
  readonly file: string
  readonly roots: readonly ServerTablePath[]
}

export type ConfigFormatName = 'json' | 'toml'

/** An MCP client whose config can be edited. */
export interface WrappableClient {
  readonly name: string
  readonly format: ConfigFormatName
  /** The table of servers in any config file of this client. */
  readonly root: ServerTablePath
  /** Where this client looks, for the user and for the project in the working folder; few of them exist. */
  configLocations(where: UserEnvironment): readonly ClientConfigLocation[]
}

/** Where desktop programs keep their settings: each in a folder of its own under this one. */
export function desktopConfigFolder({ platform, env, home }: UserEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming')
  return env['XDG_CONFIG_HOME'] || join(home, '.config')
}
