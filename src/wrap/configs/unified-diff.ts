import { escapeControlChars } from '../../text.ts'
import { applyConfigEdits, type ConfigEdit } from './config-format.ts'

const CONTEXT_LINES = 3

/** A range of lines, counted from 0, and the lines that replace them. */
interface ChangedLines {
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
}

/** Formats edits as a unified diff that is safe to print on a terminal. */
export function unifiedConfigDiff(file: string, text: string, edits: readonly ConfigEdit[]): string {
  const lines = linesOf(text)
  const hunks = groupAdjacent(
    lineChanges(text, edits),
    (last, next) => next.from - last.to <= 2 * CONTEXT_LINES,
  )
  let shift = 0
  const written = hunks.flatMap((changes) => {
    const hunk = formatHunk(lines, changes, shift)
    shift += changes.reduce((sum, { from, to, lines: now }) => sum + now.length - (to - from), 0)
    return hunk
  })
  return [`--- ${file}`, `+++ ${file}`, ...written].map(escapeExceptTabs).join('\n')
}

/** Extends edits to whole lines. Edits on the same or neighbouring lines become one change. */
function lineChanges(text: string, edits: readonly ConfigEdit[]): readonly ChangedLines[] {
  const inOrder = edits.toSorted((a, b) => a.start - b.start)
  const groups = groupAdjacent(
    inOrder,
    (last, next) => lineAt(text, next.start) - lineAt(text, last.end) <= 1,
  )
  return groups.map((group) => lineChangeFor(text, group))
}

function lineChangeFor(text: string, edits: readonly ConfigEdit[]): ChangedLines {
  const start = startOfLine(text, edits[0]?.start ?? 0)
  const end = endOfLine(text, edits.at(-1)?.end ?? 0)
  const moved = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }))
  const was = text.slice(start, end)
  return trimUnchangedLines(lineAt(text, start), splitLines(was), splitLines(applyConfigEdits(was, moved)))
}

/** Drops lines at the start and end that the edit leaves unchanged. */
function trimUnchangedLines(first: number, was: readonly string[], now: readonly string[]): ChangedLines {
  const most = Math.min(was.length, now.length) - 1 // a change has at least one line
  let [head, tail] = [0, 0]
  while (head < most && was[head] === now[head]) head++
  while (tail < most - head && was.at(-1 - tail) === now.at(-1 - tail)) tail++
  return { from: first + head, to: first + was.length - tail, lines: now.slice(head, now.length - tail) }
}

function groupAdjacent<Item>(
  items: readonly Item[],
  isNear: (last: Item, next: Item) => boolean,
): readonly Item[][] {
  const groups: Item[][] = []
  for (const item of items) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (group !== undefined && last !== undefined && isNear(last, item)) group.push(item)
    else groups.push([item])
  }
  return groups
}

function formatHunk(
  lines: readonly string[],
  changes: readonly ChangedLines[],
  shift: number,
): readonly string[] {
  const from = Math.max(0, (changes[0]?.from ?? 0) - CONTEXT_LINES)
  const to = Math.min(lines.length, (changes.at(-1)?.to ?? 0) + CONTEXT_LINES)
  const body: string[] = []
  let at = from
  for (const change of changes) {
    body.push(...lines.slice(at, change.from).map((line) => ` ${line}`))
    body.push(...lines.slice(change.from, change.to).map((line) => `-${line}`))
    body.push(...change.lines.map((line) => `+${line}`))
    at = change.to
  }
  body.push(...lines.slice(at, to).map((line) => ` ${line}`))
  const after = body.filter((line) => !line.startsWith('-')).length
  return [`@@ -${from + 1},${to - from} +${from + 1 + shift},${after} @@`, ...body]
}

function linesOf(text: string): readonly string[] {
  const lines = splitLines(text)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function splitLines(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replace(/\r$/, ''))
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length - 1
}

function startOfLine(text: string, offset: number): number {
  return text.slice(0, offset).lastIndexOf('\n') + 1
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end < 0 ? text.length : end
}

/** Tabs are harmless, and many configs use them for indentation. */
function escapeExceptTabs(line: string): string {
  return line.split('\t').map(escapeControlChars).join('\t')
}
