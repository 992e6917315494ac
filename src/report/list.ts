import { jsonDocument, jsonObject, jsonValue } from './json-text.ts'
import { alignRows, columnTitle, type TableCell } from './table.ts'
import type { ListedProblem, TapeSummary } from '../store/file/list.ts'
import { TEXT_LABELS } from '../tape/header.ts'
import { truncateText } from '../text.ts'

/** The tapes of a folder. */
export interface TapeList {
  readonly folder: string
  readonly tapes: readonly TapeSummary[]
}

/** One line per tape: its name, when it was recorded, its size and its servers. */
export function listAsText({ tapes }: TapeList): string {
  const headings = [
    columnTitle('name'),
    columnTitle('recorded'),
    columnTitle('size', 'right'),
    columnTitle('servers'),
  ]
  const rows = alignRows([headings, ...tapes.map(tapeRow)])
  return rows.map((row) => `${row}\n`).join('')
}

function tapeRow(tape: TapeSummary): readonly TableCell[] {
  const name: TableCell = { text: truncateText(tape.name, 60), style: 'bold' }
  const size: TableCell = { text: sizeText(tape.bytes), align: 'right' }
  if (tape.kind === 'problem')
    return [name, { text: '' }, size, { text: truncateText(problemText(tape), 100), style: 'yellow' }]
  const ids = TEXT_LABELS.filter((id) => tape.labels[id] !== undefined).map(
    (id) => ` ${id}=${tape.labels[id]}`,
  )
  const servers = truncateText(tape.servers.join(', '), 60) + truncateText(ids.join(''), 60)
  const state = tape.ended ? '' : ' (no end: cut off, or still being recorded)'
  return [name, { text: truncateText(tape.started, 30) }, size, { text: servers + state }]
}

/** The problem without the path, because the line shows the name already. */
function problemText({ path, problem }: ListedProblem): string {
  return problem.startsWith(`${path}: `) ? problem.slice(path.length + 2) : problem
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Formats a list for programs, as described in `docs/reference/list.md`. */
export function listAsJson({ folder, tapes }: TapeList): string {
  return jsonDocument({ folder: jsonValue(folder), tapes: tapes.map(tapeJson) })
}

function tapeJson(tape: TapeSummary): string {
  const file = { name: jsonValue(tape.name), path: jsonValue(tape.path), bytes: jsonValue(tape.bytes) }
  if (tape.kind === 'problem') return jsonObject({ ...file, problem: jsonValue(tape.problem) })
  return jsonObject({
    ...file,
    recordedAt: jsonValue(tape.started),
    servers: jsonValue(tape.servers),
    session: jsonValue(tape.labels.session ?? null),
    endpoint: jsonValue(tape.labels.endpoint ?? null),
    agent: jsonValue(tape.labels.agent ?? null),
    note: jsonValue(tape.labels.note ?? null),
    tags: jsonValue(tape.labels.tags),
    ended: jsonValue(tape.ended),
  })
}
