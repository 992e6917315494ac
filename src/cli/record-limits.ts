import { ReelayError } from '../errors.ts'
import type { Limits } from '../record/limits.ts'

const MIB = 1024 * 1024

/** The limits among the options of `record`; `last` gives the value that an option was given last. */
export function readLimits(last: (long: string) => string | undefined): Limits {
  const count = (long: string): number | undefined => {
    const text = last(long)
    return text === undefined ? undefined : readCount(long, text, 1_000_000_000)
  }
  const [megabytes, maxMessages, seconds] = [count('--max-size'), count('--max-messages'), count('--idle')]
  const rotate = last('--rotate') !== undefined
  if (rotate && megabytes === undefined && maxMessages === undefined && seconds === undefined) {
    throw usage('--rotate without a limit', 'say when: --max-size, --max-messages or --idle')
  }
  return {
    ...(megabytes !== undefined && { maxBytes: megabytes * MIB }),
    ...(maxMessages !== undefined && { maxMessages }),
    ...(seconds !== undefined && { idleMs: seconds * 1000 }),
    ...(rotate && { rotate }),
  }
}

/** A whole number from 1 on. */
export function readCount(long: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > max)
    throw usage(`${long} ${text} is not a number from 1 to ${max}`)
  return value
}

/** What is wrong with the command line, and where to look. */
export function usage(message: string, hint = 'see reelay record --help'): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
