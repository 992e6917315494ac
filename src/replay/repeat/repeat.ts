import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionTimes, TimeSpan } from '../../diff/noise/noise-kind.ts'
import type { Tape } from '../../store/file/read.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import { explainExchange } from '../noise/explain.ts'
import { ProfileNoise, type NoiseProfile } from '../noise/noise-profile.ts'
import { ExchangeNoise } from './exchange-noise.ts'
import { canPlayTogether, type RunPair, playTogether } from './play-together.ts'
import { type JudgedReport, repeatedReport, type RepeatedReport } from './repeated-report.ts'
import { mayHaveSlowValues, SLOW_VALUE_PAUSE } from './slow-values.ts'
import type { ReplayOptions, ReplayTarget } from '../options.ts'
import { replay } from '../replay.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import type { ReplayStep, StepFinding } from '../steps/step.ts'
import type { Stop } from '../control/stops.ts'
import { tapeBindings } from '../values/tape-bindings.ts'
import { TapeEqualities } from '../values/tape-equalities.ts'

import type { Binding, FoundBindings } from '../../bindings/binding.ts'
import type { CarriedBinding } from '../values/carried-values.ts'
import { failedSteps, hasFindings, type ReplayReport } from '../report.ts'

export interface RepeatOptions {
  /** Maximum number of runs. The tape is played again only while a run has findings. */
  readonly repeat: number
  /** Makes all runs, even without findings, to detect intermittent faults. */
  readonly always?: boolean
  /** Makes a second run even if the first one has no findings, because a change may come and go. */
  readonly confirm?: ConfirmOptions
  /** Restores the state that the server had when the recording began. */
  readonly beforeRun?: (run: number) => Promise<void>
  readonly onStep?: (step: ReplayStep, run: number) => void
  /** Decides about the next message of a run with the timing `stepped`. */
  readonly onStop?: (stop: Stop) => void
  /** A second recording of the session. Values that differ between both recordings are noise. */
  readonly baseline?: Tape
  /** What varies in the responses of the known-good server. Anything else that varies in this server is a difference. */
  readonly noise?: NoiseProfile
  /** The number of an exchange whose judgement is explained in the report. */
  readonly explain?: number
}

interface ConfirmOptions {
  /** Where the second run goes if it takes place at the same time as the first; by default the target of the first run. */
  readonly target?: ReplayTarget
  /** Repeats calls that may have side effects. By default there is no second run after such calls, unless `beforeRun` is set. */
  readonly repeatsWrites?: boolean
}

/**
 * Plays a tape, and plays it again to separate changes of the server from noise, and to find changes that come and go. If a value may
 * have been carried wrongly, another run tries other bindings, and replaces the first run only if it went better. The last run comes
 * after a pause if a value may change more slowly than the runs follow each other.
 */
