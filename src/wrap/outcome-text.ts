import { escapeControlChars } from '../text.ts'
import type { WrapOutcome, WrapResult } from './wrap-result.ts'

/** What `wrap` or `unwrap` did, one line an entry; a dry run shows the diff first. */
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
      return `${outcome.server}: ${would}wrapped${outcome.bridge ? BRIDGE_TEXT : ''}, its sessions go to the tape ${outcome.tape} ${place}`
    case 'already-wrapped':
      return `${outcome.server}: already wrapped, nothing changed ${place}`
    case 'unwrapped':
      return `${outcome.server}: ${would}unwrapped, ${outcome.exact ? 'byte for byte as before' : INEXACT_TEXT} ${place}`
    case 'not-wrapped':
      return `${outcome.server}: not wrapped, nothing changed ${place}`
    case 'forgotten':
      return `${outcome.server}: ${dryRun ? 'would be forgotten' : 'forgotten'}, it is no longer wrapped in the config ${place}`
    case 'odd':
      return `${outcome.server}: left as it is, for ${outcome.why} ${place}`
    case 'refused':
      return `${outcome.code} ${outcome.why}${outcome.hint === null ? '' : `; ${outcome.hint}`}`
  }
}

const BRIDGE_TEXT = ' through a bridge (unwrap it again if the server wants you to log in)'
const INEXACT_TEXT = 'as the recorder carried it; the formatting may differ from before'
