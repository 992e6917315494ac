import { ReelayError } from '../errors.ts'
import type { RecordingLimits } from '../record/limits.ts'
import type { RecordingRules } from '../record/tape-rules.ts'

const KIB = 1024
const MIB = 1024 * 1024
const MAX_COUNT = 1_000_000_000
/** A timer of Node holds no more. */
const MAX_SECONDS = 2_000_000

type CountReader = (long: string, max?: number) => number | undefined

/** The limits and other numbers among the options of `record`; `last` gives the value that an option was given last. */
export function readTapeRules(
  last: (long: string) => string | undefined,
): Pick<RecordingRules, 'limits' | 'cutBytes' | 'pendingMs'> {
  const count: CountReader = (long, max = MAX_COUNT) => {
    const text = last(long)
    return text === undefined ? undefined : readCountOption(long, text, max)
  }
  const [kilobytes, seconds] = [count('--cut'), count('--pending', MAX_SECONDS)]
  return {
    limits: readRecordLimits(count, last('--rotate') !== undefined),
    ...(kilobytes !== undefined && { cutBytes: kilobytes * KIB }),
    ...(seconds !== undefined && { pendingMs: seconds * 1000 }),
  }
}

function readRecordLimits(count: CountReader, rotate: boolean): RecordingLimits {
  const [megabytes, maxMessages] = [count('--max-size'), count('--max-messages')]
  const seconds = count('--idle', MAX_SECONDS)
  if (rotate && megabytes === undefined && maxMessages === undefined && seconds === undefined) {
    throw recordUsageError('--rotate without a limit', 'say when: --max-size, --max-messages or --idle')
  }
  return {
    ...(megabytes !== undefined && { maxBytes: megabytes * MIB }),
    ...(maxMessages !== undefined && { maxMessages }),
    ...(seconds !== undefined && { idleMs: seconds * 1000 }),
    ...(rotate && { rotate }),
  }
}

/** A whole number from 1 on. */
export function readCountOption(long: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > max)
    throw recordUsageError(`${long} ${text} is not a number from 1 to ${max}`)
  return value
}

/** What is wrong with the command line, and where to look. */
export function recordUsageError(message: string, hint = 'see reelay record --help'): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
