import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { homeFolder, tapeFolder, TAPE_EXTENSION } from '../store/home.ts'
import {
  changeConfigs,
  mergePlans,
  type ConfigChangePlan,
  requireServers,
  selectEntries,
  type ServerSelection,
} from './change-configs.ts'
import {
  openClientConfigs,
  type OpenConfig,
  type LocatedConfigEntry,
  selectConfigTargets,
  type ConfigSelection,
} from './client-configs.ts'
import { configBackupPath, writeConfigBackup, writeClientConfig } from './configs/config-file.ts'
import { CONFIG_FORMATS } from './configs/formats/index.ts'
import { bridgeEdit } from './entries/bridge-entry.ts'
import {
  locateReversibleEdits,
  wrapCommandEdits,
  type ReversibleEdit,
  parseWrappedCommand,
  type RecorderProgram,
} from './entries/command-entry.ts'
import { isUrlMember } from './entries/remote-entry.ts'
import type { WrapResult } from './wrap-result.ts'
import { WrappedEntryStore, type WrappedEntry } from './wrapped-entries.ts'

export interface WrapOptions extends ConfigSelection {
  readonly servers: ServerSelection
  readonly recorder: RecorderProgram
  readonly dryRun: boolean
  readonly now: () => Date
}

/** Puts the recorder before the named servers, in every config that contains them. */
export function wrapServers(options: WrapOptions): WrapResult {
  const looked = openClientConfigs(selectConfigTargets(options))
  requireServers(options.servers, looked)
  const memory = new WrappedEntryStore(homeFolder(options.where.env))
  return changeConfigs<WrappedEntry>(looked, {
    dryRun: options.dryRun,
    plan: (open) =>
      mergePlans(selectEntries(open.entries, options.servers).map((entry) => planWrap(open, entry, options))),
    apply: (open, plan, text) => applyWrap(open, plan, { text, memory }),
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
  { text, memory }: { readonly text: string; readonly memory: WrappedEntryStore },
): void {
  if (edits.length === 0) return
  const isPartlyWrapped = entries.some(({ link }) => parseWrappedCommand(link) !== undefined)
  if (!isPartlyWrapped || !existsSync(configBackupPath(config))) writeConfigBackup(config)
  memory.add(notes)
  try {
    writeClientConfig(config, text)
  } catch (error) {
    memory.remove(notes)
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
