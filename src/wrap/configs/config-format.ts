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
  /** Whether this is one of several dotted keys that form a table, as in `headers.a = 1` and `headers.b = 2`. */
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
  /** Whether headers can be read from the client's environment variables. */
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

/** Where and why a text cannot be parsed. */
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
