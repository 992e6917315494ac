import { join } from 'node:path'

/** The facts that determine where a client keeps its config. */
export interface UserEnvironment {
  readonly platform: NodeJS.Platform
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly cwd: string
}

/** Keys that lead to a table of servers. */
export type ServerTablePath = readonly string[]

/** A config file and the server tables in it. */
export interface ClientConfigLocation {
  readonly file: string
  readonly roots: readonly ServerTablePath[]
}

export type ConfigFormatName = 'json' | 'toml'

/** An MCP client whose config `wrap` can edit. */
export interface WrappableClient {
  readonly name: string
  readonly format: ConfigFormatName
  /** The server table in any config file of this client. */
  readonly root: ServerTablePath
  /** Where this client looks for user and project configs; most of these files do not exist. */
  configLocations(where: UserEnvironment): readonly ClientConfigLocation[]
}

/** The folder in which desktop programs keep their settings, each in its own sub-folder. */
export function desktopConfigFolder({ platform, env, home }: UserEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming')
  return env['XDG_CONFIG_HOME'] || join(home, '.config')
}
