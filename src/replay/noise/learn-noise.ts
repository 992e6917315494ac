import { setTimeout as sleep } from 'node:timers/promises'
import type { FoundBindings } from '../../bindings/binding.ts'
import type { LearnedNoise, LearnedPlace } from '../../diff/noise/learned.ts'
import { NoisePlaces } from '../../diff/noise/noise-places.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { formatPath } from '../../json/path.ts'
import { truncateText } from '../../text.ts'
import { outcomeText } from '../judge/judge.ts'
import type { ReplayOptions } from '../options.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import { ExchangeNoise, isOfOtherKind } from '../repeat/exchange-noise.ts'
import { firstWrite } from '../repeat/play-together.ts'
import { SLOW_VALUE_PAUSE } from '../repeat/slow-values.ts'
import { replay } from '../replay.ts'
import type { ReplayReport } from '../report.ts'
import type { ReplayStep, StepFinding } from '../steps/step.ts'
import { tapeBindings } from '../values/tape-bindings.ts'
import { TapeEqualities, type RestoredRun } from '../values/tape-equalities.ts'
import { keptState } from './kept-state.ts'
import {
  emptyProfile,
  TapeRequests,
  type ExchangeProfile,
  type NoiseProfile,
  type ProfiledRequest,
  type ProfilePlace,
} from './noise-profile.ts'

export interface LearnOptions {
  /** How often the tape is played. By default, it is played more often if values are rare. */
  readonly runs?: number
  /** Restores the state that the server had when the recording began. */
  readonly beforeRun?: (run: number) => Promise<void>
  /** Called before each run. */
  readonly onRun?: (run: number, runs: number) => void
  /** The profile to renew: what people accepted stays, and what is known about exchanges that are not played. */
  readonly known?: NoiseProfile | undefined
}

/** What was learned about a tape and its known-good server. */
export interface LearnedProfile {
  readonly profile: NoiseProfile
  /** Places that differ only because the server kept the state of earlier runs. They are not noise. */
  readonly keptState: readonly NotNoise[]
  /** Places at which every run differs from the tape in the same way. They are not noise. */
  readonly differences: readonly NotNoise[]
  /** Requests about which nothing is known, and why. */
  readonly unlearned: readonly { readonly request: ProfiledRequest; readonly why: string }[]
  /** The report of the first run. */
  readonly report: ReplayReport
}

/** A place that differs for another reason than noise. */
export interface NotNoise {
  readonly request: ProfiledRequest
  readonly path: string
  readonly why: string
}

/**
 * Plays a tape several times against a known-good server and finds what varies in its responses. Some runs come after a pause, so that
 * values that count seconds vary too. Returns `undefined` if the runs were stopped.
 */
export async function learnNoise(
  tape: ReplayedTape,
  options: ReplayOptions,
  { runs, beforeRun, onRun, known }: LearnOptions = {},
): Promise<LearnedProfile | undefined> {
  const correlate = options.correlate ?? (await tapeBindings(tape, { server: options.server }))
  const reports: ReplayReport[] = []
  const times: number[] = []
  let wanted = runs ?? DEFAULT_LEARN_RUNS
  for (let run = 1; run <= wanted; run++) {
    if (run % RUNS_PER_PAUSE === 2)
      await sleep(SLOW_VALUE_PAUSE, undefined, { signal: options.signal }).catch(() => {})
    if (isStopped(options)) return undefined
    onRun?.(run, wanted)
    await beforeRun?.(run)
    times.push(Date.now())
    reports.push(await playOnce(tape, options, correlate))
    if (isStopped(options)) return undefined
    if (run === DEFAULT_LEARN_RUNS && runs === undefined && hasRareValues(tape, reports)) wanted += run
  }
  const [first] = reports
  if (first === undefined) throw new RangeError('a noise profile needs at least one run')
  const writes = beforeRun === undefined ? await firstWrite(tape, options) : undefined
  return profileOf(tape, { first, reports, times, known, writes })
}

/** Random values with two choices show both of them in ten runs. */
export const DEFAULT_LEARN_RUNS = 10

/** Returns true if something that comes and goes was seen so rarely that its range is not known, such as the sign of a number. */
function hasRareValues(tape: ReplayedTape, reports: readonly ReplayReport[]): boolean {
  const noise = new ExchangeNoise()
  noise.learnFromRuns(new TapeEqualities(tape.turns, reports).restoreRuns())
  return [...noise.exchanges()].some(({ noise: learned }) =>
    learned
      .places()
      .some(
        ({ kinds, samples }) =>
          RARE_KINDS.some((kind) => kinds.has(kind)) && samples.length > 1 && samples.length < FEWEST_VALUES,
      ),
  )
}

