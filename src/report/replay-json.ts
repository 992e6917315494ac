import { keptSteps } from '../replay/kept-steps.ts'
import type { RepeatedReport } from '../replay/repeated-report.ts'
import { timelineOf } from '../replay/report.ts'
import type { StepResult } from '../replay/step-result.ts'
import type { Finding } from '../replay/verdict/finding.ts'
import { longJson, LongList } from './long-json.ts'
import { spared, valueOf } from './spared.ts'

/** The report as JSON, piece by piece, in the form of `schema/replay-report-1.json`. Its steps are made one at a time. */
export function replayAsJson(report: RepeatedReport): Iterable<string> {
  const { summary, performance, validation, errors, bindings, guesses, notes, runs, noise, unstable } = report
  const kept = keptSteps(report)
  return longJson({
    reelayReport: 1,
    summary,
    performance,
    validation,
    errors,
    bindings,
    guesses,
    notes,
    runs,
    noise,
    timeline: new LongList(() => timelineOf(kept.outcomes())),
    unstable: unstable.map(({ index, finding, inRuns }) => ({ index, finding: plain(finding), inRuns })),
    steps: new LongList(() => shown(kept.steps())),
  })
}

function* shown(steps: Iterable<StepResult>): Generator<object> {
  for (const step of steps) yield asStep(step)
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
