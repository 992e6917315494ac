import type { ServerTablePath } from '../clients/client.ts'

/** A range in a config's text. */
export interface ConfigRange {
  readonly start: number
  readonly end: number
}

/** A token in a config's text with its string value, or `undefined` if it is not a string. */
export interface ConfigToken extends ConfigRange {
  readonly value: string | undefined
}

export interface ConfigArgList extends ConfigRange {
  readonly items: readonly ConfigToken[]
}

/** How a client reaches the server of an entry. */
export type EntryLink =
  | {
      readonly kind: 'command'
      readonly command: ConfigToken
      readonly args: ConfigArgList | undefined
      /** Text between the command and a new argument list after it. */
      readonly beforeNewArgs: string
    }
  | { readonly kind: 'remote' }
  | { readonly kind: 'odd'; readonly why: string }

/** One member of an entry. */
export interface ConfigMember {
  /** The key and its position. */
  readonly key: ConfigToken
  readonly value: ConfigToken
  /** The range from the key to the end of the value. */
  readonly whole: ConfigRange
  /** How the member is written: between commas, on its own line, or as a table with its own header. */
  readonly form: 'inline' | 'line' | 'table'
  /** The members of a table value that can be edited. */
  readonly inside?: readonly ConfigMember[]
  /** True for one of several dotted keys that form a table, as in `headers.a = 1` and `headers.b = 2`. */
  readonly isDotted?: true
}

/** One server in a client's config. */
export interface ConfigEntry {
  readonly server: string
  readonly link: EntryLink
  readonly members: readonly ConfigMember[]
  /** Range of the whole entry, or `undefined` if other text interrupts it. */
  readonly span: ConfigRange | undefined
}

/** A config language. Its parser returns positions in the text, so that edits preserve everything else. */
export interface ConfigFormat {
  /** Reads the servers in a table. Throws a `ConfigSyntaxError` if the text cannot be parsed. */
  readEntries(text: string, root: ServerTablePath): readonly ConfigEntry[]
  /** Key of an entry's HTTP headers in this language. */
  readonly headersKey: string
  /** True if headers can be read from the client's environment variables. */
  readonly supportsHeaderVariables: boolean
  /** Formats a string in this language. */
  readonly quote: (value: string) => string
  /** Formats a key with an already formatted value. */
  readonly formatPair: (key: string, value: string) => string
  /** Formats members that replace another one; their values are already formatted. */
  readonly formatMembers: (
    text: string,
    at: ConfigMember,
    now: readonly (readonly [key: string, value: string])[],
  ) => string
}

/** The text cannot be parsed. Says where and why. */
export class ConfigSyntaxError extends Error {
  readonly line: number
  readonly column: number

  constructor(why: string, { line, column }: { readonly line: number; readonly column: number }) {
    super(why)
    this.line = line
    this.column = column
  }
}

/** The line and column of an offset, both counted from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

export const NO_COMMAND_OR_URL = 'it has neither a command nor a url'
export const COMMAND_NOT_STRING = 'its command is not a string'
export const ARGS_NOT_LIST = 'its args are not a list'

/** A range of a text and its replacement. */
export interface ConfigEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Applies edits that do not overlap. An insertion goes before a replacement at the same position. */
export function applyConfigEdits(text: string, edits: readonly ConfigEdit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start || b.end - a.end)
    .reduce((whole, { start, end, text: now }) => whole.slice(0, start) + now + whole.slice(end), text)
}

/** A key and an already formatted value. */
export type FormattedPair = readonly [key: string, value: string]

/** Finds the effective members with one of these names. The last duplicate wins, unless duplicates form one table. */
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

/** Removes members from among these siblings, including their separators. */
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

/** Inserts pairs at the start of a table, whatever its syntax. */
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

/** Renames a key and keeps its quotes. */
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

/** Returns a range of a text with the edits inside it applied. */
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

/** Removes a range, including its line if nothing else is on it. */
function removeLine(text: string, { start, end }: ConfigRange): ConfigEdit {
  const [, before = ''] = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, start)) ?? []
  const [after] = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end)) ?? []
  return after === undefined
    ? { start, end, text: '' }
    : { start: start - before.length, end: end + after.length, text: '' }
}

/** Groups neighbouring members that are all removed. */
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

/** Removes members with the comma after them, or before them if nothing follows. */
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
