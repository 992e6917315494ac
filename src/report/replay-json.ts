import type { RepeatedReport } from '../replay/repeat.ts'
import type { StepResult } from '../replay/step-result.ts'
import type { Finding } from '../replay/verdict/finding.ts'
import { spared, valueOf } from './spared.ts'

/** The report as JSON, in the form of `schema/replay-report-1.json`. */
export function replayAsJson(report: RepeatedReport): string {
  const { steps, unstable, ...rest } = report
  const shown = {
    ...rest,
    unstable: unstable.map(({ index, finding, inRuns }) => ({ index, finding: plain(finding), inRuns })),
    steps: steps.map(asStep),
  }
  return `${JSON.stringify({ reelayReport: 1, ...shown }, null, 2)}\n`
}

// Messages as JSON, not as text inside of JSON.
function asStep(step: StepResult): object {
  return {
    ...step,
    sent: valueOf(step.sent),
    answer: valueOf(step.answer),
    recordedAnswer: valueOf(step.recordedAnswer),
    findings: step.findings.map(plain),
    acceptable: undefined,
  }
}

function plain(finding: Finding): object {
  const { expected, actual } = finding
  return { ...finding, difference: undefined, expected: spared(expected), actual: spared(actual) }
}
