import type { Direction, Id } from '../protocol/message.ts'

/**
 * What is known about one message, or about several, without parsing them. What is missing is unknown. A filter that certainly
 * matches none of them need not read them.
 */
export interface FilterGlance {
  readonly server: string
  readonly conn: number
  readonly dir: Direction
  readonly kind?: 'request' | 'response' | 'notification' | undefined
  readonly id?: Id | undefined
  /** The numbers that the exchange can have; `null` if it has none. */
  readonly exchanges?: NumberRange | null | undefined
  /** The messages themselves. */
  readonly content?: GlancedText | undefined
  /** The request or notification that has the params; `null` if there is none. */
  readonly call?: GlancedText | null | undefined
  /** A text with the method and the target of that request; `null` if there is none. */
  readonly names?: GlancedText | null | undefined
  /** Its method, if it was read. */
  readonly method?: string | undefined
  /** Its target, if it was read. */
  readonly target?: string | undefined
  /** All methods that requests without a response can have. */
  readonly openMethods?: ReadonlySet<string> | undefined
  /** The longest time that one of the responses can have taken; `null` if there is no response. */
  readonly longestMs?: number | null | undefined
}

export interface NumberRange {
  readonly min: number
  readonly max: number
}

/** JSON text that is searched without parsing it. Every method returns true if it cannot tell. */
export interface GlancedText {
  readonly minBytes: number
  readonly maxBytes: number
  /** Whether the JSON may contain a plain text: one that is spelled the same in every JSON text, but for Unicode escapes. */
  mayContain(text: string): boolean
  /** The same in upper or lower case. */
  mayContainInAnyCase(search: CaseSearch): boolean
  /** Whether it may have a member with this name and a value that passes the test. Only plain values are tested. */
  mayHaveMember(name: string, test: (value: unknown) => boolean): boolean
  mayMatch(pattern: RegExp): boolean
}

/** A plain text that is searched in upper or lower case. */
export interface CaseSearch {
  readonly text: string
  readonly pattern: RegExp
}

/** The longest part of a text that every JSON text spells the same, but for Unicode escapes. Returns `undefined` if there is none. */
export function plainPartOf(text: string): CaseSearch | undefined {
  const parts = text.split(/[^\u0020-\u007e]|["\\/]/).toSorted((a, b) => b.length - a.length)
  const [longest = ''] = parts
  const source = longest.replaceAll(/[.*+?^${}()|[\]\\-]/g, String.raw`\$&`)
  return longest === '' ? undefined : { text: longest, pattern: new RegExp(source, 'i') }
}
