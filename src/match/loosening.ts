import type { MatchOptions } from './options.ts'

/** The options under which a request that missed would have been answered. */
export interface SuggestedMatchOptions extends MatchOptions {
  readonly rules: readonly string[]
  readonly ignore: readonly string[]
  readonly permissive: boolean
  /** Another server of the tape. */
  readonly server?: string
}
