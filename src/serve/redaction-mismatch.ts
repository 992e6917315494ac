import type { Miss } from '../match/miss/miss.ts'
import { formatPath } from '../json/path.ts'
import type { ClientRedaction } from './redaction/client-redaction.ts'
import { reportRedactorFrom } from './redaction/report-redactor.ts'
import { redactMiss } from './shown-miss.ts'

/** A miss of a redacted tape: it shows no live value that a stand-in is for, and says so when nothing else stands in the way. */
export function explainRedactedMiss(miss: Miss, redaction: ClientRedaction, holdsSecret: boolean): Miss {
  const differences = miss.nearest[0]?.differences ?? []
  const gaps = differences.map((difference) => redaction.standIns.wordsBehindStandIns(difference))
  for (const value of gaps.flat()) redaction.hide(value)
  const why = mismatchReason(miss, redaction, {
    holdsSecret,
    isAll: gaps.length > 0 && gaps.every(({ length }) => length > 0),
  })
  const told = why === undefined ? miss : { ...miss, reason: 'REDACTION_MISMATCH' as const, why }
  return gaps.flat().length === 0 ? told : redactMiss(told, reportRedactorFrom(redaction.text))
}

function mismatchReason(
  { reason, nearest }: Miss,
  { isOurs, key, variables }: ClientRedaction,
  { holdsSecret, isAll }: { readonly holdsSecret: boolean; readonly isAll: boolean },
): string | undefined {
  const isMismatch = isAll && reason === 'ARGUMENT_DRIFT'
  const paths = isMismatch ? (nearest[0]?.differences ?? []).map(({ path }) => formatPath(path)) : []
  if (!isOurs) return isMismatch || holdsSecret ? missingKeyText(paths, key) : undefined
  return isMismatch ? differentValueText(paths, variables) : undefined
}

function differentValueText(paths: readonly string[], variables: readonly string[]): string {
  const from =
    variables.length === 0 ? '' : `; variables of the recorder that held secrets: ${variables.join(', ')}`
  return `the tape has a stand-in at ${paths.join(', ')}, and what came is not the value behind it: the client has to send the value that was recorded${from}`
}

function missingKeyText(paths: readonly string[], key: string): string {
  const what =
    paths.length === 0
      ? 'the request holds a secret, and the tape has stand-ins'
      : `what the tape has at ${paths.join(', ')} looks like a stand-in`
  return `${what} made with the key ${key}, which is not here; set REELAY_REDACTION_KEY, or put the key into redaction.key of REELAY_HOME`
}
