import type { Timing } from '../plan/timing.ts'

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

export const SPEED_HINT =
  'write fast, original, stepped (each when you let it go), x2 (twice as fast), 100ms (between messages) or 50rps (requests a second)'
