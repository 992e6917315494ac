import { existsSync } from 'node:fs'
import { homeFolder } from '../store/home.ts'
import { bridgePiece } from './bridge-entry.ts'
import { changeConfigs, joined, type Plan } from './change-configs.ts'
import { backupPath, writeBackup, writeConfig } from './config-file.ts'
import { editsFor, wrapPieces, type Piece } from './entry-edits.ts'
import { FORMATS } from './formats.ts'
import { Memory, type Remembered } from './memory.ts'
import { openConfigs, type Open, type PlacedEntry } from './open-config.ts'
import type { WrapResult } from './outcome.ts'
import { requireFound, wanted, type Servers } from './selection.ts'
import { isUrl } from './remote-entry.ts'
import { tapeFor } from './tape-name.ts'
import { chosenTargets, type Choice } from './targets.ts'
import { wrappedCommand, type Recorder } from './wrapped-command.ts'

export interface WrapOptions extends Choice {
  readonly servers: Servers
  readonly recorder: Recorder
  readonly dryRun: boolean
  readonly now: () => Date
}

/** Puts the recorder before the servers that are named, in every config that holds them. */
export function wrap(options: WrapOptions): WrapResult {
  const looked = openConfigs(chosenTargets(options))
  requireFound(options.servers, looked)
  const memory = new Memory(homeFolder(options.where.env))
  return changeConfigs<Remembered>(looked, {
    dryRun: options.dryRun,
    plan: (open) =>
      joined(wanted(open.entries, options.servers).map((entry) => planEntry(open, entry, options))),
    carryOut: (open, plan, text) => carryOut(open, plan, { text, memory }),
  })
}

function planEntry(open: Open, entry: PlacedEntry, options: WrapOptions): Plan<Remembered> {
  const { link, server } = entry
  const place = { client: open.target.client.name, file: open.target.file, server }
  const nothing = { edits: [], notes: [] }
  if (link.kind === 'odd') return { ...nothing, outcomes: [{ kind: 'odd', ...place, why: link.why }] }
  if (wrappedCommand(link) !== undefined)
    return { ...nothing, outcomes: [{ kind: 'already-wrapped', ...place }] }
  if (link.kind === 'command' && entry.members.some(isUrl))
    return { ...nothing, outcomes: [{ kind: 'odd', ...place, why: BOTH }] }
  const { path: file, text } = open.config
  const tape = tapeFor(server, place.client, options.where.env)
  const pieces = piecesFor(open, entry, { tape, recorder: options.recorder })
  if (typeof pieces === 'string') return { ...nothing, outcomes: [{ kind: 'odd', ...place, why: pieces }] }
  return {
    outcomes: [{ kind: 'wrapped', ...place, tape, bridge: link.kind === 'remote' }],
    edits: editsFor(pieces, { text, entry, direction: 'wrap' }) ?? [],
    notes: [{ ...place, file, root: entry.root, since: options.now().toISOString(), tape, pieces }],
  }
}

const BOTH = 'it has both a command and a url, and clients differ in which one they take; remove one of them'

/** What changes in an entry, or why nothing can. */
function piecesFor(
  { target, config: { text } }: Open,
  entry: PlacedEntry,
  to: { readonly tape: string; readonly recorder: Recorder },
): readonly Piece[] | string {
  const { link, server } = entry
  const format = FORMATS[target.client.format]
  if (link.kind === 'command') return wrapPieces({ text, link, format, server, ...to })
  const piece = bridgePiece({ text, entry, format, ...to })
  return typeof piece === 'string' ? piece : [piece]
}

/** Remembered first: if we are killed in between, an entry that is not wrapped is remembered, which does no harm. */
function carryOut(
  { config, entries }: Open,
  { edits, notes }: Plan<Remembered>,
  { text, memory }: { readonly text: string; readonly memory: Memory },
): void {
  if (edits.length === 0) return
  const isPartlyWrapped = entries.some(({ link }) => wrappedCommand(link) !== undefined)
  if (!isPartlyWrapped || !existsSync(backupPath(config))) writeBackup(config)
  memory.add(notes)
  try {
    writeConfig(config, text)
  } catch (error) {
    memory.remove(notes)
    throw error
  }
}
