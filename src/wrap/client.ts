/** What decides where a client keeps its config. */
export interface Where {
  readonly platform: NodeJS.Platform
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly cwd: string
}

/** The keys that lead to a table of servers. */
export type Root = readonly string[]

/** A config file and the tables of servers in it. */
export interface Spot {
  readonly file: string
  readonly roots: readonly Root[]
}

export type FormatName = 'json' | 'toml'

/** An MCP client whose config can be edited. */
export interface Client {
  readonly name: string
  readonly format: FormatName
  /** The table of servers in any config file of this client. */
  readonly root: Root
  /** Where this client looks, for the user and for the project in the working folder; few of them exist. */
  spots(where: Where): readonly Spot[]
}