const RARE_KINDS = ['added', 'removed', 'type'] as const
const FEWEST_VALUES = 5

/** One pause is enough for a few runs. */
const RUNS_PER_PAUSE = 3

function isStopped({ signal, controller }: ReplayOptions): boolean {
  return signal?.aborted === true || controller?.status === 'stopped'
}

function playOnce(
  tape: ReplayedTape,
  options: ReplayOptions,
  correlate: FoundBindings | false,
): Promise<ReplayReport> {
  options.controller?.start()
  const { signal } = options
  // The listeners of a run are released with its own signal.
  const own = signal && AbortSignal.any([signal])
  return replay(tape, { ...options, correlate, ...(own && { signal: own }) }).report
}

interface PlayedRuns {
  readonly first: ReplayReport
  readonly reports: readonly ReplayReport[]
  /** When each run began. */
  readonly times: readonly number[]
  readonly known: NoiseProfile | undefined
  /** The number of the first exchange that may have changed the state of the server for later runs. */
  readonly writes: number | undefined
}

function profileOf(tape: ReplayedTape, { first, reports, times, known, writes }: PlayedRuns): LearnedProfile {
  const requests = new TapeRequests(tape)
  const restored = new TapeEqualities(tape.turns, reports).restoreRuns()
  const noise = new ExchangeNoise()
  noise.learnFromRuns(restored)
  const learned = new Map([...noise.exchanges()].map((one) => [one.request.exchange, one.noise]))
  const sent = new Map([...noise.notifications()].map((one) => [one.request.exchange, one.noise]))
  const exchanges: ExchangeProfile[] = []
  const differences: NotNoise[] = []
  const kept: NotNoise[] = []
  const unlearned: { readonly request: ProfiledRequest; readonly why: string }[] = []
  const played = new Set<number>()
  for (let position = 0; position < first.steps.length; position++) {
    const changed = restored.some(({ steps }) => steps.changedAt(position) !== undefined)
    const steps = changed
      ? restored.flatMap((run) => run.steps.at(position) ?? [])
      : [first.steps.at(position)].flatMap((one) => one ?? [])
    const [step] = steps
    const request = requests.at(step?.exchange ?? 0)
    if (step === undefined || request === undefined) continue
    const trouble = troubleOf(steps)
    if (trouble !== undefined) {
      // What the user left out, and the handshake, is not worth a line.
      if (step.state !== 'skipped') unlearned.push({ request, why: trouble })
      continue
    }
    played.add(request.exchange)
    if (!changed) continue
    const ofNotifications = sent.get(request.exchange)?.places() ?? []
    const places = [...placesOf(learned.get(request.exchange), step), ...ofNotifications]
    const state =
      writes === undefined || request.exchange < writes ? [] : keptState(places, answersOf(restored, steps))
    for (const { place, why } of state) kept.push({ request, path: formatPath(place.path), why })
    const isState = new Set(state.map(({ place }) => place))
    const noisy = places.filter((place) => !isState.has(place))
    if (noisy.length > 0)
      exchanges.push({ ...request, places: noisy.map((place) => profilePlace(place, steps)) })
    differences.push(
      ...differencesOf(request, {
        steps,
        times,
        noise: new NoisePlaces(noisy),
        isState: new NoisePlaces([...isState]),
      }),
    )
  }
  return {
    profile: merged({
      tape,
      runs: reports.length,
      learned: new Date(times[0] ?? 0).toISOString(),
      exchanges,
      played,
      requests,
      known,
    }),
    keptState: kept,
    differences,
    unlearned,
    report: first,
  }
}

/** Why nothing can be learned from the runs of a request. */
function troubleOf(steps: readonly ReplayStep[]): string | undefined {
  const bad = steps.filter(({ state }) => state !== 'done')
  const [first] = bad
  if (first !== undefined)
    return bad.length === steps.length
      ? `${first.state}: ${first.why ?? ''}`
      : `${first.state} in ${bad.length} of ${steps.length} runs`
  const other = steps.filter(isOfOtherKind)
  const [finding] = other[0]?.findings ?? []
  if (finding === undefined) return undefined
  const times = other.length === steps.length ? 'in every run' : `in ${other.length} of ${steps.length} runs`
  return `${finding.message} ${times}`
}

