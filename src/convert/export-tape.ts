import { openTape, type TapeReader } from '../store/file/read.ts'
import type { Frame } from '../tape/frame.ts'
import { withLateServers } from '../tape/header.ts'
import { selectOneServer, selectServers } from '../tape/server-filter.ts'
import { TurnBuilder } from '../tape/turn-builder.ts'
import type { ExportedTape, ExportFormat } from './export/export-format.ts'
import { exportFormat, writeExport, type WrittenExport } from './export/index.ts'

export interface ExportTapeOptions {
  readonly format: string
  /** Only this server. Required by formats that hold one server, if the tape has several. */
  readonly server?: string | undefined
  /** How the file and the collection are named; by default the name of the tape. */
  readonly name?: string
}

/**
 * Writes a tape in the format of another tool. The result says what the format cannot hold.
 *
 * @example
 * const { text, lost } = await exportTape(resolveTape('my-tape'), { format: 'har' })
 */
export async function exportTape(
  tape: string | Pick<TapeReader, 'path' | 'header' | 'frames'>,
  { format: wanted, server, name }: ExportTapeOptions,
): Promise<WrittenExport> {
  const format = exportFormat(wanted)
  const reader = typeof tape === 'string' ? await openTape(tape) : tape
  const frames: Frame[] = []
  for await (const frame of reader.frames()) frames.push(frame)
  const header = withLateServers(reader.header, frames)
  const whole = { name: name ?? tapeNameOf(reader.path), header, frames, turns: turnsOf(frames) }
  return writeExport(format, partOf(whole, format, reader.path, server))
}

function tapeNameOf(path: string): string {
  return (path.split(/[\\/]/).at(-1) ?? '').replace(/(\.tape)?\.jsonl$/, '') || 'tape'
}

function turnsOf(frames: readonly Frame[]): ExportedTape['turns'] {
  const builder = new TurnBuilder()
  for (const frame of frames) builder.add(frame)
  return builder.turns()
}

/** The part of one server, if the format or the user wants only that. */
function partOf(
  tape: ExportedTape,
  format: ExportFormat,
  path: string,
  server: string | undefined,
): ExportedTape {
  const used = tape.frames.flatMap((frame) =>
    'server' in frame && frame.server !== undefined ? [frame.server] : [],
  )
  const names = [...new Set([...Object.keys(tape.header.servers), ...used])]
  if (names.length <= 1 || (server === undefined && format.holdsOneServer !== true)) return tape
  const kept = new Set(
    format.holdsOneServer === true
      ? [selectOneServer({ path, names }, server)]
      : selectServers({ path, names }, server ?? '*'),
  )
  const frames = tape.frames.filter(
    (frame) => !('server' in frame) || frame.server === undefined || kept.has(frame.server),
  )
  const servers = Object.fromEntries(Object.entries(tape.header.servers).filter(([name]) => kept.has(name)))
  return { ...tape, header: { ...tape.header, servers }, frames, turns: turnsOf(frames) }
}
