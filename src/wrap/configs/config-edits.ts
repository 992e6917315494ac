import type { ConfigFormat, ConfigMember, ConfigRange, ConfigToken } from './config-format.ts'

/** A stretch of a text, and what stands there afterwards. */
export interface ConfigEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Makes edits that do not overlap. What is put in before something that changes stands before it. */
export function applyConfigEdits(text: string, edits: readonly ConfigEdit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start || b.end - a.end)
    .reduce((whole, { start, end, text: now }) => whole.slice(0, start) + now + whole.slice(end), text)
}

/** A key and a value that is spelled already. */
export type FormattedPair = readonly [key: string, value: string]

/** All members of one of these names that count: of those that share a name the last, unless they make up one table. */
export function findConfigMembers(
  members: readonly ConfigMember[],
  names: readonly string[],
): readonly ConfigMember[] {
  const found = members.filter(({ key }) => names.includes(key.value ?? ''))
  return found.at(-1)?.isDotted ? found : found.slice(-1)
}

export function findConfigMember(
  members: readonly ConfigMember[],
  ...names: readonly string[]
): ConfigMember | undefined {
  return findConfigMembers(members, names).at(-1)
}

/** Takes those members out that are among these siblings, with what separates them from the others. */
export function removeConfigMembers(
  text: string,
  siblings: readonly ConfigMember[],
  gone: readonly ConfigMember[],
): readonly ConfigEdit[] {
  const lines = siblings.filter((member) => member.form !== 'inline' && gone.includes(member))
  const inline = siblings.filter(({ form }) => form === 'inline')
  return [
    ...lines.map(({ whole }) => removeLine(text, whole)),
    ...consecutiveRuns(inline, gone).map((run) => removeRun(inline, run)),
  ]
}

/** Puts pairs at the beginning of a table, however it is written. */
export function insertPairsAtStart(
  text: string,
  table: ConfigMember,
  pairs: readonly FormattedPair[],
  format: ConfigFormat,
): ConfigEdit {
  const written = pairs.map(([key, value]) => format.formatPair(key, value))
  const [first] = table.inside ?? []
  if (table.isDotted && first !== undefined) {
    const dotted = text.slice(table.whole.start, first.key.start)
    return insertBefore(
      text,
      table,
      written.map((pair) => dotted + pair),
    )
  }
  if (table.form !== 'table')
    return insertion(table.value.start + 1, ` ${written.join(', ')}${first === undefined ? ' ' : ','}`)
  return first === undefined
    ? insertion(table.value.end, written.map((line) => lineBreakOf(text) + line).join(''))
    : insertBefore(text, first, written)
}

/** A key with another name, in quotes if it was. */
export function renameConfigKey(
  text: string,
  key: ConfigToken,
  name: string,
  format: ConfigFormat,
): ConfigEdit {
  const isQuoted = /["']/.test(text[key.start] ?? '')
  return { ...configRangeOf(key), text: isQuoted ? format.quote(name) : name }
}

export function configRangeOf({ start, end }: ConfigRange): ConfigRange {
  return { start, end }
}

/** A stretch of a text with edits that lie in it. */
export function applyEditsInRange(
  text: string,
  { start, end }: ConfigRange,
  edits: readonly ConfigEdit[],
): string {
  const within = edits.map((edit) => ({
    ...edit,
    start: Math.max(0, edit.start - start),
    end: edit.end - start,
  }))
  return applyConfigEdits(text.slice(start, end), within)
}

/** What stands on a line for itself takes the line with it. */
function removeLine(text: string, { start, end }: ConfigRange): ConfigEdit {
  const [, before = ''] = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, start)) ?? []
  const [after] = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end)) ?? []
  return after === undefined
    ? { start, end, text: '' }
    : { start: start - before.length, end: end + after.length, text: '' }
}

/** Neighbours that all go. */
function consecutiveRuns(
  siblings: readonly ConfigMember[],
  gone: readonly ConfigMember[],
): readonly ConfigMember[][] {
  const runs: ConfigMember[][] = []
  let run: ConfigMember[] | undefined
  for (const member of siblings) {
    if (!gone.includes(member)) run = undefined
    else if (run === undefined) runs.push((run = [member]))
    else run.push(member)
  }
  return runs
}

/** With the comma behind them, or before them when nothing follows. */
function removeRun(siblings: readonly ConfigMember[], run: readonly ConfigMember[]): ConfigEdit {
  const [first, last] = [run[0]!, run.at(-1)!]
  const [before, after] = [siblings[siblings.indexOf(first) - 1], siblings[siblings.indexOf(last) + 1]]
  if (after !== undefined) return { start: first.whole.start, end: after.whole.start, text: '' }
  return { start: before?.whole.end ?? first.whole.start, end: last.whole.end, text: '' }
}

function insertBefore(
  text: string,
  { form, whole: { start } }: ConfigMember,
  written: readonly string[],
): ConfigEdit {
  const indent = /[ \t]*$/.exec(text.slice(0, start))?.[0] ?? ''
  const between = form === 'inline' ? ', ' : lineBreakOf(text) + indent
  return insertion(start, written.map((each) => each + between).join(''))
}

function lineBreakOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

function insertion(start: number, text: string): ConfigEdit {
  return { start, end: start, text }
}
