import type { FoundBindings } from '../../bindings/binding.ts'
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
import { hasFindings, type ReplayReport } from '../report.ts'
import type { ReplayStep } from '../steps/step.ts'
import type { Stop } from '../stepping.ts'
import { tapeBindings } from '../values/tape-bindings.ts'
import { isBetterRun, reportOfTrial, bindingsToTry } from './try-bindings.ts'

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
