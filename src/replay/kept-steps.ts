import { isUnchanged, type StepOutcome } from './as-recorded.ts'
import type { ReplayReport } from './report.ts'
import type { ReplayStep } from './steps/step.ts'

/** What is known of the steps of a run without making them all: those that are as recorded stand on the tape. */
export interface StepView {
  /** All, in the order of the tape. */
  outcomes(): Iterable<StepOutcome>
  /** The same in full, each made when its turn comes. */
  steps(): Iterable<ReplayStep>
  /** The step of a message, by its index. */
  at(index: number): ReplayStep | undefined
  /** The same if there is more to say of it than that it is as recorded. */
  notableAt(index: number): ReplayStep | undefined
}

type HasSteps = Pick<ReplayReport, 'steps'>

const VIEWS = new WeakMap<HasSteps, StepView>()

export function attachSteps<Report extends HasSteps>(report: Report, kept: StepView): Report {
  VIEWS.set(report, kept)
  return report
}

/** Of a report that somebody put together, its steps as they are. */
export function stepsOf(report: HasSteps): StepView {
  return VIEWS.get(report) ?? viewOfList(report)
}

/** The steps of which there is more to say, in the order of the tape. */
export function notableSteps(report: HasSteps): readonly ReplayStep[] {
  const others: ReplayStep[] = []
  for (const outcome of stepsOf(report).outcomes()) if (!isUnchanged(outcome)) others.push(outcome)
  return others
}

function viewOfList({ steps }: HasSteps): StepView {
  const at = (index: number): ReplayStep | undefined => steps[index]
  return { outcomes: () => steps, steps: () => steps, at, notableAt: at }
}

/** The same with a change to those of which there is more to say; what is as recorded is changed when it is looked at in full. */
export function mapSteps(kept: StepView, change: (step: ReplayStep) => ReplayStep): StepView {
  const changed = (step: ReplayStep | undefined): ReplayStep | undefined => step && change(step)
  return {
    *outcomes() {
      for (const outcome of kept.outcomes()) yield isUnchanged(outcome) ? outcome : change(outcome)
    },
    *steps() {
      for (const step of kept.steps()) yield change(step)
    },
    at: (index) => changed(kept.at(index)),
    notableAt: (index) => changed(kept.notableAt(index)),
  }
}