function placesOf(
  learned: LearnedNoise | undefined,
  { recordedAnswer }: ReplayStep,
): readonly LearnedPlace[] {
  if (learned === undefined) return []
  if (recordedAnswer !== undefined) learned.includeRecorded(outcomeText(recordedAnswer) ?? '')
  return learned.places()
}

/** The outcome of a request in each run, with recorded values put back. */
function answersOf(restored: readonly RestoredRun[], steps: readonly ReplayStep[]): readonly string[] {
  return steps.map((step, run) => outcomeText(restored[run]?.answerOf(step) ?? '') ?? '')
}

function profilePlace(place: LearnedPlace, steps: readonly ReplayStep[]): ProfilePlace {
  const { path, kinds, classes, samples, length } = place
  return {
    path,
    kinds,
    classes: kinds.has('order') && kinds.size === 1 ? [] : classes,
    ...(length !== undefined && { length }),
    by: 'learned',
    values: samples.length === 0 ? place.seen + 1 : samples.length,
    runs: steps.length,
    samples: samples
      .slice(0, MOST_SAMPLES)
      .map((value) => truncateText(typeof value === 'string' ? value : canonicalJson(value), LONGEST_SAMPLE)),
  }
}

const MOST_SAMPLES = 3
const LONGEST_SAMPLE = 60

interface JudgedSteps {
  readonly steps: readonly ReplayStep[]
  readonly times: readonly number[]
  readonly noise: NoisePlaces
  readonly isState: NoisePlaces
}

/** The findings that are in every run and that no noise explains. */
function differencesOf(
  request: ProfiledRequest,
  { steps, times, noise, isState }: JudgedSteps,
): readonly NotNoise[] {
  const runs = steps.map(({ findings }, run) =>
    findings.filter((finding) => !isExplained(finding, times[run] ?? 0, [noise, isState])),
  )
  const [first = [], ...others] = runs
  const isInAll = (one: StepFinding): boolean =>
    others.every((run) => run.some((other) => other.path === one.path && other.layer === one.layer))
  return first
    .filter((one) => one.level === 'error' && isInAll(one))
    .map(({ path = '', message, expected, actual }) => ({
      request,
      path,
      why: [message, sidesText(expected, actual)].filter((text) => text !== '').join(': '),
    }))
}

function isExplained(
  { difference, isNeverNoise }: StepFinding,
  time: number,
  noises: readonly NoisePlaces[],
): boolean {
  if (difference === undefined || isNeverNoise) return false
  const clock = { recorded: { from: time, to: time }, live: () => ({ from: time, to: Date.now() }) }
  return noises.some((noise) => noise.explains(difference, { clock }))
}

function sidesText(expected: unknown, actual: unknown): string {
  const sides = [
    ...(expected === undefined ? [] : [`recorded ${truncateText(canonicalJson(expected), LONGEST_SAMPLE)}`]),
    ...(actual === undefined ? [] : [`now ${truncateText(canonicalJson(actual), LONGEST_SAMPLE)}`]),
  ]
  return sides.join(', ')
}

interface MergedProfile {
  readonly tape: ReplayedTape
  readonly runs: number
  readonly learned: string
  readonly exchanges: readonly ExchangeProfile[]
  /** The numbers of the exchanges that were learned now. */
  readonly played: ReadonlySet<number>
  readonly requests: TapeRequests
  readonly known: NoiseProfile | undefined
}

/** Keeps what people accepted, and what was known before about exchanges that were not played now. */
function merged({ tape, runs, learned, exchanges, played, requests, known }: MergedProfile): NoiseProfile {
  const before = known ?? emptyProfile(tape)
  const byNumber = new Map(exchanges.map((entry) => [entry.exchange, entry]))
  for (const entry of before.exchanges) {
    const { exchange } = entry
    const stays = entry.places.filter(({ by }) => by === 'hand' || !played.has(exchange))
    if (stays.length === 0) continue
    const now = byNumber.get(exchange)?.places ?? []
    const paths = new Set(stays.map(({ path }) => formatPath(path)))
    const places = [...now.filter(({ path }) => !paths.has(formatPath(path))), ...stays]
    byNumber.set(exchange, { ...entry, places })
  }
  const isKnown = (exchange: number): boolean =>
    played.has(exchange) || (before.runs > 0 && !before.unlearned.has(exchange))
  return {
    tape: tape.header.id,
    learned,
    runs,
    unlearned: new Set(
      [...requests.calls()].flatMap(({ exchange }) => (isKnown(exchange) ? [] : [exchange])),
    ),
    exchanges: [...byNumber.values()].toSorted((one, other) => one.exchange - other.exchange),
  }
}
