import type { Tape } from '../../store/file/read.ts'
import {
  learnNoiseFromBaseline,
  learnNoiseFromRuns,
  repeatedReport,
  type RepeatedReport,
} from './repeated-report.ts'
import type { ReplayOptions } from '../options.ts'
import { replay } from '../replay.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import type { ReplayStep } from '../steps/step.ts'
import type { Stop } from '../controller.ts'
import { tapeBindings } from '../values/tape-bindings.ts'

import type { Binding, FoundBindings } from '../../bindings/binding.ts'
import type { CarriedBinding } from '../values/carried-values.ts'
import { failedSteps, hasFindings, type ReplayReport } from '../report.ts'
import type { StepFinding } from '../judge/judged-answer.ts'

export interface RepeatOptions {
  /** How often the tape is played at most; a further run is made only while something is not as recorded. */
  readonly repeat: number
  /** Whether all runs are made, whatever they find: for faults that come and go. */
  readonly always?: boolean
  /** Puts the world into the state in which the recording found it. */
  readonly beforeRun?: (run: number) => Promise<void>
  readonly onStep?: (step: ReplayStep, run: number) => void
  /** Of runs with the timing `stepped`: says what becomes of the next message. */
  readonly onStop?: (stop: Stop) => void
  /** A second recording of the session: what is another there is noise, too. */
  readonly baseline?: Tape
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
  const play = async (correlate: FoundBindings | false): Promise<ReplayReport> => {
    runs++
    options.controller?.start() // it may be stopped from now on
    await beforeRun?.(runs)
    const run = replay(tape, { ...options, correlate })
    void answerStops(run.stops, onStop)
    if (onStep !== undefined) for await (const step of run) onStep(step, runs)
    return run.report
  }
  const playAgain = async (correlate: FoundBindings | false): Promise<ReplayReport | undefined> => {
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
    mayGoOn() && hasFindings(first)
      ? await tryOtherBindings(first, correlate, playAgain)
      : { report: first, correlate }
  const others: ReplayReport[] = []
  if (always || hasFindings(start.report))
    while (mayGoOn()) {
      const other = await playAgain(start.correlate)
      if (other !== undefined) others.push(other)
    }
  const noises = learnNoiseFromRuns(start.report, others)
  if (baseline !== undefined) learnNoiseFromBaseline(noises, tape, baseline)
  return repeatedReport(start.report, others, { runs, noises })
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
 * Other bindings to try where steps have failed: without those that put another value into them, and with the guesses that
 * would have. Undefined when there is nothing to try.
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

/** What the protocol says, or nobody makes up twice, is a binding whatever fails. */
function mayBeWrong({ confidence }: Binding): boolean {
  return confidence === 'medium' || confidence === 'low'
}

/**
 * Whether a trial went better: something that had failed does not, and what fails anew has only another value, as a
 * made-up one has that is no longer carried.
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

/** The report of a trial that went better, with what it has shown of the bindings. */
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

/** What two bindings share that are one. */
function bindingKey({ from, to }: CarriedBinding): string {
  return JSON.stringify([from, to.join()])
}
