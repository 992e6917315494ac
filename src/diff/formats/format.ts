/** A kind of structured text. Its values are compared one by one, and paths continue into it. */
export interface TextFormat {
  /** As a finding names it: "is no longer valid JSON". */
  readonly name: string
  /** Returns the values in a text of this format, or `undefined` if the text has another format. Takes linear time and never throws. */
  readonly parse: (text: string) => unknown
  /**
   * Parses a text that should have this format because its counterpart has it. It accepts texts that alone would not be recognized, such as a
   * table with a short row. The default is `parse`.
   */
  readonly parseLenient?: (text: string) => unknown
  /** Texts with the same values are equal, whatever their layout. */
  readonly ignoresLayout?: true
  /** Prose rarely has this format by accident, so losing it is never noise. */
  readonly isDistinctive?: true
}

/** Longer texts are compared line by line. JSON has no limit, because its parser is native. */
export const LONGEST_PARSED = 4_000_000

/** Adds a member. Unlike an assignment, it treats `__proto__` as an ordinary name. */
export function setMember(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
