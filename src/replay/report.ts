import type { Layer } from './verdict/finding.ts'
import { LAYERS } from './verdict/finding.ts'
import type { CarriedBinding } from './carried-binding.ts'
import { hasFailed } from './failed.ts'
import { Histogram } from './histogram.ts'
import { WAS_STOPPED, type StepResult } from './step-result.ts'

/** `fail`: something is not as recorded; `incomplete`: nothing is wrong, and not everything could be sent, or nothing was. */
export type Verdict = 'pass' | 'fail' | 'incomplete'

/** What a run found, in numbers and one by one. */
export interface ReplayReport {
  readonly summary: {
    readonly tape: string
    readonly tapeId: string
    readonly target: string
    readonly verdict: Verdict
    readonly total: number
    readonly sent: number
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
    readonly state: StepResult['state']
  }[]
  readonly steps: readonly StepResult[]
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
export function reportOf(results: readonly StepResult[], facts: RunFacts): ReplayReport {
  const steps = results.toSorted((a, b) => a.index - b.index)
  const { tape, tapeId, target, duration, bindings, guesses, notes } = facts
  const requests = steps.filter(isRequestSent)
  const failed = requests.filter(hasFailed)
  return {
    summary: {
      tape,
      tapeId,
      target,
      verdict: verdictOf(steps),
      total: steps.length,
      sent: steps.filter(isSent).length,
      skipped: count(steps, 'skipped'),
      held: count(steps, 'held'),
      unbound: count(steps, 'unbound'),
      duration,
      successRate: requests.length === 0 ? 1 : 1 - failed.length / requests.length,
    },
    performance: performanceOf(requests, duration),
    validation: validationOf(requests, failed.length),
    errors: steps.flatMap(({ index, method, state, why }) =>
      state === 'timeout' || state === 'lost' ? [{ index, method, why: why ?? state }] : [],
    ),
    timeline: steps.flatMap(({ index, sentAt, duration: took, state }) =>
      sentAt === undefined ? [] : [{ index, at: sentAt, duration: took, state }],
    ),
    steps,
    bindings,
    guesses,
    notes,
  }
}

function verdictOf(steps: readonly StepResult[]): Verdict {
  if (steps.some(hasFailed)) return 'fail'
  return steps.some(isWanting) || !steps.some(isSent) ? 'incomplete' : 'pass'
}

function isSent({ sentAt }: StepResult): boolean {
  return sentAt !== undefined
}

/** Whether it was to be sent, and could not be. */
function isWanting({ state, why }: StepResult): boolean {
  return state === 'held' || state === 'unbound' || why === WAS_STOPPED
}

function isRequestSent({ sentAt, duration, state }: StepResult): boolean {
  return sentAt !== undefined && (duration !== undefined || state === 'timeout' || state === 'lost')
}

/** Whether a rule took the answer out of the verdict, and nothing else is wrong with it. */
export function isSkippedByRule(step: StepResult): boolean {
  return !hasFailed(step) && step.findings.some(({ level }) => level === 'skip')
}

function count(steps: readonly StepResult[], state: StepResult['state']): number {
  return steps.filter((step) => step.state === state).length
}

function performanceOf(requests: readonly StepResult[], duration: number): ReplayReport['performance'] {
  const histogram = new Histogram()
  for (const { duration: took, state } of requests)
    if (took !== undefined && state === 'done') histogram.add(took)
  const failed = requests.filter(({ state }) => state !== 'done').length
  return {
    avg: histogram.mean,
    p50: histogram.percentile(0.5),
    p95: histogram.percentile(0.95),
    p99: histogram.percentile(0.99),
    throughput: duration === 0 ? 0 : histogram.count / (duration / 1000),
    errorRate: requests.length === 0 ? 0 : failed / requests.length,
  }
}

function validationOf(requests: readonly StepResult[], failed: number): ReplayReport['validation'] {
  const findings = requests.flatMap((step) => step.findings)
  const layers = Object.fromEntries(
    LAYERS.map((layer) => [layer, findings.filter((finding) => finding.layer === layer).length]),
  )
  const skipped = requests.filter((step) => isSkippedByRule(step)).length
  const checked = requests.length - skipped
  return {
    checked,
    passed: checked - failed,
    failed,
    skipped,
    layers: layers as Record<Layer, number>,
  }
}
