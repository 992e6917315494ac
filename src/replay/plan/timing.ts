import type { PlannedMessage } from './plan.ts'

/** When messages are sent, in addition to what they wait for. */
export type Timing =
  /** At once. */
  | { readonly kind: 'fast' }
  /** Each after a decision of the user: see the `stops` of a run. */
  | { readonly kind: 'stepped' }
  /** At the recorded time after the first message. */
  | { readonly kind: 'original' }
  /** At the recorded time divided by `factor`: 2 is twice as fast. */
  | { readonly kind: 'scaled'; readonly factor: number }
  /** This many milliseconds after the previous message. */
  | { readonly kind: 'fixed'; readonly delay: number }
  /** At a rate of requests per second. */
  | { readonly kind: 'adaptive'; readonly rps: number }
  /** A function returns the milliseconds to wait between two messages. */
  | { readonly kind: 'custom'; readonly delay: (previous: PlannedMessage, next: PlannedMessage) => number }

/** Returns true if messages are sent without waiting for a time. */
export function isUnpaced({ kind }: Timing): boolean {
  return kind === 'fast' || kind === 'stepped'
}

/**
 * Returns a function that computes when a message is due, in milliseconds from the start of the run. It must be called in the order
 * of the run. Times count from the first call, which happens after the handshake, so the start-up time of the server is left out.
 */
export function dueTimes(timing: Timing): (planned: PlannedMessage, now: number) => number {
  let previous: PlannedMessage | undefined
  let due = 0
  let first: { readonly at: number; readonly now: number } | undefined
  return (planned, now) => {
    first ??= { at: planned.at, now }
    due = nextDue({
      timing,
      planned,
      previous,
      due,
      sinceFirst: planned.at - first.at,
      began: first.now,
      now,
    })
    previous = planned
    return due
  }
}

interface PaceState {
  readonly timing: Timing
  readonly planned: PlannedMessage
  readonly previous: PlannedMessage | undefined
  readonly due: number
  readonly sinceFirst: number
  readonly began: number
  readonly now: number
}

function nextDue({ timing, planned, previous, due, sinceFirst, began, now }: PaceState): number {
  switch (timing.kind) {
    case 'fast':
    case 'stepped':
      return 0
    case 'original':
      return began + sinceFirst
    case 'scaled':
      return began + sinceFirst / timing.factor
    case 'fixed':
      return previous === undefined ? 0 : now + timing.delay
    case 'adaptive':
      return previous === undefined ? now : Math.max(due + 1000 / timing.rps, now - MAX_CATCH_UP)
    case 'custom':
      return previous === undefined ? 0 : now + timing.delay(previous, planned)
  }
}

// After a stall, missed requests are caught up, but not all of them at once.
const MAX_CATCH_UP = 1000

/** Reads `fast`, `stepped`, `original` (or `realtime`), `x2`, `100ms` and `50rps`. Returns `undefined` for anything else. */
export function parseSpeed(text: string): Timing | undefined {
  if (text === 'fast' || text === 'original' || text === 'stepped') return { kind: text }
  if (text === 'realtime') return { kind: 'original' }
  const { factor, delay, rps } = SPEED_PATTERN.exec(text)?.groups ?? {}
  if (factor !== undefined && Number(factor) > 0) return { kind: 'scaled', factor: Number(factor) }
  if (delay !== undefined) return { kind: 'fixed', delay: Number(delay) }
  if (rps !== undefined && Number(rps) > 0) return { kind: 'adaptive', rps: Number(rps) }
  return undefined
}

const SPEED_PATTERN = /^(?:x?(?<factor>\d+(?:\.\d+)?)|(?<delay>\d+(?:\.\d+)?)ms|(?<rps>\d+(?:\.\d+)?)rps)$/
