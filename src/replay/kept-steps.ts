import { isAsRecorded, type Outcome } from './as-recorded.ts'
import type { ReplayReport } from './report.ts'
import type { StepResult } from './step-result.ts'

/** What is known of the steps of a run without making them all: those that are as recorded stand on the tape. */
export interface KeptSteps {
  /** All, in the order of the tape. */
  outcomes(): Iterable<Outcome>
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
  return { outcomes: () => steps, at, other: at }
}
