import type { RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import type { StepFinding } from '../../replay/judge/judged-answer.ts'
import { streamJson, StreamedList, toSerializable, parseOrKeepText } from '../json-text.ts'

/** The report as JSON, piece by piece, in the form of `schema/replay-report-1.json`. Its steps are made one at a time. */
export function replayAsJson(report: RepeatedReport): Iterable<string> {
  const { summary, performance, validation, errors, bindings, guesses, notes, runs, noise } = report
  const { timeline, unstable, steps } = report
  return streamJson({
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
    timeline: new StreamedList(() => timeline),
    unstable: unstable.map(({ index, finding, inRuns }) => ({
      index,
      finding: findingJson(finding),
      inRuns,
    })),
    steps: new StreamedList(() => stepsJson(steps)),
  })
}

function* stepsJson(steps: Iterable<ReplayStep>): Generator<object> {
  for (const step of steps) yield stepJson(step)
}

// Messages as JSON, not as text inside of JSON.
function stepJson(step: ReplayStep): object {
  return {
    ...step,
    sent: parseOrKeepText(step.sent),
    answer: parseOrKeepText(step.answer),
    recordedAnswer: parseOrKeepText(step.recordedAnswer),
    findings: step.findings.map(findingJson),
    acceptable: undefined,
  }
}

function findingJson(finding: StepFinding): object {
  const { expected, actual } = finding
  return {
    ...finding,
    difference: undefined,
    expected: toSerializable(expected),
    actual: toSerializable(actual),
  }
}
