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
import { suggestName } from '../text.ts'

/** A config file to read, and the client it belongs to. */
export interface ConfigTarget extends ClientConfigLocation {
  readonly client: WrappableClient
}

export interface ConfigSelection {
  readonly where: UserEnvironment
  /** Only this client. */
  readonly client?: string | undefined
  /** Only this file. */
  readonly file?: string | undefined
}

/** The config files that the user selected: one file, those of one client, or those of all clients. */
export function selectConfigTargets({ where, client, file }: ConfigSelection): readonly ConfigTarget[] {
  const clients = client === undefined ? WRAPPABLE_CLIENTS : [findClient(client)]
  if (file !== undefined) return [targetForFile(resolve(where.cwd, file), clients, where)]
  return mergeTargets(
    clients.flatMap((each) => each.configLocations(where).map((location) => ({ client: each, ...location }))),
  )
}

/** Like `selectConfigTargets`, plus every file with an entry that was wrapped from elsewhere. */
export function selectTargetsWithWrapped(
  selection: ConfigSelection,
  entries: readonly WrappedEntry[],
): readonly ConfigTarget[] {
  const chosen = selectConfigTargets(selection)
  const files = selection.file === undefined ? undefined : chosen.map(({ file }) => realConfigPath(file))
  const remembered = entries.flatMap(({ client: name, file, root }) => {
    const client = WRAPPABLE_CLIENTS.find((each) => each.name === name)
    const isSelected = files?.includes(file) ?? (selection.client ?? name) === name
    return client !== undefined && isSelected ? [{ client, file, roots: [root] }] : []
  })
  return mergeTargets([...chosen, ...remembered])
}

/** Resolves symbolic links. */
export function realConfigPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file // the file does not exist; opening it reports that
  }
}

function findClient(name: string): WrappableClient {
  const client = WRAPPABLE_CLIENTS.find((each) => each.name === name)
  if (client !== undefined) return client
  const known = WRAPPABLE_CLIENTS.map((each) => each.name)
  throw new ReelayError('USAGE', `unknown client ${name}${suggestName(name, known)}`, {
    hint: `the clients are ${known.join(', ')}`,
  })
}

/** Determines which client a file belongs to: the one that reads it, or one whose server table it contains. */
function targetForFile(
  file: string,
  clients: readonly WrappableClient[],
  where: UserEnvironment,
): ConfigTarget {
  const config = readClientConfig(file)
  if (config === undefined)
    throw new ReelayError('CONFIG_NOT_FOUND', `there is no config file ${file}`, {
      hint: 'leave out --file to search the default locations of the clients',
    })
  for (const client of clients) {
    const location = client.configLocations(where).find((each) => realConfigPath(each.file) === config.path)
    if (location !== undefined) return { client, ...location }
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
    `${file} is not a config file of ${clients.map(({ name }) => name).join(', ')}`,
    {
      hint: 'files ending in .toml are read as TOML, all others as JSON',
    },
  )
}

function containsServers({ format, root }: WrappableClient, text: string): boolean {
  try {
    return CONFIG_FORMATS[format].readEntries(text, root).length > 0
  } catch {
    return false // opening the file reports why it cannot be read
  }
}

/** Merges targets of the same file, keeping all server tables that were named for it. */
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

/** An entry and the path of the table that contains it. */
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

/** The result of opening a config: its servers, or the reason it cannot be read. */
export type ConfigOpenResult =
  | OpenConfig
  | { readonly kind: 'refused'; readonly target: ConfigTarget; readonly error: ReelayError }

/** Opens every file that exists. A broken file does not stop the others. */
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

/** Reads the servers in every table of a target. */
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
