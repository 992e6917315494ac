import type { CarriedBinding } from '../../replay/carried-binding.ts'
import { changedSteps, keepSteps, keptSteps } from '../../replay/kept-steps.ts'
import type { LiveSecrets } from '../../replay/live-secrets.ts'
import type { RepeatedReport } from '../../replay/repeated-report.ts'
import type { StepResult } from '../../replay/step-result.ts'
import type { Finding } from '../../replay/verdict/finding.ts'
import { createScreen, screenBy, type Screen } from '../../serve/screen.ts'

/** What stands between a run and those who read of it: the stand-ins of the tape, or of nothing for a tape that has none. */
export function screenOfRun(secrets: LiveSecrets | undefined): Screen {
  return secrets === undefined ? createScreen() : screenBy(secrets.hide)
}

/**
 * A report as it may be shown and written. Values are whole here; what is cut short later holds no half of a secret. The steps
 * of a long run are looked at only if somebody wants them.
 */
export function screenedReport(report: RepeatedReport, screen: Screen): RepeatedReport {
  const { summary, performance, validation, errors, notes, unstable, bindings, guesses, runs, noise } = report
  const shown = (step: StepResult): StepResult => screenedStep(step, screen)
  const screened = {
    summary: { ...summary, target: screen.text(summary.target) },
    performance,
    validation,
    runs,
    noise,
    get timeline() {
      return report.timeline
    },
    get steps() {
      return report.steps.map(shown)
    },
    errors: errors.map((error) => ({ ...error, why: screen.text(error.why) })),
    notes: notes.map(screen.text),
    unstable: unstable.map((each) => ({ ...each, finding: screenedFinding(each.finding, screen) })),
    bindings: bindings.map((binding) => screenedBinding(binding, screen)),
    guesses: guesses.map((binding) => screenedBinding(binding, screen)),
  }
  return keepSteps(screened, changedSteps(keptSteps(report), shown))
}

export function screenedStep(step: StepResult, screen: Screen): StepResult {
  const shown = (text: string | undefined): string | undefined => text && screen.text(text)
  return {
    ...step,
    why: shown(step.why),
    sent: shown(step.sent),
    answer: shown(step.answer),
    recordedAnswer: shown(step.recordedAnswer),
    findings: step.findings.map((finding) => screenedFinding(finding, screen)),
  }
}

function screenedFinding(finding: Finding, screen: Screen): Finding {
  const { message, path = '', expected, actual } = finding
  const name = lastName(path)
  return {
    ...finding,
    message: screen.text(message),
    ...(expected !== undefined && { expected: screen.part(name, expected) }),
    ...(actual !== undefined && { actual: screen.part(name, actual) }),
  }
}

function screenedBinding(binding: CarriedBinding, screen: Screen): CarriedBinding {
  const name = lastName(binding.from)
  const shown = (value: string | undefined): string => String(screen.part(name, value))
  return { ...binding, value: shown(binding.value), live: binding.live && shown(binding.live) }
}

/** The last name of a path, which may say what its value is: `result.items[0].token`. */
function lastName(path: string): string {
  return /([\w-]+)(?:\[\d+\])*$/.exec(path)?.[1] ?? ''
}
