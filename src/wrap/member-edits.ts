import type { ConfigFormat, Member, Place, Word } from './config-format.ts'
import { applyEdits, type Edit } from './edit.ts'

/** A key and a value that is spelled already. */
export type Pair = readonly [key: string, value: string]

/** All members of one of these names that count: of those that share a name the last, unless they make up one table. */
export function allNamed(members: readonly Member[], names: readonly string[]): readonly Member[] {
  const found = members.filter(({ key }) => names.includes(key.value ?? ''))
  return found.at(-1)?.isDotted ? found : found.slice(-1)
}

export function named(members: readonly Member[], ...names: readonly string[]): Member | undefined {
  return allNamed(members, names).at(-1)
}

/** Takes those members out that are among these siblings, with what separates them from the others. */
export function without(text: string, siblings: readonly Member[], gone: readonly Member[]): readonly Edit[] {
  const lines = siblings.filter((member) => member.form !== 'inline' && gone.includes(member))
  const inline = siblings.filter(({ form }) => form === 'inline')
  return [
    ...lines.map(({ whole }) => withoutLine(text, whole)),
    ...runsOf(inline, gone).map((run) => withoutRun(inline, run)),
  ]
}

/** Puts pairs at the beginning of a table, however it is written. */
export function atBeginning(text: string, table: Member, pairs: readonly Pair[], format: ConfigFormat): Edit {
  const written = pairs.map(([key, value]) => format.pair(key, value))
  const [first] = table.inside ?? []
  if (table.isDotted && first !== undefined) {
    const dotted = text.slice(table.whole.start, first.key.start)
    return aheadOf(
      text,
      table,
      written.map((pair) => dotted + pair),
    )
  }
  if (table.form !== 'table')
    return at(table.value.start + 1, ` ${written.join(', ')}${first === undefined ? ' ' : ','}`)
  return first === undefined
    ? at(table.value.end, written.map((line) => newlineOf(text) + line).join(''))
    : aheadOf(text, first, written)
}

/** A key with another name, in quotes if it was. */
export function renamed(text: string, key: Word, name: string, format: ConfigFormat): Edit {
  const isQuoted = /["']/.test(text[key.start] ?? '')
  return { ...placeOf(key), text: isQuoted ? format.spell(name) : name }
}

export function placeOf({ start, end }: Place): Place {
  return { start, end }
}

/** A stretch of a text with edits that lie in it. */
export function edited(text: string, { start, end }: Place, edits: readonly Edit[]): string {
  const within = edits.map((edit) => ({
    ...edit,
    start: Math.max(0, edit.start - start),
    end: edit.end - start,
  }))
  return applyEdits(text.slice(start, end), within)
}

/** What stands on a line for itself takes the line with it. */
function withoutLine(text: string, { start, end }: Place): Edit {
  const [, before = ''] = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, start)) ?? []
  const [after] = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end)) ?? []
  return after === undefined
    ? { start, end, text: '' }
    : { start: start - before.length, end: end + after.length, text: '' }
}

/** Neighbours that all go. */
function runsOf(siblings: readonly Member[], gone: readonly Member[]): readonly Member[][] {
  const runs: Member[][] = []
  let run: Member[] | undefined
  for (const member of siblings) {
    if (!gone.includes(member)) run = undefined
    else if (run === undefined) runs.push((run = [member]))
    else run.push(member)
  }
  return runs
}

/** With the comma behind them, or before them when nothing follows. */
function withoutRun(siblings: readonly Member[], run: readonly Member[]): Edit {
  const [first, last] = [run[0]!, run.at(-1)!]
  const [before, after] = [siblings[siblings.indexOf(first) - 1], siblings[siblings.indexOf(last) + 1]]
  if (after !== undefined) return { start: first.whole.start, end: after.whole.start, text: '' }
  return { start: before?.whole.end ?? first.whole.start, end: last.whole.end, text: '' }
}

function aheadOf(text: string, { form, whole: { start } }: Member, written: readonly string[]): Edit {
  const indent = /[ \t]*$/.exec(text.slice(0, start))?.[0] ?? ''
  const between = form === 'inline' ? ', ' : newlineOf(text) + indent
  return at(start, written.map((each) => each + between).join(''))
}

function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

function at(start: number, text: string): Edit {
  return { start, end: start, text }
}