export async function replayRepeatedly(
  tape: ReplayedTape,
  options: ReplayOptions,
  {
    repeat,
    always = false,
    confirm,
    beforeRun,
    onStep,
    onStop = (stop) => stop.goOn(),
    baseline,
    noise,
    explain,
  }: RepeatOptions,
): Promise<RepeatedReport> {
  let runs = 0
  const played: ReplayReport[] = []
  let hasWritten = false
  const onWrites = (): void => void (hasWritten = true)
  const liveFrom = new WeakMap<ReplayReport, number>()
  const play = async (correlate: FoundBindings | false, target = options.target): Promise<ReplayReport> => {
    const number = ++runs
    options.controller?.start() // from now on it can stop the run
    await beforeRun?.(number)
    // The listeners of a run are released with its own signal.
    const signal = options.signal && AbortSignal.any([options.signal])
    const run = replay(tape, { ...options, ...(signal && { signal }), target, correlate, onWrites })
    void answerStops(run.stops, onStop)
    if (onStep !== undefined) for await (const step of run) onStep(step, number)
    return timed(await run.report)
  }
  const timed = (report: ReplayReport): ReplayReport => {
    liveFrom.set(report, Date.now() - report.summary.duration)
    played.push(report)
    return report
  }
  const playAgain = async (correlate: FoundBindings | false): Promise<ReplayReport | undefined> => {
    const report = await play(correlate)
    if (!isStopped()) return report
    runs-- // a run that was cut short tells nothing about the runs before it
    return undefined
  }
  const playPair = async (correlate: FoundBindings | false): Promise<RunPair> => {
    const pair = await playTogether({
      tape,
      options: { ...options, correlate },
      second: confirm?.target,
      playFirst: (target) => play(correlate, target),
    })
    if (pair.second !== undefined) {
      runs++
      timed(pair.second)
    }
    return pair
  }
  const isStopped = (): boolean =>
    options.signal?.aborted === true || options.controller?.status === 'stopped'
  const correlate = options.correlate ?? (await tapeBindings(tape, { server: options.server, baseline }))
  const profile = noise && new ProfileNoise(noise)
  const judge = (reports: readonly [ReplayReport, ...ReplayReport[]]): JudgedReport =>
    judgeRuns(reports, {
      tape,
      baseline,
      runs,
      played,
      profile,
      startOf: (report) => liveFrom.get(report),
      explain,
    })
  const needsMore = (report: ReplayReport): boolean =>
    hasFindings(profile === undefined ? report : judge([report]).report)
  const isPaired =
    confirm !== undefined &&
    repeat >= LEAST_RUNS_TO_DECIDE &&
    beforeRun === undefined &&
    (await canPlayTogether(tape, options))
  const { first, second } = isPaired ? await playPair(correlate) : { first: await play(correlate) }
  let mostRuns = repeat
  const mayGoOn = (): boolean => runs < mostRuns && !isStopped()
  const start =
    mayGoOn() && needsMore(first)
      ? await tryOtherBindings(first, correlate, playAgain)
      : { report: first, correlate }
  const hasOtherBindings = start.correlate !== correlate
  if (hasOtherBindings && second !== undefined) mostRuns++
  const others: ReplayReport[] = second === undefined || hasOtherBindings ? [] : [second]
  const isClean = (): boolean => ![start.report, ...others].some(needsMore)
  const repeatsWrites = beforeRun !== undefined || confirm?.repeatsWrites === true
  const notes =
    confirm !== undefined && hasWritten && !repeatsWrites && isClean() ? [WRITES_NOT_REPEATED] : []
  if (confirm !== undefined && others.length === 0 && isClean() && notes.length === 0 && mayGoOn()) {
    const other = await playAgain(start.correlate).catch((error: unknown) => {
      runs--
      notes.push(`a second run could not be made: ${error instanceof Error ? error.message : String(error)}`)
    })
    if (other !== undefined) others.push(other)
  }
  if (always || !isClean())
    while (mayGoOn()) {
      if (runs === mostRuns - 1 && mayHaveSlowValues([start.report, ...others]))
        await pauseBeforeLastRun(options)
      if (isStopped()) break
      const other = await playAgain(start.correlate)
      if (other !== undefined) others.push(other)
    }
  const usualRuns = runs
  const decidingSince = Date.now()
  let judged = judge([start.report, ...others])
  const isInTime = (): boolean =>
    Date.now() - decidingSince < DECIDING_TIME ||
    (!judged.isProbablyChanged && runs < usualRuns + ALWAYS_WORTH)
  const mayDecide = (): boolean =>
    !always &&
    repeat >= (judged.hasNotificationsOnly ? 2 : LEAST_RUNS_TO_DECIDE) &&
    runs < usualRuns + judged.furtherRuns &&
    isInTime() &&
    !isStopped()
  const playOnce = async (): Promise<void> => {
    const other = await playAgain(start.correlate)
    if (other !== undefined) others.push(other)
    judged = judge([start.report, ...others])
  }
  while (mayDecide()) await playOnce()
  // Two servers at the same time may disturb each other. If so, a pair fails again, and runs one after the other do not.
  const isPairDoubtful = (): boolean =>
    others[0] === second &&
    judged.failedRuns.size > 0 &&
    [...judged.failedRuns].every((run) => run < 2) &&
    !isStopped()
  if (second !== undefined && others.length > 1 && isPairDoubtful()) {
    await playOnce()
    const [, third, ...later] = others
    const pair = isPairDoubtful() && third !== undefined ? await playPair(start.correlate) : undefined
    const isDisturbed =
      pair !== undefined && (pair.second === undefined || [pair.first, pair.second].some(hasErrors))
    if (isDisturbed && third !== undefined && !isStopped()) {
      judged = judge([third, ...later])
      notes.push(PAIR_NOT_COUNTED)
    }
  }
  const { report } = judged
  return notes.length === 0 ? report : { ...report, notes: [...report.notes, ...notes] }
}

