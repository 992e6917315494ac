import { ReelayError } from '../errors.ts'

/** Which time it is for a run: the tape's, or one that the user names. It stands still. */
export type ClockFlag = 'recorded' | number

/** Reads `recorded`, a date, or a date and time; without a zone it is UTC. */
export function readClockOption(text: string): ClockFlag {
  if (text === 'recorded') return 'recorded'
  const isIso = ISO.test(text)
  const time = isIso ? Date.parse(HAS_ZONE.test(text) || !text.includes('T') ? text : `${text}Z`) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new ReelayError('USAGE', `--clock ${text} is no time`, {
    hint: 'recorded, for when the tape was begun, or a date such as 2026-11-15 or 2026-11-15T07:20:59Z',
  })
}

const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/
const HAS_ZONE = /(?:Z|[+-]\d\d:\d\d)$/

/** What the run asks for the time; nothing means the clock on the wall. */
export function fixedClock(
  clock: ClockFlag | undefined,
  { started }: { readonly started: string },
): { readonly now?: () => number } {
  if (clock === undefined) return {}
  const time = clock === 'recorded' ? Date.parse(started) : clock
  return { now: () => time }
}
