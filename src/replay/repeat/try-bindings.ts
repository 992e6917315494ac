import type { Binding, FoundBindings } from '../../bindings/binding.ts'
import type { CarriedBinding } from '../values/carried-values.ts'
import { failedSteps, type ReplayReport } from '../report.ts'
import type { StepFinding } from '../judge/judged-answer.ts'

/**
 * Other bindings to try where steps have failed: without those that put another value into them, and with the guesses that
 * would have. Undefined when there is nothing to try.
 */
export function bindingsToTry(
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
export function isBetterRun(
  trial: Pick<ReplayReport, 'steps'>,
  before: Pick<ReplayReport, 'steps'>,
): boolean {
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
export function reportOfTrial(trial: ReplayReport, before: ReplayReport): ReplayReport {
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