const WRITES_NOT_REPEATED =
  'the run was not repeated, because it sent calls that may write: --before-run restores the state before each run, --repeat 2 repeats the calls anyway'

const PAIR_NOT_COUNTED =
  'two servers that run at the same time disturb each other, so only runs one after the other were judged: --repeat 2 makes no runs at the same time'

function hasErrors(report: ReplayReport): boolean {
  return failedSteps(report).length > 0
}

/** A smaller number of runs was asked for on purpose. */
const LEAST_RUNS_TO_DECIDE = 3

/** Milliseconds. Nobody waits long for the last bit of certainty, but a few runs are worth it in any case. */
const DECIDING_TIME = 5000
const ALWAYS_WORTH = 6

interface JudgeRunsOptions {
  readonly tape: ReplayedTape
  readonly baseline: Tape | undefined
  readonly runs: number
  /** Every run, also those that do not count. */
  readonly played: readonly ReplayReport[]
  readonly profile: ProfileNoise | undefined
  /** When a run began, in milliseconds since 1970. */
  readonly startOf: (report: ReplayReport) => number | undefined
  readonly explain: number | undefined
}

/** Puts recorded values back, learns what is noise and reports the rest. */
function judgeRuns(
  reports: readonly [ReplayReport, ...ReplayReport[]],
  { tape, baseline, runs, played, profile, startOf, explain }: JudgeRunsOptions,
): JudgedReport {
  const restored = new TapeEqualities(tape.turns, reports).restoreRuns()
  const [noise, noiseOfBaseline] = [new ExchangeNoise(), new ExchangeNoise()]
  noise.learnFromRuns(restored)
  if (baseline !== undefined)
    for (const each of [noise, noiseOfBaseline]) each.learnFromBaseline(tape, baseline)
  const recorded = recordingTime(tape)
  const { utcOffsets } = tape.header
  const clocks = reports.map((report): SessionTimes => {
    const from = startOf(report) ?? Date.now()
    return {
      recorded,
      live: () => ({ from, to: from + report.summary.duration }),
      ...(utcOffsets && { offsets: { recorded: utcOffsets } }),
    }
  })
  const judged = repeatedReport(reports, { runs, played, restored, noise, noiseOfBaseline, profile, clocks })
  if (explain === undefined) return judged
  const { steps } = judged.report
  const explained = explainExchange({
    exchange: explain,
    reports,
    restored,
    clocks,
    noise,
    profile,
    judged: steps,
  })
  return { ...judged, report: { ...judged.report, ...(explained && { explained }) } }
}

/** From the start of the recording to its last message. */
function recordingTime({ header, turns }: ReplayedTape): TimeSpan {
  const from = Date.parse(header.started)
  const store = turnStoreOf(turns)
  const { trigger, response } = store.at(store.size - 1) ?? {}
  return { from, to: from + (response?.t ?? trigger?.t ?? 0) }
}

/** Ends early if the runs are stopped. */
async function pauseBeforeLastRun({ signal, controller }: ReplayOptions): Promise<void> {
  const stops = [signal, controller?.stopped].filter((stop) => stop !== undefined)
  await sleep(SLOW_VALUE_PAUSE, undefined, { signal: AbortSignal.any(stops) }).catch(() => {})
}

