import type { ErrorCode } from '../errors.ts'

interface OutcomeLocation {
  readonly client: string
  readonly file: string
}

/** What became of one entry, or of a file that was refused as a whole. */
export type WrapOutcome =
  /** Through a `bridge` when the server is at a url. */
  | (OutcomeLocation & {
      readonly kind: 'wrapped'
      readonly server: string
      readonly tape: string
      readonly bridge: boolean
    })
  | (OutcomeLocation & { readonly kind: 'already-wrapped'; readonly server: string })
  /** `exact` when the bytes are those from before the wrapping; otherwise only what they mean. */
  | (OutcomeLocation & { readonly kind: 'unwrapped'; readonly server: string; readonly exact: boolean })
  | (OutcomeLocation & { readonly kind: 'not-wrapped'; readonly server: string })
  /** It was remembered as wrapped, and is so no longer. */
  | (OutcomeLocation & { readonly kind: 'forgotten'; readonly server: string })
  | (OutcomeLocation & { readonly kind: 'odd'; readonly server: string; readonly why: string })
  | (OutcomeLocation & {
      readonly kind: 'refused'
      readonly code: ErrorCode
      readonly why: string
      readonly hint: string | null
    })

/** What `wrap` or `unwrap` did, or with a dry run would do. */
export interface WrapResult {
  readonly dryRun: boolean
  readonly outcomes: readonly WrapOutcome[]
  /** One unified diff for each file that changes. */
  readonly diffs: readonly string[]
}

/** 0 when everything asked for is so now, 1 when a server that was named is not, 3 when a file was refused. */
export function wrapExitCode({ outcomes }: WrapResult, servers: readonly string[] | 'all'): 0 | 1 | 3 {
  if (outcomes.some(({ kind }) => kind === 'refused')) return 3
  if (servers === 'all') return 0
  const done = outcomes.filter(({ kind }) => kind !== 'odd')
  const names = done.flatMap((outcome) => (outcome.kind === 'refused' ? [] : [outcome.server]))
  return servers.every((server) => names.includes(server)) ? 0 : 1
}
