import type { FieldDifference } from '../match/field-diff.ts'
import type { Miss } from '../match/miss/miss.ts'
import type { PathPattern } from '../json/path.ts'
import type { ReportRedactor } from './redaction/report-redactor.ts'

/** A miss as it may be shown to clients and on screens. What is cut short later is whole here, so that no half of a secret stays. */
export function redactMiss(miss: Miss, screen: ReportRedactor): Miss {
  const { asked, why, nearest, annotations, fixes, next } = miss
  return {
    ...miss,
    why: screen.text(why),
    asked: screen.request(asked),
    nearest: nearest.map((candidate) => ({
      ...candidate,
      differences: candidate.differences.map((difference) => redactDifference(difference, screen)),
    })),
    annotations: annotations.map((annotation) =>
      'value' in annotation ? { ...annotation, value: screen.part('', annotation.value) } : annotation,
    ),
    fixes: fixes.map((fix) => ({ ...fix, command: screen.text(fix.command) })),
    ...(next && { next: screen.request(next) }),
  }
}

function redactDifference(difference: FieldDifference, screen: ReportRedactor): FieldDifference {
  const name = lastName(difference.path)
  return {
    ...difference,
    ...('recorded' in difference && { recorded: screen.part(name, difference.recorded) }),
    ...('got' in difference && { got: screen.part(name, difference.got) }),
  }
}

function lastName(path: PathPattern): string {
  return path.findLast((segment) => typeof segment === 'string') ?? ''
}
