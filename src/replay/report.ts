import type { Layer } from './judge/judged-answer.ts'
import { RunTotals } from './steps/run-totals.ts'
import { isUnchanged, type StepOutcome, type ReplayStep } from './steps/step.ts'
import type { CarriedBinding } from './values/carried-values.ts'

/** `fail`: something is not as recorded; `incomplete`: nothing is wrong, and not everything could be sent, or nothing was. */
export type ReplayVerdict = 'pass' | 'fail' | 'incomplete'

/** What a run found, in numbers and one by one. */
export interface ReplayReport {
  readonly summary: {
    readonly tape: string
    readonly tapeId: string
    readonly target: string
    readonly verdict: ReplayVerdict
    readonly total: number
    readonly sent: number
    /** Made to fail, by `--inject` or a rule, instead of being sent. */
    readonly injected: number
    readonly skipped: number
    /** Held back because they might have changed the world. */
    readonly held: number
    /** Not sent because a value that the live server makes up was not known. */
    readonly unbound: number
    /** Milliseconds. */
    readonly duration: number
    /** Of the requests that were sent, the share that was answered and found good. */
    readonly successRate: number
  }
  /** Milliseconds, and answers per second. */
  readonly performance: {
    readonly avg: number
    readonly p50: number
    readonly p95: number
    readonly p99: number
    readonly throughput: number
    readonly errorRate: number
  }
  readonly validation: {
    readonly checked: number
    readonly passed: number
    readonly failed: number
    /** Taken out of the count by a rule. */
    readonly skipped: number
    /** How many findings each layer has. */
    readonly layers: Readonly<Record<Layer, number>>
  }
  readonly errors: readonly { readonly index: number; readonly method: string; readonly why: string }[]
  readonly timeline: readonly {
    readonly index: number
    readonly at: number
    readonly duration: number | undefined
    readonly state: ReplayStep['state']
  }[]
  readonly steps: readonly ReplayStep[]
  /** The values that were carried forward, and what the run says about each. */
  readonly bindings: readonly CarriedBinding[]
  /** Values that may have had to be, and were sent as recorded. */
  readonly guesses: readonly CarriedBinding[]
  readonly notes: readonly string[]
}

export interface RunFacts extends Pick<ReplayReport, 'bindings' | 'guesses' | 'notes'> {
  readonly tape: string
  readonly tapeId: string
  readonly target: string
  readonly duration: number
}

/** Makes the report from what became of each message. */
export function reportFromSteps(results: readonly ReplayStep[], facts: RunFacts): ReplayReport {
  const tally = new RunTotals()
  for (const result of results) tally.add(result)
  return reportFromTotals(tally, () => results.toSorted((a, b) => a.index - b.index), facts)
}

/** Makes it from numbers that were counted already. The steps of a long run are made when somebody looks at them. */
export function reportFromTotals(
  tally: RunTotals,
  listed: () => readonly ReplayStep[],
  { tape, tapeId, target, duration, bindings, guesses, notes }: RunFacts,
): ReplayReport {
  let steps: readonly ReplayStep[] | undefined
  return {
    summary: { tape, tapeId, target, ...summaryOf(tally), duration, successRate: successRate(tally) },
    performance: performanceOf(tally, duration),
    validation: validationOf(tally),
    errors: tally.errors.toSorted((a, b) => a.index - b.index),
    get timeline() {
      return [...timelineOf(this.steps)]
    },
    get steps() {
      return (steps ??= listed())
    },
    bindings,
    guesses,
    notes,
  }
}

/** The same report with other bindings and notes; its steps are not made for it. */
export function reportWith(
  report: ReplayReport,
  { bindings, notes }: Pick<ReplayReport, 'bindings' | 'notes'>,
): ReplayReport {
  const { summary, performance, validation, errors, guesses } = report
  const other = {
    summary,
    performance,
    validation,
    errors,
    get timeline() {
      return report.timeline
    },
    get steps() {
      return report.steps
    },
    bindings,
    guesses,
    notes,
  }
  return attachSteps(other, stepsOf(report))
}

/** Whether anything was found. */
export function hasFindings(report: ReplayReport): boolean {
  return notableSteps(report).some(({ findings }) => findings.length > 0)
}

function summaryOf(
  tally: RunTotals,
): Pick<ReplayReport['summary'], 'verdict' | 'total' | 'sent' | 'injected' | 'skipped' | 'held' | 'unbound'> {
  const { total, sent, injected } = tally
  const [skipped, held, unbound] = [tally.count('skipped'), tally.count('held'), tally.count('unbound')]
  const verdict = tally.hasFailed ? 'fail' : tally.isIncomplete || sent === 0 ? 'incomplete' : 'pass'
  return { verdict, total, sent, injected, skipped, held, unbound }
}

function successRate({ requests, badRequests }: RunTotals): number {
  return requests === 0 ? 1 : 1 - badRequests / requests
}

/** When what was sent, and how long it took. */
export function* timelineOf(outcomes: Iterable<StepOutcome>): Generator<ReplayReport['timeline'][number]> {
  for (const outcome of outcomes) {
    const { index, sentAt, duration } = outcome
    const state = isUnchanged(outcome) ? 'done' : outcome.state
    if (sentAt !== undefined) yield { index, at: sentAt, duration, state }
  }
}

function performanceOf(
  { histogram, requests, unanswered }: RunTotals,
  duration: number,
): ReplayReport['performance'] {
  return {
    avg: histogram.mean,
    p50: histogram.percentile(0.5),
    p95: histogram.percentile(0.95),
    p99: histogram.percentile(0.99),
    throughput: duration === 0 ? 0 : histogram.count / (duration / 1000),
    errorRate: requests === 0 ? 0 : unanswered / requests,
  }
}

function validationOf(tally: RunTotals): ReplayReport['validation'] {
  const { requests, failedRequests: failed, skippedByRule: skipped, unjudged, layers } = tally
  const checked = requests - skipped - unjudged
  return { checked, passed: checked - failed, failed, skipped, layers }
}

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
