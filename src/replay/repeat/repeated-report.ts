import type { ExchangeNoise, NoisyPath } from './exchange-noise.ts'
import { sometimesChanged } from './sometimes-changed.ts'
import { createReport, type ReplayReport } from '../report.ts'
import { RunTotals } from '../steps/run-totals.ts'
import { hasFailed, type Layer, type ReplayStep, type StepFinding } from '../steps/step.ts'
import { StepList } from '../steps/step-log.ts'
import type { RestoredRun } from '../values/tape-equalities.ts'

/**
 * The report of one or several runs. Its steps have the findings of all runs that are not noise, each once, and are otherwise
 * those of the first run with such findings.
 */
export interface RepeatedReport extends ReplayReport {
  readonly runs: number
  /** The runs that count: all but those that tried other bindings. */
  readonly judgedRuns: number
  readonly noise: readonly NoisyPath[]
  /** Findings that did not occur in every run. */
  readonly unstable: readonly {
    readonly index: number
    readonly frame: number
    readonly exchange: number | undefined
    readonly finding: StepFinding
    readonly inRuns: number
  }[]
}

interface JudgedRuns {
  /** How often the tape was played. */
  readonly runs: number
  /** The steps of each report with the recorded values put back. */
  readonly restored: readonly RestoredRun[]
  /** What differs between runs or between two recordings. */
  readonly noise: ExchangeNoise
  /** What differs between two recordings. */
  readonly noiseOfBaseline: ExchangeNoise
}

/**
 * Combines the reports of several runs. They are undecided if the only differences are values that alternate between the recorded
 * one and one other, or items of a list in which other items are noise: further runs show whether these values are random.
 */
export function repeatedReport(
  reports: readonly [ReplayReport, ...ReplayReport[]],
  { runs, restored, noise, noiseOfBaseline }: JudgedRuns,
): { readonly report: RepeatedReport; readonly isUndecided: boolean } {
  const [first] = reports
  const failedRuns = new Set<number>()
  const unstable: RepeatedReport['unstable'][number][] = []
  let [hasAlternating, hasOthers] = [false, false]
  const lists = restored.map(({ steps }) => steps)
  const steps = StepList.combine(lists, (sameStep) => {
    const alternating = sometimesChanged(sameStep)
    const settled = sameStep.map((step) => withoutNoise(step, { noise, noiseOfBaseline, alternating }))
    for (const finding of settled.flatMap(({ findings }) => findings)) {
      if (finding.level !== 'error') continue
      if (alternating.has(finding) || noise.mayExplain(sameStep[0], finding)) hasAlternating = true
      else hasOthers = true
    }
    const { index, frame, exchange } = sameStep[0]
    const counted = countFindings(settled)
    for (const { finding, inRuns } of counted)
      if (inRuns < settled.length) unstable.push({ index, frame, exchange, finding, inRuns })
    const remaining = counted.filter((one) => isJudged(one, settled.length))
    const isRemaining = new Set(remaining.map(({ key }) => key))
    for (const [run, { findings }] of settled.entries())
      if (hasFailed({ findings: findings.filter((one) => isRemaining.has(findingKey(one))) }))
        failedRuns.add(run)
    const findings = remaining.map(({ finding, inRuns }) =>
      settled.length === 1 ? finding : { ...finding, inRuns },
    )
    return { ...(settled.find(hasFailed) ?? sameStep.find(isUnanswered) ?? sameStep[0]), findings }
  })
  const totals = new RunTotals()
  for (const step of steps.outlines()) totals.add(step)
  const { tape, tapeId, target, duration } = first.summary
  const { bindings, guesses } = first
  const notes = notesOfRuns(reports)
  const combined = createReport(totals, steps, { tape, tapeId, target, duration, bindings, guesses, notes })
  const isFlaky = failedRuns.size > 0 && failedRuns.size < reports.length
  const report: RepeatedReport = {
    ...combined,
    summary: { ...combined.summary, ...(isFlaky && { verdict: 'flaky' }) },
    runs,
    judgedRuns: reports.length,
    noise: noise.paths(first.steps.sentCalls()),
    unstable,
  }
  return { report, isUndecided: hasAlternating && !hasOthers }
}

interface NoiseOfStep extends Pick<JudgedRuns, 'noise' | 'noiseOfBaseline'> {
  /** The findings that only the baseline can show to be noise. */
  readonly alternating: ReadonlySet<StepFinding>
}

function withoutNoise(step: ReplayStep, { noise, noiseOfBaseline, alternating }: NoiseOfStep): ReplayStep {
  const findings = step.findings.filter((finding) => {
    if (!alternating.has(finding)) return !noise.explains(step, finding)
    if (noiseOfBaseline.explains(step, finding)) return false
    noise.reject(step, finding)
    return true
  })
  return findings.length === step.findings.length ? step : { ...step, findings }
}

interface CountedFinding {
  readonly key: string
  readonly finding: StepFinding
  readonly inRuns: number
}

/** The different findings about one message, with the number of runs in which each occurred. */
function countFindings(runs: readonly ReplayStep[]): readonly CountedFinding[] {
  const counted = new Map<string, CountedFinding>()
  for (const { findings } of runs) {
    const inThisRun = new Map(findings.map((finding) => [findingKey(finding), finding]))
    for (const [key, finding] of inThisRun) {
      const known = counted.get(key)
      counted.set(key, { key, finding: known?.finding ?? finding, inRuns: (known?.inRuns ?? 0) + 1 })
    }
  }
  return [...counted.values()]
}

/** Equal for the same finding in two runs, although the live values and the texts of errors may differ. */
function findingKey({ layer, level, path, message, difference }: StepFinding): string {
  const kind = path === undefined && !VARYING_MESSAGES.has(layer) ? message : difference?.kind
  return JSON.stringify([layer, level, path, kind])
}

const VARYING_MESSAGES: ReadonlySet<Layer> = new Set<Layer>(['transport', 'timing'])

// A response that is slow in only some runs is caused by the machine and not by the server.
function isJudged({ finding, inRuns }: CountedFinding, runs: number): boolean {
  return finding.layer !== 'timing' || inRuns === runs
}

function isUnanswered({ state }: ReplayStep): boolean {
  return state === 'timeout' || state === 'lost' || state === 'unbound'
}

/** The notes of the first run, and those of later runs that say something else. Numbers in notes may differ. */
function notesOfRuns(reports: readonly ReplayReport[]): readonly string[] {
  const known = new Set<string>()
  return reports.flatMap(({ notes }, run) =>
    notes.flatMap((note) => {
      const words = note.replaceAll(/\d+/g, '#')
      if (run > 0 && known.has(words)) return []
      known.add(words)
      return run === 0 ? note : `in run ${run + 1}: ${note}`
    }),
  )
}
