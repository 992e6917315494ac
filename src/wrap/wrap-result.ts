import type { ErrorCode } from '../errors.ts'
import { escapeControlChars } from '../text.ts'

interface OutcomeLocation {
  readonly client: string
  readonly file: string
}

/** The outcome for one entry, or for a file that was refused as a whole. */
export type WrapOutcome =
  /** Through a `bridge` if the server is at a URL. */
  | (OutcomeLocation & {
      readonly kind: 'wrapped'
      readonly server: string
      readonly tape: string
      readonly bridge: boolean
    })
  | (OutcomeLocation & { readonly kind: 'already-wrapped'; readonly server: string })
  /** `exact` means restored byte for byte; otherwise only the meaning was restored. */
  | (OutcomeLocation & { readonly kind: 'unwrapped'; readonly server: string; readonly exact: boolean })
  | (OutcomeLocation & { readonly kind: 'not-wrapped'; readonly server: string })
  /** The entry was listed as wrapped and no longer is. */
  | (OutcomeLocation & { readonly kind: 'forgotten'; readonly server: string })
  | (OutcomeLocation & { readonly kind: 'odd'; readonly server: string; readonly why: string })
  | (OutcomeLocation & {
      readonly kind: 'refused'
      readonly code: ErrorCode
      readonly why: string
      readonly hint: string | null
    })

/** The result of `wrap` or `unwrap`, or in a dry run the result that it would have. */
export interface WrapResult {
  readonly dryRun: boolean
  readonly outcomes: readonly WrapOutcome[]
  /** One unified diff for each file that changes. */
  readonly diffs: readonly string[]
}

/** 0 if everything requested is in place, 1 if a named server is not, 3 if a file was refused. */
export function wrapExitCode({ outcomes }: WrapResult, servers: readonly string[] | 'all'): 0 | 1 | 3 {
  if (outcomes.some(({ kind }) => kind === 'refused')) return 3
  if (servers === 'all') return 0
  const done = outcomes.filter(({ kind }) => kind !== 'odd')
  const names = done.flatMap((outcome) => (outcome.kind === 'refused' ? [] : [outcome.server]))
  return servers.every((server) => names.includes(server)) ? 0 : 1
}

/** Formats a result, one line per entry. A dry run shows the diff first. */
export function formatWrapResult({ dryRun, outcomes, diffs }: WrapResult): string {
  const lines = outcomes.map((outcome) => escapeControlChars(outcomeLine(outcome, dryRun)))
  if (lines.length === 0) lines.push('nothing to do: no server is wrapped')
  return [...(dryRun ? diffs : []), ...lines].map((line) => `${line}\n`).join('')
}

function outcomeLine(outcome: WrapOutcome, dryRun: boolean): string {
  const place = `(${outcome.client}, ${outcome.file})`
  const would = dryRun ? 'would be ' : ''
  switch (outcome.kind) {
    case 'wrapped':
      return `${outcome.server}: ${would}wrapped${outcome.bridge ? BRIDGE_TEXT : ''}, sessions are recorded to the tape ${outcome.tape} ${place}`
    case 'already-wrapped':
      return `${outcome.server}: already wrapped, nothing changed ${place}`
    case 'unwrapped':
      return `${outcome.server}: ${would}unwrapped, ${outcome.exact ? 'restored byte for byte' : INEXACT_TEXT} ${place}`
    case 'not-wrapped':
      return `${outcome.server}: not wrapped, nothing changed ${place}`
    case 'forgotten':
      return `${outcome.server}: ${dryRun ? 'would be forgotten' : 'forgotten'}, it is no longer wrapped in the config ${place}`
    case 'odd':
      return `${outcome.server}: not changed: ${outcome.why} ${place}`
    case 'refused':
      return `${outcome.code} ${outcome.why}${outcome.hint === null ? '' : `; ${outcome.hint}`}`
  }
}

const BRIDGE_TEXT = ' through a bridge (unwrap it again if the server requires a login)'
const INEXACT_TEXT = 'by meaning; the formatting may differ from the original'