async function answerStops(stops: AsyncIterable<Stop>, onStop: (stop: Stop) => void): Promise<void> {
  for await (const stop of stops) onStop(stop)
}

interface ChosenRun {
  readonly report: ReplayReport
  readonly correlate: FoundBindings | false
}

async function tryOtherBindings(
  first: ReplayReport,
  correlate: FoundBindings | false,
  play: (correlate: FoundBindings) => Promise<ReplayReport | undefined>,
): Promise<ChosenRun> {
  const other = correlate === false ? undefined : bindingsToTry(correlate, first)
  const trial = other === undefined ? undefined : await play(other)
  if (other === undefined || trial === undefined || !isBetterRun(trial, first))
    return { report: first, correlate }
  return { report: reportOfTrial(trial, first), correlate: other }
}

/**
 * Returns other bindings to try after steps have failed: without doubtful bindings that changed a value in these steps, and with
 * guesses that would have changed one. Returns `undefined` if there is nothing to try.
 */
function bindingsToTry(
  { bindings, guesses }: FoundBindings,
  report: Pick<ReplayReport, 'steps' | 'bindings' | 'guesses'>,
): FoundBindings | undefined {
  const failed = new Set(failedSteps(report).map(({ frame }) => frame))
  const isInDoubt = ({ standing, consumers }: Binding, carried?: CarriedBinding): boolean =>
    standing !== 'user' &&
    consumers.some(({ frame }) => failed.has(frame)) &&
    carried?.live !== undefined &&
    carried.live !== carried.value
  const dropped = new Set(
    bindings.filter((one, place) => mayBeWrong(one) && isInDoubt(one, report.bindings[place])),
  )
  const tried = new Set(guesses.filter((one, place) => isInDoubt(one, report.guesses[place])))
  if (dropped.size + tried.size === 0) return undefined
  return {
    bindings: [...bindings.filter((one) => !dropped.has(one)), ...tried],
    guesses: guesses.filter((one) => !tried.has(one)),
  }
}

/** Bindings that follow from the protocol or from unique values are never in doubt. */
function mayBeWrong({ confidence }: Binding): boolean {
  return confidence === 'medium' || confidence === 'low'
}

/**
 * Returns true if a trial went better: a failed step passes now, and steps that fail now have only different values, which is normal for
 * values that are no longer carried.
 */
function isBetterRun(trial: Pick<ReplayReport, 'steps'>, before: Pick<ReplayReport, 'steps'>): boolean {
  const failedBefore = new Set(failedSteps(before).map(({ index }) => index))
  const failedNow = failedSteps(trial)
  const isStill = new Set(failedNow.map(({ index }) => index))
  return (
    [...failedBefore].some((index) => !isStill.has(index)) &&
    failedNow.every(({ index, findings }) => failedBefore.has(index) || findings.every(isOfValues))
  )
}

function isOfValues({ layer }: StepFinding): boolean {
  return layer === 'values'
}

/** Adds to the report of a trial which bindings it confirmed or refuted. */
function reportOfTrial(trial: ReplayReport, before: ReplayReport): ReplayReport {
  const [tried, guessed] = [trial.bindings, before.guesses].map(
    (bindings) => new Set(bindings.map(bindingKey)),
  )
  const refuted = before.bindings.filter((one) => !tried?.has(bindingKey(one)))
  const settled = trial.bindings.filter((one) => guessed?.has(bindingKey(one)))
  return {
    ...trial,
    bindings: [...trial.bindings, ...refuted.map((one) => ({ ...one, standing: 'refuted' as const }))],
    notes: [
      ...trial.notes,
      ...settled.map(({ from, to }) => `a guess is confirmed: ${to.join(', ')} is the value of ${from}`),
      ...refuted.map(({ from, to }) => `a binding is refuted: ${to.join(', ')} is not the value of ${from}`),
    ],
  }
}

/** Equal for the same binding in two runs. */
function bindingKey({ from, to }: CarriedBinding): string {
  return JSON.stringify([from, to.join()])
}
