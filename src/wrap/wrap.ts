import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { homeFolder, tapeFolder, TAPE_EXTENSION } from '../store/home.ts'
import {
  changeConfigs,
  type ConfigChangePlan,
  requireServers,
  type ServerSelection,
} from './change-configs.ts'
import {
  openClientConfigs,
  type OpenConfig,
  type LocatedConfigEntry,
  selectConfigTargets,
  type ConfigSelection,
  type ConfigOpenResult,
  selectTargetsWithWrapped,
  realConfigPath,
} from './client-configs.ts'
import {
  configBackupPath,
  writeConfigBackup,
  writeClientConfig,
  removeRedundantBackup,
} from './configs/config-file.ts'
import type { ConfigEdit } from './configs/config-format.ts'
import { CONFIG_FORMATS } from './configs/formats/index.ts'
import { bridgeEdit, inferBridgeUnwrapEdits } from './entries/bridge-entry.ts'
import {
  locateReversibleEdits,
  wrapCommandEdits,
  type ReversibleEdit,
  parseWrappedCommand,
  type RecorderProgram,
  inferUnwrapEdits,
} from './entries/command-entry.ts'
import { isUrlMember } from './entries/remote-entry.ts'
import type { WrapResult, WrapOutcome } from './wrap-result.ts'
import { WrappedEntryStore, type WrappedEntry, isSameEntry, type WrappedEntryKey } from './wrapped-entries.ts'

export interface WrapOptions extends ConfigSelection {
  readonly servers: ServerSelection
  readonly recorder: RecorderProgram
  readonly dryRun: boolean
  readonly now: () => Date
}

/** Puts the recorder before the named servers, in every config that contains them. */
export function wrapServers(options: WrapOptions): WrapResult {
  const opened = openClientConfigs(selectConfigTargets(options))
  requireServers(options.servers, opened)
  const store = new WrappedEntryStore(homeFolder(options.where.env))
  return changeConfigs<WrappedEntry>(opened, {
    servers: options.servers,
    dryRun: options.dryRun,
    plan: (open, entry) => planWrap(open, entry, options),
    apply: (open, plan, text) => applyWrap(open, plan, { text, store }),
  })
}

function planWrap(
  open: OpenConfig,
  entry: LocatedConfigEntry,
  options: WrapOptions,
): ConfigChangePlan<WrappedEntry> {
  const { link, server } = entry
  const place = { client: open.target.client.name, file: open.target.file, server }
  const nothing = { edits: [], notes: [] }
  if (link.kind === 'odd') return { ...nothing, outcomes: [{ kind: 'odd', ...place, why: link.why }] }
  if (parseWrappedCommand(link) !== undefined)
    return { ...nothing, outcomes: [{ kind: 'already-wrapped', ...place }] }
  if (link.kind === 'command' && entry.members.some(isUrlMember))
    return { ...nothing, outcomes: [{ kind: 'odd', ...place, why: COMMAND_AND_URL }] }
  const { path: file, text } = open.config
  const tape = tapeNameFor(server, place.client, options.where.env)
  const pieces = editsForEntry(open, entry, { tape, recorder: options.recorder })
  if (typeof pieces === 'string') return { ...nothing, outcomes: [{ kind: 'odd', ...place, why: pieces }] }
  return {
    outcomes: [{ kind: 'wrapped', ...place, tape, bridge: link.kind === 'remote' }],
    edits: locateReversibleEdits(pieces, { text, entry, direction: 'wrap' }) ?? [],
    notes: [{ ...place, file, root: entry.root, since: options.now().toISOString(), tape, pieces }],
  }
}

const COMMAND_AND_URL =
  'it has both a command and a url, and clients disagree on which one to use; remove one of them'

/** The edits to an entry, or the reason why there are none. */
function editsForEntry(
  { target, config: { text } }: OpenConfig,
  entry: LocatedConfigEntry,
  to: { readonly tape: string; readonly recorder: RecorderProgram },
): readonly ReversibleEdit[] | string {
  const { link, server } = entry
  const format = CONFIG_FORMATS[target.client.format]
  if (link.kind === 'command') return wrapCommandEdits({ text, link, format, server, ...to })
  const piece = bridgeEdit({ text, entry, format, ...to })
  return typeof piece === 'string' ? piece : [piece]
}

/** The list is updated first: if the process is killed in between, an entry that is not wrapped is listed, which is harmless. */
function applyWrap(
  { config, entries }: OpenConfig,
  { edits, notes }: ConfigChangePlan<WrappedEntry>,
  { text, store }: { readonly text: string; readonly store: WrappedEntryStore },
): void {
  if (edits.length === 0) return
  const isPartlyWrapped = entries.some(({ link }) => parseWrappedCommand(link) !== undefined)
  if (!isPartlyWrapped || !existsSync(configBackupPath(config))) writeConfigBackup(config)
  store.add(notes)
  try {
    writeClientConfig(config, text)
  } catch (error) {
    store.remove(notes)
    throw error
  }
}

