import type { Root } from './client.ts'

/** A stretch of a config's text. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** A piece of a config's text, and the string that it spells; none when it spells something else. */
export interface Word extends Place {
  readonly value: string | undefined
}

export interface ArgList extends Place {
  readonly items: readonly Word[]
}

/** How a client reaches the server of an entry. */
export type Link =
  | {
      readonly kind: 'command'
      readonly command: Word
      readonly args: ArgList | undefined
      /** What stands between the command and a list of arguments that is put behind it. */
      readonly beforeNewArgs: string
    }
  | { readonly kind: 'remote' }
  | { readonly kind: 'odd'; readonly why: string }

/** One member of an entry. */
export interface Member {
  /** The key, and where it is spelled. */
  readonly key: Word
  readonly value: Word
  /** What is set to what: from the key to the end of the value. */
  readonly whole: Place
  /** How it stands among its siblings: between commas, on a line, or as a table with a head of its own. */
  readonly form: 'inline' | 'line' | 'table'
  /** The members of a table, where the value is one that can be edited. */
  readonly inside?: readonly Member[]
  /** Whether it is one of several that make up a table together, as in `headers.a = 1` and `headers.b = 2`. */
  readonly isDotted?: true
}

/** One server in a client's config. */
export interface Entry {
  readonly server: string
  readonly link: Link
  readonly members: readonly Member[]
  /** All of the entry's text; undefined when something else stands in between. */
  readonly span: Place | undefined
}

/** A language that configs are written in. Its parser gives places in the text, never a text made anew. */
export interface ConfigFormat {
  /** The servers under a root; throws a SyntaxProblem when the text cannot be read. */
  entries(text: string, root: Root): readonly Entry[]
  /** What the language calls headers of HTTP in an entry. */
  readonly headersKey: string
  /** Whether headers can come from variables of the client. */
  readonly takesVariables: boolean
  /** A string as this language spells it. */
  readonly spell: (value: string) => string
  /** A key with a value that is spelled already. */
  readonly pair: (key: string, value: string) => string
  /** Members in the place of another one, with values that are spelled already. */
  readonly members: (
    text: string,
    at: Member,
    now: readonly (readonly [key: string, value: string])[],
  ) => string
}

/** Where and why a text cannot be read. */
export class SyntaxProblem extends Error {
  readonly line: number
  readonly column: number

  constructor(why: string, { line, column }: { readonly line: number; readonly column: number }) {
    super(why)
    this.line = line
    this.column = column
  }
}

/** The line and the column of an offset, both counted from 1. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

export const ODD_WITHOUT_COMMAND = 'it has neither a command nor a url'
export const ODD_COMMAND = 'its command is not a string'
export const ODD_ARGS = 'its args are not a list'
