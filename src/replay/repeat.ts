import type { Correlation } from '../correlate/binding.ts'
import type { Noise } from '../diff/noise.ts'
import type { Tape } from '../store/read.ts'
import type { ReplayedTape } from './replayed-tape.ts'
import type { ReplayOptions } from './options.ts'
import { isAsRecorded, type Outcome } from './as-recorded.ts'
import { keepSteps, keptSteps, otherSteps } from './kept-steps.ts'
import { replay } from './replay.ts'
import { Tally } from './tally.ts'
import { hasFindings, reportFrom, type ReplayReport } from './report.ts'
import type { StepResult } from './step-result.ts'
import type { Stop } from './stops.ts'
import { tapeBindings } from './tape-bindings.ts'
import { learnFromBaseline, noiseByCall, noiseKey, type NoiseOfCall } from './call-noise.ts'
import { isBetter, settledReport, trialFor } from './trial.ts'
import type { Finding } from './verdict/finding.ts'

export interface RepeatOptions {
  /** How often the tape is played at most; a further run is made only while something is not as recorded. */
  readonly repeat: number
  /** Whether all runs are made, whatever they find: for faults that come and go. */
  readonly always?: boolean
  /** Puts the world into the state in which the recording found it. */
  readonly beforeRun?: (run: number) => Promise<void>
  readonly onStep?: (step: StepResult, run: number) => void
  /** Of runs with the timing `stepped`: says what becomes of the next message. */
  readonly onStop?: (stop: Stop) => void
  /** A second recording of the session: what is another there is noise, too. */
  readonly baseline?: Tape
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

/**
 * Plays a tape, and plays it again while it is in doubt whether a difference is the server's or the run's. Where a value may
 * have been carried wrongly, the second run tries the other way, and counts only if it went better.
 */
export async function replayRepeatedly(
  tape: ReplayedTape,
  options: ReplayOptions,
  { repeat, always = false, beforeRun, onStep, onStop = (stop) => stop.goOn(), baseline }: RepeatOptions,
): Promise<RepeatedReport> {
  let runs = 0
  const play = async (correlate: Correlation | false): Promise<ReplayReport> => {
    runs++
    options.controller?.start() // it may be stopped from now on
    await beforeRun?.(runs)
    const run = replay(tape, { ...options, correlate })
    void answerStops(run.stops, onStop)
    if (onStep !== undefined) for await (const step of run) onStep(step, runs)
    return run.report
  }
  const playAgain = async (correlate: Correlation | false): Promise<ReplayReport | undefined> => {
    const report = await play(correlate)
    if (!isStopped()) return report
    runs-- // what it had no time for says nothing of the runs before
    return undefined
  }
  const isStopped = (): boolean =>
    options.signal?.aborted === true || options.controller?.status === 'stopped'
  const mayGoOn = (): boolean => runs < repeat && !isStopped()
  const correlate = options.correlate ?? (await tapeBindings(tape, { server: options.server, baseline }))
  const first = await play(correlate)
  const start =
    mayGoOn() && hasFindings(first) ? await tried(first, correlate, playAgain) : { report: first, correlate }
  const others: ReplayReport[] = []
  if (always || hasFindings(start.report))
    while (mayGoOn()) {
      const other = await playAgain(start.correlate)
      if (other !== undefined) others.push(other)
    }
  const noises = noiseByCall(start.report, others)
  if (baseline !== undefined) learnFromBaseline(noises, tape, baseline)
  return joined(start.report, others, { runs, noises })
}

async function answerStops(stops: AsyncIterable<Stop>, onStop: (stop: Stop) => void): Promise<void> {
  for await (const stop of stops) onStop(stop)
}

interface Settled {
  readonly report: ReplayReport
  readonly correlate: Correlation | false
}

async function tried(
  first: ReplayReport,
  correlate: Correlation | false,
  play: (correlate: Correlation) => Promise<ReplayReport | undefined>,
): Promise<Settled> {
  const other = correlate === false ? undefined : trialFor(correlate, first)
  const trial = other === undefined ? undefined : await play(other)
  if (other === undefined || trial === undefined || !isBetter(trial, first))
    return { report: first, correlate }
  return { report: settledReport(trial, first), correlate: other }
}

function joined(
  first: ReplayReport,
  others: readonly ReplayReport[],
  { runs, noises }: { runs: number; noises: ReadonlyMap<string, NoiseOfCall> },
): RepeatedReport {
  if (others.length === 0 && noises.size === 0) return repeated(first, { runs, noise: [], unstable: [] })
  const noise = [...noises].flatMap(([, { method, tool, noise: ofCall }]) =>
    ofCall.paths().map(({ path, seen }) => ({ method, tool, path, seen })),
  )
  const unstable = others.length === 0 ? [] : otherSteps(first).flatMap((step) => unstableIn(step, others))
  return repeated(
    withSettledSteps(first, (step) => settled(step, others, noises)),
    { runs, noise, unstable },
  )
}

/** The report of a run, counted anew with what its steps turned out to be. */
function withSettledSteps(first: ReplayReport, settle: (step: StepResult) => StepResult): ReplayReport {
  const kept = keptSteps(first)
  const settledAt = (step: StepResult | undefined): StepResult | undefined => step && settle(step)
  const tally = new Tally()
  const outcomes = function* (): Generator<Outcome> {
    for (const outcome of kept.outcomes()) yield isAsRecorded(outcome) ? outcome : settle(outcome)
  }
  for (const outcome of outcomes()) tally.add(outcome)
  const { summary, bindings, guesses, notes } = first
  const { tape, tapeId, target, duration } = summary
  const facts = { tape, tapeId, target, duration, bindings, guesses, notes }
  return keepSteps(
    reportFrom(tally, () => first.steps.map(settle), facts),
    {
      outcomes,
      at: (index) => settledAt(kept.at(index)),
      other: (index) => settledAt(kept.other(index)),
    },
  )
}

/** The report with what several runs say; its steps are not made for it. */
function repeated(
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
  return keepSteps(all, keptSteps(report))
}

function settled(
  step: StepResult,
  others: readonly ReplayReport[],
  noises: ReadonlyMap<string, NoiseOfCall>,
): StepResult {
  const noise = noises.get(noiseKey(step))?.noise
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
  return others.filter((report) =>
    keptSteps(report)
      .other(index)
      ?.findings.some((other) => other.layer === layer && other.path === path),
  ).length
}
