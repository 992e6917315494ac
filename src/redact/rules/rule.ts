import type { ByteTest } from '../prefilter/byte-tests.ts'

/** One kind of secret that can be told by its looks. */
export interface RedactionRule {
  readonly name: string
  /**
   * What a text must hold for the pattern to be tried: one of these, better three characters or more, in any case if the
   * pattern does not tell cases apart. Without any, every text is tried, which makes recording slower.
   */
  readonly keywords: readonly string[]
  /** What must come right behind the keyword, where the keyword alone would stop too many texts. */
  readonly followedBy?: ByteTest
  /** The secret is what the group `secret` matched, or all of the match without such a group. */
  readonly pattern: RegExp
  /** Whether what was matched is a secret, where the pattern alone cannot say. */
  readonly isSecret?: (value: string) => boolean
  /** What such a secret begins with, which its stand-in keeps. */
  readonly prefixes?: readonly string[]
  /** The secret can be told only by what stands beside it: once found, it is looked for everywhere. */
  readonly isLearned?: true
}
