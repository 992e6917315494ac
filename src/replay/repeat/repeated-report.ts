import type { Difference } from '../../diff/difference.ts'
import { steadyParts } from '../../diff/formats/prose.ts'
import { hasSameShape } from '../../diff/noise/live-values.ts'
import type { SessionTimes } from '../../diff/noise/noise-kind.ts'
import type { NoisePlace } from '../../diff/noise/noise-places.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { formatPath } from '../../json/path.ts'
import { truncateText } from '../../text.ts'
import type { ExchangeExplanation } from '../noise/explain.ts'
import type { ProfileNoise } from '../noise/noise-profile.ts'
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
  /** The steps of every run in the order in which the runs ended, also of those that do not count. */
  readonly stepsOfRuns: readonly StepList[]
  readonly noise: readonly NoisyPath[]
  /** Why one exchange was judged as it was, if the caller asked for it. */
  readonly explained?: ExchangeExplanation
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
  /** Every run, in the order in which they ended. */
  readonly played: readonly ReplayReport[]
  /** The steps of each report with the recorded values put back. */
  readonly restored: readonly RestoredRun[]
  /** What differs between runs or between two recordings. */
  readonly noise: ExchangeNoise
  /** What differs between two recordings. */
  readonly noiseOfBaseline: ExchangeNoise
  /** What varies in the known-good server. It decides alone about the exchanges that it covers. */
  readonly profile: ProfileNoise | undefined
  /** The clock of each run. */
  readonly clocks: readonly SessionTimes[]
}

/** The report of several runs, and what can be done about its doubts. */
export interface JudgedReport {
  readonly report: RepeatedReport
  /** How many further runs can show whether the differences are noise. */
  readonly furtherRuns: number
  /** True if the differences are only in notifications, which are random more often than values are. */
  readonly hasNotificationsOnly: boolean
  /** True if every run has the same differences, so that they are probably changes. Further runs must not take long. */
  readonly isProbablyChanged: boolean
  /** The positions of the runs with errors that are not noise. */
  readonly failedRuns: ReadonlySet<number>
}

/**
 * Combines the reports of several runs. Further runs are worth it where differences may be random: notifications, values that
 * alternate between the recorded one and one other, items of a list in which other items are noise, and values that may be equal in
 * all runs by chance.
 */
