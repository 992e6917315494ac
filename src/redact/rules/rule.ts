import type { KeywordContext } from '../prefilter/pattern-kinds.ts'

/**
 * A kind of secret that is recognised by its form. To add one, add it to a file in this folder and run `npm run patterns`.
 */
export interface RedactionRule {
  readonly name: string
  /** What the documentation calls such secrets: the service that issues them, or their form. */
  readonly service?: string
  /** Examples of such secrets, in the notation of `tokenRule`. They are for the documentation and the tests. */
  readonly shapes?: readonly string[]
  /**
   * A text is searched only if it contains one of these, in any case if the pattern ignores case. Keywords of three or more
   * characters are fastest. Without keywords every text is searched, which makes recording slower.
   */
  readonly keywords: readonly string[]
  /** The text that must follow the keyword, if the keyword alone is too common. */
  readonly followedBy?: KeywordContext
  /** Set if the pattern does not match inside of a word, or of a long word such as the base64 of a picture. */
  readonly notInside?: 'word' | 'long-word'
  /** The secret is the group `secret`, or the whole match if there is no such group. */
  readonly pattern: RegExp
  /** Rejects matches that are not secrets, if the pattern alone cannot decide. */
  readonly isSecret?: (value: string) => boolean
  /** Prefixes of the secret that its placeholder keeps. */
  readonly prefixes?: readonly string[]
  /** Set if only the surrounding text shows that the value is secret. The value is then replaced everywhere else, too. */
  readonly isLearned?: true
}
