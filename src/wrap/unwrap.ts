import { homeFolder } from '../store/home.ts'
import { inferBridgeUnwrapEdits } from './entries/restore-bridge.ts'
import {
  changeConfigs,
  mergePlans,
  type ConfigChangePlan,
  requireServers,
  selectEntries,
  type ServerSelection,
} from './change-configs.ts'
import { removeRedundantBackup, writeClientConfig } from './configs/config-file.ts'
import type { ConfigEdit } from './configs/config-edits.ts'
import { inferUnwrapEdits, locateReversibleEdits, parseWrappedCommand } from './entries/command-entry.ts'
import { CONFIG_FORMATS } from './configs/formats/index.ts'
import { isSameEntry, WrappedEntryStore, type WrappedEntryKey, type WrappedEntry } from './wrapped-entries.ts'
import {
  openClientConfigs,
  type ConfigOpenResult,
  type OpenConfig,
  type LocatedConfigEntry,
  selectTargetsWithWrapped,
  realConfigPath,
  type ConfigSelection,
} from './client-configs.ts'
import type { WrapOutcome, WrapResult } from './wrap-result.ts'

export interface UnwrapOptions extends ConfigSelection {
  readonly servers: ServerSelection
  readonly dryRun: boolean
}

/** Removes the recorder, byte for byte if the original is known. */
export function unwrapServers(options: UnwrapOptions): WrapResult {
  const { servers, dryRun } = options
  const memory = new WrappedEntryStore(homeFolder(options.where.env))
  const looked = openClientConfigs(selectTargetsWithWrapped(options, memory.entries))
  const remembered = memory.entries.map(({ server }) => server)
  requireServers(servers, looked, remembered)
  const result = changeConfigs<WrappedEntryKey>(looked, {
    dryRun,
    plan: (open) =>
      mergePlans(selectEntries(open.entries, servers).map((entry) => planUnwrap(open, entry, memory))),
    apply: (open, plan, text) => applyUnwrap(open, plan, { text, memory }),
  })
  const outcomes = [...result.outcomes, ...forgetMissingEntries(options, looked, memory)]
  // When all servers are selected, those that were never wrapped are not listed.
  return { ...result, outcomes: outcomes.filter(({ kind }) => servers !== 'all' || kind !== 'not-wrapped') }
}

function planUnwrap(
  { target, config }: OpenConfig,
  entry: LocatedConfigEntry,
  memory: WrappedEntryStore,
): ConfigChangePlan<WrappedEntryKey> {
  const { server, root, link } = entry
  const place = { client: target.client.name, file: target.file, server }
  const key = { file: config.path, root, server }
  const remembered = memory.find(key)
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
  { text, memory }: { readonly text: string; readonly memory: WrappedEntryStore },
): void {
  if (edits.length > 0) {
    writeClientConfig(config, text)
    removeRedundantBackup(config, text)
  }
  memory.remove(notes)
}

/** Drops entries whose server or config file no longer exists. */
function forgetMissingEntries(
  options: UnwrapOptions,
  looked: readonly ConfigOpenResult[],
  memory: WrappedEntryStore,
): readonly WrapOutcome[] {
  const { client, file, servers } = options
  if (file !== undefined) return []
  const gone = memory.entries
    .filter((entry) => (client ?? entry.client) === entry.client)
    .filter(({ server }) => servers === 'all' || servers.includes(server))
    .filter((entry) => !looked.some((each) => mayContain(each, entry)))
  if (!options.dryRun) memory.remove(gone)
  return gone.map(({ client: name, file: path, server }) => ({
    kind: 'forgotten',
    client: name,
    file: path,
    server,
  }))
}

function mayContain(looked: ConfigOpenResult, key: WrappedEntryKey): boolean {
  if (looked.kind === 'refused') return realConfigPath(looked.target.file) === key.file
  const file = looked.config.path
  return looked.entries.some(({ root, server }) => isSameEntry({ file, root, server }, key))
}
