import type { CarriedBinding } from '../../replay/values/carried-values.ts'
import type { LiveSecrets } from '../../replay/session/live-secrets.ts'
import type { RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import type { StepFinding } from '../../replay/judge/judged-answer.ts'
import {
  createReportRedactor,
  reportRedactorFrom,
  type ReportRedactor,
} from '../../serve/redaction/report-redactor.ts'

/** Redacts the output of a run, with the placeholders of the tape if it has any. */
export function createRunRedactor(secrets: LiveSecrets | undefined): ReportRedactor {
  return secrets === undefined ? createReportRedactor() : reportRedactorFrom(secrets.hide)
}

/**
 * Redacts a report. This happens before values are shortened, so that no part of a secret is left. Steps are redacted when
 * they are read.
 */
export function redactReport(report: RepeatedReport, screen: ReportRedactor): RepeatedReport {
  const { summary, errors, notes, unstable, bindings, guesses, steps } = report
  return {
    ...report,
    summary: { ...summary, target: screen.text(summary.target) },
    steps: steps.transform((step) => redactStep(step, screen)),
    errors: errors.map((error) => ({ ...error, why: screen.text(error.why) })),
    notes: notes.map(screen.text),
    unstable: unstable.map((each) => ({ ...each, finding: redactFinding(each.finding, screen) })),
    bindings: bindings.map((binding) => redactBinding(binding, screen)),
    guesses: guesses.map((binding) => redactBinding(binding, screen)),
  }
}

export function redactStep(step: ReplayStep, screen: ReportRedactor): ReplayStep {
  const shown = (text: string | undefined): string | undefined => text && screen.text(text)
  return {
    ...step,
    why: shown(step.why),
    sent: shown(step.sent),
    answer: shown(step.answer),
    recordedAnswer: shown(step.recordedAnswer),
    findings: step.findings.map((finding) => redactFinding(finding, screen)),
  }
}

function redactFinding(finding: StepFinding, screen: ReportRedactor): StepFinding {
  const { message, path = '', expected, actual } = finding
  const name = lastPathName(path)
  return {
    ...finding,
    message: screen.text(message),
    ...(expected !== undefined && { expected: screen.part(name, expected) }),
    ...(actual !== undefined && { actual: screen.part(name, actual) }),
  }
}

function redactBinding(binding: CarriedBinding, screen: ReportRedactor): CarriedBinding {
  const name = lastPathName(binding.from)
  const shown = (value: string | undefined): string => String(screen.part(name, value))
  return { ...binding, value: shown(binding.value), live: binding.live && shown(binding.live) }
}

/** The last name of a path, which may show that the value is a secret: `result.items[0].token`. */
function lastPathName(path: string): string {
  return /([\w-]+)(?:\[\d+\])*$/.exec(path)?.[1] ?? ''
}
