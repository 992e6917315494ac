import type { PlannedMessage } from './plan.ts'

/** When messages go out, beyond what they wait for. */
export type Timing =
  /** At once. */
  | { readonly kind: 'fast' }
  /** Each when someone lets it go: see the `stops` of a run. */
  | { readonly kind: 'stepped' }
  /** At the recorded distance from the first message. */
  | { readonly kind: 'original' }
  /** At `1 / factor` of it: 2 is twice as fast. */
  | { readonly kind: 'scaled'; readonly factor: number }
  /** This many milliseconds after the message before. */
  | { readonly kind: 'fixed'; readonly delay: number }
  /** So many requests a second, held by looking at how many went out so far. */
  | { readonly kind: 'adaptive'; readonly rps: number }
  /** As a function says: the milliseconds to wait between two messages. */
  | { readonly kind: 'custom'; readonly delay: (previous: PlannedMessage, next: PlannedMessage) => number }

/** Whether no message is held back by the clock. */
export function isUnpaced({ kind }: Timing): boolean {
  return kind === 'fast' || kind === 'stepped'
}

/** The milliseconds from the start of the run at which a message is due, asked in the order of the run. The first is asked for when the live server has been greeted: how long it took to start is no part of the recorded distances. */
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

// After a stall the rate is caught up with, but not by a burst of everything that was missed.
const MAX_CATCH_UP = 1000

/** Reads `fast`, `stepped`, `original` (or `realtime`), `x2`, `100ms` and `50rps`; undefined for anything else. */
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
