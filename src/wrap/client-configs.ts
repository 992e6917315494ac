import { realpathSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { ReelayError } from '../errors.ts'
import type {
  WrappableClient,
  ServerTablePath,
  ClientConfigLocation,
  UserEnvironment,
} from './clients/client.ts'
import { WRAPPABLE_CLIENTS } from './clients/index.ts'
import { readClientConfig, brokenConfigError, type ClientConfigFile } from './configs/config-file.ts'
import { ConfigSyntaxError, type ConfigEntry } from './configs/config-format.ts'
import { CONFIG_FORMATS } from './configs/formats/index.ts'
import type { WrappedEntry } from './wrapped-entries.ts'

/** A config file to look at, and whose it is. */
export interface ConfigTarget extends ClientConfigLocation {
  readonly client: WrappableClient
}

export interface ConfigSelection {
  readonly where: UserEnvironment
  /** One client only. */
  readonly client?: string | undefined
  /** One file only. */
  readonly file?: string | undefined
}

/** The files that the user means: one file, those of one client, or those of all. */
export function selectConfigTargets({ where, client, file }: ConfigSelection): readonly ConfigTarget[] {
  const clients = client === undefined ? WRAPPABLE_CLIENTS : [findClient(client)]
  if (file !== undefined) return [targetForFile(resolve(where.cwd, file), clients, where)]
  return mergeTargets(
    clients.flatMap((each) => each.configLocations(where).map((spot) => ({ client: each, ...spot }))),
  )
}

/** The same, and every file that holds an entry which was wrapped from elsewhere. */
export function selectTargetsWithWrapped(
  choice: ConfigSelection,
  memory: readonly WrappedEntry[],
): readonly ConfigTarget[] {
  const chosen = selectConfigTargets(choice)
  const files = choice.file === undefined ? undefined : chosen.map(({ file }) => realConfigPath(file))
  const remembered = memory.flatMap(({ client: name, file, root }) => {
    const client = WRAPPABLE_CLIENTS.find((each) => each.name === name)
    const isMeant = files?.includes(file) ?? (choice.client ?? name) === name
    return client !== undefined && isMeant ? [{ client, file, roots: [root] }] : []
  })
  return mergeTargets([...chosen, ...remembered])
}

/** The file itself, where a path leads through links. */
export function realConfigPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file // there is none, which whoever opens it will say
  }
}

function findClient(name: string): WrappableClient {
  const client = WRAPPABLE_CLIENTS.find((each) => each.name === name)
  if (client !== undefined) return client
  const known = WRAPPABLE_CLIENTS.map((each) => each.name).join(', ')
  throw new ReelayError('USAGE', `unknown client ${name}`, { hint: `the clients are ${known}` })
}

/** Whose a file is: of the client that looks there, or else of one whose table of servers it holds. */
function targetForFile(
  file: string,
  clients: readonly WrappableClient[],
  where: UserEnvironment,
): ConfigTarget {
  const config = readClientConfig(file)
  if (config === undefined)
    throw new ReelayError('CONFIG_NOT_FOUND', `there is no config file ${file}`, {
      hint: 'leave --file out to look where the clients look',
    })
  for (const client of clients) {
    const spot = client.configLocations(where).find((each) => realConfigPath(each.file) === config.path)
    if (spot !== undefined) return { client, ...spot }
  }
  return { file, ...detectClient(file, config.text, clients) }
}

function detectClient(
  file: string,
  text: string,
  clients: readonly WrappableClient[],
): Omit<ConfigTarget, 'file'> {
  const format = extname(file) === '.toml' ? 'toml' : 'json'
  const fitting = clients.filter((each) => each.format === format)
  const client = fitting.find((each) => containsServers(each, text)) ?? fitting[0]
  if (client !== undefined) return { client, roots: [client.root] }
  throw new ReelayError(
    'USAGE',
    `${file} is no config file of ${clients.map(({ name }) => name).join(', ')}`,
    {
      hint: 'files that end in .toml are read as TOML, all others as JSON',
    },
  )
}

function containsServers({ format, root }: WrappableClient, text: string): boolean {
  try {
    return CONFIG_FORMATS[format].readEntries(text, root).length > 0
  } catch {
    return false // whoever opens it will say why it cannot be read
  }
}

/** One target for each file, with all roots that were named for it. */
function mergeTargets(targets: readonly ConfigTarget[]): readonly ConfigTarget[] {
  const byFile = new Map<string, ConfigTarget>()
  for (const target of targets) {
    const key = realConfigPath(target.file)
    const before = byFile.get(key)
    byFile.set(
      key,
      before === undefined ? target : { ...before, roots: mergeTablePaths(before.roots, target.roots) },
    )
  }
  return [...byFile.values()]
}

function mergeTablePaths(
  a: readonly ServerTablePath[],
  b: readonly ServerTablePath[],
): readonly ServerTablePath[] {
  const known = new Set(a.map((root) => root.join('\0')))
  return [...a, ...b.filter((root) => !known.has(root.join('\0')))]
}

/** An entry, and under which root it stands. */
export interface LocatedConfigEntry extends ConfigEntry {
  readonly root: ServerTablePath
}

/** A config file and its servers. */
export interface OpenConfig {
  readonly kind: 'open'
  readonly target: ConfigTarget
  readonly config: ClientConfigFile
  readonly entries: readonly LocatedConfigEntry[]
}

/** What became of a file that was looked at: its servers, or why they cannot be known. */
export type ConfigOpenResult =
  | OpenConfig
  | { readonly kind: 'refused'; readonly target: ConfigTarget; readonly error: ReelayError }

/** Opens every file that exists. One that is broken does not keep the others from being opened. */
export function openClientConfigs(targets: readonly ConfigTarget[]): readonly ConfigOpenResult[] {
  return targets.flatMap((target): readonly ConfigOpenResult[] => {
    try {
      const config = readClientConfig(target.file)
      if (config === undefined) return []
      return [{ kind: 'open', target, config, entries: readServerEntries(target, config.text) }]
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      return [{ kind: 'refused', target, error }]
    }
  })
}

/** The servers under every root of a target, in the text of its file. */
export function readServerEntries(
  { client, roots, file }: ConfigTarget,
  text: string,
): readonly LocatedConfigEntry[] {
  try {
    return roots.flatMap((root) =>
      CONFIG_FORMATS[client.format].readEntries(text, root).map((entry) => ({ ...entry, root })),
    )
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error
    throw brokenConfigError(file, `line ${error.line}, column ${error.column}: ${error.message}`, error)
  }
}
