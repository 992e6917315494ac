import type { RunTotals } from './steps/run-totals.ts'
import { LazyList, type StepList } from './steps/step-log.ts'
import { hasFailed, type ReplayStep, type StepState, type Layer } from './steps/step.ts'
import type { CarriedBinding } from './values/carried-values.ts'

/**
 * `fail`: a difference was found, and if there were several runs, each has one; `flaky`: only some runs have differences;
 * `incomplete`: no difference was found, but some messages, or all, could not be sent.
 */
export type ReplayVerdict = 'pass' | 'fail' | 'flaky' | 'incomplete'

/** The result of a run. */
export interface ReplayReport {
  readonly summary: {
    readonly tape: string
    readonly tapeId: string
    readonly target: string
    readonly verdict: ReplayVerdict
    readonly total: number
    readonly sent: number
    /** Requests that `--inject` or a rule made fail instead of sending them. */
    readonly injected: number
    readonly skipped: number
    /** Calls that were held back because they may have side effects. */
    readonly held: number
    /** Messages that were not sent because a value of the live server was missing. */
    readonly unbound: number
    /** Milliseconds. */
    readonly duration: number
    /** The share of sent requests that were answered as recorded. */
    readonly successRate: number
  }
  /** Times in milliseconds; `throughput` in answers per second. */
  readonly performance: {
    readonly avg: number
    readonly p50: number
    readonly p95: number
    readonly p99: number
    readonly throughput: number
    /** The share of requests that got no answer, a JSON-RPC error, or the result of a tool that failed. */
    readonly errorRate: number
  }
  readonly validation: {
    readonly checked: number
    readonly passed: number
    readonly failed: number
    /** Answers that a rule excluded. */
    readonly skipped: number
    /** Requests that the tape has no response to. */
    readonly unrecorded: number
    /** Number of findings in each layer. */
    readonly layers: Readonly<Record<Layer, number>>
  }
  readonly errors: readonly { readonly index: number; readonly method: string; readonly why: string }[]
  /** When each message was sent, and how long its answer took. */
  readonly timeline: LazyList<TimelineEntry>
  readonly steps: StepList
  /** The values that were carried from answers into later messages. */
  readonly bindings: readonly CarriedBinding[]
  /** Values that may need to be carried, but were sent as recorded. */
  readonly guesses: readonly CarriedBinding[]
  readonly notes: readonly string[]
}

interface TimelineEntry {
  readonly index: number
  /** Milliseconds from the start of the run. */
  readonly at: number
  readonly duration: number | undefined
  readonly state: StepState
}

export interface RunFacts extends Pick<ReplayReport, 'bindings' | 'guesses' | 'notes'> {
  readonly tape: string
  readonly tapeId: string
  readonly target: string
  readonly duration: number
}

/** Makes the report of a run from its steps and totals. */
export function createReport(
  totals: RunTotals,
  steps: StepList,
  { tape, tapeId, target, duration, bindings, guesses, notes }: RunFacts,
): ReplayReport {
  return {
    summary: { tape, tapeId, target, ...summaryOf(totals), duration, successRate: successRate(totals) },
    performance: performanceOf(totals, duration),
    validation: validationOf(totals),
    errors: errorsIn(steps),
    timeline: new LazyList(() => timelineOf(steps)),
    steps,
    bindings,
    guesses,
    notes,
  }
}

/** Returns true if any step has findings that another run may not have. */
export function hasFindings({ steps }: Pick<ReplayReport, 'steps'>): boolean {
  for (const { state, findings } of steps.changed())
    if (findings.some(({ level }) => level === 'error' || (level === 'warn' && state !== 'unbound')))
      return true
  return false
}

/** The steps with findings of the level `error`. */
export function failedSteps({ steps }: Pick<ReplayReport, 'steps'>): readonly ReplayStep[] {
  return [...steps.changed()].filter(hasFailed)
}

function errorsIn(steps: StepList): ReplayReport['errors'] {
  return [...steps.changed()]
    .filter(({ state }) => state === 'timeout' || state === 'lost')
    .map(({ index, method, state, why }) => ({ index, method, why: why ?? state }))
}

function* timelineOf(steps: StepList): Generator<TimelineEntry> {
  for (const { index, sentAt, duration, state } of steps.outlines())
    if (sentAt !== undefined) yield { index, at: sentAt, duration, state }
}

function summaryOf(
  totals: RunTotals,
): Pick<ReplayReport['summary'], 'verdict' | 'total' | 'sent' | 'injected' | 'skipped' | 'held' | 'unbound'> {
  const { total, sent, injected } = totals
  const [skipped, held, unbound] = [totals.count('skipped'), totals.count('held'), totals.count('unbound')]
  const isIncomplete = totals.isIncomplete || totals.requests + injected === 0
  const verdict = totals.hasFailed ? 'fail' : isIncomplete ? 'incomplete' : 'pass'
  return { verdict, total, sent, injected, skipped, held, unbound }
}

function successRate({ requests, badRequests }: RunTotals): number {
  return requests === 0 ? 1 : 1 - badRequests / requests
}

function performanceOf(
  { histogram, requests, errors }: RunTotals,
  duration: number,
): ReplayReport['performance'] {
  return {
    avg: histogram.mean,
    p50: histogram.percentile(0.5),
    p95: histogram.percentile(0.95),
    p99: histogram.percentile(0.99),
    throughput: duration === 0 ? 0 : histogram.count / (duration / 1000),
    errorRate: requests === 0 ? 0 : errors / requests,
  }
}

function validationOf(totals: RunTotals): ReplayReport['validation'] {
  const { requests, failedRequests: failed, skippedByRule: skipped, unjudged, unrecorded, layers } = totals
  const checked = requests - skipped - unjudged
  return { checked, passed: checked - failed, failed, skipped, unrecorded, layers }
}
