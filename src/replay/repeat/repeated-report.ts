import type { LearnedNoise } from '../../diff/noise.ts'
import { noiseKey, type CallNoise } from '../call-noise.ts'
import { mapSteps, attachSteps, stepsOf, notableSteps } from '../kept-steps.ts'
import { reportFromTotals, type ReplayReport } from '../report.ts'
import type { ReplayStep } from '../steps/step.ts'
import { RunTotals } from '../steps/run-totals.ts'
import type { StepFinding } from '../verdict/finding.ts'

/** What came of several runs: the report of the first, without what the server is seen to say differently each time. */
export interface RepeatedReport extends ReplayReport {
  readonly runs: number
  readonly noise: readonly NoisyPath[]
  /** Findings that were not there in every run. */
  readonly unstable: readonly {
    readonly index: number
    readonly finding: StepFinding
    readonly inRuns: number
  }[]
}

interface NoisyPath {
  readonly method: string
  readonly tool: string | undefined
  readonly path: string
  readonly seen: number
}

/** The report of the first run with what all of them say. */
export function repeatedReport(
  first: ReplayReport,
  others: readonly ReplayReport[],
  { runs, noises }: { runs: number; noises: ReadonlyMap<string, CallNoise> },
): RepeatedReport {
  if (others.length === 0 && noises.size === 0) return withRunFacts(first, { runs, noise: [], unstable: [] })
  const noise = [...noises].flatMap(([, { method, tool, noise: ofCall }]) =>
    ofCall.paths().map(({ path, seen }) => ({ method, tool, path, seen })),
  )
  const unstable = others.length === 0 ? [] : notableSteps(first).flatMap((step) => unstableIn(step, others))
  return withRunFacts(
    recountSteps(first, (step) => withoutNoise(step, others, noises)),
    { runs, noise, unstable },
  )
}

/** The report of a run, counted anew with what its steps turned out to be. */
function recountSteps(first: ReplayReport, settle: (step: ReplayStep) => ReplayStep): ReplayReport {
  const kept = mapSteps(stepsOf(first), settle)
  const tally = new RunTotals()
  for (const outcome of kept.outcomes()) tally.add(outcome)
  const { summary, bindings, guesses, notes } = first
  const { tape, tapeId, target, duration } = summary
  const facts = { tape, tapeId, target, duration, bindings, guesses, notes }
  return attachSteps(
    reportFromTotals(tally, () => first.steps.map(settle), facts),
    kept,
  )
}

/** The report with what several runs say; its steps are not made for it. */
function withRunFacts(
  report: ReplayReport,
  { runs, noise, unstable }: Pick<RepeatedReport, 'runs' | 'noise' | 'unstable'>,
): RepeatedReport {
  const { summary, performance, validation, errors, bindings, guesses, notes } = report
  const all = {
    summary,
    performance,
    validation,
    errors,
    bindings,
    guesses,
    notes,
    runs,
    noise,
    unstable,
    get timeline() {
      return report.timeline
    },
    get steps() {
      return report.steps
    },
  }
  return attachSteps(all, stepsOf(report))
}

function withoutNoise(
  step: ReplayStep,
  others: readonly ReplayReport[],
  noises: ReadonlyMap<string, CallNoise>,
): ReplayStep {
  const noise = noises.get(noiseKey(step))?.noise
  const findings = step.findings.filter(
    (finding) => !isNoise(finding, noise) && (finding.layer !== 'timing' || isInAll(finding, step, others)),
  )
  return { ...step, findings }
}

function isNoise({ difference }: StepFinding, noise: LearnedNoise | undefined): boolean {
  return difference !== undefined && noise !== undefined && noise.separate([difference]).kept.length === 0
}

// A slow answer that the next run does not repeat was the machine's doing.
function isInAll(finding: StepFinding, step: ReplayStep, others: readonly ReplayReport[]): boolean {
  return countIn(finding, step, others) === others.length
}

function unstableIn(step: ReplayStep, others: readonly ReplayReport[]): RepeatedReport['unstable'] {
  return step.findings.flatMap((finding) => {
    const inRuns = 1 + countIn(finding, step, others)
    return inRuns > others.length ? [] : [{ index: step.index, finding, inRuns }]
  })
}

function countIn(
  { layer, path }: StepFinding,
  { index }: ReplayStep,
  others: readonly ReplayReport[],
): number {
  return others.filter((report) =>
    stepsOf(report)
      .notableAt(index)
      ?.findings.some((other) => other.layer === layer && other.path === path),
  ).length
}