export function repeatedReport(
  reports: readonly [ReplayReport, ...ReplayReport[]],
  { runs, played, restored, noise, noiseOfBaseline, profile, clocks }: JudgedRuns,
): JudgedReport {
  const [first] = reports
  const failedRuns = new Set<number>()
  const unstable: RepeatedReport['unstable'][number][] = []
  const used = new ProfileUse()
  const doubts = new Set<Doubt>()
  let [hasOthers, hasNotificationsOnly] = [false, true]
  const lists = restored.map(({ steps }) => steps)
  const generated = generatedNames(reports)
  const steps = StepList.combine(lists, (sameStep) => {
    const alternating = sometimesChanged(sameStep, (finding) => noise.hasSameOrder(sameStep[0], finding))
    const varying = profile === undefined ? NO_PATHS : varyingPaths(sameStep)
    const steady = profile === undefined ? NO_PATHS : steadyPaths(sameStep)
    const settled = sameStep.map((step, run) =>
      withoutNoise(step, {
        noise,
        noiseOfBaseline,
        alternating,
        varying,
        steady,
        profile,
        clock: clocks[run],
        generated: generated[run],
        used,
        onDoubt: () => doubts.add('items'),
      }),
    )
    for (const finding of settled.flatMap(({ findings }) => findings)) {
      if (finding.level !== 'error') continue
      hasNotificationsOnly &&= isMaybeRandom(finding)
      const isJudgedByProfile = profile !== undefined && isDecidedBy(profile, sameStep[0], finding)
      const doubt = isJudgedByProfile ? undefined : doubtAbout(finding, { settled, alternating, noise })
      if (doubt === undefined) hasOthers = true
      else doubts.add(doubt)
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
      settled.length === 1 ? finding : { ...withoutNoisyParts(finding, settled), inRuns },
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
    stepsOfRuns: played.map(({ steps: stepsOfRun }) => stepsOfRun),
    judgedRuns: reports.length,
    noise: [
      ...used.paths(),
      ...noise.paths(first.steps.sentCalls(), (request) => profile?.covers(request) !== true),
    ],
    unstable,
  }
  const isDecided = hasOthers && [...doubts].every((doubt) => doubt === 'equal values')
  const wanted = isDecided ? 0 : Math.max(0, ...Array.from(doubts, (doubt) => FURTHER_RUNS[doubt]))
  const furtherRuns = hasOthers ? Math.min(wanted, RUNS_BESIDE_A_CHANGE) : wanted
  const isProbablyChanged = doubts.size === 1 && doubts.has('equal values')
  return { report, furtherRuns, hasNotificationsOnly, isProbablyChanged, failedRuns }
}

/** Why a difference may be noise, although the runs so far do not show it. */
type Doubt = 'numbers of notifications' | 'notifications' | 'values' | 'equal values' | 'items'

/** With a choice of three values, the third one comes in 12 further runs in 99 of 100 cases. A number of notifications has few values. */
const FURTHER_RUNS: Readonly<Record<Doubt, number>> = {
  'numbers of notifications': 8,
  notifications: 4,
  values: 12,
  'equal values': 4,
  items: 15,
}

/** The verdict is known, and a few runs keep most noise out of the report. */
const RUNS_BESIDE_A_CHANGE = 5

interface DoubtContext {
  readonly settled: readonly ReplayStep[]
  readonly alternating: ReadonlySet<StepFinding>
  readonly noise: ExchangeNoise
}

/** Returns `undefined` if further runs cannot show that a finding is noise. */
function doubtAbout(finding: StepFinding, { settled, alternating, noise }: DoubtContext): Doubt | undefined {
  if (isMaybeRandom(finding)) return finding.isOneOfMany ? 'numbers of notifications' : 'notifications'
  const { difference, isNeverNoise } = finding
  const [step] = settled
  if (difference === undefined || isNeverNoise || step === undefined) return undefined
  if (alternating.has(finding))
    return hasMoreThanTwoValues(difference) || isMemberSeenOnce(finding, settled) ? 'values' : undefined
  if (noise.mayExplain(step, finding)) return 'values'
  if (settled.length < 2 || !hasMoreThanTwoValues(difference)) return undefined
  // Lists of random items often are as long in a few runs by chance.
  if (isValueThatVaries(finding, settled)) return 'equal values'
  const value = canonicalJson(difference.actual)
  const isInAll = settled.every(({ findings }) =>
    findings.some(({ path, actual }) => path === finding.path && canonicalJson(actual) === value),
  )
  return isInAll ? 'equal values' : undefined
}

/**
 * Returns the places of a flaky report if each has only two values, of which some runs have one and others the other. Only a noise profile
 * can tell if they are random.
 */
export function placesOfTwoValues({ summary, unstable, steps }: RepeatedReport): readonly string[] {
  if (summary.verdict !== 'flaky') return []
  const isUndecided = new Map(
    unstable.map(({ finding }) => [
      finding,
      finding.difference !== undefined && !finding.isNeverNoise && !hasMoreThanTwoValues(finding.difference),
    ]),
  )
  const places: string[] = []
  for (const { exchange, findings } of steps)
    for (const finding of findings) {
      if (finding.level !== 'error') continue
      const known = unstable.find(
        (one) => one.exchange === exchange && findingKey(one.finding) === findingKey(finding),
      )
      if (known === undefined || isUndecided.get(known.finding) !== true) return []
      places.push(`#${exchange} ${finding.path}`)
    }
  return places
}

/** Returns true for a new member that only one run has: in further runs it may have other values. */
function isMemberSeenOnce({ path, difference }: StepFinding, runs: readonly ReplayStep[]): boolean {
  if (difference?.kind !== 'added' || typeof difference.path.at(-1) === 'number') return false
  return runs.filter(({ findings }) => findings.some((one) => one.path === path)).length === 1
}

/** Returns true for a new item, or a value of another type, that every run has and that is another one each time. */
function isValueThatVaries({ path, difference }: StepFinding, runs: readonly ReplayStep[]): boolean {
  const isItem = difference?.kind === 'added' && typeof difference.path.at(-1) === 'number'
  if (!isItem && difference?.kind !== 'type') return false
  const items = runs.map(({ findings }) => findings.find((one) => one.path === path)?.actual)
  return new Set(items.map(canonicalJson)).size === runs.length && !items.includes(undefined)
}

/** Returns false for a boolean, a member that is missing or new, and the order of two items: a random one cannot be told from a change that comes and goes. */
function hasMoreThanTwoValues({ kind, path, expected, actual }: Difference): boolean {
  if (kind === 'order') return Array.isArray(expected) && expected.length > 2
  if (kind === 'added' || kind === 'removed') return typeof path.at(-1) === 'number'
  return (
    (kind === 'changed' || kind === 'type') && typeof actual !== 'boolean' && typeof expected !== 'boolean'
  )
}

/** The number of notifications, or a log message, may be random and equal in a few runs by chance. */
function isMaybeRandom({ layer, isNeverNoise }: StepFinding): boolean {
  return layer === 'notifications' && isNeverNoise !== true
}

interface NoiseOfStep extends Pick<JudgedRuns, 'noise' | 'noiseOfBaseline' | 'profile'> {
  /** The findings that only the baseline can show to be noise. */
  readonly alternating: ReadonlySet<StepFinding>
  /** The paths at which the runs differ from each other. */
  readonly varying: ReadonlySet<string>
  /** The paths at which all runs have the same value, which is not the recorded one. */
  readonly steady: ReadonlySet<string>
  readonly clock: SessionTimes | undefined
  /** The live values of this run by the recorded ones, of bindings with another live value in another run. */
  readonly generated: ReadonlyMap<string, string> | undefined
  readonly used: ProfileUse
  /** Called for noise that further runs may show to be a change. */
  readonly onDoubt: () => void
}

function withoutNoise(step: ReplayStep, context: NoiseOfStep): ReplayStep {
  const { noise, noiseOfBaseline, alternating, profile } = context
  const findings = step.findings.flatMap((finding): readonly StepFinding[] => {
    if (isNoiseOfProfile(step, finding, context) || isGeneratedName(finding, context)) return []
    if (profile !== undefined && isDecidedBy(profile, step, finding))
      return [judgedByProfile(step, finding, context)]
    if (!alternating.has(finding)) {
      if (!noise.explains(step, finding, context.clock)) return [finding]
      if (noise.isDoubtful(step, finding)) context.onDoubt()
      return []
    }
    if (noiseOfBaseline.explains(step, finding)) return []
    noise.reject(step, finding)
    return [finding]
  })
  const isSame =
    findings.length === step.findings.length && findings.every((one, at) => one === step.findings[at])
  return isSame ? step : { ...step, findings }
}

/**
 * Returns true if the profile alone tells what is noise. Where the notifications of the known-good server vary, only runs can tell which of
 * them correspond to each other.
 */
function isDecidedBy(profile: ProfileNoise, step: ReplayStep, finding: StepFinding): boolean {
  if (!profile.covers(step)) return false
  const { layer, difference } = finding
  return (
    layer !== 'notifications' || difference === undefined || !profile.hasNotificationNoise(step, difference)
  )
}

function isNoiseOfProfile(
  step: ReplayStep,
  finding: StepFinding,
  { profile, clock, used, steady }: NoiseOfStep,
): boolean {
  const { difference, isNeverNoise } = finding
  if (difference === undefined || isNeverNoise) return false
  if (steady.has(finding.path ?? '') && profile?.isAlwaysNew(step, difference)) return false
  const place = profile?.placeOf(step, difference, clock)
  if (place !== undefined) used.add(step, place)
  return place !== undefined
}

/** Carried values that are other ones in another run: the server generates them, also if they look like names. */
function generatedNames(reports: readonly ReplayReport[]): readonly ReadonlyMap<string, string>[] {
  const lives = reports.map(
    ({ bindings }) =>
      new Map(bindings.flatMap(({ value, live }) => (live === undefined ? [] : [[value, live] as const]))),
  )
  const isGenerated = (value: string): boolean =>
    new Set(lives.flatMap((live) => live.get(value) ?? [])).size > 1
  return lives.map((live) => new Map([...live].filter(([value]) => isGenerated(value))))
}

function isGeneratedName({ difference }: StepFinding, { generated }: NoiseOfStep): boolean {
  if (difference === undefined) return false
  const { expected, actual } = difference.within ?? difference
  if (typeof expected !== 'string' || typeof actual !== 'string') return false
  return generated?.get(expected) === actual && hasSameShape(expected, actual)
}

/** Says in which way a finding does not fit the profile. */
function judgedByProfile(
  step: ReplayStep,
  finding: StepFinding,
  { profile, varying, steady }: NoiseOfStep,
): StepFinding {
  if (finding.difference === undefined || finding.isNeverNoise) return finding
  if (steady.has(finding.path ?? '') && profile?.isAlwaysNew(step, finding.difference))
    return { ...finding, message: NO_LONGER_NEW }
  const expected = profile?.expectationAt(step, formatPath(finding.difference.path))
  if (expected !== undefined)
    return { ...finding, message: `${finding.message}; the noise profile expects: ${expected}` }
  if (!varying.has(finding.path ?? '')) return finding
  return { ...finding, message: NEWLY_UNSTABLE, isNewlyUnstable: true }
}

const NEWLY_UNSTABLE = 'is newly unstable: it varies from run to run, but not in the noise profile'

const NO_LONGER_NEW = 'is the same in all runs, but another one in each run of the noise profile'

const NO_PATHS: ReadonlySet<string> = new Set()

/** The paths at which one run has another value than another run. A run without a finding has the recorded value. */
function varyingPaths(runs: readonly ReplayStep[]): ReadonlySet<string> {
  const lives = runs.map(
    ({ findings }) => new Map(findings.map(({ path, actual }) => [path, canonicalJson(actual)])),
  )
  const paths = [...new Set(lives.flatMap((live) => [...live.keys()]))]
  const isUnequal = (path: string): boolean => new Set(lives.map((live) => live.get(path))).size > 1
  return new Set(paths.flatMap((path = '') => (isUnequal(path) && !isNewInAll(path, runs) ? [path] : [])))
}

/** Returns true if something is new, or of another type, in every run, whatever its value. */
function isNewInAll(path: string, runs: readonly ReplayStep[]): boolean {
  const kinds = runs.map(({ findings }) => findings.find((one) => one.path === path)?.difference?.kind)
  return (kinds[0] === 'added' || kinds[0] === 'type') && kinds.every((kind) => kind === kinds[0])
}

/** The paths at which several runs have the same value in place of the recorded one. */
function steadyPaths(runs: readonly ReplayStep[]): ReadonlySet<string> {
  const [first, ...others] = runs
  if (first === undefined || others.length === 0) return NO_PATHS
  const isInAll = ({ path, actual }: StepFinding): boolean =>
    others.every(({ findings }) =>
      findings.some((one) => one.path === path && canonicalJson(one.actual) === canonicalJson(actual)),
    )
  return new Set(first.findings.flatMap((one) => (one.path !== undefined && isInAll(one) ? [one.path] : [])))
}

/** The places of a profile that explained a difference. */
class ProfileUse {
  readonly #places = new Map<string, NoisyPath>()

  add({ frame, exchange, method, tool }: ReplayStep, { path }: NoisePlace): void {
    const key = JSON.stringify([method, tool, formatPath(path)])
    const known = this.#places.get(key) ?? {
      method,
      tool,
      path: formatPath(path),
      seen: 0,
      frames: [],
      exchanges: [],
      inEveryCall: false,
      isFromProfile: true,
    }
    const isKnown = known.exchanges.includes(exchange ?? 0)
    this.#places.set(key, {
      ...known,
      seen: known.seen + 1,
      frames: isKnown ? known.frames : [...known.frames, frame],
      exchanges: isKnown ? known.exchanges : [...known.exchanges, exchange ?? 0],
    })
  }

  paths(): readonly NoisyPath[] {
    return [...this.#places.values()]
  }
}

