import { isAsRecorded, type Outcome } from './as-recorded.ts'
import type { ReplayReport } from './report.ts'
import type { StepResult } from './step-result.ts'

/** What is known of the steps of a run without making them all: those that are as recorded stand on the tape. */
export interface KeptSteps {
  /** All, in the order of the tape. */
  outcomes(): Iterable<Outcome>
  /** The same in full, each made when its turn comes. */
  steps(): Iterable<StepResult>
  /** The step of a message, by its index. */
  at(index: number): StepResult | undefined
  /** The same if there is more to say of it than that it is as recorded. */
  other(index: number): StepResult | undefined
}

type Reported = Pick<ReplayReport, 'steps'>

const KEPT = new WeakMap<Reported, KeptSteps>()

export function keepSteps<Report extends Reported>(report: Report, kept: KeptSteps): Report {
  KEPT.set(report, kept)
  return report
}

/** Of a report that somebody put together, its steps as they are. */
export function keptSteps(report: Reported): KeptSteps {
  return KEPT.get(report) ?? listed(report)
}

/** The steps of which there is more to say, in the order of the tape. */
export function otherSteps(report: Reported): readonly StepResult[] {
  const others: StepResult[] = []
  for (const outcome of keptSteps(report).outcomes()) if (!isAsRecorded(outcome)) others.push(outcome)
  return others
}

function listed({ steps }: Reported): KeptSteps {
  const at = (index: number): StepResult | undefined => steps[index]
  return { outcomes: () => steps, steps: () => steps, at, other: at }
}

/** The same with a change to those of which there is more to say; what is as recorded is changed when it is looked at in full. */
export function changedSteps(kept: KeptSteps, change: (step: StepResult) => StepResult): KeptSteps {
  const changed = (step: StepResult | undefined): StepResult | undefined => step && change(step)
  return {
    *outcomes() {
      for (const outcome of kept.outcomes()) yield isAsRecorded(outcome) ? outcome : change(outcome)
    },
    *steps() {
      for (const step of kept.steps()) yield change(step)
    },
    at: (index) => changed(kept.at(index)),
    other: (index) => changed(kept.other(index)),
  }
}
