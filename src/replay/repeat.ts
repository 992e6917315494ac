import { Noise } from '../diff/noise.ts'
import type { Tape } from '../store/read.ts'
import type { ReplayOptions } from './options.ts'
import { replay } from './replay.ts'
import { reportOf, type ReplayReport } from './report.ts'
import type { StepResult } from './step-result.ts'
import type { Finding } from './verdict/finding.ts'
import { outcomeIn } from './verdict/outcome-text.ts'

export interface RepeatOptions {
  /** How often the tape is played at most; a further run is made only while something is not as recorded. */
  readonly repeat: number
  /** Whether all runs are made, whatever they find: for faults that come and go. */
  readonly always?: boolean
  /** Puts the world into the state in which the recording found it. */
  readonly beforeRun?: (run: number) => Promise<void>
  readonly onStep?: (step: StepResult, run: number) => void
}

/** What came of several runs: the report of the first, without what the server is seen to say differently each time. */
export interface RepeatedReport extends ReplayReport {
  readonly runs: number
  readonly noise: readonly NoisyPlace[]
  /** Findings that were not there in every run. */
  readonly unstable: readonly { readonly index: number; readonly finding: Finding; readonly inRuns: number }[]
}

interface NoisyPlace {
  readonly method: string
  readonly tool: string | undefined
  readonly path: string
  readonly seen: number
}

/** Plays a tape, and plays it again while it is in doubt whether a difference is the server's or the run's. */
export async function replayRepeatedly(
  tape: Tape,
  options: ReplayOptions,
  { repeat, always = false, beforeRun, onStep }: RepeatOptions,
): Promise<RepeatedReport> {
  const reports: ReplayReport[] = []
  const isStopped = (): boolean =>
    options.signal?.aborted === true || options.controller?.status === 'stopped'
  const isWanted = (): boolean => reports.length < repeat && !isStopped() && (always || isInDoubt(reports[0]))
  do {
    await beforeRun?.(reports.length + 1)
    const run = replay(tape, options)
    for await (const step of run) onStep?.(step, reports.length + 1)
    reports.push(await run.report)
  } while (isWanted())
  return joined(reports)
}

function isInDoubt(report: ReplayReport | undefined): boolean {
  return report?.steps.some(({ findings }) => findings.length > 0) ?? false
}

function joined(reports: readonly ReplayReport[]): RepeatedReport {
  const [first, ...others] = reports
  if (first === undefined) throw new RangeError('a tape is played at least once')
  const noises = noiseByCall(first, others)
  const steps = first.steps.map((step) => settled(step, others, noises))
  const { summary, notes } = first
  const facts = {
    tape: summary.tape,
    tapeId: summary.tapeId,
    target: summary.target,
    duration: summary.duration,
  }
  return {
    ...reportOf(steps, { ...facts, notes }),
    runs: reports.length,
    noise: [...noises].flatMap(([, { method, tool, noise }]) =>
      noise.paths().map(({ path, seen }) => ({ method, tool, path, seen })),
    ),
    unstable: others.length === 0 ? [] : first.steps.flatMap((step) => unstableIn(step, others)),
  }
}

interface NoiseOfCall {
  readonly method: string
  readonly tool: string | undefined
  readonly noise: Noise
}

/** Noise is a matter of the method and the tool: two calls of one tool are noisy in the same places. */
function noiseByCall(first: ReplayReport, others: readonly ReplayReport[]): ReadonlyMap<string, NoiseOfCall> {
  const noises = new Map<string, NoiseOfCall>()
  for (const { method, tool, index, answer } of first.steps) {
    const again = others.map(({ steps }) => steps[index]?.answer).filter((text) => text !== undefined)
    if (answer === undefined || again.every((text) => text === answer)) continue
    const { noise } = noises.get(keyOf(method, tool)) ?? { noise: new Noise() }
    for (const text of again) noise.learn(outcomeIn(answer) ?? '', outcomeIn(text) ?? '')
    noises.set(keyOf(method, tool), { method, tool, noise })
  }
  return noises
}

function settled(
  step: StepResult,
  others: readonly ReplayReport[],
  noises: ReadonlyMap<string, NoiseOfCall>,
): StepResult {
  const noise = noises.get(keyOf(step.method, step.tool))?.noise
  const findings = step.findings.filter(
    (finding) => !isNoise(finding, noise) && (finding.layer !== 'timing' || isInAll(finding, step, others)),
  )
  return { ...step, findings }
}

function isNoise({ difference }: Finding, noise: Noise | undefined): boolean {
  return difference !== undefined && noise !== undefined && noise.judge([difference]).kept.length === 0
}

// A slow answer that the next run does not repeat was the machine's doing.
function isInAll(finding: Finding, step: StepResult, others: readonly ReplayReport[]): boolean {
  return countIn(finding, step, others) === others.length
}

function unstableIn(step: StepResult, others: readonly ReplayReport[]): RepeatedReport['unstable'] {
  return step.findings.flatMap((finding) => {
    const inRuns = 1 + countIn(finding, step, others)
    return inRuns > others.length ? [] : [{ index: step.index, finding, inRuns }]
  })
}

function countIn({ layer, path }: Finding, { index }: StepResult, others: readonly ReplayReport[]): number {
  return others.filter(({ steps }) =>
    steps[index]?.findings.some((other) => other.layer === layer && other.path === path),
  ).length
}

function keyOf(method: string, tool: string | undefined): string {
  return JSON.stringify([method, tool])
}