/** Names the part of a text that changed in the same way in every run, if other parts of it are noise. */
function withoutNoisyParts(finding: StepFinding, runs: readonly ReplayStep[]): StepFinding {
  const { difference, expected, actual, path } = finding
  if (difference?.parts === undefined || typeof expected !== 'string' || typeof actual !== 'string')
    return finding
  const others = runs
    .flatMap(({ findings }) => findings)
    .flatMap((one) => (one.path === path && typeof one.actual === 'string' ? [one.actual] : []))
  // A message that a noise profile has extended says more.
  if (others.every((other) => other === actual) || !/^changed( in line [\w ]+)?$/.test(finding.message))
    return finding
  const parts = steadyParts(expected, actual, others)
  const [first] = parts
  if (first === undefined) return finding
  const [before, after] = [first.expected, first.actual].map((text) => `"${truncateText(text, 60)}"`)
  const more = parts.length === 1 ? '' : `, and ${parts.length - 1} more`
  return {
    ...finding,
    message: `changed in line ${first.line}: ${before} is now ${after}${more}`,
    difference: { ...difference, parts },
  }
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
  // A new item of a list may be at another index in each run.
  if (difference?.kind === 'added' && typeof difference.path.at(-1) === 'number')
    return JSON.stringify([layer, level, difference.path.slice(0, -1), kind, difference.actual])
  return JSON.stringify([layer, level, path, kind])
}

const VARYING_MESSAGES: ReadonlySet<Layer> = new Set<Layer>(['transport', 'timing'])

// A response that is slow in only some runs is caused by the machine and not by the server.
function isJudged({ finding, inRuns }: CountedFinding, runs: number): boolean {
  return finding.layer !== 'timing' || inRuns === runs
}

function isUnanswered({ state }: ReplayStep): boolean {
  return state === 'timeout' || state === 'lost' || state === 'unbound' || state === 'held'
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
