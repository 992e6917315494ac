import { parseJson } from '../../json/parse.ts'
import { MessageCounterparts } from '../../bindings/find/confirm.ts'
import { separateNoise } from '../../diff/noise/index.ts'
import { LearnedNoise } from '../../diff/noise/learned.ts'
import { outcomeText } from '../judge/judge.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import { createReport, type ReplayReport } from '../report.ts'
import { RunTotals } from '../steps/run-totals.ts'
import type { ReplayStep, StepFinding } from '../steps/step.ts'
import type { Tape } from '../../store/file/read.ts'
import { calledTool } from '../../protocol/message.ts'

/** The report of the first of several runs, without findings that are noise. */
export interface RepeatedReport extends ReplayReport {
  readonly runs: number
  readonly noise: readonly NoisyPath[]
  /** Findings that did not occur in every run. */
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

/** Combines the reports of several runs. */
export function repeatedReport(
  first: ReplayReport,
  others: readonly ReplayReport[],
  { runs, noises }: { runs: number; noises: ReadonlyMap<string, CallNoise> },
): RepeatedReport {
  if (others.length === 0 && noises.size === 0) return { ...first, runs, noise: [], unstable: [] }
  const noise = [...noises].flatMap(([, { method, tool, noise: ofCall }]) =>
    ofCall.paths().map(({ path, seen }) => ({ method, tool, path, seen })),
  )
  const unstable =
    others.length === 0 ? [] : [...first.steps.changed()].flatMap((step) => unstableIn(step, others))
  const settled = recountSteps(first, (step) => withoutNoise(step, others, noises))
  return { ...settled, runs, noise, unstable }
}

/** Makes the report of a run again with changed steps. */
function recountSteps(first: ReplayReport, settle: (step: ReplayStep) => ReplayStep): ReplayReport {
  const steps = first.steps.transform(settle)
  const totals = new RunTotals()
  for (const step of steps.outlines()) totals.add(step)
  const { summary, bindings, guesses, notes } = first
  const { tape, tapeId, target, duration } = summary
  return createReport(totals, steps, { tape, tapeId, target, duration, bindings, guesses, notes })
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
  return (
    difference !== undefined &&
    noise !== undefined &&
    separateNoise([difference], { learned: noise }).kept.length === 0
  )
}

// An answer that is slow in only one run is caused by the machine and not by the server.
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
  return others.filter(({ steps }) =>
    steps.changedAt(index)?.findings.some((other) => other.layer === layer && other.path === path),
  ).length
}

/** The noise of one method or tool: all calls of a tool are noisy in the same places. */
interface CallNoise {
  readonly method: string
  readonly tool: string | undefined
  readonly noise: LearnedNoise
}

type CallNoiseMap = Map<string, CallNoise>

/** Learns which values differ between runs. Steps that are as recorded in both runs are equal and are not read. */
export function learnNoiseFromRuns(first: ReplayReport, others: readonly ReplayReport[]): CallNoiseMap {
  const noises: CallNoiseMap = new Map()
  const { steps } = first
  for (const { steps: second } of others)
    for (let index = 0; index < steps.length; index++) {
      if (steps.changedAt(index) === undefined && second.changedAt(index) === undefined) continue
      const step = steps.at(index)
      if (step !== undefined) learnCallNoise(noises, step, step.answer, second.at(index)?.answer)
    }
  return noises
}

/** Learns which values differ between two recordings. */
export function learnNoiseFromBaseline(noises: CallNoiseMap, tape: ReplayedTape, baseline: Tape): void {
  const turns = [...tape.turns]
  const counterparts = new MessageCounterparts(turns, baseline.turns)
  for (const [turn, { trigger, response }] of turns.entries()) {
    if (response === undefined || trigger?.message.kind !== 'request') continue
    const { message } = trigger
    const other = counterparts.find({
      turn,
      frame: response.n,
      ...(response.item !== undefined && { item: response.item }),
    })
    learnCallNoise(noises, { method: message.method, tool: calledTool(message) }, response.text, other?.text)
  }
}

function noiseKey({ method, tool }: Pick<CallNoise, 'method' | 'tool'>): string {
  return JSON.stringify([method, tool])
}

function learnCallNoise(
  noises: CallNoiseMap,
  call: Pick<CallNoise, 'method' | 'tool'>,
  one: string | undefined,
  other: string | undefined,
): void {
  if (one === undefined || other === undefined || one === other) return
  if (parseJson(one) === undefined || parseJson(other) === undefined) return
  const { method, tool } = call
  const known = noises.get(noiseKey(call)) ?? { method, tool, noise: new LearnedNoise() }
  known.noise.learn(outcomeText(one) ?? '', outcomeText(other) ?? '')
  noises.set(noiseKey(call), known)
}
