import { createDiffer } from '../../diff/diff.ts'
import type { Difference } from '../../diff/difference.ts'
import { clockTimes } from '../../diff/noise/clock.ts'
import type { SessionTimes } from '../../diff/noise/noise-kind.ts'
import { formatPath } from '../../json/path.ts'
import { outcomeText } from '../judge/judge.ts'
import type { ExchangeNoise } from '../repeat/exchange-noise.ts'
import type { ReplayReport } from '../report.ts'
import type { ReplayStep, StepFinding } from '../steps/step.ts'
import type { StepList } from '../steps/step-log.ts'
import type { RestoredRun } from '../values/tape-equalities.ts'
import type { ProfileNoise } from './noise-profile.ts'

/** Why each difference of one exchange was judged as it was. */
export interface ExchangeExplanation {
  readonly exchange: number
  readonly method: string
  readonly tool: string | undefined
  /** Why there is nothing to compare, for example because the request was held back. */
  readonly why?: string
  readonly differences: readonly ExplainedDifference[]
}

interface ExplainedDifference {
  readonly path: string
  readonly recorded?: unknown
  /** The live values of the runs that are not as recorded. */
  readonly live: readonly { readonly run: number; readonly value?: unknown }[]
  readonly verdict: 'noise' | 'difference'
  /** What decided: the noise profile, noise of these runs, the clock, a binding, an equality on the tape, or an option. */
  readonly by: 'profile' | 'runs' | 'clock' | 'binding' | 'equality' | 'option'
  /** One sentence. */
  readonly why: string
}

interface ExplainedRuns {
  readonly exchange: number
  readonly reports: readonly ReplayReport[]
  readonly restored: readonly RestoredRun[]
  readonly clocks: readonly SessionTimes[]
  readonly noise: ExchangeNoise
  readonly profile: ProfileNoise | undefined
  /** The steps of the combined report. */
  readonly judged: StepList
}

/** Explains the judgement of one exchange. Returns `undefined` if the tape has no such exchange. */
export function explainExchange(runs: ExplainedRuns): ExchangeExplanation | undefined {
  const position = positionOf(runs)
  const step = position === undefined ? undefined : runs.judged.at(position)
  if (position === undefined || step === undefined) return undefined
  const { exchange } = runs
  const { method, tool, state, why } = step
  if (state !== 'done') return { exchange, method, tool, why: `${state}: ${why ?? ''}`, differences: [] }
  const seen = new Map<string, SeenDifference[]>()
  for (const [run, report] of runs.reports.entries())
    for (const one of differencesIn(report.steps.at(position), run))
      seen.set(one.path, [...(seen.get(one.path) ?? []), one])
  const differences = Array.from(seen.values(), (same) => explained(same, step, position, runs))
  return { exchange, method, tool, differences }
}

function positionOf({ reports, exchange }: ExplainedRuns): number | undefined {
  const steps = reports[0]?.steps
  for (let position = 0; position < (steps?.length ?? 0); position++)
    if (steps?.at(position)?.exchange === exchange) return position
  return undefined
}

/** A difference between the tape and one run, before anything was judged to be noise. */
interface SeenDifference {
  readonly path: string
  readonly run: number
  readonly difference: Pick<Difference, 'expected' | 'actual'> & Partial<Difference>
  /** The message of the judge, if it found it. */
  readonly message?: string
}

function differencesIn(step: ReplayStep | undefined, run: number): readonly SeenDifference[] {
  if (step === undefined) return []
  const [recorded, live] = [step.recordedAnswer, step.answer].map((text) => text && outcomeText(text))
  const all =
    recorded === undefined || live === undefined ? [] : DIFFER.texts(recorded, live).map(differenceAt(run))
  const known = new Set(all.map(({ path }) => path))
  const others = step.findings.filter(({ path = '' }) => !known.has(path))
  return [
    ...all,
    ...others.map(({ path = '', message, difference, expected, actual }) => ({
      path,
      run,
      message,
      difference: difference ?? { expected, actual },
    })),
  ]
}

const DIFFER = createDiffer({ order: 'reported' })

function differenceAt(run: number): (difference: Difference) => SeenDifference {
  return (difference) => ({ path: formatPath(difference.path), run, difference })
}

