import type { ServerTablePath } from '../clients/client.ts'

/** A stretch of a config's text. */
export interface ConfigRange {
  readonly start: number
  readonly end: number
}

/** A piece of a config's text, and the string that it spells; none when it spells something else. */
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
      /** What stands between the command and a list of arguments that is put behind it. */
      readonly beforeNewArgs: string
    }
  | { readonly kind: 'remote' }
  | { readonly kind: 'odd'; readonly why: string }

/** One member of an entry. */
export interface ConfigMember {
  /** The key, and where it is spelled. */
  readonly key: ConfigToken
  readonly value: ConfigToken
  /** What is set to what: from the key to the end of the value. */
  readonly whole: ConfigRange
  /** How it stands among its siblings: between commas, on a line, or as a table with a head of its own. */
  readonly form: 'inline' | 'line' | 'table'
  /** The members of a table, where the value is one that can be edited. */
  readonly inside?: readonly ConfigMember[]
  /** Whether it is one of several that make up a table together, as in `headers.a = 1` and `headers.b = 2`. */
  readonly isDotted?: true
}

/** One server in a client's config. */
export interface ConfigEntry {
  readonly server: string
  readonly link: EntryLink
  readonly members: readonly ConfigMember[]
  /** All of the entry's text; undefined when something else stands in between. */
  readonly span: ConfigRange | undefined
}

/** A language that configs are written in. Its parser gives places in the text, never a text made anew. */
export interface ConfigFormat {
  /** The servers under a root; throws a SyntaxProblem when the text cannot be read. */
  readEntries(text: string, root: ServerTablePath): readonly ConfigEntry[]
  /** What the language calls headers of HTTP in an entry. */
  readonly headersKey: string
  /** Whether headers can come from variables of the client. */
  readonly supportsHeaderVariables: boolean
  /** A string as this language spells it. */
  readonly quote: (value: string) => string
  /** A key with a value that is spelled already. */
  readonly formatPair: (key: string, value: string) => string
  /** Members in the place of another one, with values that are spelled already. */
  readonly formatMembers: (
    text: string,
    at: ConfigMember,
    now: readonly (readonly [key: string, value: string])[],
  ) => string
}

/** Where and why a text cannot be read. */
export class ConfigSyntaxError extends Error {
  readonly line: number
  readonly column: number

  constructor(why: string, { line, column }: { readonly line: number; readonly column: number }) {
    super(why)
    this.line = line
    this.column = column
  }
}

/** The line and the column of an offset, both counted from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

export const NO_COMMAND_OR_URL = 'it has neither a command nor a url'
export const COMMAND_NOT_STRING = 'its command is not a string'
export const ARGS_NOT_LIST = 'its args are not a list'
