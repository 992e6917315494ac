import { homeFolder } from '../store/home.ts'
import { bridgeEditsByMeaning } from './bridge-back.ts'
import { changeConfigs, joined, type Plan } from './change-configs.ts'
import { dropEqualBackup, writeConfig } from './config-file.ts'
import type { Edit } from './edit.ts'
import { editsByMeaning, editsFor } from './entry-edits.ts'
import { FORMATS } from './formats.ts'
import { isSameEntry, Memory, type EntryKey, type Remembered } from './memory.ts'
import { openConfigs, type Looked, type Open, type PlacedEntry } from './open-config.ts'
import type { Outcome, WrapResult } from './outcome.ts'
import { requireFound, wanted, type Servers } from './selection.ts'
import { knownTargets, realFile, type Choice } from './targets.ts'
import { wrappedCommand } from './wrapped-command.ts'

export interface UnwrapOptions extends Choice {
  readonly servers: Servers
  readonly dryRun: boolean
}

/** Takes the recorder out again, byte for byte where what was wrapped is remembered. */
export function unwrap(options: UnwrapOptions): WrapResult {
  const { servers, dryRun } = options
  const memory = new Memory(homeFolder(options.where.env))
  const looked = openConfigs(knownTargets(options, memory.entries))
  const remembered = memory.entries.map(({ server }) => server)
  requireFound(servers, looked, remembered)
  const result = changeConfigs<EntryKey>(looked, {
    dryRun,
    plan: (open) => joined(wanted(open.entries, servers).map((entry) => planEntry(open, entry, memory))),
    carryOut: (open, plan, text) => carryOut(open, plan, { text, memory }),
  })
  const outcomes = [...result.outcomes, ...forgetGone(options, looked, memory)]
  // Of all servers, those that were never wrapped are not worth a line.
  return { ...result, outcomes: outcomes.filter(({ kind }) => servers !== 'all' || kind !== 'not-wrapped') }
}

function planEntry({ target, config }: Open, entry: PlacedEntry, memory: Memory): Plan<EntryKey> {
  const { server, root, link } = entry
  const place = { client: target.client.name, file: target.file, server }
  const key = { file: config.path, root, server }
  const remembered = memory.find(key)
  if (link.kind !== 'command' || wrappedCommand(link) === undefined) {
    const kind = remembered === undefined ? 'not-wrapped' : 'forgotten'
    return { outcomes: [{ kind, ...place }], edits: [], notes: [key] }
  }
  const { text } = config
  const exact = remembered && editsFor(remembered.pieces, { text, entry, direction: 'unwrap' })
  const edits = exact ?? byMeaning({ target, config }, entry, remembered)
  if (edits === undefined) return { outcomes: [{ kind: 'odd', ...place, why: MOVED }], edits: [], notes: [] }
  return {
    outcomes: [{ kind: 'unwrapped', ...place, exact: exact !== undefined }],
    edits,
    notes: [key],
  }
}

const MOVED = 'its command and args no longer stand together; the backup beside the file has what it was'

function byMeaning(
  { target, config: { text } }: Pick<Open, 'target' | 'config'>,
  entry: PlacedEntry,
  remembered: Remembered | undefined,
): readonly Edit[] | undefined {
  const { link } = entry
  if (link.kind !== 'command') return undefined
  if (wrappedCommand(link)?.commandAt !== undefined) return editsByMeaning(text, link) ?? []
  const format = FORMATS[target.client.format]
  return bridgeEditsByMeaning({ text, entry, format, was: remembered?.pieces[0]?.was })
}

/** Forgotten last: if we are killed in between, the entry is restored and only remembered in vain. */
function carryOut(
  { config }: Open,
  { edits, notes }: Plan<EntryKey>,
  { text, memory }: { readonly text: string; readonly memory: Memory },
): void {
  if (edits.length > 0) {
    writeConfig(config, text)
    dropEqualBackup(config, text)
  }
  memory.remove(notes)
}

/** Entries that were wrapped, and whose server or whole file is gone. */
function forgetGone(options: UnwrapOptions, looked: readonly Looked[], memory: Memory): readonly Outcome[] {
  const { client, file, servers } = options
  if (file !== undefined) return []
  const gone = memory.entries
    .filter((entry) => (client ?? entry.client) === entry.client)
    .filter(({ server }) => servers === 'all' || servers.includes(server))
    .filter((entry) => !looked.some((each) => mayHold(each, entry)))
  if (!options.dryRun) memory.remove(gone)
  return gone.map(({ client: name, file: path, server }) => ({
    kind: 'forgotten',
    client: name,
    file: path,
    server,
  }))
}

function mayHold(looked: Looked, key: EntryKey): boolean {
  if (looked.kind === 'refused') return realFile(looked.target.file) === key.file
  const file = looked.config.path
  return looked.entries.some(({ root, server }) => isSameEntry({ file, root, server }, key))
}