/**
 * The tape name for a server that a client starts. A client passes on few variables, so a tape folder that `REELAY_HOME`
 * names is written out in full.
 */
function tapeNameFor(server: string, client: string, env: NodeJS.ProcessEnv): string {
  const name = `${tapeNamePart(server)}-${client}`
  return env['REELAY_HOME'] ? join(tapeFolder(env), `${name}${TAPE_EXTENSION}`) : name
}

function tapeNamePart(server: string): string {
  const part = server.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '')
  return part.slice(0, 60) || 'server'
}

export interface UnwrapOptions extends ConfigSelection {
  readonly servers: ServerSelection
  readonly dryRun: boolean
}

/** Removes the recorder, byte for byte if the original is known. */
export function unwrapServers(options: UnwrapOptions): WrapResult {
  const { servers, dryRun } = options
  const store = new WrappedEntryStore(homeFolder(options.where.env))
  const opened = openClientConfigs(selectTargetsWithWrapped(options, store.entries))
  const remembered = store.entries.map(({ server }) => server)
  requireServers(servers, opened, remembered)
  const result = changeConfigs<WrappedEntryKey>(opened, {
    servers,
    dryRun,
    plan: (open, entry) => planUnwrap(open, entry, store),
    apply: (open, plan, text) => applyUnwrap(open, plan, { text, store }),
  })
  const outcomes = [...result.outcomes, ...forgetMissingEntries(options, opened, store)]
  // When all servers are selected, those that were never wrapped are not listed.
  return { ...result, outcomes: outcomes.filter(({ kind }) => servers !== 'all' || kind !== 'not-wrapped') }
}

function planUnwrap(
  { target, config }: OpenConfig,
  entry: LocatedConfigEntry,
  store: WrappedEntryStore,
): ConfigChangePlan<WrappedEntryKey> {
  const { server, root, link } = entry
  const place = { client: target.client.name, file: target.file, server }
  const key = { file: config.path, root, server }
  const remembered = store.find(key)
  if (link.kind !== 'command' || parseWrappedCommand(link) === undefined) {
    const kind = remembered === undefined ? 'not-wrapped' : 'forgotten'
    return { outcomes: [{ kind, ...place }], edits: [], notes: [key] }
  }
  const { text } = config
  const exact = remembered && locateReversibleEdits(remembered.pieces, { text, entry, direction: 'unwrap' })
  const edits = exact ?? inferEdits({ target, config }, entry, remembered)
  if (edits === undefined)
    return { outcomes: [{ kind: 'odd', ...place, why: COMMAND_MOVED }], edits: [], notes: [] }
  return {
    outcomes: [{ kind: 'unwrapped', ...place, exact: exact !== undefined }],
    edits,
    notes: [key],
  }
}

const COMMAND_MOVED =
  'its command and args are no longer next to each other; the backup beside the file has the original'

function inferEdits(
  { target, config: { text } }: Pick<OpenConfig, 'target' | 'config'>,
  entry: LocatedConfigEntry,
  remembered: WrappedEntry | undefined,
): readonly ConfigEdit[] | undefined {
  const { link } = entry
  if (link.kind !== 'command') return undefined
  if (parseWrappedCommand(link)?.commandIndex !== undefined) return inferUnwrapEdits(text, link) ?? []
  const format = CONFIG_FORMATS[target.client.format]
  return inferBridgeUnwrapEdits({ text, entry, format, was: remembered?.pieces[0]?.was })
}

/** The list is updated last: if the process is killed in between, a restored entry is still listed, which is harmless. */
function applyUnwrap(
  { config }: OpenConfig,
  { edits, notes }: ConfigChangePlan<WrappedEntryKey>,
  { text, store }: { readonly text: string; readonly store: WrappedEntryStore },
): void {
  if (edits.length > 0) {
    writeClientConfig(config, text)
    removeRedundantBackup(config, text)
  }
  store.remove(notes)
}

/** Drops entries whose server or config file no longer exists. */
function forgetMissingEntries(
  options: UnwrapOptions,
  opened: readonly ConfigOpenResult[],
  store: WrappedEntryStore,
): readonly WrapOutcome[] {
  const { client, file, servers } = options
  if (file !== undefined) return []
  const gone = store.entries
    .filter((entry) => (client ?? entry.client) === entry.client)
    .filter(({ server }) => servers === 'all' || servers.includes(server))
    .filter((entry) => !opened.some((each) => mayContain(each, entry)))
  if (!options.dryRun) store.remove(gone)
  return gone.map(({ client: name, file: path, server }) => ({
    kind: 'forgotten',
    client: name,
    file: path,
    server,
  }))
}

function mayContain(opened: ConfigOpenResult, key: WrappedEntryKey): boolean {
  if (opened.kind === 'refused') return realConfigPath(opened.target.file) === key.file
  const file = opened.config.path
  return opened.entries.some(({ root, server }) => isSameEntry({ file, root, server }, key))
}