function explained(
  same: readonly SeenDifference[],
  step: ReplayStep,
  position: number,
  runs: ExplainedRuns,
): ExplainedDifference {
  const [first] = same
  const path = first?.path ?? ''
  const recorded = first?.difference.expected
  return {
    path,
    ...(recorded !== undefined && { recorded }),
    live: same.map(({ run, difference }) => ({
      run: run + 1,
      ...(difference.actual !== undefined && { value: difference.actual }),
    })),
    ...judgementOf(same, step, position, runs),
  }
}

type Judgement = Pick<ExplainedDifference, 'verdict' | 'by' | 'why'>

function judgementOf(
  same: readonly SeenDifference[],
  step: ReplayStep,
  position: number,
  runs: ExplainedRuns,
): Judgement {
  const { profile, noise } = runs
  const path = same[0]?.path ?? ''
  const remaining = step.findings.find((one) => (one.path ?? '') === path)
  if (remaining !== undefined) return judgementOfFinding(remaining, step, runs)
  for (const { run, difference } of same) {
    const found = findingAt(runs.reports[run]?.steps.at(position), path)
    if (found === undefined) return notFound(difference, run, runs)
    const restored = findingAt(runs.restored[run]?.steps.at(position), path)
    if (restored === undefined)
      return noiseBy(
        'equality',
        'it stands for a value that the tape repeats in other places, and they have the live value too',
      )
    const place = restored.difference && profile?.placeOf(step, restored.difference, runs.clocks[run])
    if (place !== undefined) {
      const classes = place.classes.map(({ text }) => text).join(' or ')
      return noiseBy(
        'profile',
        `the noise profile has ${classes === '' ? 'another order' : classes} at ${formatPath(place.path)}`,
      )
    }
    if (noise.explains(step, restored))
      return noiseBy('runs', `the runs differ there from each other${classText(noise, step, path)}`)
  }
  return noiseBy('runs', 'another run is as recorded, and timing alone is no difference')
}

function judgementOfFinding(
  { message, isNeverNoise, isNewlyUnstable, difference }: StepFinding,
  step: ReplayStep,
  { profile, reports }: ExplainedRuns,
): Judgement {
  if (isNeverNoise) return { verdict: 'difference', by: 'equality', why: message }
  if (profile?.covers(step) === true) {
    const why =
      isNewlyUnstable || difference === undefined || message.includes('noise profile')
        ? message
        : `${message}; the noise profile has no noise there that fits`
    return { verdict: 'difference', by: 'profile', why }
  }
  const runs = reports.length === 1 ? 'there was only one run' : 'the runs do not show that it is random'
  return { verdict: 'difference', by: 'runs', why: `${message}; ${runs}` }
}

/** The judge itself did not report the difference. */
function notFound(
  difference: SeenDifference['difference'],
  run: number,
  { reports, clocks }: ExplainedRuns,
): Judgement {
  const { kind, path, expected, actual } = difference
  const [then, now] = [String(expected), String(actual)]
  const bound = reports[run]?.bindings.find(
    ({ value, live }) => live !== undefined && then.includes(value) && now.includes(live),
  )
  if (bound !== undefined) return noiseBy('binding', `it is the live value of the binding from ${bound.from}`)
  const clock = clocks[run]
  const isTime =
    kind !== undefined &&
    path !== undefined &&
    clockTimes.separate([{ ...difference, kind, path }], { ...(clock && { clock }) }).kept.length === 0
  if (isTime) return noiseBy('clock', 'it has the same relation to the clock of its session')
  return noiseBy(
    'option',
    'it is left out by an option such as --ignore, --unordered or --tolerance, or compared once with the handshake',
  )
}

function noiseBy(by: Judgement['by'], why: string): Judgement {
  return { verdict: 'noise', by, why }
}

function findingAt(step: ReplayStep | undefined, path: string): StepFinding | undefined {
  return step?.findings.find((one) => (one.path ?? '') === path)
}

function classText(noise: ExchangeNoise, step: ReplayStep, path: string): string {
  for (const one of noise.exchanges()) {
    if (one.request.exchange !== step.exchange) continue
    const place = one.noise.paths().find((known) => known.path === path)
    if (place !== undefined) return `, and the values fit: ${place.class}`
  }
  return ''
}
